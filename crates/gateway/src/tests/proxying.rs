//! Messages through the gateway: keep-alive and pipelining, heads, interim and bodyless responses, forwarded headers, HTTP/1.0.

use serde_json::json;

use super::harness::{Gateway, Upstream, api, get, reply, request};

fn gateway_for(upstream: &Upstream) -> Gateway {
    Gateway::start(json!({}), [api("a", "/a/", &upstream.url())])
}

#[test]
fn statuses_pass_unchanged() {
    let upstream = Upstream::start(|seen| {
        let status = seen.target.trim_start_matches('/');
        reply(&format!("{status} Own Words"), &["Location: http://elsewhere.test/"], "text")
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for status in [200, 201, 206, 301, 302, 307, 400, 401, 404, 418, 429, 500, 502, 503, 599] {
        let response = client.ask(get(&format!("/a/{status}")));
        assert_eq!((response.status, response.text().as_str()), (status, "text"));
        assert_eq!(response.header("location"), Some("http://elsewhere.test/"));
    }
}

#[test]
fn any_method_passes_with_or_without_a_body() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for (method, body) in
        [("FOO", ""), ("GET", "a body"), ("DELETE", "x"), ("PATCH", "{}"), ("OPTIONS", ""), ("PROPFIND", "<a/>"), ("POST", "")]
    {
        assert_eq!(client.ask(request(method, "/a/", &[], body)).status, 200);
        let seen = upstream.last();
        assert_eq!((seen.method.as_str(), seen.text().as_str()), (method, body));
    }
}

#[test]
fn nothing_is_added_to_a_bare_request_but_the_forwarding_line() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    gateway.get("/a/");
    let seen = upstream.last();
    let mut names: Vec<String> = seen.head.names().iter().map(|name| name.to_lowercase()).collect();
    names.sort();
    assert_eq!(names, ["host", "x-forwarded-for"]);
    assert_eq!(seen.header("host"), Some(upstream.address.to_string().as_str()));
    assert_eq!(seen.header("x-forwarded-for"), Some("127.0.0.1"));
    assert_eq!(seen.version, "HTTP/1.1");
}

#[test]
fn forwarded_names_keep_their_letters_and_their_order() {
    let upstream =
        Upstream::start(|_| reply("200 OK", &["x-LOWER-Upper: 1", "Set-Cookie: a=1", "ETag: \"q\"", "Set-Cookie: b=2"], "ok"));
    let gateway = gateway_for(&upstream);
    let response = gateway.send(request("GET", "/a/", &["accept: b", "X-oDD-caSe: 1", "ACCEPT: a", "Cookie: x=1; y=2"], ""));
    let seen = upstream.last();
    let sent: Vec<&str> =
        seen.head.names().into_iter().filter(|name| !["host", "x-forwarded-for"].contains(&name.to_lowercase().as_str())).collect();
    assert_eq!(sent, ["accept", "X-oDD-caSe", "ACCEPT", "Cookie"]);
    assert_eq!(seen.head.all("accept"), ["b", "a"]);
    let known = ["x-lower-upper", "set-cookie", "etag"];
    let got: Vec<&str> = response.head.names().into_iter().filter(|name| known.contains(&name.to_lowercase().as_str())).collect();
    assert_eq!(got, ["x-LOWER-Upper", "Set-Cookie", "ETag", "Set-Cookie"]);
    assert_eq!(response.head.all("set-cookie"), ["a=1", "b=2"]);
}

#[test]
fn header_values_pass_byte_for_byte() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let values = ["a, b;q=0.5", "\"quoted \\\" text\"", "tab\tinside", "(comment) {json: [1,2]}", "snow \u{2603}", ""];
    for value in values {
        gateway.send(request("GET", "/a/", &[&format!("X-Value: {value}")], ""));
        assert_eq!(upstream.last().header("x-value"), Some(value));
    }
}

#[test]
fn the_clients_address_is_appended_to_the_forwarding_line() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let cases: &[(&[&str], &str)] = &[
        (&[], "127.0.0.1"),
        (&["X-Forwarded-For: 1.2.3.4"], "1.2.3.4, 127.0.0.1"),
        (&["x-forwarded-for: 1.2.3.4, 5.6.7.8"], "1.2.3.4, 5.6.7.8, 127.0.0.1"),
        (&["X-Forwarded-For: 1.1.1.1", "X-Forwarded-For: 2.2.2.2"], "1.1.1.1, 2.2.2.2, 127.0.0.1"),
    ];
    for (lines, expect) in cases {
        gateway.send(request("GET", "/a/", lines, ""));
        assert_eq!(upstream.last().head.all("x-forwarded-for").join(", "), *expect, "{lines:?}");
    }
}

#[test]
fn headers_of_one_hop_stay_on_their_hop() {
    let upstream = Upstream::start(|_| {
        reply(
            "200 OK",
            &["Connection: x-foo", "X-Foo: 1", "Keep-Alive: timeout=5", "Proxy-Authenticate: Basic", "Server: up/1"],
            "ok",
        )
    });
    let gateway = gateway_for(&upstream);
    let lines = [
        "Connection: keep-alive, X-Secret ,x-other",
        "X-Secret: 1",
        "X-Other: 2",
        "Keep-Alive: timeout=5",
        "Proxy-Connection: keep-alive",
        "Proxy-Authorization: Basic x",
        "TE: gzip",
        "Upgrade: h2c",
        "User-Agent: me",
        "Accept-Encoding: br",
        "X-Real-Ip: 9.9.9.9",
    ];
    let response = gateway.send(request("GET", "/a/", &lines, ""));
    let seen = upstream.last();
    for gone in ["x-secret", "x-other", "keep-alive", "proxy-connection", "proxy-authorization", "te", "upgrade", "trailer"] {
        assert!(!seen.head.has(gone), "{gone} went upstream: {:?}", seen.head);
    }
    assert_eq!(seen.header("user-agent"), Some("me"));
    assert_eq!(seen.header("accept-encoding"), Some("br"));
    assert_eq!(seen.header("x-real-ip"), Some("9.9.9.9"));
    for gone in ["x-foo", "keep-alive", "proxy-authenticate"] {
        assert!(!response.head.has(gone), "{gone} came back: {response}");
    }
    assert_eq!(response.header("server"), Some("up/1"));
}

#[test]
fn te_trailers_is_kept() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    gateway.send(request("GET", "/a/", &["TE: trailers"], ""));
    assert_eq!(upstream.last().header("te"), Some("trailers"));
}

#[test]
fn the_quota_headers_of_a_keyless_api_are_zero_whatever_the_upstream_says() {
    let upstream =
        Upstream::start(|_| reply("200 OK", &["X-RateLimit-Limit: 77", "x-ratelimit-reset: 5", "X-Generator: up"], "ok"));
    let gateway = gateway_for(&upstream);
    let response = gateway.get("/a/");
    for name in ["X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"] {
        assert_eq!(response.header(name), Some("0"));
        assert!(response.head.names().contains(&name), "{name} is spelt otherwise: {response}");
    }
    assert_eq!(response.header("x-generator"), Some("up"));
}

#[test]
fn a_proxied_answer_does_not_name_the_gateway() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let response = gateway.get("/a/");
    for name in ["x-generator", "server", "via", "x-tyk-api-expires"] {
        assert!(!response.head.has(name), "{response}");
    }
}

#[test]
fn the_absolute_form_of_a_target_is_brought_to_origin_form() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let response = gateway.send("GET http://gateway.test/a/x?y=1 HTTP/1.1\r\nHost: gateway.test\r\n\r\n");
    assert_eq!(response.status, 200, "{response}");
    assert_eq!(upstream.last().target, "/x?y=1");
}

/// RFC 9110 §8.6: strict servers answer 411 otherwise.
#[test]
fn a_request_without_a_body_says_so_if_its_method_usually_has_one() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    for (method, expect) in [("POST", Some("0")), ("PUT", Some("0")), ("PATCH", Some("0")), ("DELETE", None), ("GET", None)] {
        assert_eq!(gateway.send(format!("{method} /a/ HTTP/1.1\r\nHost: h\r\n\r\n")).status, 200);
        assert_eq!(upstream.last().header("content-length"), expect, "{method}");
    }
}
