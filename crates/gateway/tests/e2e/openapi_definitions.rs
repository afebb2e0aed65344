//! APIs that OpenAPI documents define: pairs of files, documents alone, JSON and YAML, and their settings.

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::configuration::Folders;
use crate::harness::{Gateway, Upstream, api, eventually, reply, request};

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
    // As in Tyk's `mw_mock_response.go`, response steps process them, but not the request's changes.
    let late = json!({"enabled": true, "add": [{"name": "X-Late", "value": "added"}]});
    let early = json!({"enabled": true, "add": [{"name": "X-Early", "value": "sent"}]});
    let mock = json!({"enabled": true, "code": 201, "body": "made"});
    let operations =
        json!({"putThing": {"mockResponse": mock, "transformResponseHeaders": late, "transformRequestHeaders": early}});
    gateway.write_file("a-oas.json", with_operations(&upstream, operations).to_string());
    gateway.reload();
    let made = gateway.send(request("PUT", "/a/things/5", &[], "{}"));
    assert_eq!(
        (made.status, made.text().as_str(), made.header("x-late"), made.header("x-early")),
        (201, "made", Some("added"), None)
    );
    assert_eq!(gateway.get("/a/things/new").status, 200);
    assert_eq!(upstream.requests(), 1, "a fixed path is not mocked by a pattern");
}

/// The document with `x-tollgate.validate_responses`, for things with a number.
fn with_responses(upstream: &Upstream, rules: Value) -> String {
    let mut document = document("a", &upstream.url());
    let thing = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    document["paths"]["/things/{id}"]["get"]["responses"] = json!({
        "200": {"description": "A thing.", "content": {"application/json": {"schema": thing}, "text/event-stream": {}}},
        "404": {"description": "None."},
    });
    document["paths"]["/others"] = json!({"get": {"operationId": "getOthers", "responses": {"200": {"description": "All.", "content": {
        "application/json": {"schema": {"type": "array"}},
    }}}}});
    document["x-tollgate"] = json!({"validate_responses": rules});
    document.to_string()
}

/// An upstream whose answer is in the query: status, content type and body.
fn telling() -> Upstream {
    Upstream::start(|seen| {
        let query = seen.target.split_once('?').map_or("", |(_, query)| query);
        let pairs: std::collections::HashMap<_, _> = tollgate_openapi::form_pairs(query).into_iter().collect();
        let of = |name: &str, default: &str| pairs.get(name).map_or_else(|| default.to_owned(), ToString::to_string);
        let kind = format!("Content-Type: {}", of("type", "application/json"));
        reply(&format!("{} Told", of("status", "200")), &[&kind], &of("body", "{\"n\":1}"))
    })
}

#[test]
fn responses_that_do_not_fit_the_document_are_replaced() {
    let upstream = telling();
    let gateway = Gateway::start(json!({}), []);
    gateway.write_file("a-oas.json", with_responses(&upstream, json!({})));
    gateway.reload();
    let long = format!("{{\"n\":1,\"text\":\"{}\"}}", "x".repeat(30_000));
    let cases: [(&str, u16, &str); 9] = [
        ("/a/things/1", 200, "{\"n\":1}"),
        ("/a/things/1?body=", 500, "Response does not fit the API's description"),
        ("/a/things/1?body=%7B%22n%22:%22secret%22%7D", 500, "Response does not fit the API's description"),
        ("/a/things/1?body=nonsense", 500, "Response does not fit"),
        ("/a/things/1?type=text/html&body=hello", 500, "Response does not fit"),
        // Bodies in other forms are not read.
        ("/a/things/1?type=text/event-stream&body=data:1", 200, "data:1"),
        // A status that is not described passes, and so does a path.
        ("/a/things/1?status=503&body=busy", 503, "busy"),
        ("/a/nowhere?body=anything", 200, "anything"),
        ("/a/others?body=%7B%7D", 500, "Response does not fit"),
    ];
    for (target, status, part) in cases {
        let answer = gateway.get(target);
        assert_eq!(answer.status, status, "{target}: {answer}");
        assert!(answer.text().contains(part), "{target}: {answer}");
        assert!(!answer.text().contains("secret"), "what does not fit is not shown: {answer}");
    }
    let body: String = long.bytes().map(|byte| format!("%{byte:02x}")).collect();
    assert_eq!(gateway.get(&format!("/a/things/1?body={}", &body[..6_000])).status, 500, "half a document");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(metrics.contains("cause=\"response_invalid\"") && metrics.contains("tollgate_refusals_total"), "{metrics}");
    let log = gateway.log();
    assert!(log.contains("a response does not fit the OpenAPI document") && log.contains("value must be an integer"), "{log}");

    let strict = json!({"described_statuses_only": true, "error_response_code": 502, "operations": ["getThing"]});
    gateway.write_file("a-oas.json", with_responses(&upstream, strict));
    gateway.reload();
    for (target, status) in [
        ("/a/things/1?status=503&body=busy", 502),
        ("/a/things/1?status=404&body=none", 404),
        ("/a/things/1?body=%7B%7D", 502),
        ("/a/others?body=%7B%7D", 200),
        ("/a/things/1", 200),
    ] {
        assert_eq!(gateway.get(target).status, status, "{target}");
    }
}

#[test]
fn in_dry_run_responses_that_do_not_fit_pass_and_are_counted() {
    let upstream = telling();
    let gateway = Gateway::start(json!({}), []);
    gateway.write_file("a-oas.json", with_responses(&upstream, json!({"dry_run": true})));
    gateway.reload();
    let unfit = gateway.get("/a/things/1?body=%7B%7D");
    assert_eq!((unfit.status, unfit.text().as_str(), unfit.header("tollgate-dry-run")), (200, "{}", Some("response_invalid")));
    let fitting = gateway.get("/a/things/1");
    assert_eq!((fitting.status, fitting.header("tollgate-dry-run")), (200, None));
    eventually("it is counted", || {
        gateway
            .control("GET", "/tyk/metrics", "")
            .text()
            .contains("tollgate_dry_runs_total{api=\"a\",cause=\"response_invalid\"} 1")
    });
}

#[test]
fn requirements_of_responses_are_checked_when_they_are_loaded() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    for (rules, message) in [
        (json!({"operations": ["getNothing"]}), "no operation of this document has this id"),
        (json!({"error_response_code": 200}), "must be a status from 400 to 599"),
        (json!({"dryrun": true}), "$.x-tollgate.validate_responses.dryrun: error: unknown field"),
    ] {
        gateway.write_file("a-oas.json", with_responses(&upstream, rules));
        let report = gateway.control("GET", "/tyk/reload/?block=true", "");
        assert!(report.text().contains(message), "{message}: {report}");
        assert_eq!(gateway.get("/a/things/1").status, 404);
    }
    gateway.write_api(&api("c", "/c/", &upstream.url()).set("tollgate", json!({"validate_responses": {}})));
    let report = gateway.control("GET", "/tyk/reload/?block=true", "");
    assert!(report.text().contains("$.tollgate.validate_responses: error: acts only in an OpenAPI document"), "{report}");
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
    let report = gateway.control("GET", "/tyk/reload/?block=true", "");
    assert!(report.status == 200 && gateway.log().contains("matches the same requests as /things/{id}"), "{report}");
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

#[test]
fn schemas_a_hundred_deep_are_served_whichever_way_they_come() {
    let upstream = Upstream::ok();
    let folders = Folders::new();
    let gateway = folders.start();
    // Two levels of JSON for each schema.
    let deep = |levels: usize| {
        (0..levels)
            .fold(json!({"type": "string"}), |schema, _| json!({"type": "object", "properties": {"a": schema}, "required": ["a"]}))
    };
    let nested = |levels: usize, inner: &str| format!("{}{inner}{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let of = |id: &str, levels: usize| {
        let mut document = document(id, &upstream.url());
        document["paths"]["/things/{id}"]["put"] = json!({
            "operationId": "putThing",
            "requestBody": {"required": true, "content": {"application/json": {"schema": deep(levels)}}},
            "responses": {"200": {"description": "Done."}},
        });
        extended(document, "middleware/operations", json!({"putThing": {"validateRequest": {"enabled": true}}}))
    };
    let serves = |id: &str| {
        let ask =
            |body: &str| gateway.send(request("PUT", &format!("/{id}/things/1"), &["Content-Type: application/json"], body)).status;
        assert_eq!([ask(&nested(100, "\"x\"")), ask(&nested(100, "5")), ask(&nested(99, "\"x\""))], [200, 422, 422], "{id}");
    };
    std::fs::write(folders.apps().join("file-oas.json"), of("file", 100).to_string()).unwrap();
    // JSON is YAML.
    std::fs::write(folders.apps().join("yaml.yaml"), format!("# YAML\n{}\n", of("yaml", 100))).unwrap();
    gateway.reload();
    serves("file");
    serves("yaml");
    let created = gateway.control("POST", "/tyk/apis/oas", &of("created", 100).to_string());
    assert_eq!(created.status, 200, "{created}");
    serves("created");
    let mut plain = of("imported", 100);
    plain.as_object_mut().unwrap().remove("x-tyk-api-gateway");
    let file = gateway.dir().join("plain.json");
    std::fs::write(&file, plain.to_string()).unwrap();
    let line =
        format!("apis import {} --id imported --listen-path /imported/ --validate --upstream {}", file.display(), upstream.url());
    tollgate(&gateway, &line).ok();
    serves("imported");
    // As code: what is dumped, changed and synced.
    let conf = gateway.dir().join("conf");
    tollgate(&gateway, &format!("dump {}", conf.display())).ok();
    tollgate(&gateway, &format!("diff {}", conf.display())).ok();
    let files = std::fs::read_dir(conf.join("apis")).unwrap().map(|entry| entry.unwrap().path());
    let dumped: Vec<_> = files.filter(|path| path.to_string_lossy().contains("created")).collect();
    let text = std::fs::read_to_string(&dumped[0]).unwrap().replace("/created/", "/moved/");
    std::fs::write(&dumped[0], text).unwrap();
    tollgate(&gateway, &format!("sync {}", conf.display())).ok();
    serves("moved");
    let revisions = || gateway.control("GET", "/tyk/configuration/revisions", "").json()["revisions"].as_array().map(Vec::len);
    eventually("all changes are kept", || revisions() == Some(4));
    tollgate(&gateway, "rollback 3").ok();
    assert_eq!(gateway.get("/moved/things/1").status, 404);
    // A deeper one is named, whichever way it comes.
    let place = "$.paths[\"/things/{id}\"].put.requestBody.content[\"application/json\"].schema.properties.a";
    for answer in [
        gateway.control("POST", "/tyk/apis/oas", &of("deeper", 260).to_string()),
        gateway.control("POST", "/tyk/apis/oas", &of("deeper", 1_000).to_string()),
    ] {
        let told = answer.json()["message"].as_str().unwrap_or_default().to_owned();
        assert!(answer.status == 400 && told.contains(place) && told.contains("nested deeper than"), "{answer}");
    }
    assert_eq!(gateway.get("/deeper/things/1").status, 404);
    serves("file");
}

#[test]
fn examples_are_checked_if_the_configuration_says_so() {
    let upstream = Upstream::ok();
    let mut document = document("a", &upstream.url());
    document["components"] = json!({"schemas": {"Thing": {"type": "object", "properties": {
        "n": {"type": "integer", "example": "one"}, "m": {"type": "integer", "default": "two"},
    }}}});
    let places = ["$.components.schemas.Thing.properties.n.example", "$.components.schemas.Thing.properties.m.default"];
    for (settings, errors) in [
        (json!({}), [false, false]),
        (json!({"validate_examples": true}), [true, false]),
        (json!({"validate_schema_defaults": true}), [false, true]),
    ] {
        let gateway = Gateway::start(json!({"oas_config": settings}), []);
        gateway.write_file("a-oas.json", document.to_string());
        let report = gateway.control("GET", "/tyk/reload/?block=true", "").text();
        for (place, is_error) in places.iter().zip(errors) {
            assert_eq!(
                report.contains(&format!("{place}: error: does not fit its schema: value must be an integer")),
                is_error,
                "{settings}: {report}"
            );
        }
        let serves = !errors.contains(&true);
        assert_eq!(gateway.get("/a/things/1").status, if serves { 200 } else { 404 });
        let created = gateway.control("POST", "/tyk/apis/oas", &document.to_string().replace("\"a\"", "\"z\"")).status;
        assert_eq!(created == 400, !serves, "{settings}");
        // The command warns of the others, if asked to.
        let check = |more: &str| {
            let line = format!("check {} --conf {} {more}", gateway.apps().join("a-oas.json").display(), gateway.conf().display());
            tollgate(&gateway, &line).out().to_owned()
        };
        let told = check("--examples");
        for (place, is_error) in places.iter().zip(errors) {
            let level = if is_error { "error" } else { "warning" };
            assert!(told.contains(&format!("{place}: {level}: ")), "{settings}: {told}");
        }
        assert!(!check("").contains("warning: does not fit"));
    }
}
