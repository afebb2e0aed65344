use super::SchemaWatch;

fn watch(schema: &str) -> SchemaWatch {
    SchemaWatch::new(schema).expect("it compiles")
}

/// How many bytes of a text went on before it was found not to fit; `None` if it fits.
fn unfit_at(schema: &str, text: &str) -> Option<usize> {
    let mut watch = watch(schema);
    for (at, letter) in text.char_indices() {
        if watch.push(&letter.to_string()).is_err() {
            return Some(at);
        }
    }
    watch.end().is_err().then_some(text.len())
}

const PERSON: &str = r##"{"type":"object","properties":{"name":{"type":"string"},"age":{"$ref":"#/$defs/age"}},"required":["name","age"],
    "additionalProperties":false,"$defs":{"age":{"type":"integer","minimum":0}}}"##;

#[test]
fn a_member_that_does_not_fit_is_found_when_it_is_complete() {
    assert_eq!(unfit_at(PERSON, r#"{"name":"a","age":3}"#), None);
    assert_eq!(unfit_at(PERSON, r#"{"name":1,"age":3}"#), Some(9));
    assert_eq!(unfit_at(PERSON, r#"{"age":-1,"name":"a"}"#), Some(9));
    assert_eq!(unfit_at(PERSON, r#"{"name":"a"}"#), Some(12), "what is missing is found at the end");
    assert_eq!(unfit_at(PERSON, r#"{"name":"a","age":3,"x":1}"#), Some(26));
    assert_eq!(unfit_at(PERSON, "Sure"), Some(4));
    assert_eq!(unfit_at(PERSON, "```json"), Some(0));
    assert_eq!(unfit_at(PERSON, ""), None, "the model may call a tool instead");
    let recursive = r##"{"type":"object","properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##;
    assert_eq!((unfit_at(recursive, r#"{"a":{"a":{}}}"#), unfit_at(recursive, r#"{"a":1}"#)), (None, Some(7)));
}

#[test]
fn a_schema_that_cannot_be_checked_says_so() {
    let of = |schema: &str| SchemaWatch::new(schema).map(|_| ());
    assert!(of(r#"{"type":"nothing"}"#).is_err());
    assert!(of(&format!(r#"{{"description":"{}"}}"#, "x".repeat(300_000))).is_err());
}
