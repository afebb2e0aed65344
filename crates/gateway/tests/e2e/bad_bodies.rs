//! Bodies that are made to harm whoever reads them: bombs, cut and nested documents, entities. For each of them the client gets an error, or the body
//! passes as it is; the gateway serves the next request, and a cut response is never stored.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Response, Seen, Upstream, api, request};

/// Opened, a bomb has 50 MB.
const BOMB_BYTES: usize = 50_000_000;
/// What a gateway of these tests reads.
const BODY_BYTES_MAX: usize = 1_000_000;
/// 50 MB of zeros, as a brotli encoder writes them.
const BROTLI_BOMB: &str = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc13f0110870500baf77ffcffff837f02200e0b0074effff20f5e0fff04401c1600e8a0eb01";

fn from_hexadecimal(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// A zstd frame with blocks of 128 KiB zeros, four bytes each (RFC 8878 §3.1.1.2).
fn zstd_bomb() -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for block in 0..400_u32 {
        let head = (131_072 << 3) | 1 << 1 | u32::from(block == 399);
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

/// Bombs in every coding that is opened, and one in two layers.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zeros = vec![0; BOMB_BYTES];
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(&zeros).unwrap();
    let once = gzip(&zeros);
    vec![
        ("deflate", deflate.finish().unwrap()),
        ("br", from_hexadecimal(BROTLI_BOMB)),
        ("zstd", zstd_bomb()),
        ("gzip, gzip", gzip(&once)),
        ("gzip", once),
    ]
}

fn reading(upstream: &Upstream, input: &str) -> Definition {
    let data =
        json!({"input_type": input, "template_mode": "blob", "template_source": STANDARD.encode("made of {{len .}} members")});
    api(input, &format!("/{input}/"), &upstream.url())
        .list("transform", json!([{"path": "/t", "method": "POST", "template_data": data.clone()}]))
        .list("transform_response", json!([{"path": "/r", "method": "GET", "template_data": data}]))
        .list("validate_json", json!([{"path": "/v", "method": "POST", "schema": {"type": "object"}}]))
}

fn reading_gateway(definitions: impl IntoIterator<Item = Definition>) -> Gateway {
    Gateway::start(json!({"tollgate": {"limits": {"body_bytes_max": BODY_BYTES_MAX}}}), definitions)
}

fn message(start: &str, coding: &str, body: &[u8]) -> Vec<u8> {
    let coding = if coding.is_empty() { String::new() } else { format!("Content-Encoding: {coding}\r\n") };
    let mut bytes = format!("{start}\r\n{coding}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn post(gateway: &Gateway, target: &str, coding: &str, body: &[u8]) -> Response {
    gateway.send(message(&format!("POST {target} HTTP/1.1\r\nHost: h"), coding, body))
}

fn error_of(response: &Response) -> (u16, String) {
    let told: Value = serde_json::from_str(&response.text()).unwrap_or_default();
    (response.status, told["error"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_compressed_request_is_opened_up_to_the_bound_and_no_further() {
    let upstream = Upstream::ok();
    let gateway = reading_gateway([reading(&upstream, "json")]);
    let before_kib = gateway.peak_rss_kib();
    for (coding, bomb) in bombs() {
        for target in ["/json/v", "/json/t"] {
            let answer = post(&gateway, target, coding, &bomb);
            assert_eq!(error_of(&answer), (400, "Request is too large".to_owned()), "{coding} {target}");
            let cut = post(&gateway, target, coding, &bomb[..bomb.len() / 2]);
            assert_eq!(cut.status, 400, "{coding} {target}");
            let garbage = post(&gateway, target, coding, b"no such coding");
            assert_eq!(error_of(&garbage), (400, "Body does not fit its Content-Encoding".to_owned()), "{coding} {target}");
        }
    }
    assert_eq!(error_of(&post(&gateway, "/json/v", "compress", b"{}")).0, 415);
    assert_eq!(upstream.requests(), 0);
    // Less than one opened bomb, although each of two threads keeps the memory of its last one.
    assert!(gateway.peak_rss_kib() < before_kib + 45_000, "{before_kib} {}", gateway.peak_rss_kib());
}

#[test]
fn a_compressed_response_is_opened_up_to_the_bound_and_no_further() {
    let upstream = Upstream::start(|seen| {
        let number: usize = seen.target.rsplit('?').next().unwrap().parse().unwrap();
        let (coding, bomb) = bombs().swap_remove(number);
        message("HTTP/1.1 200 OK", coding, &bomb)
    });
    let gateway = reading_gateway([reading(&upstream, "json")]);
    for number in 0..bombs().len() {
        let answer = gateway.get(&format!("/json/r?{number}"));
        assert_eq!(error_of(&answer), (500, "Response body too large".to_owned()), "{number}");
    }
}

/// Documents that are cut, nested or damaged: the input type, and the document.
fn bad_documents() -> Vec<(&'static str, String)> {
    let entities = (1..10).fold("<!DOCTYPE a [<!ENTITY e0 \"ha\">".to_owned(), |text, level| {
        text + &format!("<!ENTITY e{level} \"{}\">", format!("&e{};", level - 1).repeat(10))
    });
    vec![
        ("json", "{".to_owned()),
        ("json", "{\"a\": \"".to_owned()),
        ("json", "{\"a\": 1}}".to_owned()),
        ("json", "[".repeat(100_000)),
        ("json", "{\"a\":".repeat(100_000)),
        ("json", format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        ("json", "{\"a\": \"\\ud800\"}".to_owned()),
        ("json", "{\"a\": 1e999999}".to_owned()),
        ("xml", "<a>".to_owned()),
        ("xml", "<a><b></a></b>".to_owned()),
        ("xml", "<a".to_owned()),
        ("xml", "<a>".repeat(100_000)),
        ("xml", format!("{}{}", "<a>".repeat(50_000), "</a>".repeat(50_000))),
        ("xml", entities + "]><a>&e9;</a>"),
        ("xml", "<!DOCTYPE a [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><a>&e;</a>".to_owned()),
        ("xml", "<!DOCTYPE a SYSTEM \"http://127.0.0.1:1/x.dtd\"><a>&undefined;</a>".to_owned()),
    ]
}

#[test]
fn a_document_that_cannot_be_read_is_refused_or_passes_as_it_is() {
    let upstream = Upstream::ok();
    let gateway = reading_gateway([reading(&upstream, "json"), reading(&upstream, "xml")]);
    for (input, document) in bad_documents() {
        let shown = document.get(..40).unwrap_or(&document);
        let transformed = post(&gateway, &format!("/{input}/t"), "", document.as_bytes());
        assert_eq!(transformed.status, 200, "{shown}");
        // As in Tyk, a template that cannot read the body leaves it alone. Nothing of a file or of an entity is in what goes on.
        assert_eq!(upstream.last().text(), document, "{shown}");
        if input == "json" {
            let (status, error) = error_of(&post(&gateway, "/json/v", "", document.as_bytes()));
            assert!(status == 400 && error.starts_with("JSON parsing error: "), "{shown}: {status} {error}");
        }
    }
}

#[test]
fn a_response_that_cannot_be_read_is_rendered_as_an_empty_one() {
    let upstream = Upstream::start(|seen: &Seen| {
        let number: usize = seen.target.rsplit('?').next().unwrap().parse().unwrap();
        message("HTTP/1.1 200 OK", "", bad_documents()[number].1.as_bytes())
    });
    let gateway = reading_gateway([reading(&upstream, "json"), reading(&upstream, "xml")]);
    for (number, (input, document)) in bad_documents().iter().enumerate() {
        let answer = gateway.get(&format!("/{input}/r?{number}"));
        let shown = document.get(..40).unwrap_or(document);
        assert_eq!((answer.status, answer.text().as_str()), (200, "made of 0 members"), "{shown}");
    }
}

#[test]
fn a_response_that_is_cut_or_has_two_lengths_is_neither_transformed_nor_stored() {
    let bad: [&[u8]; 7] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{\"a\": 1}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"a\": 1}\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"a\": 1}\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nContent-Length: 9\r\n\r\n{\"a\": 1}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 8, 9\r\n\r\n{\"a\": 1}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"a\": 1}\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -8\r\n\r\n{\"a\": 1}",
    ];
    let upstream = Upstream::raw(move |mut wire, number| {
        let Some(_) = Seen::read(&mut wire) else { return };
        let _ = wire.try_send(bad.get(number).copied().unwrap_or(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}"));
    });
    let caching = json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true});
    let gateway = reading_gateway([reading(&upstream, "json").set("cache_options", caching)]);
    for number in 0..bad.len() {
        let answer = gateway.get("/json/r");
        assert_eq!(error_of(&answer), (500, "There was a problem proxying the request".to_owned()), "{number}");
        assert!(!answer.head.has("x-tyk-cached-response"), "{answer}");
    }
    for cached in [false, true] {
        let answer = gateway.get("/json/r");
        assert_eq!((answer.status, answer.text().as_str()), (200, "made of 1 members"));
        assert_eq!(answer.head.has("x-tyk-cached-response"), cached);
    }
}

#[test]
fn a_request_with_two_lengths_is_never_read() {
    let upstream = Upstream::ok();
    let gateway = reading_gateway([reading(&upstream, "json")]);
    for framing in [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: 2, 3",
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Content-Length: -2",
        "Content-Length: 2x",
        "Transfer-Encoding: gzip",
    ] {
        for target in ["/json/v", "/json/t"] {
            let bytes = gateway.raw(format!("POST {target} HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n{{}}"));
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.starts_with("HTTP/1.1 400 ") || text.starts_with("HTTP/1.1 501 "), "{framing} {target}: {text}");
        }
    }
    assert_eq!(upstream.requests(), 0);
    // A body that never comes to its end is given up with its connection.
    let mut client = gateway.connect();
    client.send("POST /json/t HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{\"a\"");
    client.reset();
    assert_eq!(gateway.send(request("POST", "/json/t", &[], "{}")).status, 200);
    assert_eq!(upstream.requests(), 1);
}
