//! What is read of documents, and that their size is no matter.

use super::{fields, operations};
use serde_json::json;

#[test]
fn operations_are_told_with_what_people_search_for() {
    let document = json!({"paths": {
        "/orders": {
            "parameters": [],
            "get": {"summary": "List orders", "operationId": "listOrders"},
            "post": {"summary": 7},
            "put": "nothing",
        },
        "/none": "nothing",
    }});
    let found = operations(&document, 10);
    let told = |method: &str, summary: &str, id: &str| json!({"method": method, "path": "/orders", "summary": summary, "operation_id": id});
    assert_eq!(found, [told("get", "List orders", "listOrders"), told("post", "", "")]);
    assert_eq!(operations(&document, 1).len(), 1);
    assert!(operations(&json!({"paths": []}), 10).is_empty());
}

#[test]
fn fields_are_those_of_types_and_not_what_descriptions_say() {
    let schema = r##"
        """ type Hidden { no: Int } """
        type Query implements Node @key(fields: "id") {
          "greets: everybody"
          hello(name: String = "x", more: [Int!]): String # not: this
          order: Order
        }
        enum Colour { RED }
        extend type Order { id: ID!, sku: String }
        input NewOrder { sku: String! }
        schema { query: Query }
    "##;
    assert_eq!(fields(schema, 10), ["Query.hello", "Query.order", "Order.id", "Order.sku", "NewOrder.sku"]);
    assert_eq!(fields(schema, 2).len(), 2);
    for broken in ["", "type", "type {", "type A { \"", "}}}} type é { ü: x }", "\"\"\"", "type A { a(b: { c: 1 "] {
        assert!(fields(broken, 10).len() <= 1, "{broken}");
    }
}
