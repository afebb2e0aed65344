use super::{RequestFault, parse_body, parse_pairs};
use std::borrow::Cow;

#[test]
fn requests_are_read_from_bodies() {
    let body = br#"{"query": "{ a }", "operationName": "A\u0042", "variables": {"x": [1]}, "other": {"y": 1}, "extensions": null}"#;
    let (requests, is_batch) = parse_body(body, 5).unwrap();
    assert!(!is_batch);
    assert!(matches!(requests[0].query, Cow::Borrowed("{ a }")));
    assert_eq!(requests[0].operation_name.as_deref(), Some("AB"));
    assert_eq!(requests[0].variables.as_ref().unwrap()["x"][0], 1);
    let (requests, is_batch) = parse_body(b" [{\"query\": \"{ a }\"}, {\"query\": \"{ b }\"}]", 2).unwrap();
    assert_eq!((requests.len(), is_batch), (2, true));
    let nulls = br#"{"query": "q", "operationName": null, "variables": null, "extensions": {"persistedQuery": null}}"#;
    assert_eq!(parse_body(nulls, 1).unwrap().0[0].persisted, None);
}

#[test]
fn bodies_that_could_be_read_in_two_ways_are_refused() {
    for (body, wanted) in [
        (&b""[..], ""),
        (b" \n ", ""),
        (b"[]", ""),
        (b"{", "EOF"),
        (b"{} {}", "trailing"),
        (b"3", "invalid type"),
        (b"\"{ a }\"", "invalid type"),
        (b"[1]", "invalid type"),
        (br#"{"query": 1}"#, "a string"),
        (br#"{"query": ["a"]}"#, "a string"),
        (br#"{"query": "a", "query": "b"}"#, "\"query\" is there twice"),
        (br#"{"query": "a", "Query": "b"}"#, "\"Query\" must be written \"query\""),
        (br#"{"query": "a", "OPERATIONNAME": "b"}"#, "must be written \"operationName\""),
        (br#"{"query": "a", "variables": "b"}"#, "invalid type"),
        (br#"{"query": "a", "variables": [1]}"#, "invalid type"),
        (br#"{"query": "a", "extensions": 0}"#, "invalid type"),
        (br#"{"query": "a", "extensions": {"persistedQuery": {"version": 2, "sha256Hash": ""}}}"#, "version 1"),
        (br#"{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "12"}}}"#, "64 hexadecimal digits"),
        (b"{\"query\": \"\xff\"}", ""),
    ] {
        match parse_body(body, 10) {
            Err(RequestFault::Malformed(why)) => assert!(why.contains(wanted), "{}: {why}", String::from_utf8_lossy(body)),
            Err(RequestFault::Empty) => assert!(wanted.is_empty()),
            other => panic!("{}: {other:?}", String::from_utf8_lossy(body)),
        }
    }
}

#[test]
fn a_batch_that_is_too_large_is_not_read_to_its_end() {
    let many = format!("[{} nothing]", "{\"query\": \"{ a }\"},".repeat(10_000));
    assert_eq!(parse_body(many.as_bytes(), 10), Err(RequestFault::BatchTooLarge));
}

#[test]
fn requests_are_read_from_urls() {
    let pairs = |pairs: &[(&'static str, &'static str)]| {
        parse_pairs(pairs.iter().map(|(name, value)| (Cow::Borrowed(*name), Cow::Borrowed(*value))).collect::<Vec<_>>().into_iter())
    };
    let request = pairs(&[("key", "k"), ("query", "{ a }"), ("variables", r#"{"x": 1}"#), ("operationName", "")]).unwrap();
    assert_eq!((request.query.as_ref(), request.operation_name), ("{ a }", None));
    assert_eq!(request.variables.unwrap()["x"], 1);
    assert_eq!(pairs(&[("key", "k")]), Err(RequestFault::Empty));
    let digest =
        r#"{"persistedQuery": {"version": 1, "sha256Hash": "00ff000000000000000000000000000000000000000000000000000000000000"}}"#;
    assert_eq!(pairs(&[("extensions", digest)]).unwrap().persisted.unwrap()[..3], [0, 255, 0]);
    for wrong in [
        &[("query", "a"), ("query", "b")][..],
        &[("query", "a"), ("QUERY", "b")],
        &[("query", "a"), ("variables", "[")],
        &[("query", "a"), ("variables", "3")],
    ] {
        assert!(matches!(pairs(wrong), Err(RequestFault::Malformed(_))), "{wrong:?}");
    }
}
