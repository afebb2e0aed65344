use super::*;
use serde_json::json;

#[test]
fn a_schema_that_is_none_is_told_with_its_field() {
    let Value::Object(broken) = json!({"type": "nonsense"}) else { panic!("a schema is an object") };
    let (field, why) = Schema::new(&BodySchema { schema: Some(broken), ..BodySchema::default() }).err().unwrap();
    assert_eq!(field, "schema");
    assert!(why.starts_with("not a valid schema: "), "{why}");
    let base64 = |text: &str| Schema::new(&BodySchema { schema_b64: text.to_owned(), ..BodySchema::default() });
    assert_eq!(base64("?").err().unwrap().0, "schema_b64");
    assert!(base64("e30=").unwrap().validator.is_some());
    assert!(base64("").unwrap().validator.is_none());
}
