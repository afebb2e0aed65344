//! Compressed responses: which, for whom, and what their heads say (RFC 9110 §8.4, §12.5.3).

use std::io::Read;

use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use super::harness::caching::cached;
use super::harness::shared_cache::shared;
use super::harness::transforms::response_transform;
use super::harness::{Definition, Gateway, Response, Upstream, api, request};

const GZIP: &str = "Accept-Encoding: gzip";

/// A text that compresses well.
fn text() -> String {
    (0..200).map(|number| format!("line {number} of a text\n")).collect()
}

/// An upstream that answers with these lines, below the status in the path if there is one, and the text.
fn upstream(lines: &'static [&'static str]) -> Upstream {
    Upstream::start(move |seen| {
        let body = text();
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        let status =
            seen.target.rsplit('/').next().filter(|word| word.len() == 3 && word.starts_with(|c: char| c.is_ascii_digit()));
        let body = if matches!(status, Some("204" | "304")) || seen.method == "HEAD" { String::new() } else { body };
        let length =
            if matches!(status, Some("204" | "304")) { String::new() } else { format!("Content-Length: {}\r\n", text().len()) };
        format!("HTTP/1.1 {} Said\r\n{lines}{length}\r\n{body}", status.unwrap_or("200")).into_bytes()
    })
}

fn compressed(upstream: &Upstream, rules: Value) -> Definition {
    api("a", "/a/", &upstream.url()).set("tollgate", json!({"compression": rules}))
}

fn start(upstream: &Upstream, rules: Value) -> Gateway {
    Gateway::start(json!({}), [compressed(upstream, rules)])
}

fn ask(gateway: &Gateway, path: &str, lines: &[&str]) -> Response {
    gateway.send(request("GET", path, lines, ""))
}

/// What a client reads of a response, whatever its encoding.
fn read(response: &Response) -> String {
    let mut text = String::new();
    match response.header("content-encoding") {
        Some("gzip") => MultiGzDecoder::new(&*response.body).read_to_string(&mut text).expect("gzip"),
        Some("br") => brotli_decompressor::Decompressor::new(&*response.body, 4096).read_to_string(&mut text).expect("brotli"),
        Some(other) => panic!("{other}"),
        None => return response.text(),
    };
    text
}

const TEXT: &[&str] = &["Content-Type: text/plain; charset=utf-8"];

#[test]
fn a_client_gets_the_encoding_that_it_likes_best() {
    let upstream = upstream(TEXT);
    let gateway = start(&upstream, json!({}));
    for (accepts, encoding) in [
        ("gzip", Some("gzip")),
        ("x-gzip", Some("gzip")),
        ("GZip, deflate, br", Some("br")),
        ("gzip;q=1.0, br;q=0.8", Some("gzip")),
        ("br;q=0, *", Some("gzip")),
        ("*", Some("br")),
        ("*;q=0, gzip", Some("gzip")),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip;q=0.5", Some("gzip")),
        ("gzip;q=0", None),
        ("gzip;q=2", None),
        ("deflate, zstd", None),
        ("identity", None),
        ("", None),
    ] {
        let answer = ask(&gateway, "/a/x", &[&format!("Accept-Encoding: {accepts}")]);
        assert_eq!((answer.status, answer.header("content-encoding")), (200, encoding), "{accepts}");
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"), "{accepts}");
        assert!(read(&answer) == text(), "{accepts}");
        assert_eq!(answer.header("content-length").is_none(), encoding.is_some(), "{accepts}");
        assert!(encoding.is_none() || answer.body.len() < text().len() / 2, "{accepts}");
        assert_eq!(upstream.last().header("accept-encoding").unwrap_or_default(), accepts);
    }
    let nothing_said = ask(&gateway, "/a/x", &[]);
    assert_eq!((nothing_said.header("content-encoding"), nothing_said.header("vary")), (None, Some("Accept-Encoding")));
    let two_lines = ask(&gateway, "/a/x", &["Accept-Encoding: br;q=0", GZIP]);
    assert_eq!(two_lines.header("content-encoding"), Some("gzip"));
}

#[test]
fn the_api_says_which_encodings_and_types_and_from_which_length() {
    let upstream = upstream(TEXT);
    let first = start(&upstream, json!({"encodings": ["gzip", "br"]}));
    assert_eq!(ask(&first, "/a/x", &["Accept-Encoding: gzip, br"]).header("content-encoding"), Some("gzip"));
    let alone = start(&upstream, json!({"encodings": ["br"]}));
    assert_eq!(ask(&alone, "/a/x", &[GZIP]).header("content-encoding"), None);
    for (rules, is_compressed) in [
        (json!({"types": ["text/*"]}), true),
        (json!({"types": ["TEXT/plain"]}), true),
        (json!({"types": ["*"]}), true),
        (json!({"types": ["text/html", "*+json"]}), false),
        (json!({"statuses": [200, 404]}), true),
        (json!({"statuses": [404]}), false),
        (json!({"bytes_min": text().len()}), true),
        (json!({"bytes_min": text().len() + 1}), false),
    ] {
        let answer = ask(&start(&upstream, rules.clone()), "/a/x", &[GZIP]);
        let vary = is_compressed.then_some("Accept-Encoding");
        assert_eq!((answer.header("content-encoding").is_some(), answer.header("vary")), (is_compressed, vary), "{rules}");
    }
}

#[test]
fn types_that_compress_well_are_the_default() {
    for (line, is_compressed) in [
        (&["Content-Type: application/problem+json"] as &[&str], true),
        (&["Content-Type: image/svg+xml"], true),
        (&["Content-Type: APPLICATION/JSON"], true),
        (&["Content-Type: image/png"], false),
        (&["Content-Type: application/zip"], false),
        (&["Content-Type: text/event-stream"], false),
        (&["Content-Type: application/grpc+json"], false),
        (&[], false),
    ] {
        let upstream = upstream(line);
        let gateway = start(&upstream, json!({}));
        assert_eq!(ask(&gateway, "/a/x", &[GZIP]).header("content-encoding").is_some(), is_compressed, "{line:?}");
    }
    let upstream = upstream(&["Content-Type: text/event-stream"]);
    let events = start(&upstream, json!({"event_streams": true}));
    assert_eq!(ask(&events, "/a/x", &[GZIP]).header("content-encoding"), Some("gzip"));
}

#[test]
fn what_must_stay_as_it_is_stays() {
    for line in [
        &["Content-Type: text/plain", "Content-Encoding: zstd"] as &[&str],
        &["Content-Type: text/plain", "Content-Range: bytes 0-9/99"],
        &["Content-Type: text/plain", "Cache-Control: private, No-Transform"],
    ] {
        let upstream = upstream(line);
        let gateway = start(&upstream, json!({}));
        let answer = ask(&gateway, "/a/x", &[GZIP]);
        assert!(answer.text() == text(), "{line:?}");
        assert_eq!(answer.header("vary"), None, "{line:?}");
        assert_eq!(answer.header("content-length"), Some(text().len().to_string().as_str()), "{line:?}");
    }
    let upstream = upstream(TEXT);
    let gateway = start(&upstream, json!({}));
    for (path, is_compressed) in [("/a/206", false), ("/a/204", false), ("/a/404", true), ("/a/500", true)] {
        assert_eq!(ask(&gateway, path, &[GZIP]).header("content-encoding").is_some(), is_compressed, "{path}");
    }
    let old = gateway.send(request("GET", "/a/x", &[GZIP], "").replace("HTTP/1.1", "HTTP/1.0"));
    assert_eq!(old.header("content-encoding"), None);
    assert!(old.text() == text());
}

#[test]
fn the_head_describes_the_body_that_the_client_gets() {
    let lines = &[
        "Content-Type: text/plain",
        "ETag: \"one\"",
        "Vary: Origin",
        "Accept-Ranges: bytes",
        "Content-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==",
        "Digest: sha-256=x",
        "Repr-Digest: sha-256=:x:",
        "Content-Digest: sha-256=:x:",
    ];
    let described = upstream(lines);
    let gateway = start(&described, json!({}));
    let answer = ask(&gateway, "/a/x", &[GZIP]);
    assert_eq!(answer.header("etag"), Some("W/\"one\""));
    assert_eq!(answer.head.all("vary"), ["Origin", "Accept-Encoding"]);
    for gone in ["accept-ranges", "content-md5", "digest", "repr-digest", "content-digest", "content-length"] {
        assert_eq!(answer.header(gone), None, "{gone}");
    }
    // Without compression nothing of it changes but what the answer depends on.
    let plain = ask(&gateway, "/a/x", &[]);
    assert_eq!((plain.header("etag"), plain.header("repr-digest")), (Some("\"one\""), Some("sha-256=:x:")));
    assert_eq!(plain.head.all("vary"), ["Origin", "Accept-Encoding"]);
    // A confirmation has the lines of what it confirms.
    let same = ask(&gateway, "/a/304", &[GZIP, "If-None-Match: W/\"one\""]);
    assert_eq!((same.status, same.header("etag"), same.header("content-encoding")), (304, Some("W/\"one\""), None));
    assert_eq!(same.head.all("vary"), ["Origin", "Accept-Encoding"]);
    let strong = ask(&gateway, "/a/304", &[GZIP, "If-None-Match: \"one\""]);
    assert_eq!((strong.status, strong.header("etag")), (304, Some("\"one\"")), "the client has the body as it is");
    let said = upstream(&["Content-Type: text/plain", "Vary: a, ACCEPT-encoding"]);
    let gateway = start(&said, json!({}));
    assert_eq!(ask(&gateway, "/a/x", &[GZIP]).head.all("vary"), ["a, ACCEPT-encoding"]);
}

#[test]
fn head_gets_the_lines_of_get() {
    let upstream = upstream(&["Content-Type: text/plain", "ETag: \"one\""]);
    let gateway = start(&upstream, json!({}));
    for accepts in [GZIP, "Accept-Encoding: identity"] {
        let get = ask(&gateway, "/a/x", &[accepts]);
        let head = gateway.send(request("HEAD", "/a/x", &[accepts], ""));
        assert_eq!(head.body, b"");
        for name in ["content-encoding", "content-length", "vary", "etag", "content-type"] {
            assert_eq!(head.header(name), get.header(name), "{name} {accepts}");
        }
    }
}

#[test]
fn bodies_that_steps_change_are_compressed_last() {
    let upstream = upstream(TEXT);
    let template = "{{range $i, $e := splitList \",\" \"a,b,c\"}}{{$e}} a long and longer text {{end}}";
    let definition = response_transform(&upstream, template).set("tollgate", json!({"compression": {"bytes_min": 1}}));
    let gateway = Gateway::start(json!({}), [definition]);
    let (plain, gzip) = (ask(&gateway, "/a/t", &[]), ask(&gateway, "/a/t", &[GZIP]));
    assert_eq!(plain.status, 200, "{plain}");
    assert_eq!((gzip.header("content-encoding"), read(&gzip)), (Some("gzip"), plain.text()));
}

#[test]
fn caches_keep_the_body_as_it_is_and_every_client_gets_its_own_encoding() {
    const KEPT: &[&str] = &["Content-Type: text/plain", "Cache-Control: max-age=60", "ETag: \"one\""];
    let upstream = upstream(KEPT);
    let rules = json!({"compression": {}, "cache": {}});
    let tyks = cached(&upstream, json!({"cache_all_safe_requests": true, "cache_timeout": 60}))
        .set("tollgate", json!({"compression": {}}));
    for definition in [tyks, shared(&upstream, json!({})).set("tollgate", rules)] {
        let before = upstream.requests();
        let gateway = Gateway::start(json!({}), [definition]);
        for (accepts, encoding) in
            [(GZIP, Some("gzip")), ("Accept-Encoding: br", Some("br")), ("Accept-Encoding: x", None), (GZIP, Some("gzip"))]
        {
            let answer = ask(&gateway, "/a/x", &[accepts]);
            assert_eq!(answer.header("content-encoding"), encoding, "{answer}");
            assert!(read(&answer) == text(), "{accepts}");
            assert_eq!(answer.header("etag"), Some(if encoding.is_some() { "W/\"one\"" } else { "\"one\"" }));
            assert_eq!(answer.header("vary"), Some("Accept-Encoding"));
        }
        let same = ask(&gateway, "/a/x", &[GZIP, "If-None-Match: W/\"one\""]);
        assert_eq!((same.status, same.header("etag"), same.header("content-encoding")), (304, Some("W/\"one\""), None), "{same}");
        assert_eq!(upstream.requests() - before, 1, "all but the first are hits");
    }
}

#[test]
fn answers_of_the_gateway_are_compressed_too() {
    let upstream = Upstream::ok();
    let mock = json!([{"path": "/m", "method": "GET", "method_actions": {"GET": {
        "action": "reply", "code": 200, "data": text(), "headers": {"Content-Type": "text/plain"}}}}]);
    let definition = compressed(&upstream, json!({})).list("white_list", mock);
    let gateway = Gateway::start(json!({}), [definition.clone()]);
    let answer = ask(&gateway, "/a/m", &[GZIP]);
    assert_eq!(answer.header("content-encoding"), Some("gzip"), "{answer}");
    assert!(read(&answer) == text());
    let head = gateway.send(request("HEAD", "/a/m", &[GZIP], ""));
    assert_eq!(head.body, b"", "{head}");
    // Refusals are answers as well, if they are long enough.
    let strict = Gateway::start(json!({}), [compressed(&upstream, json!({"bytes_min": 1})).with_keys()]);
    let refused = ask(&strict, "/a/x", &[GZIP]);
    assert_eq!((refused.status, refused.header("content-encoding")), (401, Some("gzip")));
    assert!(read(&refused).contains("Authorization field missing"), "{refused}");
}

#[test]
fn an_api_without_compression_changes_nothing() {
    let upstream = upstream(TEXT);
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let answer = ask(&gateway, "/a/x", &[GZIP]);
    assert_eq!((answer.header("content-encoding"), answer.header("vary")), (None, None));
    assert!(answer.text() == text());
}
