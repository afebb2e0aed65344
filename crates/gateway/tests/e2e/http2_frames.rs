//! Frames of HTTP/2 that break the rules: each ends its connection or its stream with the code that RFC 9113 has for it, and no other
//! connection notices.

use serde_json::json;

use crate::harness::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, Frames, GOAWAY, HEADERS, PADDED, PING, PRIORITY, PUSH_PROMISE,
    RST_STREAM, SETTINGS, WINDOW_UPDATE, block, frame, get, line, setting,
};
use crate::harness::{Gateway, Upstream, api, ok, reply};

const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const STREAM_CLOSED: u32 = 5;
const FRAME_SIZE_ERROR: u32 = 6;
const COMPRESSION_ERROR: u32 = 9;
const ENHANCE_YOUR_CALM: u32 = 11;

/// What must become of a sequence.
#[derive(Debug, Clone, Copy)]
enum End {
    /// The connection ends with this code.
    Connection(u32),
    /// The stream ends with this code, and the connection goes on. Ending the connection with it is allowed too (RFC 9113 §5.4.2).
    Stream(u32, u32),
}

/// A request whose answer does not come.
fn open(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, block("POST", "/hold/", &[]))
}

/// The same with its end.
fn ended(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, block("GET", "/hold/", &[]))
}

fn with_line(name: &str, value: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block("GET", "/a/", &[(name, value)]))
}

fn block_of(lines: &[(&str, &str)]) -> Vec<u8> {
    let block: Vec<u8> = lines.iter().flat_map(|(name, value)| line(name, value)).collect();
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block)
}

/// A request with a body, and trailers behind it.
fn trailers(lines: &[(&str, &str)]) -> Vec<u8> {
    let block: Vec<u8> = lines.iter().flat_map(|(name, value)| line(name, value)).collect();
    [open(1), frame(DATA, 0, 1, b"body"), frame(HEADERS, END_HEADERS | END_STREAM, 1, block)].concat()
}

fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, increment.to_be_bytes())
}

/// Frames out of order, of the wrong size, on the wrong stream, and with content that is none.
fn sequences() -> Vec<(&'static str, Vec<u8>, End)> {
    use End::{Connection, Stream};
    let get_block = block("GET", "/a/", &[]);
    vec![
        // Order.
        ("data on a stream that was never opened", frame(DATA, 0, 1, b"x"), Connection(PROTOCOL_ERROR)),
        ("a continuation of nothing", frame(CONTINUATION, END_HEADERS, 1, b""), Connection(PROTOCOL_ERROR)),
        (
            "a continuation behind a block that has ended",
            [open(1), frame(CONTINUATION, END_HEADERS, 1, b"")].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "another frame inside a header block",
            [frame(HEADERS, END_STREAM, 1, &get_block), frame(PING, 0, 0, b"12345678")].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "a continuation on another stream",
            [frame(HEADERS, END_STREAM, 1, &get_block), frame(CONTINUATION, END_HEADERS, 3, b"")].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "a new stream inside a header block",
            [frame(HEADERS, END_STREAM, 1, &get_block), get(3, "/a/")].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        ("an even stream", get(2, "/a/"), Connection(PROTOCOL_ERROR)),
        ("a stream with a lower number", [open(5), open(3)].concat(), Connection(PROTOCOL_ERROR)),
        ("headers behind the end of a request", [ended(1), open(1)].concat(), Stream(1, STREAM_CLOSED)),
        ("data behind the end of a request", [ended(1), frame(DATA, 0, 1, b"x")].concat(), Stream(1, STREAM_CLOSED)),
        ("trailers without an end", [open(1), frame(HEADERS, END_HEADERS, 1, line("x", "y"))].concat(), Stream(1, PROTOCOL_ERROR)),
        (
            "a promise from a client",
            [open(1), frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\x02")].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        ("a reset of a stream that was never opened", frame(RST_STREAM, 0, 1, [0; 4]), Connection(PROTOCOL_ERROR)),
        ("a window for a stream that was never opened", window_update(1, 1), Connection(PROTOCOL_ERROR)),
        // On stream 0, or not on it.
        ("headers on stream 0", frame(HEADERS, END_HEADERS, 0, &get_block), Connection(PROTOCOL_ERROR)),
        ("data on stream 0", frame(DATA, 0, 0, b"x"), Connection(PROTOCOL_ERROR)),
        ("a reset of stream 0", frame(RST_STREAM, 0, 0, [0; 4]), Connection(PROTOCOL_ERROR)),
        ("a priority of stream 0", frame(PRIORITY, 0, 0, [0; 5]), Connection(PROTOCOL_ERROR)),
        ("settings of a stream", frame(SETTINGS, 0, 1, b""), Connection(PROTOCOL_ERROR)),
        ("a ping of a stream", frame(PING, 0, 1, b"12345678"), Connection(PROTOCOL_ERROR)),
        ("a farewell to a stream", frame(GOAWAY, 0, 1, [0; 8]), Connection(PROTOCOL_ERROR)),
        // Sizes.
        ("settings of five bytes", frame(SETTINGS, 0, 0, [0; 5]), Connection(FRAME_SIZE_ERROR)),
        ("an acknowledgement with content", frame(SETTINGS, ACK, 0, [0; 6]), Connection(FRAME_SIZE_ERROR)),
        ("a ping of seven bytes", frame(PING, 0, 0, b"1234567"), Connection(FRAME_SIZE_ERROR)),
        ("a window of three bytes", frame(WINDOW_UPDATE, 0, 0, [0; 3]), Connection(FRAME_SIZE_ERROR)),
        ("a reset of three bytes", [open(1), frame(RST_STREAM, 0, 1, [0; 3])].concat(), Connection(FRAME_SIZE_ERROR)),
        ("a priority of four bytes", [open(1), frame(PRIORITY, 0, 1, [0; 4])].concat(), Stream(1, FRAME_SIZE_ERROR)),
        ("a farewell of seven bytes", frame(GOAWAY, 0, 0, [0; 7]), Connection(FRAME_SIZE_ERROR)),
        ("a frame larger than was allowed", [open(1), frame(DATA, 0, 1, vec![0; 16_385])].concat(), Connection(FRAME_SIZE_ERROR)),
        ("a header block without its own fields", frame(HEADERS, END_HEADERS | 0x20, 1, b"\0"), Connection(FRAME_SIZE_ERROR)),
        // Values.
        ("a setting that is neither on nor off", frame(SETTINGS, 0, 0, setting(2, 2)), Connection(PROTOCOL_ERROR)),
        ("a window beyond all bounds", frame(SETTINGS, 0, 0, setting(4, 1 << 31)), Connection(FLOW_CONTROL_ERROR)),
        ("frames smaller than allowed", frame(SETTINGS, 0, 0, setting(5, 100)), Connection(PROTOCOL_ERROR)),
        ("frames larger than can be", frame(SETTINGS, 0, 0, setting(5, 1 << 24)), Connection(PROTOCOL_ERROR)),
        ("a window that does not grow", window_update(0, 0), Connection(PROTOCOL_ERROR)),
        ("a stream's window that does not grow", [open(1), window_update(1, 0)].concat(), Stream(1, PROTOCOL_ERROR)),
        (
            "a window that overflows",
            [window_update(0, i32::MAX as u32), window_update(0, 1)].concat(),
            Connection(FLOW_CONTROL_ERROR),
        ),
        (
            "a stream's window that overflows",
            [open(1), window_update(1, i32::MAX as u32), window_update(1, 1)].concat(),
            Stream(1, FLOW_CONTROL_ERROR),
        ),
        ("more padding than content in headers", frame(HEADERS, END_HEADERS | PADDED, 1, b"\xffabc"), Connection(PROTOCOL_ERROR)),
        ("more padding than content in data", [open(1), frame(DATA, PADDED, 1, b"\xffabc")].concat(), Connection(PROTOCOL_ERROR)),
        ("a stream that depends on itself", frame(PRIORITY, 0, 1, b"\0\0\0\x01\x01"), Stream(1, PROTOCOL_ERROR)),
        ("a block that is no compression", frame(HEADERS, END_HEADERS | END_STREAM, 1, [0xff; 20]), Connection(COMPRESSION_ERROR)),
        ("a block that is cut", frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\0\x05ab"), Connection(COMPRESSION_ERROR)),
        ("an entry that is not in the table", frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xfe"), Connection(COMPRESSION_ERROR)),
        (
            "a table larger than was allowed",
            frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x3f\xe1\xff\x3f"),
            Connection(COMPRESSION_ERROR),
        ),
        // Requests that are none (RFC 9113 §8.1.1).
        ("a header in capital letters", with_line("X-Upper", "1"), Stream(1, PROTOCOL_ERROR)),
        ("a connection header", with_line("connection", "keep-alive"), Stream(1, PROTOCOL_ERROR)),
        ("a transfer coding", with_line("transfer-encoding", "chunked"), Stream(1, PROTOCOL_ERROR)),
        ("another te than trailers", with_line("te", "gzip"), Stream(1, PROTOCOL_ERROR)),
        ("an unknown field of a request line", with_line(":unknown", "1"), Stream(1, PROTOCOL_ERROR)),
        ("a request line behind a header", with_line(":path", "/b/"), Stream(1, PROTOCOL_ERROR)),
        ("a status in a request", block_of(&[(":status", "200"), (":method", "GET")]), Stream(1, PROTOCOL_ERROR)),
        ("no method", block_of(&[(":scheme", "http"), (":path", "/a/")]), Stream(1, PROTOCOL_ERROR)),
        ("no path", block_of(&[(":method", "GET"), (":scheme", "http")]), Stream(1, PROTOCOL_ERROR)),
        ("no scheme", block_of(&[(":method", "GET"), (":path", "/a/")]), Stream(1, PROTOCOL_ERROR)),
        (
            "a URL for a path",
            block_of(&[(":method", "GET"), (":scheme", "http"), (":path", "http://other.test/a/")]),
            Stream(1, PROTOCOL_ERROR),
        ),
        (
            "a second request behind a path",
            block_of(&[(":method", "GET"), (":scheme", "http"), (":path", "/a/ HTTP/1.1\r\n\r\nGET /")]),
            Stream(1, PROTOCOL_ERROR),
        ),
        // Trailers that are none (§8.1).
        ("a method in trailers", trailers(&[(":method", "GET")]), Stream(1, PROTOCOL_ERROR)),
        ("a path in trailers behind a field", trailers(&[("x-sum", "1"), (":path", "/b/")]), Stream(1, PROTOCOL_ERROR)),
        ("a status in trailers", trailers(&[(":status", "200")]), Stream(1, PROTOCOL_ERROR)),
        ("an unknown pseudo field in trailers", trailers(&[(":unknown", "1")]), Stream(1, PROTOCOL_ERROR)),
        ("a connection header in trailers", trailers(&[("connection", "close")]), Stream(1, PROTOCOL_ERROR)),
        ("capital letters in trailers", trailers(&[("X-Sum", "1")]), Stream(1, PROTOCOL_ERROR)),
        (
            "two methods",
            block_of(&[(":method", "GET"), (":method", "PUT"), (":scheme", "http"), (":path", "/")]),
            Stream(1, PROTOCOL_ERROR),
        ),
        (
            "less content than was announced",
            frame(HEADERS, END_HEADERS | END_STREAM, 1, block("POST", "/hold/", &[("content-length", "5")])),
            Stream(1, PROTOCOL_ERROR),
        ),
        (
            "more content than was announced",
            [
                frame(HEADERS, END_HEADERS, 1, block("POST", "/hold/", &[("content-length", "2")])),
                frame(DATA, END_STREAM, 1, b"three"),
            ]
            .concat(),
            Stream(1, PROTOCOL_ERROR),
        ),
    ]
}

/// The code of the frame that ends a connection or a stream.
fn code(frame: &Frame) -> u32 {
    let at = if frame.kind == GOAWAY { 4 } else { 0 };
    u32::from_be_bytes(frame.content[at..at + 4].try_into().unwrap())
}

/// The first end of either kind.
fn end_of(client: &mut Frames) -> Option<Frame> {
    std::iter::from_fn(|| client.next()).find(|frame| matches!(frame.kind, RST_STREAM | GOAWAY))
}

/// Whether streams are still answered.
fn serves(client: &mut Frames, stream: u32) -> bool {
    client.send(get(stream, "/a/"));
    client.until(HEADERS, stream).is_some()
}

#[test]
fn illegal_frames_end_what_they_belong_to_and_nothing_else() {
    let (upstream, hold) = (Upstream::start(|_| ok()), Upstream::raw(|mut wire, _| drop(wire.rest())));
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()), api("hold", "/hold/", &hold.url())]);
    let mut bystander = Frames::open(gateway.port);
    let mut stream = 1;
    let mut wrong = Vec::new();
    for (name, bytes, expected) in sequences() {
        let mut client = Frames::open(gateway.port);
        assert!(client.until(SETTINGS, 0).is_some());
        client.send(&bytes);
        let end = end_of(&mut client);
        let seen = end.as_ref().map(|frame| (frame.kind, frame.stream, code(frame)));
        let is_right = match (expected, seen) {
            (End::Connection(wanted), Some((GOAWAY, 0, code))) => {
                let closed = client.rest().iter().all(|frame| frame.kind == GOAWAY || frame.kind == RST_STREAM);
                code == wanted && closed
            }
            (End::Stream(number, wanted), Some((RST_STREAM, on, code))) => {
                on == number && code == wanted && serves(&mut client, 101)
            }
            (End::Stream(_, wanted), Some((GOAWAY, 0, code))) => code == wanted,
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{name}: {expected:?} but {seen:?}"));
        }
        assert!(serves(&mut bystander, stream), "{name}: another connection was disturbed");
        stream += 2;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_odd_and_legal_is_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let block = block("GET", "/a/", &[]);
    let padded = [&[3], block.as_slice(), &[0; 3]].concat();
    let with_priority = [b"\0\0\0\0\x10".as_slice(), &block].concat();
    for (name, bytes) in [
        ("a block in three frames", {
            let pieces = [&block[..5], &block[5..20], &block[20..]];
            [
                frame(HEADERS, END_STREAM, 1, pieces[0]),
                frame(CONTINUATION, 0, 1, pieces[1]),
                frame(CONTINUATION, END_HEADERS, 1, pieces[2]),
            ]
            .concat()
        }),
        ("an empty continuation", [frame(HEADERS, END_STREAM, 1, &block), frame(CONTINUATION, END_HEADERS, 1, b"")].concat()),
        ("padding", frame(HEADERS, END_HEADERS | END_STREAM | PADDED, 1, padded)),
        ("a priority inside", frame(HEADERS, END_HEADERS | END_STREAM | 0x20, 1, with_priority)),
        (
            "a priority before",
            [frame(PRIORITY, 0, 1, [0, 0, 0, 0, 1]), frame(HEADERS, END_HEADERS | END_STREAM, 1, &block)].concat(),
        ),
        ("an unknown frame", [frame(0xbe, 0xff, 0, b"anything"), get(1, "/a/")].concat()),
        ("an unknown setting", [frame(SETTINGS, 0, 0, setting(0xbeef, 7)), get(1, "/a/")].concat()),
        ("unknown flags", frame(HEADERS, END_HEADERS | END_STREAM | 0x40, 1, &block)),
        ("the highest bit of a stream's number", {
            let mut bytes = get(1, "/a/");
            bytes[5] |= 0x80;
            bytes
        }),
        ("streams left out", get(1001, "/a/")),
    ] {
        let mut client = Frames::open(gateway.port);
        client.send(&bytes);
        let stream = if name == "streams left out" { 1001 } else { 1 };
        assert!(client.until(HEADERS, stream).is_some(), "{name}");
    }
}

#[test]
fn what_one_stream_leaves_behind_is_nothing_to_the_next() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &format!("{} {}", seen.target, seen.body.len())));
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()), api("keys", "/keys/", &upstream.url()).with_keys()]);
    let mut client = Frames::open(gateway.port);
    let post = |stream, path| frame(HEADERS, END_HEADERS, stream, block("POST", path, &[("content-length", "40")]));
    let smuggled = b"GET /a/smuggled HTTP/1.1\r\nHost: h\r\n\r\nxxx";
    let mut served = 0;
    for stream in (1..200).step_by(8) {
        // Refused before its body has come, whose bytes would make a request.
        client.send(post(stream, "/keys/"));
        assert!(client.until(HEADERS, stream).is_some());
        client.send(frame(DATA, END_STREAM, stream, smuggled));
        // One that is reset halfway, and one whose body comes late.
        client.send([post(stream + 2, "/a/reset"), frame(DATA, 0, stream + 2, b"half")].concat());
        client.send(frame(RST_STREAM, 0, stream + 2, 8u32.to_be_bytes()));
        client.send(post(stream + 4, "/a/whole"));
        client.send(frame(DATA, END_STREAM, stream + 4, smuggled));
        assert_eq!(client.until(DATA, stream + 4).expect("an answer").content, b"/whole 40");
        client.send(get(stream + 6, "/a/next"));
        assert_eq!(client.until(DATA, stream + 6).expect("an answer").content, b"/next 0");
        served += 2;
    }
    assert!(upstream.seen().iter().all(|seen| seen.target == "/whole" || seen.target == "/next"));
    assert_eq!(upstream.seen().len(), served);
}

#[test]
fn resets_in_the_thousands_end_their_connection_alone() {
    let (upstream, hold) = (Upstream::start(|_| ok()), Upstream::raw(|mut wire, _| drop(wire.rest())));
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()), api("hold", "/hold/", &hold.url())]);
    let mut bystander = Frames::open(gateway.port);
    let mut client = Frames::open(gateway.port);
    for number in 0..2000 {
        let stream = 1 + number * 2;
        client.send([ended(stream), frame(RST_STREAM, 0, stream, 8u32.to_be_bytes())].concat());
    }
    let end = client.rest().into_iter().find(|frame| frame.kind == GOAWAY);
    // The goodbye can be lost in the reset that follows it.
    assert!(end.is_none_or(|end| code(&end) == ENHANCE_YOUR_CALM));
    assert!(serves(&mut bystander, 1));
    assert!(gateway.grown_kib() < 36_000, "{} KiB", gateway.grown_kib());
}

#[test]
fn pings_and_settings_without_end_are_held_back() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut bystander = Frames::open(gateway.port);
    for flood in [frame(PING, 0, 0, b"12345678"), frame(SETTINGS, 0, 0, setting(3, 10)), window_update(0, 1)] {
        let mut client = Frames::open(gateway.port);
        client.0.set_write_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
        let batch = flood.repeat(2000);
        // Nothing of the answers is read: either the gateway stops reading or it closes.
        for _ in 0..200 {
            if std::io::Write::write_all(&mut client.0, &batch).is_err() {
                break;
            }
        }
        assert!(gateway.grown_kib() < 36_000, "{} KiB", gateway.grown_kib());
    }
    assert!(serves(&mut bystander, 1));
}
