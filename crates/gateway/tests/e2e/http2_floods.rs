//! HTTP/2 clients that make work for nothing are ended, each by itself, with the reason; clients whose work needs many small frames are not.

use bytes::Bytes;
use serde_json::json;
use std::io::{ErrorKind, Read, Write};

use crate::harness::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frames, GOAWAY, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE,
    block, frame, get, line, setting,
};
use crate::harness::http2::{ask, connect, converse, get as get_request, post, whole};
use crate::harness::{Gateway, PATIENCE, Upstream, api, ok, reply};

const ENHANCE_YOUR_CALM: u32 = 11;
const PROTOCOL_ERROR: u32 = 1;
/// More than any flood may have, and ten times what ends one.
const FRAMES_MAX: usize = 200_000;

/// Sends pieces for as long as the gateway takes them and reads all that it answers; the code that it ends with.
fn end_of(gateway: &Gateway, mut pieces: impl Iterator<Item = Vec<u8>>) -> Option<u32> {
    let mut wire = Frames::open(gateway.port).0;
    wire.set_nonblocking(true).unwrap();
    let (mut waiting, mut seen, mut scratch) = (Vec::new(), Vec::new(), vec![0; 256 * 1024]);
    let begun = std::time::Instant::now();
    while begun.elapsed() < PATIENCE {
        if waiting.is_empty() {
            waiting = pieces.by_ref().take(500).flatten().collect();
        }
        match wire.write(&waiting) {
            Ok(taken) => drop(waiting.drain(..taken)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => waiting.clear(),
        }
        match wire.read(&mut scratch) {
            Ok(0) => break,
            Ok(read) => seen.extend_from_slice(&scratch[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(std::time::Duration::from_micros(200)),
            Err(_) => break,
        }
    }
    let mut rest = seen.as_slice();
    while let [a, b, c, kind, _, _, _, _, _, content @ ..] = rest {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        if *kind == GOAWAY && content.len() >= 8 {
            return Some(u32::from_be_bytes(content[4..8].try_into().unwrap()));
        }
        rest = content.get(length..).unwrap_or_default();
    }
    None
}

fn same(one: Vec<u8>) -> Box<dyn Iterator<Item = Vec<u8>>> {
    Box::new(std::iter::repeat_n(one, FRAMES_MAX))
}

fn after(first: Vec<u8>, one: Vec<u8>) -> Box<dyn Iterator<Item = Vec<u8>>> {
    Box::new(std::iter::once(first).chain(same(one)))
}

fn streams(piece: impl Fn(u32) -> Vec<u8> + 'static) -> Box<dyn Iterator<Item = Vec<u8>>> {
    Box::new((1..FRAMES_MAX as u32).step_by(2).map(piece))
}

#[test]
fn a_flood_ends_its_connection_with_the_reason_and_no_other() {
    let (upstream, hold) = (Upstream::start(|_| ok()), Upstream::raw(|mut wire, _| drop(wire.rest())));
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()), api("hold", "/hold/", &hold.url())]);
    let open = || frame(HEADERS, END_HEADERS, 1, block("POST", "/hold/", &[]));
    let many_fields: Vec<u8> = (0..2000).flat_map(|number| line(&format!("f{number:03x}"), "v")).collect();
    let mut bystander = Frames::open(gateway.port);
    let mut stream = 1;
    let mut wrong = Vec::new();
    for (name, pieces, code) in [
        ("settings", same(frame(SETTINGS, 0, 0, setting(3, 10))), ENHANCE_YOUR_CALM),
        ("settings without content", same(frame(SETTINGS, 0, 0, b"")), ENHANCE_YOUR_CALM),
        ("pings", same(frame(PING, 0, 0, b"12345678")), ENHANCE_YOUR_CALM),
        ("answers to pings that were never sent", same(frame(PING, ACK, 0, b"12345678")), ENHANCE_YOUR_CALM),
        ("priorities", same(frame(PRIORITY, 0, 1, [0, 0, 0, 3, 1])), ENHANCE_YOUR_CALM),
        ("windows of a byte", same(frame(WINDOW_UPDATE, 0, 0, 1u32.to_be_bytes())), ENHANCE_YOUR_CALM),
        ("frames of no known type", same(frame(0xbe, 0, 0, b"x")), ENHANCE_YOUR_CALM),
        ("data without content", after(open(), frame(DATA, 0, 1, b"")), ENHANCE_YOUR_CALM),
        (
            "a block that does not end",
            after(frame(HEADERS, END_STREAM, 1, block("GET", "/a/", &[])), frame(CONTINUATION, 0, 1, b"")),
            ENHANCE_YOUR_CALM,
        ),
        (
            "requests that are reset",
            streams(|stream| [get(stream, "/hold/"), frame(RST_STREAM, 0, stream, 8u32.to_be_bytes())].concat()),
            ENHANCE_YOUR_CALM,
        ),
        (
            "heads that are too large",
            streams(move |stream| {
                let (first, second) = many_fields.split_at(10_000);
                let begin = [block("GET", "/a/", &[]), first.to_vec()].concat();
                [frame(HEADERS, END_STREAM, stream, begin), frame(CONTINUATION, END_HEADERS, stream, second)].concat()
            }),
            ENHANCE_YOUR_CALM,
        ),
        (
            "requests that are none",
            streams(|stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, block("GET", "/a/", &[("X-Upper", "1")]))),
            PROTOCOL_ERROR,
        ),
    ] {
        let end = end_of(&gateway, pieces);
        if !end.is_some_and(|end| end == code || end == ENHANCE_YOUR_CALM) {
            wrong.push(format!("{name}: {end:?}"));
        }
        bystander.send(get(stream, "/a/"));
        assert!(bystander.until(HEADERS, stream).is_some(), "{name}: another connection was disturbed");
        stream += 2;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(gateway.log().lines().count() < 50, "what clients send does not fill the log");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let ended = metrics.lines().find_map(|line| line.strip_prefix("tollgate_http2_misused_connections_total "));
    assert!(ended.is_some_and(|count| count.parse::<u32>().unwrap() >= 7), "{ended:?}");
}

#[test]
fn a_client_that_pings_and_opens_windows_while_it_works_goes_on() {
    const REQUESTS: u32 = 3_000;
    let upstream = Upstream::start(|_| reply("200 OK", &[], "some"));
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = Frames::open(gateway.port);
    for number in 0..REQUESTS {
        let stream = 1 + 2 * number;
        let window = |stream| frame(WINDOW_UPDATE, 0, stream, 1u32.to_be_bytes());
        client.send([frame(PRIORITY, 0, stream, [0, 0, 0, 0, 1]), get(stream, "/a/"), frame(PING, 0, 0, b"12345678")].concat());
        let data = client.until(DATA, stream).expect("an answer");
        assert_eq!(data.content, b"some");
        client.send([window(0), window(stream)].concat());
    }
}

#[test]
fn a_download_that_is_acknowledged_in_small_pieces_is_whole() {
    const BYTES: usize = 8_000_000;
    let upstream = Upstream::start(|_| reply("200 OK", &[], &"x".repeat(BYTES)));
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = Frames::open(gateway.port);
    client.send(get(1, "/a/"));
    let (mut taken, mut owed) = (0, 0);
    while taken < BYTES {
        let frame_ = client.next().expect("more of it");
        if frame_.kind != DATA {
            continue;
        }
        taken += frame_.content.len();
        owed += frame_.content.len();
        // Windows for both, for every two kilobytes.
        while owed > 0 {
            let piece = owed.min(2_000);
            let window = |stream| frame(WINDOW_UPDATE, 0, stream, (piece as u32).to_be_bytes());
            client.send([window(0), window(1)].concat());
            owed -= piece;
        }
    }
    assert_eq!(taken, BYTES);
}

#[test]
fn a_head_has_as_many_lines_as_over_http_1_1() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"limits": {"header_lines_max": 20}}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let names: Vec<String> = (0..30).map(|number| format!("x-{number}")).collect();
    for (lines, cookies, status) in [(19, 0, 200), (20, 0, 431), (30, 0, 431), (18, 100, 200), (19, 100, 431)] {
        let mut request = get_request("/a/");
        for name in names.iter().take(lines) {
            request.headers_mut().append(name.parse::<http::HeaderName>().unwrap(), "v".parse().unwrap());
        }
        // Pieces of one line.
        for _ in 0..cookies {
            request.headers_mut().append("cookie", "a=b".parse().unwrap());
        }
        let answer = converse(async { ask(&connect(gateway.port).await, request).await.unwrap() });
        assert_eq!(answer.status, status, "{lines} and {cookies} cookies over HTTP/2");
        if cookies == 0 {
            let text: String = names.iter().take(lines).map(|name| format!("{name}: v\r\n")).collect();
            let answer = gateway.send(format!("GET /a/ HTTP/1.1\r\nHost: h\r\n{text}\r\n"));
            assert_eq!(answer.status, status, "{lines} over HTTP/1.1");
        }
    }
}

#[test]
fn small_pieces_of_a_body_whose_upstream_waits_are_kept_in_little_memory_and_arrive() {
    const BYTES: usize = 200_000;
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let upstream = Upstream::raw(move |mut wire, _| {
        let _ = wait.lock().unwrap().recv();
        if let Some(seen) = crate::harness::upstream::Seen::read(&mut wire) {
            wire.send(reply("200 OK", &[], &seen.body.len().to_string()));
        }
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    assert_eq!(gateway.get("/none").status, 404);
    let before = gateway.rss_kib();
    converse(async {
        let client = connect(gateway.port).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (answer, mut stream) = ready.send_request(post("/a/"), false).unwrap();
        for number in 0..BYTES {
            while {
                stream.reserve_capacity(1);
                stream.capacity() == 0
            } {
                std::future::poll_fn(|cx| stream.poll_capacity(cx)).await.unwrap().unwrap();
            }
            stream.send_data(Bytes::from_static(b"x"), number + 1 == BYTES).unwrap();
        }
        // All of it has been taken by the time that another request is answered.
        assert_eq!(ask(&client, get_request("/none")).await.unwrap().status, 404);
        let held = gateway.rss_kib().saturating_sub(before);
        assert!(held < 8_000, "{held} KiB for {BYTES} bytes");
        go.send(()).unwrap();
        assert_eq!(whole(answer.await.unwrap()).await.unwrap().text(), BYTES.to_string());
    });
}
