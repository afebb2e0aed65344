use crate::checking::document::tests::{checked, schema};
use serde_json::{Value, json};

fn said(text: &str, values: &Value) -> String {
    let document = checked(text);
    let operation = document.operation(None).unwrap();
    operation.check_variables(&schema(), values.as_object()).err().map(|error| error.message).unwrap_or_default()
}

#[test]
fn values_must_fit_the_types_of_variables() {
    let id = "query($id: ID!) { user(id: $id) { id } }";
    let list = "query($ids: [Int!], $size: Size) { list(ids: $ids, size: $size) { id } }";
    let filter = "query($f: Filter) { user(id: 1, where: $f) { id } }";
    for (text, values, wanted) in [
        (id, json!({"id": "a"}), ""),
        (id, json!({"id": 7}), ""),
        (id, json!({"id": 7.5}), "Validation for variable \"id\" failed: expected ID, but got number"),
        (id, json!({}), "Required variable \"$id\" was not provided"),
        (id, json!({"id": null}), "Validation for variable \"id\" failed: expected ID!, but got null"),
        (id, json!({"id": {}}), "expected ID, but got object"),
        (list, json!({}), ""),
        (list, json!({"ids": null, "other": 3}), ""),
        (list, json!({"ids": [1, 2.0], "size": "LARGE"}), ""),
        (list, json!({"ids": 1}), ""),
        (list, json!({"ids": [1, 2_147_483_648_i64]}), "field 1, expected Int, but got number"),
        (list, json!({"ids": [null]}), "field 0, expected Int!, but got null"),
        (list, json!({"size": "HUGE"}), "expected Size, but got string"),
        (list, json!({"size": 1}), "expected Size, but got number"),
        (filter, json!({"f": {"name": "n", "ages": [1, null]}}), ""),
        (filter, json!({"f": {"ages": []}}), "Field \"Filter.name\" of required type \"String!\" was not provided."),
        (filter, json!({"f": {"name": "n", "age": 1}}), "Field \"age\" is not defined by type \"Filter\"."),
        (filter, json!({"f": {"name": "n", "ages": ["x"]}}), "field ages.0, expected Int, but got string"),
        (filter, json!({"f": []}), "expected Filter, but got array"),
    ] {
        let found = said(text, &values);
        assert!(if wanted.is_empty() { found.is_empty() } else { found.contains(wanted) }, "{text} {values}: {found}");
    }
}

#[test]
fn the_schema_answers_queries_for_it() {
    let schema = schema();
    let document = checked("query($n: String!) { __type(name: $n) { kind fields { name } } x: __typename }");
    let values = json!({"n": "Pet"});
    let body = schema.introspect(document.operation(None).unwrap(), values.as_object()).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let fields = json!([{"name": "id"}, {"name": "name"}, {"name": "owner"}]);
    assert_eq!(body, json!({"data": {"__type": {"kind": "OBJECT", "fields": fields}, "x": "Query"}}));
    let cycle = "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }";
    let document = checked(cycle);
    assert!(schema.introspect(document.operation(None).unwrap(), None).is_err());
}
