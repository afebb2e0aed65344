//! OpenAPI documents that define APIs.

use serde_json::{Value, json};

/// A document with one operation, `getThing`, and the settings of a keyless API.
pub fn document(id: &str, target: &str) -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": id, "version": "1.0.0"},
        "paths": {"/things/{id}": {"get": {
            "operationId": "getThing",
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
            "responses": {"200": {"description": "A thing."}},
        }}},
        "x-tyk-api-gateway": {
            "info": {"id": id, "name": id, "orgId": "default", "state": {"active": true}},
            "upstream": {"url": target},
            "server": {"listenPath": {"value": format!("/{id}/"), "strip": true}},
        },
    })
}

/// Sets a member at a `/`-separated path of the extension.
pub fn extended(mut document: Value, path: &str, value: Value) -> Value {
    let mut at = &mut document["x-tyk-api-gateway"];
    for step in path.split('/') {
        at = &mut at[step];
    }
    *at = value;
    document
}
