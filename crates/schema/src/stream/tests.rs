use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::first::tests::{CompiledSchema, compiled as compiled_document};

/// The schema as `A`, beside one that contains itself, one without own keywords, and one whose properties have sides.
fn compiled(version: &str, schema: &Value) -> Option<CompiledSchema> {
    let root = json!({"openapi": version, "components": {"schemas": {
        "A": schema,
        "Node": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Node"}, "b": {"type": "string"}}, "required": ["b"]},
        "Base": {"allOf": [{"$ref": "#/components/schemas/Node"}, {"properties": {"c": {"type": "integer"}}, "required": ["c"]}]},
        "Sides": {
            "properties": {"a": {"type": "integer", "readOnly": true}, "b": {"writeOnly": true}, "c": {}}, "required": ["a", "b", "c"],
        },
    }}});
    compiled_document(version, &root).ok()
}

/// Whether the quick form finds that a value fits, and whether the complete form does.
fn both(compiled: &CompiledSchema, text: &str, side: SchemaSide) -> (bool, bool) {
    let quick = compiled.schemas.fits_json(compiled.root, text.as_bytes(), side, Budget::of_body(0)) == Streamed::Fits;
    let complete = serde_json::from_str(text).is_ok_and(|value| compiled.check(&value, side).is_ok());
    // What is told and what is decided are the same.
    if let Ok(tree) = JsonTree::read(text.as_bytes()) {
        let fits = CheckRun::new(&compiled.schemas, side, Budget::of_body(0)).fits(compiled.root, &tree, 0);
        // A schema that applies itself to the same value ends by its depth.
        assert!(fits.is_err() || fits == Ok(complete), "{text}");
    }
    (quick, complete)
}

#[test]
fn common_schemas_have_a_quick_form() {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let many: Map<String, Value> = (0..20).map(|number| (format!("p{number}"), json!({"type": "integer"}))).collect();
    for (schema, fits, unfit) in [
        (json!({}), r#"{"a": [1, "x", null, {"b": 1.5}]}"#, "{"),
        (json!({"type": "integer", "format": "int32"}), "7", "7.5"),
        (json!({"type": "integer", "minimum": 2}), "2.0", "1"),
        (json!({"type": "number", "multipleOf": 0.5}), "1.5", "1.2"),
        (json!({"type": "string", "minLength": 2, "format": "date"}), r#""2024-02-29""#, r#""2023-02-29""#),
        (json!({"type": "string", "pattern": "^a+$"}), r#""a\u0061""#, r#""ab""#),
        (json!({"enum": ["a", 1, true, null]}), "1.0", r#""b""#),
        (json!({"enum": ["a"]}), r#""a""#, "[]"),
        (json!({"type": "array", "items": {"type": "string"}, "maxItems": 2}), r#"["a", "b"]"#, r#"["a", "b", "c"]"#),
        (json!({"properties": {"a": {}}, "additionalProperties": false}), r#"{"a": 1}"#, r#"{"b": 1}"#),
        (json!({"additionalProperties": {"type": "string"}, "required": ["a", "a"]}), r#"{"a": "x"}"#, r#"{"a": 1}"#),
        (json!({"properties": many, "required": ["p0", "p19"]}), r#"{"p19": 1, "p0": 2}"#, r#"{"p19": 1, "p19": 2}"#),
        (reference("Node"), r#"{"b": "x", "a": {"b": "y", "more": [1]}}"#, r#"{"b": "x", "a": {}}"#),
        (reference("Base"), r#"{"b": "x", "c": 1}"#, r#"{"b": "x"}"#),
        (
            json!({"allOf": [reference("Base"), {"properties": {"b": {"maxLength": 1}}}]}),
            r#"{"b": "x", "c": 1}"#,
            r#"{"b": "xy", "c": 1}"#,
        ),
        (json!({"items": {"oneOf": [{"type": "string"}, {"type": "number", "minimum": 2}]}}), r#"["x", 2]"#, "[1]"),
        (json!({"properties": {"a": {"uniqueItems": true}}}), r#"{"a": [1, 2]}"#, r#"{"a": [1, 1]}"#),
    ] {
        for version in ["3.0.3", "3.1.0"] {
            let compiled = compiled(version, &schema).unwrap();
            assert_eq!(both(&compiled, fits, SchemaSide::Request), (true, true), "{schema} {fits} {version}");
            assert_eq!(both(&compiled, unfit, SchemaSide::Request), (false, false), "{schema} {unfit} {version}");
        }
    }
}

#[test]
fn null_fits_as_each_version_says() {
    let nullable = json!({"properties": {"a": {"type": "string", "nullable": true}}});
    let listed = json!({"properties": {"a": {"type": ["string", "null"]}}});
    let text = r#"{"a": null}"#;
    assert_eq!(both(&compiled("3.0.3", &nullable).unwrap(), text, SchemaSide::Request), (true, true));
    assert_eq!(both(&compiled("3.1.0", &nullable).unwrap(), text, SchemaSide::Request), (false, false));
    assert_eq!(both(&compiled("3.1.0", &listed).unwrap(), text, SchemaSide::Request), (true, true));
}

#[test]
fn properties_of_one_side_are_required_and_allowed_there_only() {
    for version in ["3.0.3", "3.1.0"] {
        let compiled = compiled(version, &json!({"$ref": "#/components/schemas/Sides"})).unwrap();
        for (text, request, response) in [
            (r#"{"b": 1, "c": 1}"#, (true, true), (false, false)),
            (r#"{"a": 1, "c": 1}"#, (false, false), (true, true)),
            (r#"{"a": 1, "b": 1, "c": 1}"#, (false, false), (false, false)),
            (r#"{"c": 1}"#, (false, false), (false, false)),
        ] {
            assert_eq!(both(&compiled, text, SchemaSide::Request), request, "{text} {version}");
            assert_eq!(both(&compiled, text, SchemaSide::Response), response, "{text} {version}");
        }
    }
}

/// Documents with few names and values, so that schemas often concern them. Names may occur twice.
fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop_oneof![
            Just("null"),
            Just("true"),
            Just("false"),
            Just("0.5"),
            Just("1.0"),
            Just("1e400"),
            Just("18446744073709551615")
        ]
        .prop_map(str::to_owned),
        (-3_i64..4).prop_map(|number| number.to_string()),
        prop_oneof![Just(r#""""#), Just(r#""a""#), Just(r#""ab""#), Just(r#""\ud800""#), Just(r#""2020-01-01""#)]
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((names(), inner), 0..4).prop_map(|members| {
                let members: Vec<_> = members.into_iter().map(|(name, member)| format!("{name:?}:{member}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c")].prop_map(str::to_owned)
}

fn keyword(schemas: BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let kind = || {
        prop_oneof![Just("boolean"), Just("integer"), Just("number"), Just("string"), Just("array"), Just("object"), Just("null")]
    };
    let list = || proptest::collection::vec(schemas.clone(), 1..4).prop_map(Value::from);
    let value = || {
        let texts = documents().prop_map(|text| serde_json::from_str(&text).unwrap_or(Value::Null));
        prop_oneof![texts, Just(json!("a")), Just(json!(1))]
    };
    let limit = || prop_oneof![(-2_i64..3).prop_map(Value::from), Just(json!(0.5))];
    let count = || (0_u64..4).prop_map(Value::from);
    prop_oneof![
        4 => (Just("type"), kind().prop_map(Value::from)),
        1 => (Just("enum"), proptest::collection::vec(value(), 1..4).prop_map(Value::from)),
        1 => (Just("const"), value()),
        1 => (prop_oneof![Just("minLength"), Just("maxLength"), Just("minItems"), Just("maxItems")], count()),
        1 => (prop_oneof![Just("minProperties"), Just("maxProperties")], count()),
        1 => (prop_oneof![Just("minimum"), Just("maximum")], limit()),
        1 => (prop_oneof![Just("nullable"), Just("readOnly"), Just("writeOnly"), Just("uniqueItems")], Just(json!(true))),
        1 => (Just("pattern"), prop_oneof![Just(json!("^a")), Just(json!("b$"))]),
        1 => (Just("format"), prop_oneof![Just(json!("date")), Just(json!("int32")), Just(json!("none"))]),
        2 => (prop_oneof![Just("items"), Just("additionalProperties"), Just("not"), Just("unevaluatedProperties")], schemas.clone()),
        1 => (Just("additionalProperties"), any::<bool>().prop_map(Value::from)),
        4 => (Just("properties"), proptest::collection::hash_map(names(), schemas.clone(), 0..3).prop_map(|members| json!(members))),
        1 => (Just("patternProperties"), schemas.clone().prop_map(|schema| json!({"a|b": schema}))),
        2 => (Just("required"), proptest::collection::vec(names(), 0..3).prop_map(Value::from)),
        3 => (prop_oneof![Just("allOf"), Just("allOf"), Just("anyOf"), Just("oneOf"), Just("prefixItems")], list()),
        2 => (Just("$ref"), prop_oneof![Just("Node"), Just("Base"), Just("Sides"), Just("A")].prop_map(|name| json!(format!("#/components/schemas/{name}")))),
    ]
    .boxed()
}

fn schemas() -> impl Strategy<Value = Value> {
    Just(json!({})).prop_recursive(3, 30, 4, |inner| {
        proptest::collection::vec(keyword(inner.boxed()), 1..4)
            .prop_map(|keywords| Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_the_quick_form_lets_pass_the_complete_one_does_too(schema in schemas(), documents in proptest::collection::vec(documents(), 8)) {
        for version in ["3.0.3", "3.1.0"] {
            let Some(compiled) = compiled(version, &schema) else { continue };
            for text in &documents {
                for side in [SchemaSide::Request, SchemaSide::Response] {
                    let (quick, complete) = both(&compiled, text, side);
                    prop_assert!(complete || !quick, "{} {} {} {:?}", version, schema, text, side);
                }
            }
        }
    }
}
