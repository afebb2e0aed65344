//! Documents of APIs as the portal shows them: whoever writes one can neither run anything in a visitor's browser nor bring it to a stop.

use serde_json::{Map, Value, json};

use crate::harness::browser::Browser;
use crate::portal::stage;

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
