use super::*;
use serde_json::json;

#[test]
fn members_are_those_of_a_map() {
    for text in [
        r#"{}"#,
        r#"{"a": 1, "b": {"c": [null, "x"]}, "": ""}"#,
        r#"{"a": 1, "b": 2, "a": {"last": true}}"#,
        r#" {"\u0061": "escaped", "é": "\ud83d\ude00"} "#,
    ] {
        let map: Map<String, Value> = serde_json::from_str(text).unwrap();
        let members = Members::parse(text.as_bytes()).unwrap();
        for name in ["a", "b", "", "é", "missing"] {
            assert_eq!(members.get(name), map.get(name), "{name:?} of {text}");
        }
        assert_eq!(Members::from(map.clone()).get("a"), map.get("a"));
    }
}

#[test]
fn what_is_no_object_has_no_members() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(200), "]".repeat(200));
    for text in ["", "null", "[]", "[[\"a\", 1]]", "\"a\"", "{", "{\"a\": 1} x", "{\"a\"}", "{\"a\": \"\u{1}\"}", &deep] {
        assert_eq!(Members::parse(text.as_bytes()), None, "{text}");
    }
    assert_eq!(Members::parse(b"{\"a\": \"\xff\"}"), None, "not UTF-8");
    assert_eq!(Members::parse(b"{\"a\": 1.5}").unwrap().get("a"), Some(&json!(1.5)));
}

#[test]
fn members_that_nobody_wants_are_stepped_over() {
    let some = |text: &str| Members::parse_some(text.as_bytes(), |name| name == "a");
    let members = some(r#"{"b": {"a": [1, {"c": null}]}, "\u0061": 1, "d": "x", "a": 2}"#).unwrap();
    assert_eq!((members.get("a"), members.get("b"), members.get("d")), (Some(&json!(2)), None, None));
    for text in [r#"{"b": }"#, r#"{"b": [1}"#, r#"{"b": 1} x"#, r#"{"b": "}"#, r#"["a"]"#, "{\"b\": \"\u{1}\"}"] {
        assert_eq!(some(text), None, "{text}");
    }
}
