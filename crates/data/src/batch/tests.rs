use super::*;
use serde_json::json;

fn parse(body: &str) -> Result<Batch, BatchFault> {
    Batch::parse(body.as_bytes(), 3)
}

#[test]
fn a_batch_is_read_as_go_reads_it() {
    let batch = parse(
        r#"{"Requests": [{"METHOD": "PUT", "relative_url": "a/b?c=d", "headers": {"X": "1"}, "body": "x", "more": 1}, null, {}],
        "suppress_parallel_execution": true, "more": []} and what follows"#,
    )
    .unwrap();
    assert!(batch.in_turn);
    let first = &batch.requests[0];
    assert_eq!((first.method.as_str(), first.relative_url.as_str(), first.body.as_str()), ("PUT", "a/b?c=d", "x"));
    assert_eq!(first.headers, [("X".to_owned(), "1".to_owned())]);
    assert!(batch.requests[1..].iter().all(|request| request.method == "GET" && request.relative_url.is_empty()));
    for empty in ["{}", "null", r#"{"requests": null}"#, r#"{"requests": [], "suppress_parallel_execution": null}"#] {
        assert_eq!(parse(empty), Ok(Batch { requests: Vec::new(), in_turn: false }), "{empty}");
    }
}

#[test]
fn what_is_no_batch_is_refused() {
    for (body, fault) in [
        ("", BatchFault::Malformed),
        ("{", BatchFault::Malformed),
        ("[]", BatchFault::Malformed),
        ("\"x\"", BatchFault::Malformed),
        (r#"{"requests": {}}"#, BatchFault::Malformed),
        (r#"{"requests": [1]}"#, BatchFault::Malformed),
        (r#"{"requests": [{"method": 1}]}"#, BatchFault::Malformed),
        (r#"{"requests": [{"headers": []}]}"#, BatchFault::Malformed),
        (r#"{"requests": [{"headers": {"A": 1}}]}"#, BatchFault::Malformed),
        (r#"{"requests": [{"body": {"a": 1}}]}"#, BatchFault::Malformed),
        (r#"{"requests": [], "suppress_parallel_execution": "yes"}"#, BatchFault::Malformed),
        (r#"{"requests": [{"method": "GET /"}]}"#, BatchFault::Entry),
        (r#"{"requests": [{"relative_url": "a\r\nb"}]}"#, BatchFault::Entry),
        (r#"{"requests": [{"relative_url": "a%2"}]}"#, BatchFault::Entry),
        (r#"{"requests": [{}, {}, {}, {}]}"#, BatchFault::TooMany),
    ] {
        assert_eq!(parse(body), Err(fault), "{body}");
    }
    let deep = format!(r#"{{"requests": {}"#, "[".repeat(100_000));
    assert_eq!(parse(&deep), Err(BatchFault::Malformed));
}

fn written(listen_path: &str, request: serde_json::Value) -> Option<String> {
    let batch = parse(&json!({"requests": [request]}).to_string()).unwrap();
    batch.requests[0].write(listen_path, b"h", "x-client").map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn a_request_is_for_this_api_and_says_only_what_it_may() {
    let line = |listen_path, url: &str| {
        let text = written(listen_path, json!({"relative_url": url})).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(line("/a/", "b"), "GET /a/b HTTP/1.1");
    assert_eq!(line("/a", "//b"), "GET /a/b HTTP/1.1");
    assert_eq!(line("/", "b"), "GET /b HTTP/1.1");
    assert_eq!(line("/a/b/", ""), "GET /a/b/ HTTP/1.1");
    assert_eq!(line("/a/", "b c/ä%20?q=100%&x=\"#part"), "GET /a/b%20c/%C3%A4%20?q=100%&x=%22 HTTP/1.1");
    assert_eq!(line("/a/", "http://evil/"), "GET /a/http://evil/ HTTP/1.1");
    assert_eq!(line("/a/", "@evil/"), "GET /a/@evil/ HTTP/1.1");
    let headers = json!({"X-Own": " 1 ", "Host": "evil", "content-length": "9", "Transfer-Encoding": "chunked", "x-forwarded-for": "1.1.1.1",
        "X-Real-IP": "1.1.1.1", "X-Client": "1.1.1.1", "Upgrade": "websocket", "Connection": "x", "Expect": "100-continue"});
    let text = written("/a/", json!({"method": "POST", "headers": headers, "body": "ä"})).unwrap();
    assert_eq!(text, "POST /a/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nä");
    for headers in [json!({"A B": "x"}), json!({"A": "x\r\nB: y"}), json!({"": "x"})] {
        assert_eq!(written("/a/", json!({"headers": headers})), None, "{headers}");
    }
}

#[test]
fn an_answer_has_tyks_fields_in_the_order_of_the_requests() {
    let batch = parse(r#"{"requests": [{"relative_url": "a"}, {"relative_url": "b"}]}"#).unwrap();
    let headers = [("x-one", "1"), ("X-One", "2"), ("connection", "close")].map(|(name, value)| (name.to_owned(), value.into()));
    let reply = BatchReply { status: 201, headers: &headers, body: b"\"<\xff" };
    let body = write_replies(batch.requests.iter().zip([Some(reply), None]));
    assert_eq!(
        String::from_utf8(body).unwrap(),
        concat!(
            r#"[{"relative_url":"a","code":201,"headers":{"X-One":["1","2"]},"body":"\"<"#,
            "\u{fffd}",
            r#""},{"relative_url":"b","code":0,"headers":null,"body":""}]"#,
            "\n"
        )
    );
    assert_eq!(write_replies(std::iter::empty()), b"[]\n");
}
