//! What must hold for any bytes that are taken for header blocks, or for the frames of either side. The functions panic when it does not. The
//! fuzzer calls them, and the tests do with the same corpus.

use tollgate_http2::{
    FieldList, HeaderBlock, HpackDecoder, Http2Connection, Http2Event, Http2Settings, Http2Side, PREFACE, StreamKey,
};

/// However a block is cut, it has the same fields; what was read can be written and read again; and nothing is kept beyond the bounds.
pub(crate) fn hpack(bytes: &[u8]) {
    const SIZE_MAX: usize = 2048;
    let (first, second) = bytes.split_at(bytes.len() / 2);
    // Two blocks for one decoder: the second sees the first one's table.
    let (mut at_once, mut in_pieces) = (HpackDecoder::new(), HpackDecoder::new());
    for block in [first, second] {
        let (mut whole, mut cut) = (FieldList::new(SIZE_MAX), FieldList::new(SIZE_MAX));
        at_once.begin();
        in_pieces.begin();
        let used = at_once.decode(block, &mut whole);
        let mut rest = Vec::new();
        let mut failed = false;
        for byte in block {
            rest.push(*byte);
            match in_pieces.decode(&rest, &mut cut) {
                Ok(used) => drop(rest.drain(..used)),
                Err(_) => {
                    failed = true;
                    break;
                }
            }
        }
        assert_eq!(used.is_err(), failed, "cut or not, it is the same");
        let Ok(used) = used else { return };
        assert_eq!(block.len() - used, rest.len());
        assert!(whole.all().eq(cut.all()));
        assert!(whole.size() <= SIZE_MAX);
        again(&whole);
    }
}

/// What was read, written and read again.
fn again(fields: &FieldList) {
    let is_lower = |name: &[u8]| !name.iter().any(u8::is_ascii_uppercase);
    let mut block = HeaderBlock::default();
    for (name, value) in fields.all().filter(|(name, _)| is_lower(name)) {
        block.field(name, value);
    }
    let mut read = FieldList::new(usize::MAX);
    let used = HpackDecoder::new().decode(block.bytes(), &mut read).expect("a block");
    assert_eq!(used, block.bytes().len());
    assert!(read.all().eq(fields.all().filter(|(name, _)| is_lower(name))));
    // Checks may refuse them, and no more.
    for check in [FieldList::check_request, FieldList::check_response, FieldList::check_trailers] {
        let mut checked = FieldList::new(usize::MAX);
        let _ = HpackDecoder::new().decode(block.bytes(), &mut checked);
        if check(&mut checked).is_ok() {
            assert!(checked.iter().all(|(name, value)| tollgate_http::is_token(name.as_bytes()) && tollgate_http::is_value(value)));
        }
    }
}

/// Both sides read any bytes, in one piece and in many, to the same events; answer what they can; and hold no more than their bounds.
pub(crate) fn http2_frames(bytes: &[u8]) {
    for side in [Http2Side::Server, Http2Side::Client] {
        let (whole, cut) = (events(side, bytes, usize::MAX), events(side, bytes, 7));
        assert_eq!(whole, cut, "{side:?}");
    }
}

fn events(side: Http2Side, bytes: &[u8], size: usize) -> Vec<String> {
    let settings = Http2Settings {
        stream_window: 500,
        connection_window: 0,
        streams_max: 4,
        header_list_bytes_max: 512,
        connect_protocol: true,
    };
    let mut connection = Http2Connection::new(side, &settings);
    let mut request = HeaderBlock::default();
    request.request(b"GET", b"http", b"h", b"/");
    let mut held: Vec<StreamKey> = Vec::new();
    if side == Http2Side::Client {
        held.extend(connection.open(&request, false, false));
        held.extend(connection.open(&request, true, true));
    }
    let mut all: Vec<String> = Vec::new();
    let begin = [if side == Http2Side::Server { PREFACE } else { b"" }, b"\0\0\0\x04\0\0\0\0\0"].concat();
    for piece in [begin.as_slice()].into_iter().chain(bytes.chunks(size.min(bytes.len()).max(1))) {
        let mut input = piece;
        loop {
            match connection.next(&mut input) {
                Ok(Some(event)) => take(&mut connection, &mut held, event, &mut all),
                Ok(None) => break,
                Err(error) => {
                    all.push(format!("{error}"));
                    assert!(connection.is_done());
                    return all;
                }
            }
        }
        assert!(input.is_empty());
        assert!(connection.open_streams() <= 4);
        assert!(connection.fields().size() <= 512);
        let bytes = connection.output().len();
        connection.wrote(bytes);
    }
    // All that it opened can be answered and forgotten.
    for key in held {
        let _ = connection.send_data(key, b"some", true);
        connection.release(key);
    }
    assert_eq!(connection.open_streams(), 0);
    all
}

fn take(connection: &mut Http2Connection, held: &mut Vec<StreamKey>, event: Http2Event<'_>, all: &mut Vec<String>) {
    match event {
        Http2Event::Request { stream, ends } => {
            assert!(!held.contains(&stream));
            held.push(stream);
            let fields: Vec<_> = connection.fields().iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
            all.push(format!("request {stream:?} {ends} {fields:?}"));
        }
        Http2Event::Data { stream, bytes, ends } => {
            assert!(held.contains(&stream));
            // Pieces are one, however they came.
            let text = format!("data {stream:?} ");
            if !all.last().is_some_and(|last| last.starts_with(&text) && !last.ends_with("end")) {
                all.push(text);
            }
            if let Some(last) = all.last_mut() {
                bytes.iter().for_each(|byte| last.push_str(&format!("{byte:02x}")));
                if ends {
                    last.push_str("end");
                }
            }
            connection.take(stream, bytes.len());
        }
        other => all.push(format!("{other:?}")),
    }
}
