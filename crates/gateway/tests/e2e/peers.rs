//! Real nginx as the upstream: its files, ranges, compression, limits and habits of closing connections.

use serde_json::json;

use crate::connections::expect_closed_by;
use crate::harness::nginx::Nginx;
use crate::harness::{Gateway, Upstream, api, get, reply, request};

fn gateway_for(nginx: &Nginx) -> Gateway {
    Gateway::start(json!({}), [api("a", "/a/", &nginx.url())])
}

#[test]
fn files_come_whole_in_parts_and_not_at_all() {
    let nginx = Nginx::start("");
    let content: Vec<u8> = (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    nginx.file("big", &content);
    let gateway = gateway_for(&nginx);
    let mut client = gateway.connect();
    let whole = client.ask(get("/a/big"));
    assert!(whole.body == content);
    let tag = whole.header("etag").expect("a tag").to_owned();

    let part = client.ask(request("GET", "/a/big", &["Range: bytes=1000-1999"], ""));
    assert_eq!((part.status, part.header("content-range")), (206, Some("bytes 1000-1999/3000000")));
    assert_eq!(part.body, &content[1000..2000]);

    let unchanged = client.ask(request("GET", "/a/big", &[&format!("If-None-Match: {tag}")], ""));
    assert_eq!((unchanged.status, unchanged.body.len()), (304, 0));
    let head = client.ask(request("HEAD", "/a/big", &[], ""));
    assert_eq!((head.status, head.header("content-length")), (200, Some("3000000")));
    assert_eq!(client.ask(get("/a/none")).status, 404);
}

#[test]
fn what_nginx_sees_is_what_was_sent() {
    let nginx = Nginx::start("location / { return 200 \"$request|$http_host|$http_x_forwarded_for|$http_x_own\"; }");
    let gateway = gateway_for(&nginx);
    let response = gateway.send(request("GET", "/a/x%2Fy?q=%20z", &["X-Own: value", "X-Forwarded-For: 9.9.9.9"], ""));
    assert_eq!(response.text(), format!("GET /x%2Fy?q=%20z HTTP/1.1|127.0.0.1:{}|9.9.9.9, 127.0.0.1|value", nginx.port));
}

#[test]
fn a_compressed_answer_passes_as_it_is() {
    let nginx = Nginx::start("gzip on; gzip_types text/plain; gzip_min_length 10;");
    nginx.file("text", "many words ".repeat(10_000).as_bytes());
    let gateway = gateway_for(&nginx);
    let mut client = gateway.connect();
    let packed = client.ask(request("GET", "/a/text", &["Accept-Encoding: gzip"], ""));
    assert_eq!((packed.header("content-encoding"), &packed.body[..2]), (Some("gzip"), [0x1f, 0x8b].as_slice()));
    let plain = client.ask(get("/a/text"));
    assert_eq!((plain.header("content-encoding"), plain.body.len()), (None, 110_000));
}

#[test]
fn connections_that_nginx_closes_after_a_few_requests_fail_nobody() {
    let nginx = Nginx::start("keepalive_requests 3; location / { return 200 ok; }");
    let gateway = gateway_for(&nginx);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = gateway.connect();
                for _ in 0..250 {
                    assert_eq!(client.ask(get("/a/")).status, 200);
                }
            });
        }
    });
}

#[test]
fn connections_that_nginx_closes_while_idle_fail_nobody() {
    let nginx = Nginx::start("keepalive_timeout 1s; location / { return 200 ok; }");
    let gateway = gateway_for(&nginx);
    let mut client = gateway.connect();
    for _ in 0..3 {
        assert_eq!(client.ask(get("/a/")).status, 200);
        expect_closed_by(nginx.port);
        assert_eq!(client.ask(request("POST", "/a/", &[], "x")).status, 200);
    }
}

#[test]
fn a_body_that_nginx_does_not_want_is_refused_by_nginx() {
    let nginx = Nginx::start("client_max_body_size 1k; location / { proxy_pass http://127.0.0.1:9; }");
    let gateway = gateway_for(&nginx);
    let mut client = gateway.connect();
    let response = client.ask(request("POST", "/a/", &[], &"x".repeat(200_000)));
    assert_eq!(response.status, 413, "{response}");
    assert_eq!(gateway.get("/a/").status, 502);
}

#[test]
fn bodies_pass_through_nginx_and_back() {
    let behind = Upstream::start(|seen| reply("200 OK", &[], &seen.text()));
    let nginx = Nginx::start(&format!(
        "client_max_body_size 0; location / {{ proxy_pass {}; proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off; }}",
        behind.url()
    ));
    let gateway = gateway_for(&nginx);
    let mut client = gateway.connect();
    let body = "some text, ".repeat(50_000);
    assert_eq!(client.ask(request("POST", "/a/x", &[], &body)).text(), body);
    let chunked =
        format!("PUT /a/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    assert_eq!(client.ask(chunked).text(), body);
}
