//! Batches of requests: `POST {listen_path}/tyk/batch/`. Bodies and wordings are those of Tyk's `batch_requests.go`.

use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use crate::harness::certificates::{Authority, client, connect};
use crate::harness::http2::{ask, connect as connect_http2, converse, upload};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, error_json, reply, request};

fn batching(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url()).set("enable_batch_request_support", true)
}

/// An upstream that tells what it saw.
fn telling() -> Upstream {
    Upstream::start(|seen| match seen.target.as_str() {
        "/moved" => reply("302 Found", &["Location: http://127.0.0.1:1/"], "elsewhere"),
        target if target.starts_with("/large") => reply("200 OK", &[], &"x".repeat(300_000)),
        _ => reply("200 OK", &["X-Two: 1", "x-two: 2"], &summary(seen)),
    })
}

fn summary(seen: &Seen) -> String {
    format!("{} {} {} {}", seen.method, seen.target, seen.header("x-own").unwrap_or("-"), seen.text())
}

fn post(gateway: &Gateway, body: &Value) -> Response {
    gateway.send(request("POST", "/a/tyk/batch/", &[], &body.to_string()))
}

fn units(response: &Response) -> Vec<(String, u64, String)> {
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")), "{response}");
    let units = response.json();
    let unit = |unit: &Value| {
        (
            unit["relative_url"].as_str().unwrap().to_owned(),
            unit["code"].as_u64().unwrap(),
            unit["body"].as_str().unwrap().to_owned(),
        )
    };
    units.as_array().unwrap().iter().map(unit).collect()
}

fn unit(url: &str, code: u64, body: impl Into<String>) -> (String, u64, String) {
    (url.to_owned(), code, body.into())
}

#[test]
fn each_request_of_a_batch_is_answered() {
    let upstream = telling();
    let gateway = Gateway::start(json!({}), [batching(&upstream)]);
    let requests = json!([
        {"method": "GET", "relative_url": "one?a=b", "headers": {"X-Own": "yes"}},
        {"method": "POST", "relative_url": "two", "body": "a body"},
        {"relative_url": "three"},
        {"method": "HEAD", "relative_url": "four"},
        {"method": "DELETE", "relative_url": "fünf%20/ sechs"},
    ]);
    let wanted = [
        unit("one?a=b", 200, "GET /one?a=b yes "),
        unit("two", 200, "POST /two - a body"),
        unit("three", 200, "GET /three - "),
        unit("four", 200, ""),
        unit("fünf%20/ sechs", 200, "DELETE /f%C3%BCnf%20/%20sechs - "),
    ];
    for in_turn in [false, true] {
        let answer = post(&gateway, &json!({"requests": requests, "suppress_parallel_execution": in_turn}));
        assert_eq!(units(&answer), wanted);
        assert_eq!(answer.json()[0]["headers"]["X-Two"], json!(["1", "2"]));
        assert!(answer.json()[0]["headers"].get("Connection").is_none());
    }
    assert_eq!(upstream.requests(), 10);
    let empty = post(&gateway, &json!({}));
    assert_eq!((empty.status, empty.text()), (200, "[]\n".to_owned()));
}

#[test]
fn large_batches_and_large_answers_are_as_small_ones() {
    let upstream = telling();
    let gateway = Gateway::start(json!({}), [batching(&upstream)]);
    let long = "é".repeat(50_000);
    let requests =
        json!([{"relative_url": "large"}, {"method": "POST", "relative_url": "one", "body": long}, {"relative_url": "two"}]);
    for in_turn in [false, true] {
        let answer = post(&gateway, &json!({"requests": requests, "suppress_parallel_execution": in_turn}));
        let wanted = [
            unit("large", 200, "x".repeat(300_000)),
            unit("one", 200, format!("POST /one - {long}")),
            unit("two", 200, "GET /two - "),
        ];
        assert!(units(&answer) == wanted, "{:.300}", answer.text());
        assert_eq!(answer.json()[2]["headers"]["X-Two"], json!(["1", "2"]));
    }
    let bad = gateway.send(request("POST", "/a/tyk/batch/", &[], &format!("{{\"pad\": \"{long}\", \"requests\": 1}}")));
    assert_eq!((bad.status, bad.json()["message"].as_str()), (400, Some("Batch request malformed")));
    assert_eq!(upstream.requests(), 6);
}

#[test]
fn requests_run_at_once_unless_told_otherwise() {
    let both = Arc::new(Barrier::new(2));
    let upstream = Upstream::start(move |_| {
        both.wait();
        reply("200 OK", &[], "met")
    });
    let gateway = Gateway::start(json!({}), [batching(&upstream)]);
    // They would wait for each other for ever, one after the other.
    assert_eq!(units(&post(&gateway, &json!({"requests": [{}, {}]}))), [unit("", 200, "met"), unit("", 200, "met")]);

    let upstream = telling();
    let gateway = Gateway::start(json!({}), [batching(&upstream)]);
    let requests: Vec<Value> = (0..20).map(|number| json!({"relative_url": number.to_string()})).collect();
    post(&gateway, &json!({"requests": requests, "suppress_parallel_execution": true}));
    assert_eq!(upstream.take_targets(), (0..20).map(|number| format!("/{number}")).collect::<Vec<_>>());
}

#[test]
fn each_request_passes_the_chain() {
    let upstream = telling();
    let limited = batching(&upstream).set("global_rate_limit", json!({"rate": 2, "per": 3600}));
    let keyed = api("k", "/k/", &upstream.url()).set("enable_batch_request_support", true).with_keys();
    let closed =
        api("ip", "/ip/", &upstream.url()).set("enable_batch_request_support", true).set("allowed_ips", json!(["10.1.1.1"]));
    let gateway = Gateway::start(json!({}), [limited, keyed, closed]);
    let answer = post(&gateway, &json!({"requests": [{}, {}, {}], "suppress_parallel_execution": true}));
    let limit = error_json("API Rate Limit Exceeded");
    assert_eq!(units(&answer).iter().map(|unit| unit.1).collect::<Vec<_>>(), [200, 200, 429]);
    assert_eq!(units(&answer)[2].2, limit);
    let batch = json!({"requests": [{}, {"headers": {"Authorization": "no"}}]}).to_string();
    let codes = |target: &str, lines: &[&str]| {
        units(&gateway.send(request("POST", target, lines, &batch))).iter().map(|unit| unit.1).collect::<Vec<_>>()
    };
    // As in Tyk, the batch's own headers are not those of its requests.
    assert_eq!(codes("/k/tyk/batch/", &["Authorization: some-key"]), [401, 403]);
    // They come from the batch's client: not, as in Tyk, from the gateway's own address.
    assert_eq!(codes("/ip/tyk/batch/", &[]), [403, 403]);
}

#[test]
fn the_client_of_a_batch_is_the_client_of_its_requests() {
    let authority = Authority::new("clients");
    let (server, caller) = (authority.issue(&["localhost"]), authority.issue(&["caller"]));
    let directory = tempfile::tempdir().unwrap();
    let file = server.write(directory.path(), "server.pem");
    let upstream = Upstream::start(|seen| reply("200 OK", &[], seen.header("x-forwarded-for").unwrap_or("-")));
    let conf = json!({"http_server_options": {"use_ssl": true, "certificates": [{"cert_file": file}]}});
    let definition = batching(&upstream)
        .set("use_mutual_tls_auth", true)
        .set("client_certificates", json!([caller.write(directory.path(), "caller.pem")]));
    let gateway = Setup::new(conf).api(definition).start();
    let batch = json!({"requests": [{"headers": {"X-Forwarded-For": "9.9.9.9", "X-Real-IP": "9.9.9.9"}}]}).to_string();
    let ask = |own| {
        let mut wire = connect(&Arc::new(client(&authority, own)), gateway.port, "localhost");
        units(
            &wire.ask(format!("POST /a/tyk/batch/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{batch}", batch.len())),
        )
    };
    assert_eq!(ask(Some(&caller)), [unit("", 200, "127.0.0.1")]);
    assert_eq!(ask(None)[0].1, 403);
}

#[test]
fn a_batch_reaches_nothing_but_its_gateway() {
    let upstream = telling();
    let inside = api("inside", "/inside/", &upstream.url()).set("internal", true);
    let gateway = Gateway::start(json!({}), [batching(&upstream), inside]);
    for (url, target) in [
        ("http://127.0.0.1:1/x", "/http://127.0.0.1:1/x"),
        ("@127.0.0.1:1/x", "/@127.0.0.1:1/x"),
        (":1/x", "/:1/x"),
        ("//127.0.0.1:1/x", "/127.0.0.1:1/x"),
        ("x#@127.0.0.1:1", "/x"),
    ] {
        let answer = post(&gateway, &json!({"requests": [{"relative_url": url}]}));
        let (_, code, body) = &units(&answer)[0];
        // A path that is not clean is answered with a redirect to the clean one, which is not followed.
        if *code == 301 {
            continue;
        }
        assert_eq!((*code, body.as_str()), (200, format!("GET {target} - ").as_str()), "{url}");
    }
    // Tyk follows an upstream's redirects, wherever they lead.
    let moved = post(&gateway, &json!({"requests": [{"relative_url": "moved"}]}));
    assert_eq!(units(&moved), [unit("moved", 302, "elsewhere")]);
    assert_eq!(moved.json()[0]["headers"]["Location"], json!(["http://127.0.0.1:1/"]));
    for (url, code) in [("../inside/", 301), ("..%2finside/", 301), ("../tyk/apis", 301), ("../nowhere/", 301)] {
        let answer = post(&gateway, &json!({"requests": [{"relative_url": url}]}));
        assert_eq!(units(&answer)[0].1, code, "{url}");
    }
    let headers =
        json!({"Host": "other", "Content-Length": "100", "Transfer-Encoding": "chunked", "Connection": "upgrade", "Upgrade": "x"});
    let framed = post(&gateway, &json!({"requests": [{"method": "POST", "headers": headers, "body": "x"}]}));
    assert_eq!(units(&framed), [unit("", 200, "POST / - x")]);
    let line_end = post(&gateway, &json!({"requests": [{"headers": {"X-Own": "a\r\nX-More: b"}}, {}]}));
    assert_eq!(units(&line_end), [unit("", 0, ""), unit("", 200, "GET / - ")]);
}

#[test]
fn a_batch_that_is_none_is_refused_in_tyks_words() {
    let upstream = telling();
    let gateway = Gateway::start(
        json!({"tollgate": {"limits": {"batch_requests_max": 3, "body_bytes_max": 250_000}}}),
        [batching(&upstream), api("off", "/off/", &upstream.url())],
    );
    let malformed = "Batch request malformed";
    let entry = "Batch request creation failed , request structure malformed";
    for (body, message) in [
        ("", malformed),
        ("{\"requests\":", malformed),
        ("[]", malformed),
        ("{\"requests\": 1}", malformed),
        ("{\"requests\": [{\"method\": \"GET /\"}]}", entry),
        ("{\"requests\": [{\"relative_url\": \"a\\u0000\"}]}", entry),
        ("{\"requests\": [{}, {}, {}, {}]}", "Batch request has too many requests"),
    ] {
        let answer = gateway.send(request("POST", "/a/tyk/batch/", &[], body));
        let wanted = json!({"status": "error", "message": message});
        assert_eq!((answer.status, answer.json()), (400, wanted), "{body}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    let deep = format!("{{\"requests\": {}", "[".repeat(100_000));
    assert_eq!(gateway.send(request("POST", "/a/tyk/batch/", &[], &deep)).status, 400);
    assert_eq!(upstream.requests(), 0);
    let large = json!({"requests": [{"body": "x".repeat(250_000)}]}).to_string();
    assert_eq!(gateway.send(request("POST", "/a/tyk/batch/", &[], &large)).status, 400);
    let nested = json!({"requests": [{"relative_url": "tyk/batch/", "method": "POST", "body": "{\"requests\": [{}]}"}]});
    let answer = post(&gateway, &nested);
    assert_eq!(units(&answer)[0].1, 400);
    assert!(units(&answer)[0].2.contains("Batch requests cannot be nested"));
    assert_eq!(upstream.requests(), 0);
    // Its responses have a bound as well: what is larger has none, and the others are there.
    let answer = post(&gateway, &json!({"requests": [{"relative_url": "large"}, {}]}));
    assert_eq!(units(&answer), [unit("large", 0, ""), unit("", 200, "GET / - ")]);
    // As in Tyk, other methods get nothing, and an API without the switch has no such endpoint.
    let get = gateway.get("/a/tyk/batch/");
    assert_eq!((get.status, get.text()), (200, String::new()));
    let off = gateway.send(request("POST", "/off/tyk/batch/", &[], "{}"));
    assert_eq!(off.text(), "POST /tyk/batch/ - {}");
    let without_slash = gateway.send(request("POST", "/a/tyk/batch", &[], "{}"));
    assert_eq!(without_slash.text(), "POST /tyk/batch - {}");
}

#[test]
fn an_upstream_that_fails_fails_its_own_requests_only() {
    let upstream = Upstream::raw(|mut wire, _| {
        let Some(seen) = Seen::read(&mut wire) else { return };
        let answer = match seen.target.as_str() {
            "/cut" => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec(),
            "/none" => Vec::new(),
            "/chunked" => {
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n".to_vec()
            }
            "/until" => b"HTTP/1.0 200 OK\r\n\r\nuntil the end".to_vec(),
            "/early" => {
                b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
                    .to_vec()
            }
            _ => reply("200 OK", &["Connection: close"], "fine"),
        };
        let _ = wire.try_send(answer);
    });
    let gateway = Gateway::start(json!({}), [batching(&upstream)]);
    let requests: Vec<Value> =
        ["cut", "none", "chunked", "until", "early", "fine"].iter().map(|url| json!({"relative_url": url})).collect();
    let answer = post(&gateway, &json!({"requests": requests}));
    assert_eq!(
        units(&answer),
        [
            unit("cut", 0, ""),
            unit("none", 500, error_json("There was a problem proxying the request")),
            unit("chunked", 200, "abc"),
            unit("until", 200, "until the end"),
            unit("early", 200, "ok"),
            unit("fine", 200, "fine"),
        ]
    );
}

#[test]
fn http2_clients_can_send_batches() {
    let upstream = telling();
    let gateway = Gateway::start(json!({}), [batching(&upstream)]);
    converse(async {
        let sender = connect_http2(gateway.port).await;
        let body = json!({"requests": [{"relative_url": "one"}, {"relative_url": "large"}]}).to_string();
        let answer = upload(&sender, crate::harness::http2::post("/a/tyk/batch/"), body.as_bytes(), None).await.unwrap();
        let units: Value = serde_json::from_str(&answer.text()).unwrap();
        assert_eq!((units[0]["body"].as_str(), units[1]["body"].as_str().map(str::len)), (Some("GET /one - "), Some(300_000)));
        let again = ask(&sender, crate::harness::http2::get("/a/x")).await.unwrap();
        assert_eq!(again.text(), "GET /x - ");
    });
}
