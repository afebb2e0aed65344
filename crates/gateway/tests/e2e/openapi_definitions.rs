//! APIs that OpenAPI documents define: pairs of files, documents alone, JSON and YAML, and their settings.

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, api, request};

/// A document with one operation, `getThing`, and the settings of a keyless API.
pub(crate) fn document(id: &str, target: &str) -> Value {
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
pub(crate) fn extended(mut document: Value, path: &str, value: Value) -> Value {
    let mut at = &mut document["x-tyk-api-gateway"];
    for step in path.split('/') {
        at = &mut at[step];
    }
    *at = value;
    document
}

#[test]
fn pairs_and_documents_alone_are_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    gateway.write_file("pair.json", json!({"is_oas": true, "api_id": "pair", "proxy": {"listen_path": "/other/"}}).to_string());
    gateway.write_file("pair-oas.json", document("pair", &upstream.url()).to_string());
    gateway.write_file("alone-oas.json", document("alone", &upstream.url()).to_string());
    gateway.write_file("plain.json", document("plain", &upstream.url()).to_string());
    let yaml = format!(
        "openapi: 3.1.0\ninfo: {{title: y, version: '1'}}\npaths: {{}}\nx-tyk-api-gateway:\n  info: {{id: yaml, name: yaml, state: {{active: true}}}}\n  upstream: {{url: '{}'}}\n  server:\n    listenPath: {{value: /yaml/, strip: true}}\n",
        upstream.url()
    );
    gateway.write_file("yaml.yaml", yaml);
    let report = gateway.control("GET", "/tyk/reload/?block=true", "");
    assert_eq!(report.status, 200, "{report}");
    for id in ["pair", "alone", "plain", "yaml"] {
        assert_eq!(gateway.get(&format!("/{id}/things/1")).status, 200, "{id}");
        assert_eq!(upstream.last().target, "/things/1");
    }
    assert_eq!(gateway.get("/other/things/1").status, 404);
    let log = gateway.log();
    assert!(log.contains("the classic definition beside it differs in $.proxy.listen_path"), "{log}");
    // The classic form is what the other half of the control API shows.
    let shown: Value = serde_json::from_str(&gateway.control("GET", "/tyk/apis/pair", "").text()).unwrap();
    assert_eq!(shown["proxy"]["listen_path"], "/pair/");
    let shown: Value = serde_json::from_str(&gateway.control("GET", "/tyk/apis/oas/pair", "").text()).unwrap();
    assert_eq!(shown, document("pair", &upstream.url()));
    let shown: Value = serde_json::from_str(&gateway.control("GET", "/tyk/apis/oas?mode=public", "").text()).unwrap();
    assert_eq!(shown.as_array().map(Vec::len), Some(4));
    assert!(shown.as_array().unwrap().iter().all(|document| document.get("x-tyk-api-gateway").is_none()));
}

#[test]
fn a_changed_document_of_a_pair_is_taken_up() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    gateway.write_file("pair.json", json!({"is_oas": true, "api_id": "pair"}).to_string());
    gateway.write_file("pair-oas.json", document("pair", &upstream.url()).to_string());
    gateway.reload();
    assert_eq!(gateway.get("/pair/x").status, 200);
    gateway.write_file(
        "pair-oas.json",
        extended(document("pair", &upstream.url()), "server/listenPath/value", json!("/new/")).to_string(),
    );
    gateway.reload();
    assert_eq!((gateway.get("/pair/x").status, gateway.get("/new/x").status), (200, 200), "the id is a prefix as well");
    assert_eq!(upstream.last().target, "/x");
}

#[test]
fn security_of_a_document_is_enforced() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let authentication = json!({
        "enabled": true, "securityProcessingMode": "compliant", "stripAuthorizationData": true,
        "securitySchemes": {
            "key": {"enabled": true},
            "user": {"enabled": true, "header": {"enabled": true, "name": "Authorization"}},
        },
    });
    let mut document = extended(document("safe", &upstream.url()), "server/authentication", authentication);
    document["security"] = json!([{"key": []}, {"user": []}]);
    document["components"] = json!({"securitySchemes": {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "user": {"type": "http", "scheme": "basic"},
    }});
    gateway.write_file("safe-oas.json", document.to_string());
    gateway.reload();
    assert_eq!(gateway.get("/safe/x").status, 401);
    let session =
        json!({"access_rights": {"safe": {"api_id": "safe", "api_name": "safe", "versions": ["Default"]}}, "org_id": "default"});
    let made: Value = serde_json::from_str(&gateway.control("POST", "/tyk/keys/create", &session.to_string()).text()).unwrap();
    let key = format!("X-Key: {}", made["key"].as_str().unwrap());
    let answer = gateway.send(request("GET", "/safe/x", &[&key], ""));
    assert_eq!(answer.status, 200, "{answer}");
    assert!(!upstream.last().text().contains("X-Key"));
    let mut user = session;
    user["basic_auth_data"] = json!({"password": "secret"});
    assert_eq!(gateway.control("POST", "/tyk/keys/defaultmary", &user.to_string()).status, 200);
    assert_eq!(gateway.send(request("GET", "/safe/x", &["Authorization: Basic bWFyeTpzZWNyZXQ="], "")).status, 200);
    assert_eq!(gateway.send(request("GET", "/safe/x", &["Authorization: Basic bWFyeTp3cm9uZw=="], "")).status, 401);
}

#[test]
fn middleware_of_operations_acts_on_their_paths() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let operations = json!({"getThing": {
        "transformRequestHeaders": {"enabled": true, "add": [{"name": "X-Added", "value": "yes"}], "remove": ["X-Gone"]},
        "urlRewrite": {"enabled": true, "pattern": "/things/(.*)", "rewriteTo": "/renamed/$1"},
        "mockResponse": {"enabled": false, "code": 200},
    }});
    gateway.write_file("a-oas.json", extended(document("a", &upstream.url()), "middleware/operations", operations).to_string());
    gateway.reload();
    assert_eq!(gateway.send(request("GET", "/a/things/5", &["X-Gone: 1"], "")).status, 200);
    let seen = upstream.last();
    assert_eq!(seen.target, "/renamed/5");
    assert!(seen.header("x-added") == Some("yes") && seen.header("x-gone").is_none(), "{seen:?}");
    assert_eq!(gateway.get("/a/others/5").status, 200);
    assert_eq!(upstream.last().target, "/others/5");
    let block = json!({"getThing": {"block": {"enabled": true}}});
    gateway.write_file("a-oas.json", extended(document("a", &upstream.url()), "middleware/operations", block).to_string());
    gateway.reload();
    assert_eq!((gateway.get("/a/things/5").status, gateway.get("/a/others/5").status), (403, 200));
}

#[test]
fn a_broken_document_is_reported_with_its_place_and_leaves_others() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("b", "/b/", &upstream.url())]);
    let base = document("a", &upstream.url());
    gateway.write_file("a-oas.json", base.to_string());
    gateway.reload();
    assert_eq!(gateway.get("/a/x").status, 200);
    let mut looping = base.clone();
    looping["components"] = json!({"schemas": {"A": {"$ref": "#/components/schemas/A"}}});
    let mut remote = base.clone();
    remote["paths"]["/things/{id}"]["get"]["responses"]["200"] = json!({"$ref": "https://example.com/a.json#/b"});
    let cases = [
        (looping, "$.components.schemas.A[\\\"$ref\\\"]: error: #/components/schemas/A leads to itself"),
        (remote, "is outside this document; such references are not followed"),
        (extended(base.clone(), "server/port", json!("x")), "$.x-tyk-api-gateway.server.port: error: must be a whole number"),
        (extended(base, "server/listenPath", json!(7)), "$.x-tyk-api-gateway.server.listenPath: error: must be an object"),
    ];
    for (document, message) in cases {
        gateway.write_file("a-oas.json", document.to_string());
        let report = gateway.control("GET", "/tyk/reload/?block=true", "");
        assert!(report.text().contains(message), "{message}: {report}");
        assert!(report.text().contains("a-oas.json"), "{report}");
        assert_eq!((gateway.get("/a/x").status, gateway.get("/b/x").status), (200, 200), "the last good version serves");
    }
}

/// The document with a body and a parameter, validated and mocked as `operations` say.
fn with_operations(upstream: &Upstream, operations: Value) -> Value {
    let mut document = extended(document("a", &upstream.url()), "middleware/operations", operations);
    document["paths"]["/things/{id}"]["get"]["parameters"][0]["schema"] = json!({"type": "integer"});
    document["paths"]["/things/{id}"]["get"]["responses"]["200"]["content"] = json!({"application/json": {
        "examples": {"one": {"value": {"n": 1}}, "two": {"value": {"n": 2}}},
    }});
    document["paths"]["/things/{id}"]["put"] = json!({
        "operationId": "putThing",
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
        "responses": {"200": {"description": "Done."}},
    });
    document["paths"]["/things/new"] = json!({"get": {"operationId": "getNew", "responses": {"200": {"description": "A form."}}}});
    document["components"] =
        json!({"schemas": {"Thing": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}});
    document
}

#[test]
fn requests_that_do_not_fit_the_document_are_refused() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let operations = json!({
        "getThing": {"validateRequest": {"enabled": true}},
        "putThing": {"validateRequest": {"enabled": true, "errorResponseCode": 400}},
    });
    gateway.write_file("a-oas.json", with_operations(&upstream, operations).to_string());
    let report = gateway.control("GET", "/tyk/reload/?block=true", "");
    assert_eq!(gateway.get("/a/things/5").status, 200, "{report}");
    let refused = gateway.get("/a/things/x");
    assert_eq!(refused.status, 422, "{refused}");
    let message =
        "request validation error: parameter \\\"id\\\" in path has an error: value x: an invalid integer: invalid syntax";
    assert!(refused.text().contains(message), "{refused}");
    // A fixed path is another operation, which is not validated.
    assert_eq!(gateway.get("/a/things/new").status, 200);
    let put = |body: &str| gateway.send(request("PUT", "/a/things/5", &["Content-Type: application/json"], body));
    let name = "x".repeat(100_000);
    let fitting = format!("{{\"name\": \"{name}\"}}");
    assert_eq!(put(&fitting).status, 200);
    assert_eq!(upstream.last().text(), fitting, "the body arrives whole");
    let refused = put("{\"name\": 5}");
    assert_eq!(refused.status, 400, "{refused}");
    let message = "request body has an error: doesn't match schema #/components/schemas/Thing: Error at \\\"/name\\\": value must be a string";
    assert!(refused.text().contains(message), "{refused}");
    assert_eq!(put("").status, 400);
}

#[test]
fn mocks_come_from_values_and_from_examples_after_authentication() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let operations = json!({
        "getThing": {"mockResponse": {"enabled": true, "fromOASExamples": {"enabled": true, "exampleName": "two"}}},
        "putThing": {"mockResponse": {"enabled": true, "code": 201, "body": "made", "headers": [{"name": "X-Mock", "value": "yes"}]}},
    });
    gateway.write_file("a-oas.json", with_operations(&upstream, operations).to_string());
    gateway.reload();
    let get = |lines: &[&str]| gateway.send(request("GET", "/a/things/5", lines, ""));
    assert_eq!((get(&[]).status, get(&[]).text()), (200, "{\"n\":2}".to_owned()));
    assert_eq!(get(&[]).header("content-type"), Some("application/json"));
    assert_eq!(get(&["X-Tyk-Accept-Example-Name: one"]).text(), "{\"n\":1}");
    let missing = get(&["X-Tyk-Accept-Example-Code: 404"]);
    assert_eq!(missing.status, 500);
    assert!(missing.text().contains("failed to mock response: mock: there is no example response for the code: 404"), "{missing}");
    let made = gateway.send(request("PUT", "/a/things/5", &[], "{}"));
    assert_eq!((made.status, made.text().as_str(), made.header("x-mock")), (201, "made", Some("yes")));
    assert_eq!(upstream.requests(), 0);
    assert_eq!(gateway.get("/a/things/new").status, 200);
    assert_eq!(upstream.requests(), 1, "a fixed path is not mocked by a pattern");
}
