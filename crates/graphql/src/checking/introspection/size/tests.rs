use super::SchemaCounts;
use crate::DocumentLimits;
use crate::checking::document::tests::schema;
use serde_json::Value;

const LIMITS: DocumentLimits = DocumentLimits { tokens_max: 1_000_000, depth_max: 64, fields_max: 100_000, aliases_max: 10_000 };
/// What clients ask first.
const USUAL: &str = "{ __schema { queryType { name } types { ...Full } directives { name locations args { ...Input } } } }
fragment Full on __Type { kind name fields(includeDeprecated: true) { name args { ...Input } type { ...Ref } } inputFields { ...Input }
  interfaces { ...Ref } enumValues(includeDeprecated: true) { name } possibleTypes { ...Ref } }
fragment Input on __InputValue { name type { ...Ref } defaultValue }
fragment Ref on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }";

/// The values of an answer: members of objects, and items of lists that are objects.
fn values(value: &Value) -> u64 {
    match value {
        Value::Object(members) => members.values().map(|value| u64::from(!value.is_array()) + values(value)).sum(),
        Value::Array(items) => items.iter().map(|item| u64::from(item.is_object()) + values(item)).sum(),
        _ => 0,
    }
}

#[test]
fn an_answer_never_has_more_values_than_were_counted() {
    let schema = schema();
    for text in [
        USUAL,
        "{ __schema { types { name } } }",
        "{ __type(name: \"Query\") { fields { args { name } type { fields { name type { name ofType { name } } } } } } }",
        "{ __type(name: \"Node\") { possibleTypes { fields { args { type { name } } } } } }",
        "{ a: __schema { types { fields { type { fields { name } } } } } b: __schema { types { enumValues { name } } } }",
    ] {
        let checked = schema.check(text, &LIMITS).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        let operation = checked.operation(None).unwrap();
        let answer = schema.introspect(operation, None).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let (counted, has) = (SchemaCounts::new(&schema).values(operation), values(&answer["data"]));
        assert!(has <= counted, "{text}: {has} values, {counted} counted");
    }
}

#[test]
fn lists_of_the_whole_schema_are_counted_as_they_are() {
    let schema = schema();
    let count = |text: &str| SchemaCounts::new(&schema).values(schema.check(text, &LIMITS).ok().unwrap().operation(None).unwrap());
    let types = schema.definition().types.len() as u64;
    assert_eq!(count("{ __schema { types { name kind } } }"), 1 + types + 2 * types);
    // The second is of any type, so that the largest counts.
    assert!(count("{ __schema { types { fields { type { fields { name } } } } } }") > 1_000);
}

#[test]
fn an_answer_that_may_have_too_many_values_is_refused() {
    let schema = schema();
    let aliases =
        (0..4_000).map(|index| format!("a{index}: __schema {{ types {{ fields {{ type {{ fields {{ name }} }} }} }} }} "));
    let text = format!("{{ {} }}", aliases.collect::<String>());
    let checked = schema.check(&text, &LIMITS).ok().unwrap();
    let refused = schema.introspect(checked.operation(None).unwrap(), None).err().map(|error| error.message);
    assert!(refused.as_ref().is_some_and(|message| message.starts_with("the answer may have ")), "{refused:?}");
}
