use super::*;
use crate::HeaderBlock;
use crate::frame::{flag, write_frame};

const SETTINGS: Http2Settings = Http2Settings {
    stream_window: 1000,
    connection_window: 0,
    streams_max: 3,
    header_list_bytes_max: 4096,
    connect_protocol: false,
};

fn server() -> Http2Connection {
    let mut server = Http2Connection::new(Http2Side::Server, &SETTINGS);
    server.wrote(server.output().len());
    receive(&mut server, &[PREFACE, &frame(kind::SETTINGS, 0, 0, b"")].concat()).unwrap();
    server.wrote(server.output().len());
    server
}

fn client() -> Http2Connection {
    let mut client = Http2Connection::new(Http2Side::Client, &SETTINGS);
    receive(&mut client, &frame(kind::SETTINGS, 0, 0, b"")).unwrap();
    client.wrote(client.output().len());
    client
}

fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_frame(kind, flags, stream, content, &mut out);
    out
}

/// An owned copy of an event.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Request(StreamKey, bool),
    Response(StreamKey, bool),
    Data(StreamKey, Vec<u8>, bool),
    Trailers(StreamKey),
    Reset(StreamKey),
}

fn receive(connection: &mut Http2Connection, mut bytes: &[u8]) -> Result<Vec<Came>, Http2Error> {
    let mut came = Vec::new();
    while let Some(event) = connection.next(&mut bytes)? {
        came.push(match event {
            Http2Event::Request { stream, ends } => Came::Request(stream, ends),
            Http2Event::Response { stream, ends } => Came::Response(stream, ends),
            Http2Event::Data { stream, bytes, ends } => Came::Data(stream, bytes.to_vec(), ends),
            Http2Event::Trailers { stream } => Came::Trailers(stream),
            Http2Event::Reset { stream } => Came::Reset(stream),
        });
    }
    assert!(bytes.is_empty() || connection.has_failed());
    Ok(came)
}

/// Type, flags, stream and payload of each frame sent.
fn sent(connection: &mut Http2Connection) -> Vec<(u8, u8, u32, Vec<u8>)> {
    let out = connection.output().to_vec();
    connection.wrote(out.len());
    let (mut rest, mut frames) = (out.strip_prefix(PREFACE).unwrap_or(&out), Vec::new());
    while let Some((header, behind)) = rest.split_first_chunk() {
        let header = FrameHeader::read(header);
        let (content, behind) = behind.split_at(header.length);
        frames.push((header.kind, header.flags, header.stream, content.to_vec()));
        rest = behind;
    }
    frames
}

fn line(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

fn lines(fields: &[(&str, &str)]) -> Vec<u8> {
    fields.iter().flat_map(|(name, value)| line(name, value)).collect()
}

const GET: [(&str, &str); 4] = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "h")];
const POST: [(&str, &str); 4] = [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "h")];

fn head(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS | flags, stream, &lines(fields))
}

fn get(stream: u32) -> Vec<u8> {
    head(stream, flag::END_STREAM, &GET)
}

fn post(stream: u32) -> Vec<u8> {
    head(stream, 0, &POST)
}

fn data(stream: u32, flags: u8, content: &[u8]) -> Vec<u8> {
    frame(kind::DATA, flags, stream, content)
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    [name.to_be_bytes().as_slice(), &value.to_be_bytes()].concat()
}

/// The expected result of a sequence.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Connection(Http2ErrorCode),
    Stream(u32, Http2ErrorCode),
    Nothing,
}

fn end_of(connection: &mut Http2Connection, bytes: &[u8]) -> End {
    let result = receive(connection, bytes);
    let frames = sent(connection);
    if let Err(error) = result {
        let (_, _, _, content) = frames.iter().rfind(|(kind, ..)| *kind == kind::GOAWAY).expect("the other side is told");
        assert_eq!(content[4..], error.code.0.to_be_bytes());
        assert!(connection.is_done() && !connection.wants_input());
        return End::Connection(error.code);
    }
    let reset = frames.iter().find(|(kind, ..)| *kind == kind::RST_STREAM);
    match reset {
        Some((_, _, stream, content)) => End::Stream(*stream, Http2ErrorCode(u32::from_be_bytes(content[..].try_into().unwrap()))),
        None => End::Nothing,
    }
}

#[test]
#[rustfmt::skip]
fn each_error_is_the_one_that_the_rfc_names() {
    use Http2ErrorCode as E;
    let connection = End::Connection;
    let closed = || [get(1), frame(kind::RST_STREAM, 0, 1, &[0; 4])].concat();
    let with = |name, value| head(1, flag::END_STREAM, &[GET.as_slice(), &[(name, value)]].concat());
    for (section, name, bytes, expected) in [
        ("4.2", "a frame larger than was allowed", [post(1), data(1, 0, &[0; 16_385])].concat(), connection(E::FRAME_SIZE_ERROR)),
        ("4.3", "a block that is none", frame(kind::HEADERS, 4, 1, &[0xff; 20]), connection(E::COMPRESSION_ERROR)),
        ("4.3", "a block that is cut", frame(kind::HEADERS, 4, 1, b"\0\x05ab"), connection(E::COMPRESSION_ERROR)),
        ("5.1", "DATA on an idle stream", data(1, 0, b"x"), connection(E::PROTOCOL_ERROR)),
        ("5.1", "RST_STREAM on an idle stream", frame(kind::RST_STREAM, 0, 1, &[0; 4]), connection(E::PROTOCOL_ERROR)),
        ("5.1", "WINDOW_UPDATE on an idle stream", frame(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]), connection(E::PROTOCOL_ERROR)),
        ("5.1", "CONTINUATION of nothing", frame(kind::CONTINUATION, 4, 1, b""), connection(E::PROTOCOL_ERROR)),
        ("5.1", "DATA behind the end", [get(1), data(1, 0, b"x")].concat(), End::Stream(1, E::STREAM_CLOSED)),
        ("5.1", "HEADERS behind the end", [get(1), get(1)].concat(), End::Stream(1, E::STREAM_CLOSED)),
        ("5.1", "DATA behind a reset", [closed(), data(1, 0, b"x")].concat(), End::Stream(1, E::STREAM_CLOSED)),
        ("5.1", "HEADERS behind a reset", [closed(), get(1)].concat(), End::Stream(1, E::STREAM_CLOSED)),
        ("5.1", "PRIORITY behind a reset", [closed(), frame(kind::PRIORITY, 0, 1, &[0; 5])].concat(), End::Nothing),
        ("5.1", "WINDOW_UPDATE behind a reset", [closed(), frame(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])].concat(), End::Nothing),
        ("5.1.1", "an even stream", get(2), connection(E::PROTOCOL_ERROR)),
        ("5.1.1", "a stream with a lower number", [get(5), get(3)].concat(), connection(E::PROTOCOL_ERROR)),
        ("5.1.2", "more streams than allowed", [get(1), get(3), get(5), get(7)].concat(), End::Stream(7, E::REFUSED_STREAM)),
        ("5.3.1", "a stream that depends on itself", [post(1), frame(kind::PRIORITY, 0, 1, &[0, 0, 0, 1, 0])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("5.5", "an unknown frame", frame(0xbe, 0xff, 7, b"x"), End::Nothing),
        ("5.5", "an unknown frame in a block", [frame(kind::HEADERS, 0, 1, &lines(&GET)), frame(0xbe, 0, 1, b"")].concat(), connection(E::PROTOCOL_ERROR)),
        ("6.1", "DATA on stream 0", data(0, 0, b"x"), connection(E::PROTOCOL_ERROR)),
        ("6.1", "more padding than content", [post(1), data(1, flag::PADDED, b"\x05abcd")].concat(), connection(E::PROTOCOL_ERROR)),
        ("6.1", "padding without a length", [post(1), data(1, flag::PADDED, b"")].concat(), connection(E::FRAME_SIZE_ERROR)),
        ("6.2", "HEADERS on stream 0", get(0), connection(E::PROTOCOL_ERROR)),
        ("6.2", "more padding than block", frame(kind::HEADERS, flag::END_HEADERS | flag::PADDED, 1, b"\xffabc"), connection(E::PROTOCOL_ERROR)),
        ("6.2", "no room for a priority", frame(kind::HEADERS, flag::END_HEADERS | flag::PRIORITY, 1, b"\0"), connection(E::FRAME_SIZE_ERROR)),
        ("6.3", "PRIORITY on stream 0", frame(kind::PRIORITY, 0, 0, &[0; 5]), connection(E::PROTOCOL_ERROR)),
        ("6.3", "PRIORITY of four bytes", [post(1), frame(kind::PRIORITY, 0, 1, &[0; 4])].concat(), End::Stream(1, E::FRAME_SIZE_ERROR)),
        ("6.3", "PRIORITY of four bytes behind a reset", [closed(), frame(kind::PRIORITY, 0, 1, &[0; 4])].concat(), connection(E::FRAME_SIZE_ERROR)),
        ("6.4", "RST_STREAM on stream 0", frame(kind::RST_STREAM, 0, 0, &[0; 4]), connection(E::PROTOCOL_ERROR)),
        ("6.4", "RST_STREAM of three bytes", [post(1), frame(kind::RST_STREAM, 0, 1, &[0; 3])].concat(), connection(E::FRAME_SIZE_ERROR)),
        ("6.5", "SETTINGS of a stream", frame(kind::SETTINGS, 0, 1, b""), connection(E::PROTOCOL_ERROR)),
        ("6.5", "an acknowledgement with content", frame(kind::SETTINGS, flag::ACK, 0, &[0; 6]), connection(E::FRAME_SIZE_ERROR)),
        ("6.5", "SETTINGS of five bytes", frame(kind::SETTINGS, 0, 0, &[0; 5]), connection(E::FRAME_SIZE_ERROR)),
        ("6.5.2", "ENABLE_PUSH of 2", frame(kind::SETTINGS, 0, 0, &setting(2, 2)), connection(E::PROTOCOL_ERROR)),
        ("6.5.2", "INITIAL_WINDOW_SIZE of 2^31", frame(kind::SETTINGS, 0, 0, &setting(4, 1 << 31)), connection(E::FLOW_CONTROL_ERROR)),
        ("6.5.2", "MAX_FRAME_SIZE of 16383", frame(kind::SETTINGS, 0, 0, &setting(5, 16_383)), connection(E::PROTOCOL_ERROR)),
        ("6.5.2", "MAX_FRAME_SIZE of 2^24", frame(kind::SETTINGS, 0, 0, &setting(5, 1 << 24)), connection(E::PROTOCOL_ERROR)),
        ("6.5.2", "an unknown setting", frame(kind::SETTINGS, 0, 0, &setting(0xbeef, 7)), End::Nothing),
        ("6.6", "PUSH_PROMISE", [post(1), frame(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2])].concat(), connection(E::PROTOCOL_ERROR)),
        ("6.7", "PING of a stream", frame(kind::PING, 0, 1, &[0; 8]), connection(E::PROTOCOL_ERROR)),
        ("6.7", "PING of seven bytes", frame(kind::PING, 0, 0, &[0; 7]), connection(E::FRAME_SIZE_ERROR)),
        ("6.8", "GOAWAY to a stream", frame(kind::GOAWAY, 0, 1, &[0; 8]), connection(E::PROTOCOL_ERROR)),
        ("6.8", "GOAWAY of seven bytes", frame(kind::GOAWAY, 0, 0, &[0; 7]), connection(E::FRAME_SIZE_ERROR)),
        ("6.9", "WINDOW_UPDATE of three bytes", frame(kind::WINDOW_UPDATE, 0, 0, &[0; 3]), connection(E::FRAME_SIZE_ERROR)),
        ("6.9", "a connection's window that does not grow", frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4]), connection(E::PROTOCOL_ERROR)),
        ("6.9", "a stream's window that does not grow", [post(1), frame(kind::WINDOW_UPDATE, 0, 1, &[0; 4])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("6.9.1", "a connection's window that overflows", frame(kind::WINDOW_UPDATE, 0, 0, &HIGHEST.to_be_bytes()), connection(E::FLOW_CONTROL_ERROR)),
        ("6.9.1", "a stream's window that overflows", [post(1), frame(kind::WINDOW_UPDATE, 0, 1, &HIGHEST.to_be_bytes())].concat(), End::Stream(1, E::FLOW_CONTROL_ERROR)),
        ("6.9.1", "more than a stream's window", [post(1), data(1, 0, &[0; 1001])].concat(), End::Stream(1, E::FLOW_CONTROL_ERROR)),
        ("6.9.2", "windows that overflow by a setting", [
            post(1), frame(kind::WINDOW_UPDATE, 0, 1, &1000u32.to_be_bytes()), frame(kind::SETTINGS, 0, 0, &setting(4, HIGHEST)),
        ].concat(), connection(E::FLOW_CONTROL_ERROR)),
        ("6.10", "another frame in a block", [frame(kind::HEADERS, 1, 1, &lines(&GET)), frame(kind::PING, 0, 0, &[0; 8])].concat(), connection(E::PROTOCOL_ERROR)),
        ("6.10", "another stream's block in a block", [frame(kind::HEADERS, 1, 1, &lines(&GET)), frame(kind::CONTINUATION, 4, 3, b"")].concat(), connection(E::PROTOCOL_ERROR)),
        ("8.1", "trailers without an end", [post(1), head(1, 0, &[("x", "y")])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1", "trailers with :method", [post(1), head(1, 1, &[(":method", "GET")])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1", "trailers with :path behind a field", [post(1), head(1, 1, &[("x", "y"), (":path", "/")])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1", "trailers with an unknown pseudo field", [post(1), head(1, 1, &[(":x", "y")])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1", "trailers with a capital letter", [post(1), head(1, 1, &[("X", "y")])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1", "trailers with a connection field", [post(1), head(1, 1, &[("connection", "close")])].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1.1", "less content than was said", head(1, 1, &[POST.as_slice(), &[("content-length", "1")]].concat()), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1.1", "less content than was said, in frames", [head(1, 0, &[POST.as_slice(), &[("content-length", "3")]].concat()), data(1, 1, b"ab")].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1.1", "more content than was said", [head(1, 0, &[POST.as_slice(), &[("content-length", "1")]].concat()), data(1, 0, b"ab")].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.1.1", "two lengths", with("content-length", "0, 0"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.1", "a capital letter", with("X-Upper", "1"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.1", "a space in a name", with("x y", "1"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.1", "no name", with("", "1"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.1", "a line break in a value", with("x", "1\r\ny: 2"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.1", "a zero in a value", with("x", "1\0"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.1", "a space behind a value", with("x", "1 "), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.2", "connection", with("connection", "keep-alive"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.2", "transfer-encoding", with("transfer-encoding", "chunked"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.2", "upgrade", with("upgrade", "h2c"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.2", "te but trailers", with("te", "trailers, deflate"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.2.2", "te: trailers", with("te", "trailers"), End::Nothing),
        ("8.3", "an unknown pseudo field", with(":x", "1"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3", "a pseudo field behind others", head(1, 1, &[&GET[..3], &[("x", "1"), (":authority", "h")]].concat()), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3", "a pseudo field of responses", with(":status", "200"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "no method", head(1, 1, &GET[1..]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "no scheme", head(1, 1, &[GET[0], GET[2]]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "no path", head(1, 1, &GET[..2]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "an empty path", head(1, 1, &[GET[0], GET[1], (":path", "")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "a URL for a path", head(1, 1, &[GET[0], GET[1], (":path", "http://other/")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "a path with a space", head(1, 1, &[GET[0], GET[1], (":path", "/ HTTP/1.1")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "a star for a GET", head(1, 1, &[GET[0], GET[1], (":path", "*")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "a star for OPTIONS", head(1, 1, &[(":method", "OPTIONS"), GET[1], (":path", "*")]), End::Nothing),
        ("8.3.1", "two methods", with(":method", "GET"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.3.1", "a method that is none", head(1, 1, &[(":method", "G{}T"), GET[1], GET[2]]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.5", "CONNECT with a path", head(1, 0, &[(":method", "CONNECT"), GET[2], GET[3]]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("8.5", "CONNECT", head(1, 0, &[(":method", "CONNECT"), GET[3]]), End::Nothing),
        ("RFC 8441 4", "a protocol without CONNECT", with(":protocol", "websocket"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("RFC 8441 4", "an extended CONNECT without a path", head(1, 0, &[(":method", "CONNECT"), (":protocol", "websocket"), GET[3]]), End::Stream(1, E::PROTOCOL_ERROR)),
    ] {
        assert_eq!(end_of(&mut server(), &bytes), expected, "{section}: {name}");
        // The result is the same however the bytes are cut.
        let mut in_pieces = server();
        let pieces: Result<Vec<_>, _> = bytes.chunks(1).map(|byte| receive(&mut in_pieces, byte)).collect();
        assert_eq!(pieces.is_err(), matches!(expected, End::Connection(_)), "{section}: {name}, byte by byte");
    }
}

#[test]
fn a_client_that_begins_otherwise_is_refused() {
    let begin = |bytes: &[u8]| end_of(&mut Http2Connection::new(Http2Side::Server, &SETTINGS), bytes);
    assert_eq!(begin(b"GET / HTTP/1.1\r\n"), End::Connection(Http2ErrorCode::PROTOCOL_ERROR));
    assert_eq!(begin(&[PREFACE, &frame(kind::PING, 0, 0, &[0; 8])].concat()), End::Connection(Http2ErrorCode::PROTOCOL_ERROR));
    assert_eq!(
        begin(&[PREFACE, &frame(kind::SETTINGS, flag::ACK, 0, b"")].concat()),
        End::Connection(Http2ErrorCode::PROTOCOL_ERROR)
    );
    assert_eq!(begin(PREFACE), End::Nothing);
}

#[test]
fn frames_are_the_same_however_they_are_cut() {
    let padded = [&[3], lines(&POST).as_slice(), &[0; 3]].concat();
    let bytes = [
        frame(kind::HEADERS, flag::END_HEADERS | flag::PADDED, 1, &padded),
        data(1, flag::PADDED, b"\x02ab\0\0"),
        data(1, 0, b""),
        data(1, flag::PADDED | flag::END_STREAM, b"\x01\0"),
        frame(kind::HEADERS, flag::END_STREAM | flag::PRIORITY, 3, &[&[0, 0, 0, 0, 16], lines(&GET[..2]).as_slice()].concat()),
        frame(kind::CONTINUATION, 0, 3, b""),
        frame(kind::CONTINUATION, flag::END_HEADERS, 3, &lines(&GET[2..])),
        post(5),
        head(5, flag::END_STREAM, &[("grpc-status", "0")]),
        frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]),
    ]
    .concat();
    let shape = |came: Vec<Came>| {
        let (mut content, mut rest) = (Vec::new(), Vec::new());
        for came in came {
            match came {
                Came::Data(_, bytes, ends) => {
                    content.extend(bytes);
                    if ends {
                        rest.push("the end".to_owned());
                    }
                }
                other => rest.push(format!("{other:?}")),
            }
        }
        (content, rest)
    };
    let whole = shape(receive(&mut server(), &bytes).unwrap());
    assert_eq!((whole.0.as_slice(), whole.1.len()), (b"ab".as_slice(), 6));
    for size in 1..bytes.len() {
        let mut server = server();
        let came = bytes.chunks(size).flat_map(|piece| receive(&mut server, piece).unwrap()).collect();
        assert_eq!(shape(came), whole, "in pieces of {size}");
        assert_eq!(server.unfinished(), None);
    }
}

#[test]
fn what_is_begun_and_not_finished_is_told() {
    let mut server = Http2Connection::new(Http2Side::Server, &SETTINGS);
    for byte in [PREFACE, &frame(kind::SETTINGS, 0, 0, b"")].concat() {
        assert!(server.unfinished().is_some(), "the preface and its first frame belong together");
        receive(&mut server, &[byte]).unwrap();
    }
    assert_eq!(server.unfinished(), None);
    // A block counts as one item, however many frames it has.
    receive(&mut server, &frame(kind::HEADERS, 0, 1, &lines(&POST))).unwrap();
    let block = server.unfinished();
    assert!(block.is_some());
    receive(&mut server, &frame(kind::CONTINUATION, 0, 1, b"")).unwrap();
    assert_eq!(server.unfinished(), block);
    receive(&mut server, &frame(kind::CONTINUATION, flag::END_HEADERS, 1, b"")).unwrap();
    assert_eq!(server.unfinished(), None);
    // Content may take its time; the header of a frame may not.
    receive(&mut server, &data(1, 0, b"content")[..4]).unwrap();
    assert!(server.unfinished().is_some_and(|now| Some(now) != block));
    receive(&mut server, &data(1, 0, b"content")[4..12]).unwrap();
    assert_eq!(server.unfinished(), None);
}

#[test]
fn frames_are_counted_by_what_they_carry() {
    let mut server = server();
    server.take_counts();
    let large = line("x", &"y".repeat(100)).repeat(12);
    let bytes = [
        post(1),
        data(1, 0, b"x"),
        data(1, 0, b""),
        data(1, flag::END_STREAM, b""),
        frame(kind::HEADERS, flag::END_STREAM, 3, &[lines(&GET).as_slice(), &large].concat()),
        frame(kind::CONTINUATION, flag::END_HEADERS, 3, b""),
        frame(kind::PING, 0, 0, &[0; 8]),
        frame(0xbe, 0, 0, b""),
        frame(kind::RST_STREAM, 0, 3, &[0; 4]),
        head(5, 1, &GET[1..]),
    ];
    receive(&mut server, &bytes.concat()).unwrap();
    let large_heads = bytes[4].len() - FRAME_HEADER;
    let expected = FrameCounts { all: 10, data: 2, control: 5, large_heads, spoilt_streams: 2 };
    assert_eq!(server.take_counts(), expected);
    assert_eq!(server.take_counts(), FrameCounts::default());
}

#[test]
fn content_is_sent_as_the_windows_allow_and_streams_take_turns() {
    let mut server = server();
    let Came::Request(one, _) = receive(&mut server, &get(1)).unwrap().remove(0) else { panic!() };
    let Came::Request(other, _) = receive(&mut server, &get(3)).unwrap().remove(0) else { panic!() };
    let content = vec![b'x'; 100_000];
    // The window of the connection, and the output limit after it, apply to all streams.
    assert_eq!(server.send_data(one, &content, true), Ok(65_535));
    assert_eq!(server.send_data(other, &content, true), Ok(0));
    assert!(server.waits_to_send(one) && server.waits_to_send(other));
    assert!(sent(&mut server).iter().all(|(kind, flags, id, content)| {
        (*kind, *flags, *id) == (kind::DATA, 0, 1) && content.len() <= frame::FRAME_BYTES_MAX
    }));
    assert_eq!(server.next_writable(), None);
    let window = |stream, more: u32| frame(kind::WINDOW_UPDATE, 0, stream, &more.to_be_bytes());
    receive(&mut server, &window(0, 40_000)).unwrap();
    assert_eq!(server.next_writable(), Some(other), "the first has an empty window of its own");
    assert_eq!(server.next_writable(), None);
    receive(&mut server, &window(1, 40_000)).unwrap();
    assert_eq!(server.send_data(other, &content, true), Ok(16_384), "a frame at a time where others wait");
    assert_eq!(server.next_writable(), Some(one));
    assert_eq!(server.send_data(one, &content[65_535..], true), Ok(16_384));
    assert_eq!([server.next_writable(), server.next_writable()], [Some(other), Some(one)]);
    receive(&mut server, &window(0, 1 << 20)).unwrap();
    sent(&mut server);
    assert_eq!(server.send_data(one, &content[81_919..], true), Ok(18_081));
    let frames = sent(&mut server);
    assert_eq!(frames.last().map(|(_, flags, id, _)| (*flags, *id)), Some((flag::END_STREAM, 1)));
    assert_eq!(server.send_data(one, b"more", false), Err(crate::StreamGone));
}

#[test]
fn a_new_head_is_one_of_which_nothing_is_written() {
    let mut server = server();
    let Came::Request(stream, _) = receive(&mut server, &get(1)).unwrap().remove(0) else { panic!() };
    assert!(!server.has_new_head());
    let mut block = HeaderBlock::default();
    block.status(200);
    server.send_head(stream, &block, false).unwrap();
    server.send_data(stream, &[0; 1000], false).unwrap();
    assert!(server.has_new_head());
    server.wrote(1);
    assert!(!server.has_new_head());
    server.send_data(stream, &[0; 1000], true).unwrap();
    assert!(!server.has_new_head());
}

#[test]
fn windows_follow_the_settings_amid_a_stream() {
    let mut server = server();
    let Came::Request(stream, _) = receive(&mut server, &get(1)).unwrap().remove(0) else { panic!() };
    let window = |size| frame(kind::SETTINGS, 0, 0, &setting(setting::INITIAL_WINDOW_SIZE, size));
    assert_eq!(server.send_data(stream, &[0; 10_000], false), Ok(10_000));
    receive(&mut server, &window(0)).unwrap();
    assert_eq!(server.send_data(stream, &[0; 10], false), Ok(0));
    receive(&mut server, &window(10_000)).unwrap();
    assert_eq!((server.next_writable(), server.send_data(stream, &[0; 10], false)), (None, Ok(0)), "it had sent as much");
    receive(&mut server, &window(10_004)).unwrap();
    assert_eq!((server.next_writable(), server.send_data(stream, &[0; 10], false)), (Some(stream), Ok(4)));
}

#[test]
fn windows_open_again_for_what_was_taken() {
    let mut server = server();
    let Came::Request(stream, _) = receive(&mut server, &post(1)).unwrap().remove(0) else { panic!() };
    receive(&mut server, &data(1, 0, &[0; 600])).unwrap();
    assert!(sent(&mut server).is_empty());
    server.take(stream, 499);
    assert!(sent(&mut server).is_empty(), "not for every byte");
    server.take(stream, 101);
    assert_eq!(sent(&mut server), [(kind::WINDOW_UPDATE, 0, 1, 600u32.to_be_bytes().to_vec())]);
    // Content that no one takes is returned with the stream, padding at once.
    receive(&mut server, &data(1, flag::PADDED, &[[99].as_slice(), &[0; 200]].concat())).unwrap();
    server.release(stream);
    assert_eq!(server.taken, 600 + 201);
    assert_eq!(sent(&mut server).last().unwrap().0, kind::RST_STREAM);
    receive(&mut server, &data(1, 0, &[0; 300])).unwrap();
    assert_eq!(server.taken, 600 + 201 + 300, "what comes for a stream that is gone counts for the connection");
    assert!(sent(&mut server).is_empty(), "and is no error, for it was reset here");
}

#[test]
fn a_smaller_window_holds_once_it_is_known() {
    let mut client = client();
    // The first settings are not acknowledged yet.
    assert!(!client.set_stream_window(100));
    receive(&mut client, &frame(kind::SETTINGS, flag::ACK, 0, b"")).unwrap();
    assert!(client.set_stream_window(100));
    let stream = open(&mut client);
    receive(&mut client, &[head(1, 0, &[(":status", "200")]), data(1, 0, &[0; 900])].concat()).unwrap();
    assert_eq!(client.reset_code(stream), None, "it may not have known");
    receive(&mut client, &frame(kind::SETTINGS, flag::ACK, 0, b"")).unwrap();
    client.take(stream, 900);
    receive(&mut client, &data(1, 0, &[0; 100])).unwrap();
    assert_eq!(client.reset_code(stream), None);
    receive(&mut client, &data(1, 0, &[0; 1])).unwrap();
    assert_eq!(client.reset_code(stream), Some(Http2ErrorCode::FLOW_CONTROL_ERROR));
}

#[test]
fn what_was_taken_before_a_smaller_window_is_known_opens_it_again() {
    let mut client = client();
    receive(&mut client, &frame(kind::SETTINGS, flag::ACK, 0, b"")).unwrap();
    let stream = open(&mut client);
    receive(&mut client, &[head(1, 0, &[(":status", "200")]), data(1, 0, &[0; 400])].concat()).unwrap();
    assert!(client.set_stream_window(100));
    sent(&mut client);
    client.take(stream, 400);
    assert!(sent(&mut client).is_empty(), "less than half of the window");
    // The peer has 300 bytes less than nothing now, and sends no more by itself.
    receive(&mut client, &frame(kind::SETTINGS, flag::ACK, 0, b"")).unwrap();
    assert_eq!(sent(&mut client), [(kind::WINDOW_UPDATE, 0, 1, 400u32.to_be_bytes().to_vec())]);
}

fn open(client: &mut Http2Connection) -> StreamKey {
    let mut block = HeaderBlock::default();
    block.request(b"GET", b"http", b"h", b"/");
    client.open(&block, true, false).expect("a stream")
}

#[test]
fn responses_are_judged_as_requests_are() {
    use Http2ErrorCode as E;
    let response = |flags, fields: &[(&str, &str)]| head(1, flags, fields);
    for (name, bytes, expected) in [
        ("a response", response(1, &[(":status", "200"), ("x", "y")]), End::Nothing),
        (
            "interim ones",
            [response(0, &[(":status", "103")]), response(0, &[(":status", "100")]), response(1, &[(":status", "200")])].concat(),
            End::Nothing,
        ),
        ("trailers", [response(0, &[(":status", "200")]), response(1, &[("x", "y")])].concat(), End::Nothing),
        (
            "trailers with a status",
            [response(0, &[(":status", "200")]), response(1, &[(":status", "200")])].concat(),
            End::Stream(1, E::PROTOCOL_ERROR),
        ),
        ("no status", response(1, &[("x", "y")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("a status of two digits", response(1, &[(":status", "20")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("a switch", response(0, &[(":status", "101")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("an interim one that ends", response(1, &[(":status", "100")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("a method", response(1, &[(":status", "200"), (":method", "GET")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("a connection field", response(1, &[(":status", "200"), ("connection", "close")]), End::Stream(1, E::PROTOCOL_ERROR)),
        ("content before a head", data(1, 0, b"x"), End::Stream(1, E::PROTOCOL_ERROR)),
        ("content for 204", [response(0, &[(":status", "204")]), data(1, 1, b"x")].concat(), End::Stream(1, E::PROTOCOL_ERROR)),
        ("a length without content for 304", response(1, &[(":status", "304"), ("content-length", "5")]), End::Nothing),
        (
            "less content than was said",
            [response(0, &[(":status", "200"), ("content-length", "2")]), data(1, 1, b"x")].concat(),
            End::Stream(1, E::PROTOCOL_ERROR),
        ),
        (
            "a head that is too large",
            response(1, &[(":status", "200"), ("x", &"y".repeat(120))].repeat(40)),
            End::Stream(1, E::PROTOCOL_ERROR),
        ),
        ("a stream of the server's", head(2, 1, &[(":status", "200")]), End::Connection(E::PROTOCOL_ERROR)),
        ("a stream that was not opened", head(3, 1, &[(":status", "200")]), End::Connection(E::PROTOCOL_ERROR)),
        ("a promise", frame(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2]), End::Connection(E::PROTOCOL_ERROR)),
        ("pushes allowed", frame(kind::SETTINGS, 0, 0, &setting(2, 1)), End::Connection(E::PROTOCOL_ERROR)),
    ] {
        let mut client = client();
        open(&mut client);
        sent(&mut client);
        assert_eq!(end_of(&mut client, &bytes), expected, "{name}");
    }
}

#[test]
fn the_length_of_what_head_has_not_is_no_length() {
    let mut client = client();
    let mut block = HeaderBlock::default();
    block.request(b"HEAD", b"http", b"h", b"/");
    let stream = client.open(&block, true, true).unwrap();
    let came = receive(&mut client, &head(1, 1, &[(":status", "200"), ("content-length", "5")])).unwrap();
    assert_eq!(came, [Came::Response(stream, true)]);
}

#[test]
fn a_client_opens_as_many_streams_as_it_may() {
    let mut client = client();
    receive(&mut client, &frame(kind::SETTINGS, 0, 0, &setting(setting::MAX_CONCURRENT_STREAMS, 2))).unwrap();
    let (one, _) = (open(&mut client), open(&mut client));
    assert!(!client.can_open() && client.can_ever_open());
    receive(&mut client, &head(1, 1, &[(":status", "200")])).unwrap();
    assert!(client.can_open());
    client.release(one);
    assert_eq!(open(&mut client), one, "its place is used again");
    // A GOAWAY refuses streams that were not started.
    let came = receive(&mut client, &frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0])).unwrap();
    assert_eq!(came, [Came::Reset(one)]);
    assert_eq!(client.reset_code(one), Some(Http2ErrorCode::REFUSED_STREAM));
    assert!(!client.can_ever_open() && !client.is_done());
    receive(&mut client, &head(3, 1, &[(":status", "200")])).unwrap();
    assert!(client.is_done());
}

#[test]
fn a_goodbye_lets_streams_on_their_way_in() {
    let mut server = server();
    receive(&mut server, &post(1)).unwrap();
    server.leave();
    let frames = sent(&mut server);
    assert_eq!((frames[0].0, &frames[0].3[..4]), (kind::GOAWAY, HIGHEST.to_be_bytes().as_slice()));
    assert_eq!(receive(&mut server, &get(3)).unwrap().len(), 1);
    receive(&mut server, &frame(kind::PING, flag::ACK, 0, &frames[1].3)).unwrap();
    assert_eq!(sent(&mut server), [(kind::GOAWAY, 0, 0, vec![0, 0, 0, 3, 0, 0, 0, 0])]);
    assert_eq!(end_of(&mut server, &get(5)), End::Stream(5, Http2ErrorCode::REFUSED_STREAM));
    assert!(!server.is_done());
    for id in [1, 3] {
        receive(&mut server, &frame(kind::RST_STREAM, 0, id, &[0; 4])).unwrap();
    }
    assert!(server.is_done());
}

#[test]
fn a_server_that_has_answered_does_not_want_the_rest() {
    let mut server = server();
    let Came::Request(stream, _) = receive(&mut server, &post(1)).unwrap().remove(0) else { panic!() };
    let mut block = HeaderBlock::default();
    block.status(403);
    server.send_head(stream, &block, true).unwrap();
    sent(&mut server);
    server.release(stream);
    assert_eq!(sent(&mut server), [(kind::RST_STREAM, 0, 1, vec![0; 4])]);
    assert_eq!(server.open_streams(), 0);
}

#[test]
fn heads_of_any_length_are_sent_and_read() {
    for count in [1, 100, 150, 300] {
        let mut block = HeaderBlock::default();
        block.status(200);
        (0..count).for_each(|number| block.field(format!("x-{number}").as_bytes(), &[b'v'; 100]));
        let mut server = server();
        let Came::Request(stream, _) = receive(&mut server, &get(1)).unwrap().remove(0) else { panic!() };
        server.send_head(stream, &block, true).unwrap();
        let settings = Http2Settings { header_list_bytes_max: 1 << 20, ..SETTINGS };
        let mut client = Http2Connection::new(Http2Side::Client, &settings);
        receive(&mut client, &frame(kind::SETTINGS, 0, 0, b"")).unwrap();
        open(&mut client);
        assert_eq!(receive(&mut client, server.output()).unwrap().len(), 1, "{count}");
        assert_eq!(client.fields().len(), count + 1);
    }
}

#[test]
fn a_decoder_that_allows_less_is_told_that_no_table_is_used() {
    let mut server = server();
    let Came::Request(stream, _) = receive(&mut server, &get(1)).unwrap().remove(0) else { panic!() };
    receive(&mut server, &frame(kind::SETTINGS, 0, 0, &setting(setting::HEADER_TABLE_SIZE, 100))).unwrap();
    sent(&mut server);
    let mut block = HeaderBlock::default();
    block.status(200);
    server.send_head(stream, &block, false).unwrap();
    server.send_head(stream, &block, true).unwrap();
    let contents: Vec<Vec<u8>> = sent(&mut server).into_iter().map(|(.., content)| content).collect();
    assert_eq!(contents, [vec![0x20, 0x88], vec![0x88]]);
}

#[test]
fn too_large_heads_are_events_and_endless_ones_are_not() {
    let mut server = server();
    let block = [lines(&GET), line("x", &"y".repeat(120)).repeat(40)].concat();
    let (first, second) = block.split_at(3000);
    let bytes =
        [frame(kind::HEADERS, flag::END_STREAM, 1, first), frame(kind::CONTINUATION, flag::END_HEADERS, 1, second)].concat();
    assert!(matches!(receive(&mut server, &bytes).unwrap()[..], [Came::Request(_, true)]));
    assert!(server.fields().is_too_large());
    assert!(server.fields().size() <= 4096);
    receive(&mut server, &frame(kind::HEADERS, 0, 3, &lines(&GET))).unwrap();
    let more = frame(kind::CONTINUATION, 0, 3, &[0x82; 1000]);
    let error = (0..100).find_map(|_| receive(&mut server, &more).err());
    assert_eq!(error.map(|error| error.code), Some(Http2ErrorCode::ENHANCE_YOUR_CALM));
    // A single endless field.
    let mut server = super::tests::server();
    receive(&mut server, &frame(kind::HEADERS, 0, 1, &[0, 1, b'x', 0x7f, 0xff, 0xff, 0x3f])).unwrap();
    let error = (0..100).find_map(|_| receive(&mut server, &frame(kind::CONTINUATION, 0, 1, &[b'y'; 1000])).err());
    assert_eq!(error.map(|error| error.code), Some(Http2ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn a_peer_that_reads_nothing_gets_no_more_answers() {
    let mut server = server();
    let pings = frame(kind::PING, 0, 0, &[0; 8]).repeat(100);
    let rounds = (0..1000).take_while(|_| server.wants_input() && receive(&mut server, &pings).is_ok()).count();
    assert!(rounds < 100, "{rounds}");
}

#[test]
fn a_connection_at_rest_holds_no_buffer() {
    let mut server = server();
    for id in 0..50 {
        let Came::Request(stream, _) = receive(&mut server, &get(2 * id + 1)).unwrap().remove(0) else { panic!() };
        server.send_data(stream, b"answer", true).unwrap();
        server.release(stream);
    }
    sent(&mut server);
    server.rest();
    let held = [server.out.capacity(), server.content.capacity(), server.fields.capacity()];
    assert_eq!((held, server.open_streams()), ([0; 3], 0));
}
