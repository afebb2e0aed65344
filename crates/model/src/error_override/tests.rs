use serde_json::{Value, json};

use super::*;

fn problems(overrides: &Value) -> Vec<String> {
    let overrides: ErrorOverrides = serde_json::from_value(overrides.clone()).unwrap();
    let mut findings = Findings::default();
    check(&overrides, &JsonPath::of("error_overrides"), &mut findings);
    findings.conclude(Some(())).map_or_else(|all| all, |(_, all)| all).iter().map(ToString::to_string).collect()
}

#[test]
fn a_key_is_a_status_or_a_class() {
    for (text, pattern) in [
        ("404", Some(StatusPattern::Code(404))),
        ("5xx", Some(StatusPattern::Class(5))),
        ("5XX", None),
        ("xx", None),
        ("12xx", None),
        ("5x", None),
        ("*", None),
        ("", None),
    ] {
        assert_eq!(StatusPattern::parse(text), pattern, "{text}");
    }
}

#[test]
fn a_rule_without_problems_has_none() {
    let rule = json!({
        "match": {"message_pattern": "^no", "body_field": "error.code", "body_value": "7"},
        "response": {"status_code": 503, "body": "{\"m\": \"{{.Message}}\"}", "message": "later", "headers": {"Retry-After": "1"}},
    });
    assert_eq!(problems(&json!({"500": [rule], "4xx": [{"match": {"flag": "RLT"}, "response": {}}]})), [""; 0]);
}

#[test]
fn what_cannot_act_is_named() {
    let at = "$.error_overrides[\"500\"][0]";
    for (rule, problem) in [
        (json!({"match": {"flag": "XYZ"}}), format!("{at}.match.flag: error: is not a flag; the flags are TLE, ")),
        (
            json!({"match": {"flag": "NHU"}}),
            format!("{at}.match.flag: warning: never matches: targets are not taken out of service"),
        ),
        (json!({"match": {"body_field": "a"}}), format!("{at}.match.body_field: warning: has no effect without body_value")),
        (json!({"match": {"body_value": "a"}}), format!("{at}.match.body_value: warning: has no effect without body_field")),
        (
            json!({"match": {"flag": "URS", "body_field": "a", "body_value": "b"}}),
            format!("{at}.match.body_field: warning: has no effect beside a flag"),
        ),
        (
            json!({"response": {"status_code": 99}}),
            format!("{at}.response.status_code: error: must be a status code from 200 to 599"),
        ),
        (
            json!({"response": {"body": "a", "template": "error_b"}}),
            format!("{at}.response.template: warning: has no effect beside a body"),
        ),
        (json!({"response": {"body": "{{ .Message }}"}}), format!("{at}.response.body: warning: is sent as it is")),
        (
            json!({"response": {"body": "a", "message": "b"}}),
            format!("{at}.response.message: warning: has no effect: the body is not a template"),
        ),
        (json!({"response": {"headers": {"a b": ""}}}), format!("{at}.response.headers[\"a b\"]: error: is not a header name")),
        (json!({"response": {"headers": {"A": "b\nc"}}}), format!("{at}.response.headers.A: error: must not contain line ends")),
        (
            json!({"response": {"headers": {"content-length": "1"}}}),
            format!("{at}.response.headers.content-length: ignored: has no effect: the gateway writes this header itself"),
        ),
    ] {
        let found = problems(&json!({"500": [rule]}));
        assert!(found.len() == 1 && found[0].starts_with(&problem), "{rule}: {found:?}");
    }
    for (status, problem) in [
        ("any", "$.error_overrides.any: error: must be a status code such as 404, or a class: 4xx or 5xx"),
        ("200", "$.error_overrides[\"200\"]: warning: has no effect: only 400 to 599 are errors"),
        ("3xx", "$.error_overrides[\"3xx\"]: warning: has no effect: only 400 to 599 are errors"),
    ] {
        assert_eq!(problems(&json!({status: [{}]})), [problem]);
    }
}
