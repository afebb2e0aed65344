//! Holds the crate against Go: `golden.json` has what `judge/main.go` rendered from `cases.json`, with Go's own library and sprig.

use serde_json::Value as Json;
use tollgate_gotemplate::{Limits, Template, Value};

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
        let data = &cases["data"][case["data"].as_str().expect("the name of a document")];
        let wanted = match case["fails"].as_str() {
            Some(_) if FOUND_EARLIER.contains(&template) => "fails to parse".to_owned(),
            Some(stage) => format!("fails to {stage}"),
            None => case["output"].as_str().unwrap_or_default().to_owned(),
        };
        let got = rendered(template, data);
        if outcome(&got) != wanted {
            wrong.push(format!("{template}\n   go: {wanted:?} {}\n here: {got:?}", case["error"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), golden.len(), wrong.join("\n"));
}

fn rendered(template: &str, data: &Json) -> Result<String, (&'static str, String)> {
    let parsed = Template::parse(template).map_err(|error| ("parse", error.to_string()))?;
    parsed.render(&Value::from_json(data), Limits::default()).map_err(|error| ("render", error.to_string()))
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
        assert!(parsed.render(&Value::from_json(&Json::Null), Limits::default()).is_err(), "{template}");
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
    assert_eq!(parsed.render(&Value::from_json(&Json::Null), Limits::default()).as_deref(), Ok(""));
}

#[test]
fn errors_name_the_line() {
    let parsed = Template::parse("one\ntwo {{len .name}}\nthree {{index .list 5}}").expect("a template");
    let data = Value::from_json(&serde_json::json!({"name": "x", "list": []}));
    let error = parsed.render(&data, Limits::default()).expect_err("an index out of range");
    assert_eq!((error.line, error.message.as_str()), (3, "error calling index: index out of range: 5"));
}
