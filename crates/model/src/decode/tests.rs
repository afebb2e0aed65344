use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Decoded, decode};

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Sample {
    name: String,
    port: u16,
    share: f64,
    on: bool,
    choice: Choice,
    list: Vec<Entry>,
    map: BTreeMap<String, Entry>,
    free: Value,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Entry {
    path: String,
    code: i64,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    #[default]
    #[serde(alias = "")]
    First,
    Second,
}

fn sample(document: Value) -> Decoded<Sample> {
    decode(&document)
}

/// Checks the problems of a document.
fn check(document: Value, mistakes: &[&str]) {
    let found: Vec<String> = sample(document.clone()).mistakes.iter().map(|(path, message)| format!("{path}: {message}")).collect();
    assert_eq!(found, mistakes, "{document}");
}

#[test]
fn null_is_the_same_as_leaving_a_field_out() {
    let nulls = json!({"name": null, "port": null, "share": null, "on": null, "choice": null, "list": null,
        "map": null, "free": null, "nobody": null});
    let decoded = sample(nulls);
    assert_eq!(decoded.value, Some(Sample::default()));
    assert!(decoded.unknown.is_empty());
    let inner = sample(json!({"list": [null], "map": {"a": null}})).value.unwrap();
    assert_eq!(inner.list, [Entry::default()]);
    assert_eq!(inner.map["a"], Entry::default());
}

#[test]
fn keys_match_in_any_letter_case_but_map_keys_keep_theirs() {
    let decoded = sample(json!({"NAME": "x", "List": [{"Path": "/"}], "map": {"A": {"CODE": 1}}}));
    let value = decoded.value.unwrap();
    assert_eq!(value.name, "x");
    assert_eq!(value.list[0].path, "/");
    assert_eq!(value.map["A"].code, 1);
}

#[test]
fn the_exact_spelling_wins_and_the_other_is_named() {
    for document in [json!({"Name": "b", "name": "a"}), json!({"name": "a", "Name": "b"})] {
        let decoded = sample(document);
        assert_eq!(decoded.value.unwrap().name, "a");
        assert_eq!(decoded.repeated.len(), 1);
    }
}

#[test]
fn every_mistake_is_found() {
    check(json!({"name": 1}), &["$.name: must be a string, not 1"]);
    check(json!([]), &["$: must be an object, not a list"]);
    check(json!({"port": 70000}), &["$.port: must be a whole number from 0 to 65535, not 70000"]);
    check(json!({"port": -1}), &["$.port: must be a whole number from 0 to 65535, not -1"]);
    check(json!({"port": 1.5}), &["$.port: must be a whole number from 0 to 65535, not 1.5"]);
    check(
        json!({"on": "true", "share": "hidden"}),
        &["$.on: must be true or false, not a string", "$.share: must be a number, not a string"],
    );
    check(json!({"choice": "third"}), &[r#"$.choice: must be one of "first", "second", not "third""#]);
    check(
        json!({"list": [{}, {"path": []}, 7], "map": {"1.0": {"code": {}}}}),
        &[
            "$.list[1].path: must be a string, not a list",
            "$.list[2]: must be an object, not 7",
            r#"$.map["1.0"].code: must be a whole number, not an object"#,
        ],
    );
}

#[test]
fn whole_numbers_are_numbers_and_free_json_stays_as_it_is() {
    let free = json!({"B": [1, null, {"a": 1.5}]});
    let value = sample(json!({"share": 2, "free": free})).value.unwrap();
    assert_eq!((value.share, value.free), (2.0, free));
}

#[test]
fn unknown_fields_are_collected_with_their_values() {
    let decoded = sample(json!({"list": [{"x": {"y": 1}}], "z": true}));
    let unknown: Vec<String> = decoded.unknown.iter().map(|(p, v)| format!("{p} {v}")).collect();
    assert_eq!(unknown, ["$.z true", r#"$.list[0].x {"y":1}"#]);
}

#[test]
fn endless_mistakes_end() {
    let decoded = sample(json!({"list": vec![7; 1000]}));
    assert_eq!(decoded.mistakes.len(), super::MISTAKES_MAX + 1);
    assert!(decoded.value.is_none());
}

#[test]
fn a_large_document_is_looked_at_for_fewer_mistakes() {
    let wrong = |entries: usize| sample(json!({"list": vec![json!({"path": 1}); entries]})).mistakes.len();
    assert_eq!(wrong(200), 51);
    let found = wrong(500_000);
    assert!((1..10).contains(&found), "{found}");
}
