//! Bodies that must fit a JSON schema: what fits goes on whole, what does not is refused with what is wrong.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Upstream, api, request};

fn validated(upstream: &Upstream, entry: Value) -> Definition {
    let mut entry = entry;
    entry["path"] = json!("/orders");
    entry["method"] = json!("POST");
    api("a", "/a/", &upstream.url()).list("validate_json", json!([entry]))
}

fn order_schema() -> Value {
    json!({"type": "object", "required": ["item"], "properties": {"item": {"type": "string"}, "count": {"type": "integer", "minimum": 1}}})
}

fn post(gateway: &Gateway, body: &str) -> (u16, String) {
    let answer = gateway.send(request("POST", "/a/orders", &["Content-Type: application/json"], body));
    (answer.status, answer.text())
}

fn error(message: &str) -> String {
    format!("{{\n    \"error\": \"{message}\"\n}}")
}

#[test]
fn a_body_that_fits_arrives_whole_and_another_is_refused_with_its_mismatches() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [validated(&upstream, json!({"schema": order_schema()}))]);
    let fitting = format!("{{\"item\": \"{}\", \"count\": 2}}", "x".repeat(100_000));
    assert_eq!(post(&gateway, &fitting).0, 200);
    assert_eq!(upstream.last().text(), fitting);
    let refused = [
        (r#"{"item": 5}"#, 422, "item: Invalid type. Expected: string, given: integer"),
        (r#"{"item": "a", "count": 0}"#, 422, "count: Must be greater than or equal to 1"),
        ("[]", 422, "(root): Invalid type. Expected: object, given: array"),
        ("", 400, "JSON parsing error: EOF"),
        (r#"{"item": "#, 400, "JSON parsing error: unexpected EOF"),
    ];
    for (body, status, message) in refused {
        assert_eq!(post(&gateway, body), (status, error(message)), "{body}");
    }
    assert_eq!(upstream.requests(), 1);
    // Other methods and endpoints are not looked at.
    assert_eq!(gateway.get("/a/orders").status, 200);
    assert_eq!(gateway.send(request("POST", "/a/other", &[], "no JSON")).status, 200);
}

#[test]
fn the_status_and_the_schema_are_the_entrys() {
    let upstream = Upstream::ok();
    let definition = validated(&upstream, json!({"schema_b64": "eyJ0eXBlIjogIm9iamVjdCJ9", "error_response_code": 499}));
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(post(&gateway, "{}").0, 200);
    assert_eq!(post(&gateway, "5"), (499, error("(root): Invalid type. Expected: object, given: integer")));
}

#[test]
fn a_body_that_is_too_large_or_too_deep_is_refused() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"limits": {"body_bytes_max": 1 << 20}}});
    let gateway = Gateway::start(conf, [validated(&upstream, json!({"schema": {}}))]);
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    assert_eq!(post(&gateway, &large), (400, error("Request is too large")));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let (status, text) = post(&gateway, &deep);
    assert!(status == 400 && text.contains("JSON parsing error: recursion limit exceeded"), "{text}");
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn an_entry_without_a_schema_refuses_and_a_broken_schema_is_a_problem() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [validated(&upstream, json!({}))]);
    assert_eq!(post(&gateway, "{}"), (500, error("no schemas to validate against")));
    let gateway = Gateway::start(json!({}), [validated(&upstream, json!({"schema": {"type": "nonsense"}}))]);
    assert_eq!(post(&gateway, "{}").0, 404);
    let log = gateway.log();
    assert!(
        log.contains("extended_paths.validate_json[0].schema: error: not a valid schema")
            || log.contains("validate_json[0].schema"),
        "{log}"
    );
}

#[test]
fn a_request_whose_body_is_read_counts_once() {
    let upstream = Upstream::ok();
    let definition = validated(&upstream, json!({"schema": {}})).set("global_rate_limit", json!({"rate": 3, "per": 60}));
    let gateway = Gateway::start(json!({}), [definition]);
    let statuses: Vec<_> = (0..4).map(|_| post(&gateway, "{}").0).collect();
    assert_eq!(statuses, [200, 200, 200, 429]);
}

#[test]
fn large_bodies_are_judged_elsewhere_with_the_same_verdicts() {
    let upstream = Upstream::ok();
    let alternatives = json!({"items": {"oneOf": [{"type": "string"}, {"type": "integer"}]}});
    let gateway = Gateway::start(json!({}), [validated(&upstream, json!({"schema": alternatives}))]);
    let list = |last: &str| format!("[{}{last}]", "1,".repeat(100_000));
    assert_eq!(post(&gateway, &list("2")).0, 200);
    assert_eq!(upstream.last().text(), list("2"));
    let (status, text) = post(&gateway, &list("true"));
    assert!(status == 422 && text.contains("100000: Must validate one and only one schema (oneOf)"), "{text}");
    let (status, text) = post(&gateway, &list(""));
    assert!(status == 400 && text.contains("JSON parsing error: trailing comma"), "{text}");
    assert_eq!(upstream.requests(), 1);
}

/// Node types that refer back to their union, and an invalid leaf: alternatives to the power of the depth, if each said what is wrong below it.
#[test]
fn a_tree_of_node_types_with_an_invalid_leaf_is_refused_at_once() {
    let upstream = Upstream::ok();
    let node = |kind: &str| json!({"properties": {"child": {"$ref": "#"}, "type": {"const": kind}}, "required": ["type"]});
    let nodes = ["a", "b", "c", "d", "e"].map(node);
    let union = json!({"oneOf": nodes});
    let gateway = Gateway::start(json!({}), [validated(&upstream, json!({"schema": union}))]);
    let tree =
        |leaf: &str| (0..40).fold(format!("{{\"type\":\"{leaf}\"}}"), |child, _| format!("{{\"child\":{child},\"type\":\"c\"}}"));
    assert_eq!(post(&gateway, &tree("e")).0, 200);
    let (status, text) = post(&gateway, &tree("none"));
    assert!(status == 422 && text.contains("child.type"), "{text}");
}
