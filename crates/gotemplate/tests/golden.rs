//! Holds the crate against Go: `golden.json` has what `judge/main.go` rendered from `cases.json`, with Go's own library and sprig.

#![allow(clippy::expect_used, clippy::indexing_slicing)]

use serde_json::Value as Json;
use tollgate_gotemplate::{RenderLimits, Template, Value};

const CASES: &str = include_str!("cases.json");
const GOLDEN: &str = include_str!("golden.json");

/// Mistakes that Go finds when it renders, and this crate when it parses.
const FOUND_EARLIER: &[&str] = &["{{nil}}", "{{nil | print}}", r#"{{"a" "b"}}"#, "{{. 1}}", "{{$x = 1}}"];

#[test]
fn templates_render_as_they_do_in_go() {
    let cases: Json = serde_json::from_str(CASES).expect("cases.json");
    let golden: Vec<Json> = serde_json::from_str(GOLDEN).expect("golden.json");
    let mut wrong = Vec::new();
    for case in &golden {
        let template = case["template"].as_str().expect("a template");
        let wanted = match case["fails"].as_str() {
            Some(_) if FOUND_EARLIER.contains(&template) => "fails to parse".to_owned(),
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

fn data(cases: &Json, case: &Json) -> Result<Value, (&'static str, String)> {
    if let Some(xml) = case["xml"].as_str() {
        return Value::from_xml(xml).map_err(|error| ("read", error));
    }
    let name = case["data"].as_str().expect("the name of a document");
    Ok(Value::from_json(&cases["data"][name]))
}

fn rendered(template: &str, data: &Value) -> Result<String, (&'static str, String)> {
    let parsed = Template::parse(template).map_err(|error| ("parse", error.to_string()))?;
    parsed.render(data, RenderLimits::default()).map_err(|error| ("render", error.to_string()))
}

fn outcome(got: &Result<String, (&'static str, String)>) -> String {
    got.as_ref().map_or_else(|(stage, _)| format!("fails to {stage}"), String::clone)
}

#[test]
fn what_is_not_there_is_named_when_the_template_is_parsed() {
    let unknown =
        [("{{nope .x}}", "nope"), ("a\n{{.x | now}}", "now"), ("{{regexMatch `a` .x}}", "regexMatch"), ("{{env `HOME`}}", "env")];
    for (template, name) in unknown {
        let error = Template::parse(template).expect_err(template);
        assert!(error.message.contains(&format!("{name:?} not defined")), "{error}");
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
    ];
    for template in floods {
        let parsed = Template::parse(template).expect(template);
        assert!(parsed.render(&Value::from_json(&Json::Null), RenderLimits::default()).is_err(), "{template}");
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
    assert_eq!(parsed.render(&Value::from_json(&Json::Null), RenderLimits::default()).as_deref(), Ok(""));
}

#[test]
fn errors_name_the_line() {
    let parsed = Template::parse("one\ntwo {{len .name}}\nthree {{index .list 5}}").expect("a template");
    let data = Value::from_json(&serde_json::json!({"name": "x", "list": []}));
    let error = parsed.render(&data, RenderLimits::default()).expect_err("an index out of range");
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
    for case in &golden {
        for text in [case["template"].as_str(), case["xml"].as_str()].into_iter().flatten() {
            for _ in 0..40 {
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
                    let _ = template.render(&person, limits);
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
        assert_eq!(template.render_html(&data, RenderLimits::default()).as_deref(), Ok(wanted), "{text}");
    }
    let template = Template::parse("\n{{.Meta.Path}}").expect("a template");
    let error = template.render_html(&data, RenderLimits::default()).expect_err("a struct has no such field");
    assert_eq!((error.line, error.message.as_str()), (2, "can't evaluate field Path in type Meta"));
}
