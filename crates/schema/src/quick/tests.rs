use super::*;
use crate::JsonTree;
use proptest::prelude::*;
use serde_json::{Map, json};

fn judge(schema: &Value, document: &Value) -> Option<Judgement> {
    let text = document.to_string();
    Some(QuickSchema::compile(schema)?.judge(&JsonTree::read(text.as_bytes()).unwrap()))
}

/// What the complete form says; `None` for what is no schema.
fn complete(schema: &Value, document: &Value) -> Option<bool> {
    crate::complete(schema, crate::draft(schema)).ok().map(|validator| validator.is_valid(document))
}

#[test]
#[rustfmt::skip]
fn common_keywords_are_judged_without_the_complete_form() {
    let person = json!({"definitions": {"p": {"type": "object", "properties": {"p": {"$ref": "#/definitions/p"}}, "required": ["n"]}}, "$ref": "#/definitions/p"});
    for (schema, valid, invalid) in [
        (json!({}), json!(1), None),
        (json!(false), Value::Null, Some(json!(1))),
        (json!({"type": "integer"}), json!(-5), Some(json!("x"))),
        (json!({"type": ["string", "null"]}), json!(null), Some(json!(5))),
        (json!({"enum": ["x", 3, null, true]}), json!(3.0), Some(json!("y"))),
        (json!({"const": "x"}), json!("x"), Some(json!([1]))),
        (json!({"minLength": 2, "maxLength": 3}), json!("éé"), Some(json!("é"))),
        (json!({"pattern": "^a+$"}), json!("aa"), Some(json!("b"))),
        (json!({"format": "email"}), json!("a@b.example"), Some(json!("nope"))),
        (json!({"format": "uuid"}), json!("0b5e3c6e-7c0f-4f0a-9c66-0123456789aB"), Some(json!("0b5e"))),
        (json!({"minimum": 1, "exclusiveMaximum": 5}), json!(1), Some(json!(5))),
        (json!({"minimum": 1, "maximum": 5}), json!(4.5), Some(json!(5.5))),
        (json!({"exclusiveMinimum": 0.5}), json!(1), Some(json!(0))),
        (json!({"multipleOf": 0.5}), json!(1.5), Some(json!(1.2))),
        (json!({"maximum": 18_446_744_073_709_551_615_u64}), json!(18_446_744_073_709_551_615_u64), Some(json!(1e300))),
        (json!({"items": {"type": "string"}, "minItems": 1, "maxItems": 2}), json!(["a"]), Some(json!(["a", 1]))),
        (json!({"required": ["a"], "properties": {"a": {"type": "boolean"}, "b": {}}, "additionalProperties": false}), json!({"b": 1, "a": true}), Some(json!({"b": 1}))),
        (json!({"required": ["a"], "additionalProperties": {"type": "string"}}), json!({"a": "x"}), Some(json!({"a": 1}))),
        (json!({"minProperties": 1, "maxProperties": 2}), json!({"a": 1}), Some(json!({}))),
        (json!({"allOf": [{"type": "object"}, {"required": ["a"]}]}), json!({"a": 1}), Some(json!({"b": 1}))),
        (json!({"anyOf": [{"type": "string"}, {"minimum": 3}]}), json!(3), Some(json!(2))),
        (json!({"oneOf": [{"type": "string"}, {"minimum": 3}]}), json!(3), Some(json!("x"))),
        (person, json!({"n": 1, "p": {"n": 2, "p": {"n": 3}}}), Some(json!({"n": 1, "p": {}}))),
        (json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://a.example/b", "$defs": {"a": {"type": "null"}}, "items": {"$ref": "#/$defs/a"}}), json!([null]), Some(json!([1]))),
    ] {
        if schema != json!(false) {
            assert_eq!(judge(&schema, &valid), Some(Judgement::Valid), "{schema} {valid}");
            assert_eq!(complete(&schema, &valid), Some(true), "{schema} {valid}");
        }
        if let Some(invalid) = invalid {
            assert_eq!(judge(&schema, &invalid), Some(Judgement::Invalid), "{schema} {invalid}");
            assert_eq!(complete(&schema, &invalid), Some(false), "{schema} {invalid}");
        }
    }
}

#[test]
fn what_is_not_covered_has_no_quick_form() {
    let draft = |name: &str| json!({"$schema": format!("http://json-schema.org/{name}/schema#")});
    for schema in [
        draft("draft-04"),
        json!({"not": {}}),
        json!({"uniqueItems": true}),
        json!({"enum": [[1]]}),
        json!({"properties": {"a": {"patternProperties": {}}}}),
        json!({"items": [{}]}),
        json!({"properties": {"a": {"$id": "https://a.example/", "$ref": "#"}}}),
        json!({"$ref": "#/definitions/a~1b", "definitions": {"a/b": {}}}),
        json!({"$ref": "#/definitions/a", "type": "object", "definitions": {"a": {}}}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"contentMediaType": "application/json"}),
        (0..100).fold(json!({}), |inner, _| json!({"items": inner})),
    ] {
        assert!(QuickSchema::compile(&schema).is_none(), "{schema}");
    }
    assert_eq!(judge(&json!({"type": "integer"}), &json!(1.0)), Some(Judgement::Unsure));
}

#[test]
fn the_last_of_double_members_counts() {
    let quick = QuickSchema::compile(&json!({"properties": {"a": {"type": "string"}}, "maxProperties": 1})).unwrap();
    for (text, judgement) in [(r#"{"a":1,"a":"x"}"#, Judgement::Valid), (r#"{"a":"x","a":1}"#, Judgement::Invalid)] {
        assert_eq!(quick.judge(&JsonTree::read(text.as_bytes()).unwrap()), judgement, "{text}");
    }
}

/// Documents with few names and values, so that schemas often concern them.
fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(1.0), Just(-2.0), Just(2.5), Just(1e300)].prop_map(Value::from),
        prop_oneof![Just(u64::MAX), Just(1 << 63)].prop_map(Value::from),
        prop_oneof![Just(""), Just("a"), Just("ab"), Just("éé"), Just("2020-01-01"), Just("a@b.c")].prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((names(), inner), 0..4).prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c")].prop_map(str::to_owned)
}

fn keyword(schemas: BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let kind = || {
        prop_oneof![Just("null"), Just("boolean"), Just("integer"), Just("number"), Just("string"), Just("array"), Just("object")]
    };
    let list = || proptest::collection::vec(schemas.clone(), 1..4).prop_map(Value::from);
    let limit = || prop_oneof![(-2_i64..3).prop_map(Value::from), Just(json!(0.5)), Just(json!(u64::MAX)), Just(json!(i64::MAX))];
    prop_oneof![
        (Just("type"), kind().prop_map(Value::from)),
        (Just("type"), proptest::collection::hash_set(kind(), 1..4).prop_map(|kinds| json!(kinds.into_iter().collect::<Vec<_>>()))),
        (Just("enum"), proptest::collection::vec(documents(), 1..4).prop_map(Value::from)),
        (Just("const"), documents()),
        (prop_oneof![Just("minLength"), Just("maxLength")], (0_u64..4).prop_map(Value::from)),
        (prop_oneof![Just("minItems"), Just("maxItems")], (0_u64..4).prop_map(Value::from)),
        (prop_oneof![Just("minProperties"), Just("maxProperties")], (0_u64..4).prop_map(Value::from)),
        (prop_oneof![Just("minimum"), Just("maximum"), Just("exclusiveMinimum"), Just("exclusiveMaximum")], limit()),
        (Just("multipleOf"), prop_oneof![Just(json!(0.5)), Just(json!(2))]),
        (Just("pattern"), prop_oneof![Just(json!("^a")), Just(json!("b$"))]),
        (Just("format"), prop_oneof![Just(json!("date")), Just(json!("email")), Just(json!("none"))]),
        (prop_oneof![Just("items"), Just("additionalProperties")], schemas.clone()),
        (Just("properties"), proptest::collection::hash_map(names(), schemas.clone(), 0..3).prop_map(|members| json!(members))),
        (
            Just("required"),
            proptest::collection::hash_set(names(), 0..3).prop_map(|names| json!(names.into_iter().collect::<Vec<_>>()))
        ),
        (prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf")], list()),
        (Just("$ref"), prop_oneof![Just(json!("#/definitions/a")), Just(json!("#"))]),
    ]
    .boxed()
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![4 => Just(json!({})), 1 => any::<bool>().prop_map(Value::from)];
    let schema = leaf.prop_recursive(3, 30, 4, |inner| {
        proptest::collection::vec(keyword(inner.boxed()), 1..4)
            .prop_map(|keywords| Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
    });
    (schema.clone(), schema, 0..4_usize).prop_map(|(mut root, defined, draft)| {
        if let Value::Object(members) = &mut root {
            members.insert("definitions".to_owned(), json!({"a": defined}));
            let drafts = [
                "",
                "http://json-schema.org/draft-06/schema#",
                "https://json-schema.org/draft/2019-09/schema",
                "https://json-schema.org/draft/2020-12/schema",
            ];
            if draft > 0 {
                members.insert("$schema".to_owned(), drafts[draft].into());
            }
        }
        root
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn the_quick_form_never_contradicts_the_complete_one(schema in schemas(), documents in proptest::collection::vec(documents(), 8)) {
        // References in a circle do not end in the complete form.
        let Some(quick) = QuickSchema::compile(&schema) else { return Ok(()) };
        let Ok(complete) = crate::complete(&schema, crate::draft(&schema)) else { return Ok(()) };
        for document in documents {
            let text = document.to_string();
            let judgement = quick.judge(&JsonTree::read(text.as_bytes()).unwrap());
            if judgement != Judgement::Unsure {
                prop_assert_eq!(judgement == Judgement::Valid, complete.is_valid(&document), "{} {}", schema, text);
            }
        }
    }
}
