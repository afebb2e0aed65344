//! Holds the crate against Go: `golden.json` has what `judge/main.go` rendered from `cases.json`, with Go's own library and sprig.

#![allow(clippy::expect_used, clippy::indexing_slicing)]

use jiff::tz::TimeZone;
use serde_json::Value as Json;
use std::cell::Cell;
use tollgate_gotemplate::{RenderLimits, Template, TemplateHost, Value};

const CASES: &str = include_str!("cases.json");
const GOLDEN: &str = include_str!("golden.json");

/// Mistakes that Go finds when it renders, and this crate when it parses.
const FOUND_EARLIER: &[&str] = &["{{nil}}", "{{nil | print}}", r#"{{"a" "b"}}"#, "{{. 1}}", "{{$x = 1}}"];

/// Parts of templates that Go renders and this crate does not, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("(?P<1a>x)", "a group's name begins with a letter"),
    ("(?P<a>x)(?P<a>y)", "two groups have two names"),
    ("http://a:1:2/", "a port is a number"),
    ("http://host/%ff", "a text is UTF-8"),
    ("MFRGG=== ", "base32 has no spaces"),
];

/// A machine in Berlin on 1 February 2026, 10:20:30.25, with numbers that are as good as random.
#[derive(Default)]
struct Machine {
    state: Cell<u64>,
}

impl TemplateHost for Machine {
    fn unix_ns(&self) -> i128 {
        1_769_937_630_250_000_000
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), String> {
        for byte in bytes {
            let next = self.state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.state.set(next);
            *byte = next.to_be_bytes()[0];
        }
        Ok(())
    }

    fn local_zone(&self) -> TimeZone {
        TimeZone::get("Europe/Berlin").expect("the time zone database")
    }

    fn zone(&self, name: &str) -> Option<TimeZone> {
        TimeZone::get(name).ok()
    }
}

#[test]
fn templates_render_as_they_do_in_go() {
    let cases: Json = serde_json::from_str(CASES).expect("cases.json");
    let golden: Vec<Json> = serde_json::from_str(GOLDEN).expect("golden.json");
    let mut wrong = Vec::new();
    for case in &golden {
        let template = case["template"].as_str().expect("a template");
        if DIFFERENT.iter().any(|(part, _)| template.contains(part)) {
            continue;
        }
        let wanted = match case["fails"].as_str() {
            Some(_) if FOUND_EARLIER.contains(&template) || is_bad_expression(case) => "fails to parse".to_owned(),
            Some(stage) => format!("fails to {stage}"),
            None => case["output"].as_str().unwrap_or_default().to_owned(),
        };
        let got = data(&cases, case).and_then(|data| rendered(template, &data));
        if outcome(&got) != wanted {
            wrong.push(format!("{template} {}\n   go: {wanted:?} {}\n here: {got:?}", case["xml"], case["error"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), golden.len(), wrong.join("\n"));
}

/// Whether a regular expression that stands in the template is none.
fn is_bad_expression(case: &Json) -> bool {
    let is_made = case["template"].as_str().is_some_and(|template| template.contains("(print "));
    !is_made && case["error"].as_str().is_some_and(|error| error.contains("error parsing regexp"))
}

fn data(cases: &Json, case: &Json) -> Result<Value, (&'static str, String)> {
    if let Some(xml) = case["xml"].as_str() {
        return Value::from_xml(xml).map_err(|error| ("read", error));
    }
    let name = case["data"].as_str().expect("the name of a document");
    Ok(Value::from_json(&cases["data"][name]))
}

fn rendered(template: &str, data: &Value) -> Result<String, (&'static str, String)> {
    let parsed = Template::parse(template).map_err(|error| ("parse", error.to_string()))?;
    parsed.render(data, RenderLimits::default(), &Machine::default()).map_err(|error| ("render", error.to_string()))
}

fn outcome(got: &Result<String, (&'static str, String)>) -> String {
    got.as_ref().map_or_else(|(stage, _)| format!("fails to {stage}"), String::clone)
}

#[test]
fn what_is_not_there_is_named_when_the_template_is_parsed() {
    let unknown = [
        ("{{nope .x}}", "nope", ""),
        ("a\n{{.x | never}}", "never", ""),
        ("{{env `HOME`}}", "env", "cannot read the environment"),
        ("{{getHostByName `x`}}", "getHostByName", "cannot use the network"),
        ("a\nb{{genCA `x` 1}}", "genCA", "takes too long"),
        ("{{bcrypt `x`}}", "bcrypt", "takes too long"),
        ("{{decryptAES `x` `y`}}", "decryptAES", "no protection"),
    ];
    for (template, name, why) in unknown {
        let error = Template::parse(template).expect_err(template);
        assert!(error.message.contains(&format!("{name:?} not defined")) && error.message.contains(why), "{error}");
        assert_eq!(error.line, 1 + template.matches('\n').count(), "{error}");
    }
}

#[test]
fn rendering_is_bounded() {
    let floods = [
        "{{range until 1000000}}{{range until 1000000}}x{{end}}{{end}}",
        "{{range until 1000000}}{{repeat 1000 `xxxxxxxxxx`}}{{end}}",
        "{{repeat 1000000000000 `x`}}",
        "{{printf `%1000000000d` 1}}",
        "{{indent 1000000000 `x`}}",
        "{{until 1000000000000}}",
        "{{seq 1 1000000000000}}",
        "{{define `a`}}{{template `a` .}}{{end}}{{template `a` .}}",
        "{{define `a`}}{{template `b` .}}{{end}}{{define `b`}}{{template `a` .}}{{end}}{{template `a` .}}",
        "{{$d := dict}}{{set $d `d` $d}}",
        "{{$d := dict}}{{set $d `l` (list (dict `x` $d))}}",
        "{{$x := `x`}}{{range until 100}}{{$x = printf `%s%s` $x $x}}{{end}}{{$x}}",
        "{{$x := `x`}}{{range until 100}}{{$x = replace `x` (repeat 1000 `x`) $x}}{{end}}",
        "{{$x := list 1}}{{range until 100}}{{$x = concat $x $x}}{{end}}",
        "{{range 9000000000000000000}}{{end}}",
        "{{range (int64 9000000000000000000)}}{{end}}",
        "{{randAlphaNum 1000000000000}}",
        "{{randBytes 100000}}",
        "{{shuffle (repeat 100000 `x`)}}",
        "{{range until 1000000}}{{randAscii 60000}}{{end}}",
        "{{$x := repeat 16000000 `a`}}{{range until 100}}{{regexMatch `b` $x}}{{end}}",
        // Each match of this expression reads the rest of the text.
        "{{regexFindAll `.*x|y` (repeat 300000 `y`) -1}}",
        "{{regexReplaceAll `.*x|(y)` (repeat 300000 `y`) `$1`}}",
        "{{regexSplit `.*x|y` (repeat 300000 `y`) -1}}",
        "{{regexReplaceAll `a` (repeat 1000000 `a`) (repeat 1000 `b`)}}",
        "{{regexFindAll `` (repeat 16000000 `a`) -1}}",
        "{{range until 100000}}{{regexMatch (printf `a%d` .) `a`}}{{end}}",
        "{{regexFind (repeat 100000 `a`) `a`}}",
        "{{mustRegexMatch (printf `(%s{1000}){1000}` `a`) `a`}}",
        "{{mustRegexMatch (printf `(%spL{100}){50}` (print `\\`)) `a`}}",
        "{{$x := `2006`}}{{range until 30}}{{$x = printf `%s%s` $x $x}}{{end}}{{date $x now}}",
        "{{semverCompare (repeat 10000 `1 || `) `1`}}",
        "{{wrapWith 1 (repeat 1000 `x`) (repeat 100000 `y`)}}",
        "{{range until 1000000}}{{regexQuoteMeta (repeat 1000000 `.`)}}{{end}}",
    ];
    for template in floods {
        let parsed = Template::parse(template).expect(template);
        assert!(parsed.render(&Value::from_json(&Json::Null), RenderLimits::default(), &Machine::default()).is_err(), "{template}");
    }
}

#[test]
fn blocks_are_not_nested_without_end() {
    for (open, close) in
        [("{{if 1}}", "{{end}}"), ("{{if 1}}{{else}}", "{{end}}"), ("{{(", ")}}"), ("{{if 1}}{{else if 1}}", "{{end}}")]
    {
        let template = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(Template::parse(&template).is_err(), "{open}");
    }
    let chained = format!("{}{}", "{{if 0}}a{{else}}".repeat(90), "{{end}}".repeat(90));
    let parsed = Template::parse(&chained).expect("ninety blocks");
    let rendered = parsed.render(&Value::from_json(&Json::Null), RenderLimits::default(), &Machine::default());
    assert_eq!(rendered.as_deref(), Ok(""));
}

#[test]
fn errors_name_the_line() {
    let parsed = Template::parse("one\ntwo {{len .name}}\nthree {{index .list 5}}").expect("a template");
    let data = Value::from_json(&serde_json::json!({"name": "x", "list": []}));
    let error = parsed.render(&data, RenderLimits::default(), &Machine::default()).expect_err("an index out of range");
    assert_eq!((error.line, error.message.as_str()), (3, "error calling index: index out of range: 5"));
}

#[test]
fn xml_does_not_grow_when_it_is_read() {
    let deep = format!("{}x{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let entities = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><a>&b;</a>";
    let external = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>";
    for (document, wanted) in
        [(deep.as_str(), "nested more than 128 deep"), (entities, "unknown entity &b;"), (external, "unknown entity &x;")]
    {
        let error = Value::from_xml(document).expect_err(wanted);
        assert!(error.contains(wanted), "{error}");
    }
    let wide = format!("<a>{}</a>", "<b/>".repeat(100_000));
    assert!(Value::from_xml(&wide).is_ok(), "many elements are a list, made in one pass");
}

/// Every template with bytes changed, taken out and doubled: whatever comes of it is an error or a text, in bounded time.
#[test]
fn damaged_templates_and_documents_are_errors() {
    let cases: Json = serde_json::from_str(CASES).expect("cases.json");
    let golden: Vec<Json> = serde_json::from_str(GOLDEN).expect("golden.json");
    let person = Value::from_json(&cases["data"]["person"]);
    let limits = RenderLimits { bytes_max: 10_000, steps_max: 2_000 };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("a small number") % below
    };
    let signs =
        ["{{", "}}", "(", ")", "|", ".", "$", "\"", "`", "'", "\\", "-", " ", "é", "<", "&", "/", "=", ":=", "end", "0", "%"];
    // A part of the cases, but of every kind.
    for case in golden.iter().step_by(7) {
        for text in [case["template"].as_str(), case["xml"].as_str()].into_iter().flatten() {
            for _ in 0..60 {
                let mut characters: Vec<char> = text.chars().collect();
                let at = random(characters.len() + 1);
                match random(3) {
                    0 if at < characters.len() => drop(characters.remove(at)),
                    1 => characters.truncate(at),
                    _ => drop(characters.splice(at..at, signs[random(signs.len())].chars())),
                }
                let damaged: String = characters.into_iter().collect();
                let _ = Value::from_xml(&damaged);
                if let Ok(template) = Template::parse(&damaged) {
                    let _ = template.render(&person, limits, &Machine::default());
                }
            }
        }
    }
}

/// As `html/template` of Go 1.25 prints values in the text of a document.
#[test]
fn html_is_escaped_and_missing_values_print_nothing() {
    let meta = Value::structure("Meta", [("Message", Value::from("a < \"b\" + 'c' & d")), ("Count", Value::from(3))]);
    let data = Value::map([("Meta", meta), ("Map", Value::map([("a", Value::from("+"))]))]);
    for (text, wanted) in [
        ("{{.Meta.Message}}", "a &lt; &#34;b&#34; &#43; &#39;c&#39; &amp; d"),
        ("{{.Meta.Count}} {{.Map.a}} {{.Map.none}}.", "3 &#43; ."),
        ("{{.Meta.Message | html}}", "a &lt; &#34;b&#34; + &#39;c&#39; &amp; d"),
        ("{{printf `%v` .Map}}", "map[a:&#43;]"),
        ("{{.Meta}}", "{a &lt; &#34;b&#34; &#43; &#39;c&#39; &amp; d 3}"),
        ("{{$x := .Meta.Count}}<{{$x}}>", "<3>"),
        ("{{jsonMarshal .Meta.Count}}", "3"),
    ] {
        let template = Template::parse(text).expect(text);
        assert_eq!(template.render_html(&data, RenderLimits::default(), &Machine::default()).as_deref(), Ok(wanted), "{text}");
    }
    let template = Template::parse("\n{{.Meta.Path}}").expect("a template");
    let error = template.render_html(&data, RenderLimits::default(), &Machine::default()).expect_err("a struct has no such field");
    assert_eq!((error.line, error.message.as_str()), (2, "can't evaluate field Path in type Meta"));
}

/// The time is the host's, in its zone.
#[test]
fn now_is_the_time_of_the_host() {
    for (template, wanted) in [
        ("{{now}}", "2026-02-01 10:20:30.25 +0100 CET"),
        ("{{now | date `2006-01-02 15:04 MST`}}", "2026-02-01 10:20 CET"),
        ("{{dateInZone `15:04 MST` now `America/New_York`}}", "04:20 EST"),
        ("{{now.UTC.Format `15:04:05.000`}} {{now.Unix}} {{now.Month}}", "09:20:30.250 1769937630 February"),
        ("{{htmlDate now}} {{unixEpoch now}} {{now | dateModify `-48h` | ago}}", "2026-02-01 1769937630 48h0m0s"),
        ("{{ago 1769937570}} {{ago `x`}} {{durationRound (now | dateModify `-50h`)}}", "1m0s 0s 2d"),
        // As in sprig: what is no integer and no time is now, also a number of a JSON document.
        ("{{date `2006` .year}} {{date `2006` (int64 .year)}}", "2026 1970"),
    ] {
        let parsed = Template::parse(template).expect(template);
        let data = Value::from_json(&serde_json::json!({"year": 2000}));
        assert_eq!(parsed.render(&data, RenderLimits::default(), &Machine::default()).as_deref(), Ok(wanted), "{template}");
    }
}

/// Every character of a set comes up, and about as often as any other.
#[test]
fn random_texts_are_uniform() {
    let machine = Machine::default();
    for (template, characters) in
        [("{{randAlphaNum 60000}}", 62), ("{{randAlpha 60000}}", 52), ("{{randNumeric 60000}}", 10), ("{{randAscii 60000}}", 95)]
    {
        let text =
            Template::parse(template).expect(template).render(&Value::from_json(&Json::Null), RenderLimits::default(), &machine);
        let mut counts = std::collections::BTreeMap::<char, usize>::new();
        text.expect(template).chars().for_each(|character| *counts.entry(character).or_default() += 1);
        let expected = 60_000 / characters;
        assert_eq!(counts.len(), characters, "{template}");
        assert!(counts.values().all(|count| count.abs_diff(expected) < expected / 3), "{template} {counts:?}");
    }
    let shuffled = Template::parse("{{range until 40}}{{shuffle `abc`}} {{end}}").expect("a template");
    let text = shuffled.render(&Value::from_json(&Json::Null), RenderLimits::default(), &machine).expect("a text");
    for order in ["abc", "acb", "bac", "bca", "cab", "cba"] {
        assert!(text.contains(order), "{order} in {text}");
    }
}

/// An expression of the template is compiled when the template is parsed; one that a client sends cannot stop the rendering of the others.
#[test]
fn regular_expressions_are_checked_when_they_are_known() {
    for (template, why) in [
        ("\n{{regexMatch `(a` .x}}", "regexMatch: "),
        ("\n{{.x | regexReplaceAllLiteral `a**` `b`}}", "invalid nested repetition operator"),
        ("\n{{regexFind `[[:nope:]]` .x}}", ""),
    ] {
        let parsed = Template::parse(template);
        if !why.is_empty() {
            let error = parsed.expect_err(template);
            assert_eq!(error.line, 2);
            assert!(error.message.contains(why), "{error}");
        }
    }
    let template = Template::parse("{{regexMatch .x `abc`}}").expect("a template");
    for (pattern, wanted) in [("b", "true"), ("^b", "false"), ("(b", "false")] {
        let data = Value::from_json(&serde_json::json!({"x": pattern}));
        assert_eq!(template.render(&data, RenderLimits::default(), &Machine::default()).as_deref(), Ok(wanted), "{pattern}");
    }
}

/// The names that a template reads are those of its data, not the methods of a time.
#[test]
fn methods_are_no_names_of_the_data() {
    let template = Template::parse("{{now.Year}} {{(toDate `2006` .a.b).Unix}} {{(index .c 0).D}}").expect("a template");
    let paths: Vec<String> = template.field_paths().into_iter().map(|path| path.join(".")).collect();
    assert_eq!(paths, ["D", "a.b", "c"]);
}
