use super::*;
use serde_json::{Value, json};

fn mismatches(schema_text: &str, document: &str) -> String {
    let validator = BodyValidator::compile(&serde_json::from_str(schema_text).unwrap()).unwrap();
    let told = match validator.check(document.as_bytes(), Budget::of_body(document.len())) {
        Ok(()) => String::new(),
        Err(InvalidBody::Mismatches(told)) => told,
        Err(other) => panic!("{other:?}"),
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
    assert!(validator.check(hostile.as_bytes(), Budget::of_body(hostile.len())).is_err());
}

#[test]
fn what_is_told_is_bounded() {
    let validator = BodyValidator::compile(&json!({"items": {"type": "string"}, "additionalProperties": false})).unwrap();
    let many = Value::Array(vec![json!(1); 100_000]);
    let wide = Value::Object((0..10_000).map(|index| (format!("{index}").repeat(100), json!(1))).collect());
    for document in [many, wide] {
        let Err(InvalidBody::Mismatches(told)) = validator.check(document.to_string().as_bytes(), Budget::of_body(2 << 20)) else {
            panic!("mismatches")
        };
        assert!(told.len() < 10_000);
    }
}

#[test]
fn what_is_not_json_is_told() {
    for schema in [json!({}), json!({"not": {"type": "null"}})] {
        let validator = BodyValidator::compile(&schema).unwrap();
        let Err(InvalidBody::NotJson(error)) = validator.check(b"{\"a\":1,}", Budget::brief()) else { panic!("no JSON") };
        assert_eq!(error.to_string(), "trailing comma at line 1 column 8");
    }
}

/// A union of node types that refer back: alternatives to the power of the depth, if each says what is wrong below it.
fn tree_of_types(types: usize, keyword: &str) -> Value {
    let alternatives: Vec<Value> = (0..types)
        .map(
            |number| json!({"properties": {"child": {"$ref": "#"}, "type": {"const": format!("t{number}")}}, "required": ["type"]}),
        )
        .collect();
    json!({keyword: alternatives})
}

#[test]
fn alternatives_that_refer_back_take_work_that_grows_with_the_body_only() {
    for keyword in ["oneOf", "anyOf"] {
        let validator = BodyValidator::compile(&tree_of_types(20, keyword)).unwrap();
        for (leaf, is_valid) in [(json!({"type": "t3"}), true), (json!({"type": "none"}), false), (json!(5), keyword == "anyOf")] {
            let body = (0..30).fold(leaf, |child, level| json!({"type": format!("t{}", level % 20), "child": child})).to_string();
            let checked = validator.check(body.as_bytes(), Budget::brief());
            match checked {
                Ok(()) => assert!(is_valid, "{body}"),
                Err(InvalidBody::Mismatches(told)) => {
                    assert!(!is_valid, "{body} {told}");
                    assert!(told.contains("child.child.child: ") || told.contains("child.type: "), "{told}");
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

/// Each multiplies the work of one level by that of the next.
#[test]
fn no_keyword_makes_work_that_grows_exponentially() {
    let doubled = |wrap: &dyn Fn(Value, Value) -> Value| {
        let mut definitions = serde_json::Map::new();
        for level in 0..40 {
            let next = || json!({"$ref": format!("#/definitions/d{}", level + 1)});
            definitions.insert(format!("d{level}"), wrap(next(), next()));
        }
        definitions.insert("d40".to_owned(), json!({"type": "string"}));
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$ref": "#/definitions/d0", "definitions": definitions})
    };
    let object = (0..45).fold(json!("x"), |child, _| json!({"a": child}));
    let list = (0..45).fold(json!("x"), |child, _| json!([child]));
    type MadeSchema = Box<dyn Fn(Value, Value) -> Value>;
    let cases: [(&str, MadeSchema); 11] = [
        ("allOf", Box::new(|one, other| json!({"allOf": [one, other]}))),
        ("anyOf", Box::new(|one, other| json!({"anyOf": [{"allOf": [one, false]}, other]}))),
        ("not", Box::new(|one, other| json!({"not": one, "if": other}))),
        ("if", Box::new(|one, other| json!({"if": one, "then": other}))),
        ("items", Box::new(|one, other| json!({"items": one, "contains": other}))),
        ("properties", Box::new(|one, other| json!({"properties": {"a": one}, "patternProperties": {"a": other}}))),
        ("additionalProperties", Box::new(|one, other| json!({"additionalProperties": one, "patternProperties": {"a": other}}))),
        (
            "propertyNames",
            Box::new(|one, other| json!({"propertyNames": {"anyOf": [{"type": "string"}, one]}, "properties": {"a": other}})),
        ),
        ("dependentSchemas", Box::new(|one, other| json!({"dependentSchemas": {"a": one}, "properties": {"a": other}}))),
        ("unevaluatedProperties", Box::new(|one, other| json!({"anyOf": [one], "unevaluatedProperties": other}))),
        ("unevaluatedItems", Box::new(|one, other| json!({"anyOf": [one], "unevaluatedItems": other}))),
    ];
    for (keyword, wrap) in cases {
        let validator = BodyValidator::compile(&doubled(&*wrap)).unwrap();
        for body in [&object, &list, &json!("x"), &json!(1)] {
            let checked = validator.check(body.to_string().as_bytes(), Budget::brief());
            assert!(!matches!(checked, Err(InvalidBody::TooMuchWork)), "{keyword} {body}");
        }
    }
}

#[test]
fn lists_are_compared_in_time_that_grows_with_their_length() {
    let unique = BodyValidator::compile(&json!({"uniqueItems": true})).unwrap();
    let allowed: Vec<Value> = (0..10_000).map(|number| json!({"a": number, "b": [number]})).collect();
    let listed = BodyValidator::compile(&json!({"items": {"enum": allowed}})).unwrap();
    let items: Vec<Value> = (0..10_000).map(|number| json!({"b": [number], "a": number})).collect();
    let body = Value::from(items).to_string();
    for validator in [unique, listed] {
        assert!(validator.check(body.as_bytes(), Budget::of_body(body.len())).is_ok());
    }
}

#[test]
fn values_are_equal_whatever_they_are_written_like() {
    for (schema, body, is_valid) in [
        (r#"{"const": {"a": 1, "b": [2]}}"#, r#"{"b": [2.0], "a": 1e0}"#, true),
        (r#"{"enum": [{"a": 1, "b": 2}]}"#, r#"{"b": 2, "a": 1}"#, true),
        (r#"{"enum": [[1, 2]]}"#, r#"[2, 1]"#, false),
        (r#"{"enum": [0]}"#, r#"-0.0"#, true),
        (r#"{"enum": [0]}"#, r#"false"#, false),
        (r#"{"enum": [9007199254740993]}"#, r#"9007199254740992.0"#, false),
        (r#"{"enum": [18446744073709551615]}"#, r#"18446744073709551615"#, true),
        (r#"{"uniqueItems": true}"#, r#"[{"a": 1, "b": 2}, {"b": 2, "a": 1}]"#, false),
        (r#"{"uniqueItems": true}"#, r#"[1, 1.0]"#, false),
        (r#"{"uniqueItems": true}"#, r#"[1, true, "1", [1], {"a": 1}, null]"#, true),
        (r#"{"uniqueItems": true}"#, r#"[[{"a": [1.0]}], [{"a": [1]}]]"#, false),
        (r#"{"multipleOf": 1.5}"#, r#"-4.5"#, true),
        (r#"{"multipleOf": 0.01}"#, r#"4.35"#, true),
        (r#"{"multipleOf": 0.0001}"#, r#"0.00751"#, false),
        (r#"{"multipleOf": 0.123456789}"#, r#"1e308"#, false),
        (r#"{"multipleOf": 1e-8}"#, r#"12391239123"#, true),
        (r#"{"multipleOf": 2}"#, r#"18446744073709551614"#, true),
        (r#"{"minimum": 9007199254740993}"#, r#"9007199254740992"#, false),
        (r#"{"exclusiveMaximum": 1}"#, r#"0.999999"#, true),
    ] {
        assert_eq!(mismatches(schema, body).is_empty(), is_valid, "{schema} {body}");
    }
}

#[test]
fn a_budget_that_is_used_up_is_no_verdict() {
    let validator = BodyValidator::compile(&json!({"items": {"oneOf": [{"type": "string"}, {"type": "integer"}]}})).unwrap();
    let body = format!("[{}]", vec!["1"; 100_000].join(","));
    assert!(matches!(validator.check(body.as_bytes(), Budget::brief()), Err(InvalidBody::TooMuchWork)));
    assert!(validator.check(body.as_bytes(), Budget::of_body(body.len())).is_ok());
    let endless =
        BodyValidator::compile(&json!({"$ref": "#/definitions/a", "definitions": {"a": {"allOf": [{"$ref": "#/definitions/a"}]}}}));
    assert!(matches!(endless.unwrap().check(b"1", Budget::of_body(1)), Err(InvalidBody::TooMuchWork)));
}

#[test]
fn references_lead_to_places_names_and_addresses_of_the_document() {
    for (schema, fits, unfit) in [
        (
            r##"{"$id": "http://x/root.json", "definitions": {"A": {"$id": "a.json", "type": "integer"}}, "properties": {"p": {"$ref": "a.json"}}}"##,
            r#"{"p": 1}"#,
            r#"{"p": "x"}"#,
        ),
        (r##"{"definitions": {"A": {"$id": "#a", "type": "integer"}}, "items": {"$ref": "#a"}}"##, "[1]", r#"["x"]"#),
        (
            r##"{"$id": "http://x/", "items": {"$id": "y/", "items": {"$ref": "z.json"}, "definitions": {"z": {"$id": "z.json", "type": "integer"}}}}"##,
            "[[1]]",
            r#"[["x"]]"#,
        ),
        (r##"{"properties": {"$ref": {"type": "string"}}}"##, r#"{"$ref": "a"}"#, r#"{"$ref": 1}"#),
        (r##"{"$ref": "http://json-schema.org/draft-07/schema#"}"##, r#"{"minLength": 1}"#, r#"{"minLength": -1}"#),
        (r##"{"items": {"$ref": "#/definitions/a%25~1"}, "definitions": {"a%/": {"type": "integer"}}}"##, "[1]", r#"["x"]"#),
        (
            r##"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"a": {"$anchor": "n", "type": "integer"}}, "items": {"$ref": "#n"}}"##,
            "[1]",
            r#"["x"]"#,
        ),
        (
            r##"{"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://x/", "definitions": {"a": {"id": "b", "type": "integer"}}, "items": {"$ref": "http://x/b"}}"##,
            "[1]",
            r#"["x"]"#,
        ),
    ] {
        assert_eq!(mismatches(schema, fits), "", "{schema}");
        assert_ne!(mismatches(schema, unfit), "", "{schema}");
    }
}

#[test]
fn patterns_of_strangers_take_little_together() {
    let pattern = |n: usize| (format!("p{n}"), json!({"pattern": format!("(a{{1,90}}){{1,90}}{n}")}));
    let all = |count: usize| json!({"properties": (0..count).map(pattern).collect::<serde_json::Map<_, _>>()});
    assert!(BodyValidator::compile_within(&all(2), 4 << 20).is_ok());
    let why = BodyValidator::compile_within(&all(2_500), 4 << 20).unwrap_err();
    assert!(why.contains("KiB when compiled"), "{why}");
    assert!(BodyValidator::compile(&all(20)).is_ok());
}
