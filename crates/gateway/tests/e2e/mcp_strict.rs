//! Requests to MCP proxies that are written so that no rule should see them, and answers that are written so that no filter should.

use serde_json::{Value, json};

use crate::harness::mcp::{JSON, NOW, federation, modern};
use crate::harness::{Setup, Upstream, ok, request};

/// An API with one operation, which is a tool.
fn operation(target: &str, more: Value) -> String {
    let mut document = json!({
        "openapi": "3.0.3", "info": {"title": "own", "version": "1"},
        "paths": {"/": {"post": {"operationId": "again", "responses": {"200": {"description": "one"}},
            "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
            "parameters": [{"name": "X-Real-IP", "in": "header", "schema": {"type": "string"}}]}}},
        "x-tyk-api-gateway": {"info": {"id": "own", "name": "own", "orgId": "default", "state": {"active": true}}, "upstream": {"url": target},
            "server": {"listenPath": {"value": "/own/", "strip": true}}},
    });
    crate::harness::definition::merge(&mut document["x-tyk-api-gateway"], &more);
    document.to_string()
}

#[test]
fn an_api_that_is_a_tool_sees_the_clients_address() {
    let upstream = Upstream::start(|_| ok());
    let blocks = json!({"server": {"ipAccessControl": {"enabled": true, "block": ["192.0.2.7"]}}});
    let gateway = Setup::new(json!({"tollgate": {"trusted_proxies": ["127.0.0.1"]}}))
        .file("own-oas.json", operation(&upstream.url(), blocks))
        .api(federation(json!([{"name": "own", "api": "own"}])))
        .start();
    let ask = |address: &str, arguments: Value| {
        let address = format!("X-Real-IP: {address}");
        let lines = [JSON, NOW, "Mcp-Method: tools/call", "Mcp-Name: again", &address, "X-Tollgate-Caller: - 192.0.2.9 0 - -"];
        let answer = gateway.send(request("POST", "/f/", &lines, &modern("again", arguments)));
        answer.json()["result"]["isError"].clone()
    };
    assert_eq!(ask("192.0.2.7", json!({})), true, "blocked");
    assert_eq!(ask("192.0.2.7", json!({"X-Real-IP": "192.0.2.8"})), true, "whatever the call says");
    assert_eq!(upstream.requests(), 0);
    assert_eq!(ask("192.0.2.8", json!({})), false);
    assert!(upstream.last().header("X-Forwarded-For").is_some_and(|told| told.ends_with("192.0.2.8")));
}

#[test]
fn a_federation_that_calls_itself_ends() {
    let loops = json!({"middleware": {"operations": {"again": {
        "transformRequestBody": {"enabled": true, "format": "json", "body": base64_of(&modern("again", json!({"body": {}})))},
        "transformRequestHeaders": {"enabled": true, "add": [
            {"name": "MCP-Protocol-Version", "value": "2026-07-28"}, {"name": "Mcp-Method", "value": "tools/call"}, {"name": "Mcp-Name", "value": "again"},
        ]},
    }}}});
    let gateway = Setup::new(json!({}))
        .file("own-oas.json", operation("tyk://f/", loops))
        .api(federation(json!([{"name": "own", "api": "own"}])))
        .start();
    let lines = [JSON, NOW, "Mcp-Method: tools/call", "Mcp-Name: again"];
    let answer = gateway.send(request("POST", "/f/", &lines, &modern("again", json!({"body": {}}))));
    assert!(answer.text().contains("Loop level too deep"), "{answer}");
    assert!(answer.json()["result"].is_object(), "{answer}");
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}
