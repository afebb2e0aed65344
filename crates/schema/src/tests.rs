use super::*;
use serde_json::json;

fn mismatches(schema_text: &str, document: &str) -> String {
    let validator = BodyValidator::compile(&serde_json::from_str(schema_text).unwrap()).unwrap();
    let told = match validator.check(document.as_bytes()) {
        Ok(()) => String::new(),
        Err(InvalidBody::Mismatches(told)) => told,
        Err(InvalidBody::NotJson(error)) => panic!("{error}"),
    };
    let mut told: Vec<_> = told.split("; ").collect();
    told.sort_unstable();
    told.join("; ")
}

/// The wording of gojsonschema 1.2.0, which Tyk 5.14 uses; several names in one message are sorted alphabetically.
#[test]
#[rustfmt::skip]
fn mismatches_are_told_in_the_words_of_tyks_validator() {
    let cases = [
        (r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#, r#"{"a":"x"}"#, r#"a: Invalid type. Expected: integer, given: string"#),
        (r#"{"type":"object","required":["a","b"]}"#, r#"{"a":1}"#, r#"(root): b is required"#),
        (r#"{"type":"object"}"#, r#"[1]"#, r#"(root): Invalid type. Expected: object, given: array"#),
        (r#"{"type":"integer"}"#, r#"1.5"#, r#"(root): Invalid type. Expected: integer, given: number"#),
        (r#"{"type":"integer"}"#, r#"2.0"#, r#""#),
        (r#"{"properties":{"a":{"properties":{"b":{"items":{"type":"string"}}}}}}"#, r#"{"a":{"b":["x",5]}}"#, r#"a.b.1: Invalid type. Expected: string, given: integer"#),
        (r#"{"additionalProperties":false,"properties":{"a":{}}}"#, r#"{"a":1,"z":2}"#, r#"(root): Additional property z is not allowed"#),
        (r#"{"properties":{"a":{"enum":["x","y",3]}}}"#, r#"{"a":"z"}"#, r#"a: a must be one of the following: "x", "y", 3"#),
        (r#"{"properties":{"a":{"const":"x"}}}"#, r#"{"a":"z"}"#, r#"a: a does not match: "x""#),
        (r#"{"properties":{"a":{"minLength":3}}}"#, r#"{"a":"é"}"#, r#"a: String length must be greater than or equal to 3"#),
        (r#"{"properties":{"a":{"maxLength":1}}}"#, r#"{"a":"xyz"}"#, r#"a: String length must be less than or equal to 1"#),
        (r#"{"properties":{"a":{"pattern":"^[a-z]+$"}}}"#, r#"{"a":"X1"}"#, r#"a: Does not match pattern '^[a-z]+$'"#),
        (r#"{"properties":{"a":{"minimum":5}}}"#, r#"{"a":4}"#, r#"a: Must be greater than or equal to 5"#),
        (r#"{"properties":{"a":{"maximum":5.5}}}"#, r#"{"a":6}"#, r#"a: Must be less than or equal to 5.5"#),
        (r#"{"properties":{"a":{"exclusiveMinimum":5}}}"#, r#"{"a":5}"#, r#"a: Must be greater than 5"#),
        (r#"{"properties":{"a":{"exclusiveMaximum":5}}}"#, r#"{"a":5}"#, r#"a: Must be less than 5"#),
        (r#"{"properties":{"a":{"multipleOf":0.5}}}"#, r#"{"a":1.2}"#, r#"a: Must be a multiple of 0.5"#),
        (r#"{"minItems":2}"#, r#"[1]"#, r#"(root): Array must have at least 2 items"#),
        (r#"{"maxItems":1}"#, r#"[1,2]"#, r#"(root): Array must have at most 1 items"#),
        (r#"{"uniqueItems":true}"#, r#"[1,2,1]"#, r#"(root): array items[0,2] must be unique"#),
        (r#"{"minProperties":2}"#, r#"{"a":1}"#, r#"(root): Must have at least 2 properties"#),
        (r#"{"maxProperties":1}"#, r#"{"a":1,"b":2}"#, r#"(root): Must have at most 1 properties"#),
        (r#"{"items":[{},{}],"additionalItems":false}"#, r#"[1,2,3]"#, r#"(root): No additional items allowed on array"#),
        (r#"{"not":{"type":"string"}}"#, r#""x""#, r#"(root): Must not validate the schema (not)"#),
        (r#"{"anyOf":[{"type":"string"},{"type":"object","required":["a","b"]}]}"#, r#"{"a":1}"#, r#"(root): Must validate at least one schema (anyOf); (root): b is required"#),
        (r#"{"oneOf":[{"type":"string"},{"type":"integer","minimum":5}]}"#, r#"3"#, r#"(root): Must be greater than or equal to 5; (root): Must validate one and only one schema (oneOf)"#),
        (r#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#, r#"3"#, r#"(root): Must validate one and only one schema (oneOf)"#),
        (r#"{"dependencies":{"a":["b"]}}"#, r#"{"a":1}"#, r#"(root): Has a dependency on b"#),
        (r#"{"properties":{"a":{"format":"email"}}}"#, r#"{"a":"nope"}"#, r#"a: Does not match format 'email'"#),
        (r#"{"properties":{"a":{"format":"date-time"}}}"#, r#"{"a":"nope"}"#, r#"a: Does not match format 'date-time'"#),
        (r#"{"properties":{"a":{"format":"uuid"}}}"#, r#"{"a":"nope"}"#, r#"a: Does not match format 'uuid'"#),
        (r#"{"properties":{"a":{"format":"uuid"}}}"#, r#"{"a":"0b5e3c6e-7c0f-4f0a-9c66-0123456789aB"}"#, r#""#),
        (r#"{"properties":{"a":{"format":"ipv4"}}}"#, r#"{"a":"300.1.1.1"}"#, r#"a: Does not match format 'ipv4'"#),
        (r#"{"properties":{"a":{"format":"uri"}}}"#, r#"{"a":"no uri"}"#, r#"a: Does not match format 'uri'"#),
        (r#"{"properties":{"a":false}}"#, r#"{"a":1}"#, r#"a: False always fails validation"#),
        (r#"{"type":"object"}"#, r#"null"#, r#"(root): Invalid type. Expected: object, given: null"#),
        (r#"{"properties":{"a":{"type":"boolean"}}}"#, r#"{"a":"true"}"#, r#"a: Invalid type. Expected: boolean, given: string"#),
        (r##"{"definitions":{"p":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/p"}}}"##, r#"{"a":"x"}"#, r#"a: Invalid type. Expected: integer, given: string"#),
        (r#"{}"#, r#"{"a":1}"#, r#""#),
        (r#"{"properties":{"a/b":{"type":"string"}}}"#, r#"{"a/b":1}"#, r#"a/b: Invalid type. Expected: string, given: integer"#),
    ];
    let got = cases.map(|(schema, document, _)| (schema, document, mismatches(schema, document)));
    assert_eq!(got, cases.map(|(schema, document, wanted)| (schema, document, wanted.to_owned())));
}

/// gojsonschema also names the keyword around the mismatch, and lists types in the order of the schema.
#[test]
#[rustfmt::skip]
fn keywords_around_a_mismatch_are_left_out() {
    let cases = [
        (r#"{"type":["string","null"]}"#, r#"5"#, r#"(root): Invalid type. Expected: [null,string], given: integer"#),
        (r#"{"contains":{"type":"string"}}"#, r#"[1,2]"#, r#"(root): At least one of the items must match"#),
        (r#"{"propertyNames":{"maxLength":1}}"#, r#"{"abc":1}"#, r#"(root): Property name of "abc" does not match"#),
        (r#"{"allOf":[{"required":["a"]},{"required":["b"]}]}"#, r#"{}"#, r#"(root): a is required; (root): b is required"#),
        (r#"{"if":{"required":["a"]},"then":{"required":["b"]}}"#, r#"{"a":1}"#, r#"(root): b is required"#),
    ];
    let got = cases.map(|(schema, document, _)| (schema, document, mismatches(schema, document)));
    assert_eq!(got, cases.map(|(schema, document, wanted)| (schema, document, wanted.to_owned())));
}

#[test]
fn a_schema_that_is_none_is_told() {
    for document in [
        json!({"type": "nonsense"}),
        json!({"properties": 5}),
        json!({"pattern": "("}),
        json!({"pattern": "((a{1000}){1000}){1000}"}),
        json!({"$ref": "http://127.0.0.1:1/schema.json"}),
    ] {
        let why = BodyValidator::compile(&document).unwrap_err();
        assert!(why.starts_with("not a valid schema: "), "{why}");
    }
}

#[test]
fn a_pattern_takes_linear_time() {
    let validator = BodyValidator::compile(&json!({"pattern": "^(a+)+$"})).unwrap();
    let hostile = Value::from(format!("{}b", "a".repeat(100_000))).to_string();
    assert!(validator.check(hostile.as_bytes()).is_err());
}

#[test]
fn what_is_told_is_bounded() {
    let validator = BodyValidator::compile(&json!({"items": {"type": "string"}, "additionalProperties": false})).unwrap();
    let many = Value::Array(vec![json!(1); 100_000]);
    let wide = Value::Object((0..10_000).map(|index| (format!("{index}").repeat(100), json!(1))).collect());
    for document in [many, wide] {
        let Err(InvalidBody::Mismatches(told)) = validator.check(document.to_string().as_bytes()) else { panic!("mismatches") };
        assert!(told.len() < 10_000);
    }
}

#[test]
fn what_is_not_json_is_told() {
    for schema in [json!({}), json!({"not": {"type": "null"}})] {
        let validator = BodyValidator::compile(&schema).unwrap();
        let Err(InvalidBody::NotJson(error)) = validator.check(b"{\"a\":1,}") else { panic!("no JSON") };
        assert_eq!(error.to_string(), "trailing comma at line 1 column 8");
    }
}
