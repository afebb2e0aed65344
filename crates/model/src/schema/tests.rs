use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
#[serde(default)]
#[allow(dead_code)]
struct Document {
    on: bool,
    #[serde(rename = "COUNT")]
    count: u16,
    share: f64,
    name: Option<String>,
    words: Vec<Word>,
    parts: BTreeMap<String, Part>,
    free: Value,
    #[serde(skip)]
    hidden: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[allow(dead_code)]
struct Part {
    parts: Vec<Part>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    #[default]
    FirstOne,
    Second,
}

#[test]
fn a_schema_says_what_is_read() {
    let mut schema = schema_of::<Document>().unwrap();
    let parts = schema["properties"]["parts"].take();
    assert_eq!(
        schema,
        json!({"type": ["object", "null"], "properties": {
            "on": {"type": ["boolean", "null"]},
            "COUNT": {"type": ["integer", "null"]},
            "share": {"type": ["number", "null"]},
            "name": {"type": ["string", "null"]},
            "words": {"type": ["array", "null"], "items": {"type": ["string", "null"], "examples": ["first-one", "second"]}},
            "parts": null,
            "free": true
        }})
    );
    let part = &parts["additionalProperties"];
    assert_eq!(part["properties"]["parts"]["items"]["type"], json!(["object", "null"]));
}

#[test]
fn a_type_that_takes_no_zeros_is_named() {
    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Strict {
        count: std::num::NonZeroU8,
    }
    let error = schema_of::<Strict>().map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("count: "), "{error}");
}
