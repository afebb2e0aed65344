//! Generated requests and the verdict of an independent validator about each, openapi-core 0.23 (`openapi_requests/make.py`).

use serde_json::{Value, json};

use super::harness::openapi::extended;
use crate::harness::{Gateway, Upstream};

#[test]
fn requests_fit_a_document_as_an_independent_validator_says() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    let mut differences = Vec::new();
    for (id, corpus) in
        [("old", include_str!("openapi_requests/3.0.3.jsonl")), ("new", include_str!("openapi_requests/3.1.0.jsonl"))]
    {
        let mut lines = corpus.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let settings = [
            ("info", json!({"id": id, "name": id, "orgId": "default", "state": {"active": true}})),
            ("upstream", json!({"url": upstream.url()})),
            ("server", json!({"listenPath": {"value": format!("/{id}/"), "strip": true}})),
        ];
        let document = settings.into_iter().fold(lines.next().unwrap(), |document, (name, value)| extended(document, name, value));
        gateway.write_file(&format!("{id}-oas.json"), document.to_string());
        gateway.reload();
        let mut connection = gateway.connect();
        let mut fitting = 0;
        for line in lines {
            let [method, path, query, headers, body, fits, reason] = line.as_array().unwrap().as_slice() else { panic!("{line}") };
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let body: Vec<u8> = text(body).chars().map(|byte| u8::try_from(byte).unwrap()).collect();
            let query = Some(text(query)).filter(|query| !query.is_empty()).map_or_else(String::new, |query| format!("?{query}"));
            let mut request = format!("{} /{id}{}{query} HTTP/1.1\r\nHost: x\r\n", text(method), text(path));
            for (name, value) in headers.as_object().unwrap() {
                request.push_str(&format!("{name}: {}\r\n", text(value)));
            }
            let mut request = format!("{request}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
            request.extend(body);
            let answer = connection.ask(&request);
            // Where a reason is given, the gateway decides otherwise.
            let expected = if fits.as_bool().unwrap() == reason.is_null() { 200 } else { 422 };
            fitting += usize::from(expected == 200);
            if answer.status != expected {
                differences.push(format!("{} instead of {expected}: {line}: {}", answer.status, answer.text()));
            }
        }
        assert!(fitting > 500, "{fitting}");
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}
