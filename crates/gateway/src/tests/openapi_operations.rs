//! What operations of OpenAPI documents ask of requests and responses: validation, mocks, and what a dry run says of it.

use serde_json::{Value, json};

use super::harness::openapi::{document, extended};
use super::harness::{Gateway, Upstream, api, eventually, reply, request};

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
