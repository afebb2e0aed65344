use super::*;

fn made(line: &str) -> Value {
    request(line.as_bytes()).unwrap_or_else(|why| panic!("{line}: {why}"))
}

#[test]
fn records_of_all_forms_become_requests() {
    let analytics = made(
        r#"{"method":"GET","host":"up","path":"/things/{id}","raw_path":"/things/7","original_path":"/shop/things/7","listen_path":"/shop/","response_code":200,"api_key":"1a2b3c4d","api_id":"shop","ip_address":"10.1.2.3","timestamp":"2026-11-24T08:00:01.250Z","content_length":0}"#,
    );
    assert_eq!(
        analytics,
        json!({"time_ms": 1_795_507_201_250u64, "method": "GET", "path": "/shop/things/7", "key": "1a2b3c4d", "status": 200, "api_id": "shop", "client_ip": "10.1.2.3", "content_length": 0})
    );
    let of_tyk = made(
        r#"{"method":"GET","raw_path":"/things/7","listen_path":"/shop/","response_code":200,"api_id":"shop","timestamp":"2026-11-24T08:00:01Z"}"#,
    );
    assert_eq!(of_tyk["path"], "/shop/things/7");
    let log = made(
        r#"time="2026-11-24T08:00:01.250Z" level=info api_id=shop api_key=1a2b3c4d cause=key_rate_limit client_ip=10.1.2.3 host="shop.example:8080" method=GET path=/shop/things/7 prefix=access-log status=429 user_agent="curl \"8\"""#,
    );
    assert_eq!((&log["status"], &log["cause"], &log["host"]), (&json!(429), &json!("key_rate_limit"), &json!("shop.example:8080")));
    assert_eq!(
        made(
            r#"{"level":"info","msg":"","time":"2026-11-24T08:00:01Z","prefix":"access-log","method":"GET","path":"/a","status":200}"#
        )["path"],
        "/a"
    );
    let both = r#"{"level":"info","message":"","prefix":"access-log","method":"GET","original_path":"/shop/a","path":"/base/a","status":200}"#;
    assert_eq!(made(both)["path"], "/shop/a");
    assert_eq!(made(r#"{"level":"info","msg":"API reload complete"}"#), Value::Null);
    let nginx = made(r#"10.1.2.3 - - [24/Nov/2026:10:00:01 +0200] "GET /shop/things/7?a=b HTTP/1.1" 200 512 "-" "curl/8""#);
    assert_eq!(
        nginx,
        json!({"time_ms": 1_795_507_201_000u64, "method": "GET", "path": "/shop/things/7?a=b", "status": 200, "client_ip": "10.1.2.3", "headers": [["User-Agent", "curl/8"]]})
    );
    let own = r#"{"method":"GET","path":"/a","headers":[["X-Team","a"]]}"#;
    assert_eq!(made(own), serde_json::from_str::<Value>(own).unwrap());
}

#[test]
fn a_har_gives_headers_and_bodies() {
    let entry = json!({
        "startedDateTime": "2026-11-24T08:00:01.250+00:00",
        "request": {"method": "POST", "url": "https://shop.example/shop/things?a=b", "headers": [{"name": ":path", "value": "/"}, {"name": "X-Team", "value": "a"}], "postData": {"text": "{}"}},
        "response": {"status": 201}
    });
    let expected = json!({"time_ms": 1_795_507_201_250u64, "method": "POST", "host": "shop.example", "path": "/shop/things?a=b", "headers": [["X-Team", "a"]], "status": 201, "body": "e30="});
    assert_eq!(har_request(&entry).unwrap(), expected);
    assert!(begins_har(b"{\n  \"log\": {\n \"version\""));
}

#[test]
fn whole_responses_go_along() {
    let recorded = |raw: &str| {
        let record = json!({"method": "GET", "raw_path": "/a", "response_code": 200, "raw_response": STANDARD.encode(raw)});
        made(&record.to_string())["response"].clone()
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: ***\r\nContent-Length: 4";
    let whole = json!({"headers": [["Content-Type", "text/html"], ["Content-Length", "4"]], "body": "bGVhaw=="});
    assert_eq!(recorded(&format!("{head}\r\n\r\nleak")), whole);
    for cut in ["\r\n\r\nlea", "\r\n"] {
        assert_eq!(recorded(&format!("{head}{cut}")), Value::Null, "{cut:?}");
    }
    assert_eq!(recorded("HTTP/1.1 200 OK\r\n\r\nleak"), Value::Null, "nothing says that it is whole");
    let of_har = |content: Value| {
        let headers = json!([{"name": ":status", "value": "200"}, {"name": "Content-Encoding", "value": "br"}, {"name": "X-A", "value": "b"}]);
        let entry = json!({"request": {"method": "GET", "url": "https://a.example/"}, "response": {"status": 200, "headers": headers, "content": content}});
        har_request(&entry).unwrap()["response"].clone()
    };
    let whole = json!({"headers": [["X-A", "b"]], "body": "bGVhaw=="});
    assert_eq!(of_har(json!({"text": "leak"})), whole);
    assert_eq!(of_har(json!({"text": "bGVhaw==", "encoding": "base64"})), whole);
    assert_eq!(of_har(json!({"size": 0})), json!({"headers": [["X-A", "b"]], "body": ""}));
    for unknown in [json!({"size": 4}), json!({"text": "x".repeat((1 << 20) + 1)}), json!({"text": "%", "encoding": "base64"})] {
        assert_eq!(of_har(unknown), Value::Null);
    }
}

#[test]
fn lines_that_are_no_requests_say_why() {
    for (line, why) in [
        ("{\"a\": 1}", "is no record of a request"),
        ("{", "is not valid JSON"),
        ("nonsense", "is neither JSON nor a line of an access log"),
        ("1.2.3.4 - - [24/Nov/2026:10:00:01 +0200] \"\\x16\\x03\" 400 0", "is no request"),
        ("time=\"2026-11-24T08:00:01Z\" prefix=access-log status=200", "no method"),
    ] {
        let said = request(line.as_bytes()).expect_err(line);
        assert!(said.contains(why), "{line}: {said}");
    }
}
