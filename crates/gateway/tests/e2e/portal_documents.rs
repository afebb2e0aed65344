//! Documents of APIs as the portal shows them: whoever writes one can neither run anything in a visitor's browser nor bring it to a stop.

use serde_json::{Map, Value, json};

use crate::harness::browser::Browser;
use crate::harness::graph::SCHEMA;
use crate::keys::keyed;
use crate::portal::{expect_accessible, stage, stage_of};

const EVIL: &str =
    "<img src=x onerror='window.ran=1'><script>window.ran=1</script>[go](javascript:window.ran=1) ![](http://127.0.0.1:9/spy)";

/// A document in which everything that a reader sees is hostile; references to other places are refused before. Its schema has a hundred members that are the schema itself.
fn document(target: &str) -> Value {
    let members: Map<String, Value> =
        (0..100).map(|at| (format!("m{at}{EVIL}"), json!({"$ref": "#/components/schemas/Wide"}))).collect();
    let of = |name: &str| json!({"description": EVIL, "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{name}")}}}});
    let operation = json!({
        "operationId": "op", "summary": EVIL, "description": EVIL,
        "parameters": [{"name": EVIL, "in": "query", "description": EVIL, "schema": {"type": "string", "enum": [EVIL]}}],
        "requestBody": of("Wide"),
        "responses": {"200": of("Wide"), "404": of("Wide")},
    });
    json!({
        "openapi": "3.0.3",
        "info": {"title": EVIL, "version": "1", "description": EVIL},
        "externalDocs": {"url": "javascript:window.ran=1"},
        "paths": {"/a": {"post": operation}},
        "components": {"schemas": {"Wide": {"type": "object", "description": EVIL, "properties": members}}},
        "x-tyk-api-gateway": {
            "info": {"name": "evil", "id": "evil", "state": {"active": true}},
            "server": {"listenPath": {"value": "/evil/", "strip": true}},
            "upstream": {"url": target},
        },
    })
}

#[test]
fn a_hostile_document_runs_nothing_and_holds_up_nobody() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    stage.control("POST", "/tyk/apis/oas", &document("http://127.0.0.1:9/"));
    let plan = json!({"id": "free", "name": "Free", "policy": "gold", "approval": "automatic"});
    let product = json!({"name": EVIL, "summary": EVIL, "description": EVIL, "apis": ["evil"], "is_public": true, "plans": [plan]});
    stage.control("PUT", "/tyk/portal/products/evil", &product);
    let mut tab = browser.tab();
    for view in ["", "#/products/evil", "#/search", "#/products/evil/apis/evil"] {
        tab.open_page(&stage.page(view));
        tab.wait("document.querySelector('main h1, main .empty, main .note')");
    }
    // What is folded is made when it is opened: there is an end of it.
    tab.wait("document.querySelectorAll('details').length >= 3");
    tab.eval("document.querySelectorAll('details').forEach((one) => { one.open = true })");
    tab.wait("document.querySelectorAll('.schema-members li').length >= 100");
    let shown = tab.eval("document.querySelectorAll('.schema-members li').length").as_u64().unwrap();
    assert!(shown <= 3_000, "{shown}");
    assert_eq!(tab.eval("window.ran === undefined"), json!(true));
    assert_eq!(tab.eval("document.querySelectorAll('main img, main script, main a[href^=javascript]').length"), json!(0));
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

/// A document with what descriptions are made of.
fn rich(target: &str) -> Value {
    let schema = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let media = |name: &str| json!({"application/json": {"schema": schema(name)}});
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Orders of the shop", "version": "7.1", "description": "All **about** it"},
        "tags": [{"name": "orders", "description": "What is ordered"}, {"name": "payment"}],
        "servers": [{"url": "https://elsewhere.example"}],
        "paths": {
            "/orders": {
                "get": {
                    "tags": ["orders"], "summary": "List orders", "operationId": "listOrders", "security": [{"key": []}],
                    "parameters": [{"name": "state", "in": "query", "required": true, "schema": {"type": "string", "enum": ["open", "paid"], "default": "open"}}],
                    "responses": {"200": {
                        "description": "A page of them",
                        "headers": {"X-Total": {"description": "How many there are", "schema": {"type": "integer", "minimum": 0}}},
                        "content": {
                            "application/json": {"schema": {"type": "array", "items": schema("Order")}, "examples": {"one": {"summary": "A single order", "value": [{"id": 77}]}}},
                            "text/csv": {"schema": {"type": "string"}, "example": "id;sku"},
                        },
                    }},
                    "callbacks": {"paid": {"{$request.query.hook}": {"post": {"summary": "It is paid"}}}},
                },
            },
            "/pay": {"post": {
                "tags": ["payment"], "summary": "Pay", "deprecated": true,
                "requestBody": {"description": "How it is paid", "content": media("Payment")},
                "responses": {"200": {"description": "Prices", "content": media("Prices")}},
            }},
        },
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
            "schemas": {
                "Order": {"allOf": [schema("Base"), {"type": "object", "required": ["id"], "properties": {
                    "id": {"type": "integer", "readOnly": true},
                    "parent": schema("Order"),
                    "note": {"type": "string", "nullable": true, "maxLength": 40, "pattern": "^[a-z]+$"},
                }}]},
                "Base": {"type": "object", "properties": {"sku": {"type": "string", "description": "The `article`", "example": "A-1"}}},
                "Payment": {"oneOf": [schema("Card"), schema("Transfer")], "discriminator": {"propertyName": "by", "mapping": {"card": "#/components/schemas/Card"}}},
                "Card": {"type": "object", "properties": {"by": {"type": "string"}, "number": {"type": "string", "writeOnly": true}}},
                "Transfer": {"type": "object", "properties": {"iban": {"type": "string"}}},
                "Prices": {"type": "object", "additionalProperties": {"type": "number", "format": "double"}},
            },
        },
        "x-tyk-api-gateway": {
            "info": {"name": "rich", "id": "rich", "state": {"active": true}},
            "server": {"listenPath": {"value": "/rich/", "strip": true}},
            "upstream": {"url": target},
        },
    })
}

#[test]
fn a_document_is_shown_with_all_that_it_says() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    stage.control("POST", "/tyk/apis/oas", &rich("http://127.0.0.1:9/"));
    let product = json!({"name": "Rich", "apis": ["rich"], "is_public": true});
    stage.control("PUT", "/tyk/portal/products/rich", &product);
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/products/rich/apis/rich"));
    tab.see("What is ordered");
    // Each of them makes what is in it.
    for opened in ["Body: application/json", "A page of them", "Prices", "Card if it is card", "Examples", "More of it"] {
        let found = format!("[...document.querySelectorAll('summary')].find((one) => one.innerText.includes({}))", json!(opened));
        tab.wait(&found);
        tab.eval(&format!("{found}.parentElement.open = true"));
    }
    for said in [
        "Orders of the shop version 7.1",
        "state * query string: open, paid default open",
        "key (key in header X-Key)",
        "X-Total integer 0 or more How many there are",
        "list of Order",
        "sku string example A-1",
        "id * integer read only",
        "note string or null at most 40 characters matches ^[a-z]+$",
        "text/csv",
        "A single order",
        "\"id\": 77",
        "paid POST {$request.query.hook} It is paid",
        "POST /pay Pay (deprecated)",
        "How it is paid",
        "One of, as by says:",
        "number string write only",
        "Transfer",
        "map of number (double)",
    ] {
        tab.wait(&format!("document.querySelector('main').innerText.replace(/\\s+/g, ' ').includes({})", json!(said)));
    }
    assert_eq!(tab.eval("document.body.innerText.includes('elsewhere.example')"), json!(false), "developers call the gateway");
    for (width, dark) in [(1280, false), (375, true)] {
        tab.screen(width, 740, dark);
        assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false), "at {width}");
        tab.screenshot(&format!("portal-rich-{width}"));
        expect_accessible(&mut tab);
    }
    // The list of operations leads to them, and is filtered.
    tab.screen(1280, 800, false);
    tab.click("nav[aria-label=Operations] a", "POST Pay");
    tab.wait("document.activeElement?.innerText?.includes('/pay')");
    tab.fill("Find an operation", "listorders");
    tab.wait("document.querySelectorAll('details.operation').length === 1");
    tab.see("List orders");
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

#[test]
fn a_search_finds_operations_fields_and_descriptions() {
    let Some(mut browser) = Browser::start() else { return };
    let graph = json!({"enabled": true, "execution_mode": "proxyOnly", "version": "2", "schema": SCHEMA});
    let stage = stage_of(None, json!({}), |upstream| keyed("shop", upstream).set("graphql", graph.clone()));
    stage.control("POST", "/tyk/apis/oas", &rich("http://127.0.0.1:9/"));
    let plan = json!({"id": "free", "name": "Free", "policy": "gold", "approval": "automatic"});
    let product = |apis: &[&str], is_public: bool| json!({"name": "Rich", "description": "About **elephants** and [tusks](https://example.com/ivory)", "apis": apis, "is_public": is_public, "plans": [plan]});
    stage.control("PUT", "/tyk/portal/products/rich", &product(&["rich"], true));
    stage.control("PUT", "/tyk/portal/products/inner", &product(&["rich"], false));
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/search"));
    for (words, found) in [
        ("elephants", vec!["Rich Product About elephants and tusks"]),
        ("ivory", vec![]),
        ("listorders", vec!["GET /orders Operation List orders – rich, Rich"]),
        ("post pay", vec!["POST /pay Operation Pay – rich, Rich"]),
        ("user.email", vec!["User.email Field shop, Shop"]),
        ("two", vec!["Getting started Page Hello one two"]),
    ] {
        tab.fill("Words", words);
        tab.wait(&format!(
            "JSON.stringify([...document.querySelectorAll('.cards li')].map((one) => one.innerText.replace(/\\s+/g, ' ').trim())) === JSON.stringify({})",
            json!(found)
        ));
    }
    expect_accessible(&mut tab);
    tab.fill("Words", "listorders");
    tab.click(".cards a", "GET /orders");
    tab.wait("document.activeElement?.innerText?.includes('/orders')");
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

/// A schema with everything that is shown, in which all texts are hostile.
fn graph_schema() -> String {
    let fields: String = (0..400).map(|at| format!("  f{at}(a: Int = 1): Wide\n")).collect();
    format!(
        r#"
"""{EVIL}"""
type Query {{
  "The `orders` of a customer"
  orders(first: Int = 10, "Only {{these}}" where: Filter = {{state: [OPEN, PAID]}}): [Order!]!
  old: String @deprecated(reason: "Use **orders**")
}}
interface Node {{ id: ID! }}
type Order implements Node {{ id: ID! parent: Order found: Found }}
union Found = Order | Wide
enum State {{ OPEN "It is paid" PAID GONE @deprecated(reason: "No more") }}
input Filter {{ state: [State!] }}
"{EVIL}" type Wide {{ {fields} }}
"#
    )
}

#[test]
fn a_graphql_schema_is_shown_by_its_types_which_lead_to_each_other() {
    let Some(mut browser) = Browser::start() else { return };
    let graph = json!({"enabled": true, "execution_mode": "proxyOnly", "version": "2", "schema": graph_schema()});
    let stage = stage_of(None, json!({}), |upstream| keyed("shop", upstream).set("graphql", graph.clone()));
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/products/shop/apis/shop"));
    tab.see("Query");
    for said in [
        "type Query",
        "orders [Order!]!",
        "The orders of a customer",
        "first Int default 10",
        "where Filter default {state: [OPEN, PAID]}",
        "old String deprecated",
        "Use orders",
    ] {
        tab.wait(&format!("document.querySelector('main').innerText.replace(/\\s+/g, ' ').includes({})", json!(said)));
    }
    let main = |said: &str| {
        format!("document.activeElement?.closest('details')?.innerText.replace(/\\s+/g, ' ').includes({})", json!(said))
    };
    // From type to type, by what is written.
    tab.click("li code a", "[Order!]!");
    tab.wait(&main("type Order Has the fields of Node."));
    tab.click("details[data-type=Order] li code a", "Found");
    tab.wait(&main("union Found One of Order, Wide."));
    tab.click("nav[aria-label=Types] a", "State");
    tab.wait(&main("PAID It is paid GONE deprecated No more"));
    tab.click("nav[aria-label=Types] a", "Wide");
    tab.wait("document.querySelectorAll('details[data-type=Wide] li > code').length > 300");
    let shown = tab.eval("document.querySelectorAll('main li').length").as_u64().unwrap();
    assert!(shown <= 3_000, "{shown}");
    tab.see("not all of it is shown here");
    assert_eq!(tab.eval("window.ran === undefined"), json!(true));
    assert_eq!(tab.eval("document.querySelectorAll('main img, main script, main a[href^=javascript]').length"), json!(0));
    tab.fill("Find a type or field", "state");
    tab.wait("document.querySelectorAll('details.operation').length === 2");
    tab.fill("Find a type or field", "");
    for (width, dark) in [(1280, false), (375, true)] {
        tab.screen(width, 740, dark);
        tab.open_page(&stage.page("#/products/shop/apis/shop?type=Order"));
        tab.wait(&main("type Order"));
        assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false), "at {width}");
        tab.screenshot(&format!("portal-schema-{width}"));
        expect_accessible(&mut tab);
    }
    // A field that a search finds leads to its type.
    tab.open_page(&stage.page("#/search"));
    tab.fill("Words", "order.parent");
    tab.click(".cards a", "Order.parent");
    tab.wait(&main("type Order"));
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}
