//! APIs that OpenAPI documents define: pairs of files, documents alone, JSON and YAML, and their settings.

use serde_json::{Value, json};

use super::harness::openapi::{document, extended};
use super::harness::{Gateway, Upstream, api, request};

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

#[test]
fn every_kind_of_broken_document_is_a_problem_with_file_and_path_and_others_go_on() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("b", "/b/", &upstream.url())]);
    let good = document("a", &upstream.url());
    gateway.write_file("a.json", good.to_string());
    gateway.reload();
    assert_eq!(gateway.get("/a/x").status, 200);
    let with = |pointer: &str, value: Value| {
        let mut changed = good.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let mut at = &mut changed;
        for step in parent.split('/').skip(1) {
            at = &mut at[step.replace("~1", "/")];
        }
        at[name.replace("~1", "/")] = value;
        changed
    };
    let operation = "/paths/~1things~1{id}/get";
    let deep = |levels: usize| (0..levels).fold(json!({"type": "string"}), |schema, _| json!({"items": schema}));
    let validated =
        |document: Value| extended(document, "middleware/operations", json!({"getThing": {"validateRequest": {"enabled": true}}}));
    let query = |schema: Value| {
        validated(with(&format!("{operation}/parameters"), json!([{"name": "q", "in": "query", "schema": schema}])))
    };
    let others = json!({"get": {"operationId": "getThing", "responses": {"200": {"description": "Others."}}}});
    let circle = json!({"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}});
    let remote = |to: &str| with(&format!("{operation}/responses/200"), json!({"$ref": to}));
    let outside = "is outside this document; such references are not followed";
    let loads: [(&str, String, &str, &str); 13] = [
        (
            "a circle of references",
            with("/components", json!({"schemas": circle})).to_string(),
            "$.components.schemas.A",
            "leads to itself",
        ),
        ("a remote reference", remote("https://example.test/a.json#/b").to_string(), "$.paths", outside),
        ("a reference to a file", remote("other.yaml#/b").to_string(), "$.paths", outside),
        ("a reference to nothing", remote("#/components/responses/None").to_string(), "$.paths", "is not in this document"),
        ("one id twice", with("/paths/~1others", others).to_string(), ".get.operationId", "is also the id of"),
        (
            "too deep",
            with("/components", json!({"schemas": {"A": deep(520)}})).to_string(),
            "$.components.schemas.A.items.items",
            "nested deeper than 500 levels below this place",
        ),
        (
            "much too deep",
            with("/components", json!({"schemas": {"A": deep(700)}})).to_string(),
            "nested deeper than 600 levels at $.components.schemas.A.items.items",
            "not valid JSON",
        ),
        (
            "look-around",
            query(json!({"type": "string", "pattern": "^(?=a)b"})).to_string(),
            "schema.pattern",
            "can be matched in linear time",
        ),
        (
            "a back-reference",
            query(json!({"type": "string", "pattern": "(a)\\1"})).to_string(),
            "schema.pattern",
            "can be matched in linear time",
        ),
        ("no schema", query(json!("text")).to_string(), "parameters[0].schema", "must be a schema"),
        (
            "a wrong keyword",
            query(json!({"minLength": -1})).to_string(),
            "schema.minLength",
            "must be a whole number of at least 0",
        ),
        ("broken JSON", "{\"openapi\": ".to_owned(), "a.json", "not valid JSON"),
        ("another version", with("/openapi", json!("4.0.0")).to_string(), "$.openapi", "must be 3.0 or 3.1"),
    ];
    for (what, text, place, message) in &loads {
        gateway.write_file("a.json", text);
        let report = gateway.control("GET", "/tyk/reload/?block=true", "").text();
        for part in ["a.json", place, message] {
            assert!(report.contains(part), "{what}: {part} is not in {report}");
        }
        assert_eq!((gateway.get("/a/x").status, gateway.get("/b/x").status), (200, 200), "{what}: the last good version serves");
    }
    gateway.write_file("a.json", good.to_string());
    gateway.reload();
    gateway.write_file("y.yaml", "openapi: 3.0.3\ninfo: [\n");
    let report = gateway.control("GET", "/tyk/reload/?block=true", "").text();
    assert!(report.contains("y.yaml") && report.contains("not valid YAML") && report.contains("line"), "{report}");
    gateway.remove_file("y.yaml");
    // These are no errors: the first of two paths in order answers, and schemas 100 deep with ECMA's syntax act.
    let mut clashing = good.clone();
    clashing["paths"]["/things/{name}"] =
        json!({"get": {"operationId": "other", "responses": {"200": {"description": "A thing."}}}});
    gateway.write_file("a.json", clashing.to_string());
    gateway.reload();
    assert!(gateway.log().contains("matches the same requests as /things/{id}"), "{}", gateway.log());
    assert_eq!(gateway.control("GET", "/tyk/reload/?block=true", "").status, 200);
    let body = json!({"required": true, "content": {"application/json": {"schema": deep(100)}}});
    let mut deepest = query(json!({"type": "string", "pattern": "^\\d{3}[\\w-]$"}));
    deepest["paths"]["/things/{id}"]["get"]["requestBody"] = body;
    gateway.write_file("a.json", deepest.to_string());
    gateway.reload();
    let nested = |levels: usize| format!("{}\"x\"{}", "[".repeat(levels), "]".repeat(levels));
    let ask = |target: &str, body: &str| gateway.send(request("GET", target, &["Content-Type: application/json"], body)).status;
    assert_eq!([ask("/a/things/1?q=123-", &nested(100)), ask("/a/things/1?q=12-", &nested(100))], [200, 422], "{}", gateway.log());
    assert_eq!(ask("/a/things/1?q=123-", &nested(100).replace("\"x\"", "5")), 422, "the deepest item must be a text");
    assert_eq!(gateway.get("/b/x").status, 200);
}
