use super::huffman;
use super::integer::{TooLarge, read_integer, write_integer};
use super::*;
use crate::FieldList;
use proptest::prelude::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn listed(fields: &FieldList) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    fields.all().map(|(name, value)| (text(name), text(value))).collect()
}

/// The fields of a block that arrives in one piece.
fn decoded(decoder: &mut HpackDecoder, block: &[u8]) -> Result<Vec<(String, String)>, HpackError> {
    let mut fields = FieldList::new(64 * 1024);
    decoder.begin();
    let used = decoder.decode(block, &mut fields)?;
    assert_eq!(used, block.len(), "a whole block is used up");
    Ok(listed(&fields))
}

/// Decodes consecutive blocks with one decoder, and compares them with text that has one field per line.
fn check(blocks: &[(&str, &str)]) {
    let mut decoder = HpackDecoder::new();
    for (hex, expected) in blocks {
        let found = decoded(&mut decoder, &bytes(hex)).unwrap();
        let found: Vec<String> = found.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(found, expected.split('\n').map(str::trim).collect::<Vec<_>>(), "{hex}");
    }
}

/// RFC 7541 appendix C.1.
#[test]
fn integers_are_those_of_the_rfc() {
    for (value, bits, hex) in [(10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a"), (127, 7, "7f00"), (1 << 20, 4, "0ff1ff3f")] {
        let mut out = Vec::new();
        write_integer(value, bits, 0, &mut out);
        assert_eq!(out, bytes(hex), "{value}");
        assert_eq!(read_integer(&out, bits), Ok(Some((value, out.len()))));
        for cut in 0..out.len() {
            assert_eq!(read_integer(&out[..cut], bits), Ok(None), "{value} cut at {cut}");
        }
    }
    for endless in ["1fffffffffff", "1f8080808080", "1f8080808000"] {
        assert_eq!(read_integer(&bytes(endless), 5), Err(TooLarge), "{endless}");
    }
}

/// RFC 7541 appendix C.2.
#[test]
fn single_fields_are_those_of_the_rfc() {
    for (hex, expected) in [
        ("400a637573746f6d2d6b65790d637573746f6d2d686561646572", "custom-key: custom-header"),
        ("040c2f73616d706c652f70617468", ":path: /sample/path"),
        ("100870617373776f726406736563726574", "password: secret"),
        ("82", ":method: GET"),
    ] {
        check(&[(hex, expected)]);
    }
}

/// RFC 7541 appendices C.3 and C.4.
#[test]
fn requests_are_those_of_the_rfc() {
    let requests = [
        ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com",
        ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache",
        ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value",
    ];
    check(&[
        ("828684410f7777772e6578616d706c652e636f6d", requests[0]),
        ("828684be58086e6f2d6361636865", requests[1]),
        ("828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", requests[2]),
    ]);
    check(&[
        ("828684418cf1e3c2e5f23a6ba0ab90f4ff", requests[0]),
        ("828684be5886a8eb10649cbf", requests[1]),
        ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", requests[2]),
    ]);
}

/// RFC 7541 appendices C.5 and C.6, with tables of 256 bytes, so that entries are evicted.
#[test]
fn responses_are_those_of_the_rfc() {
    let responses = [
        ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
        ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com",
        ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n\
         content-encoding: gzip\nset-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ];
    // Starts with the size update for the examples' tables.
    check(&[
        (
            "3fe101 4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f\
             7777772e6578616d706c652e636f6d",
            responses[0],
        ),
        ("4803333037c1c0bf", responses[1]),
        (
            "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f\
             5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
            responses[2],
        ),
    ]);
    check(&[
        (
            "3fe101 488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
            responses[0],
        ),
        ("4883640effc1c0bf", responses[1]),
        (
            "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1\
             ab270fb5291f9587316065c003ed4ee5b1063d5007",
            responses[2],
        ),
    ]);
}

#[test]
fn what_is_no_block_is_an_error() {
    for (hex, why) in [
        ("80", "the entry 0"),
        ("fe", "an entry that the table has not"),
        ("ffffffffffff", "an index without end"),
        ("3fe2ff03", "a table larger than allowed"),
        ("823fe101", "a table that is resized behind a field"),
        ("0082ffff", "a text that has the end's code"),
        ("008118", "padding that is none"),
        ("0081fe00", "zeros for padding"),
        ("0082f8ff", "more than a byte of padding"),
        ("7f81", "a name that no table has"),
    ] {
        let mut decoder = HpackDecoder::new();
        let mut fields = FieldList::new(4096);
        let found = decoder.decode(&bytes(hex), &mut fields);
        let is_error = found.is_err() || hex == "7f81" && found == Ok(0);
        assert!(is_error, "{why}: {found:?}");
    }
}

#[test]
fn a_block_may_come_in_pieces() {
    let block = bytes("828684418cf1e3c2e5f23a6ba0ab90f4ff408825a849e95ba97d7f8925a849e95bb8e8b4bf5886a8eb10649cbf");
    let whole = decoded(&mut HpackDecoder::new(), &block).unwrap();
    for size in 1..block.len() {
        let (mut decoder, mut fields, mut rest) = (HpackDecoder::new(), FieldList::new(4096), Vec::new());
        for piece in block.chunks(size) {
            rest.extend_from_slice(piece);
            let used = decoder.decode(&rest, &mut fields).unwrap();
            rest.drain(..used);
        }
        assert!(rest.is_empty());
        assert_eq!(listed(&fields), whole, "in pieces of {size}");
    }
}

#[test]
fn what_is_too_much_is_not_kept_and_the_tables_agree() {
    let mut decoder = HpackDecoder::new();
    let mut fields = FieldList::new(100);
    // Each field counts 42 bytes.
    let block: Vec<u8> =
        (0..5).flat_map(|number| [&[0x40, 5], format!("name{number}").as_bytes(), &[5], b"value"].concat()).collect();
    assert_eq!(decoder.decode(&block, &mut fields), Ok(block.len()));
    assert!(fields.is_too_large());
    assert_eq!((fields.len(), fields.size()), (2, 84));
    assert_eq!(decoded(&mut decoder, &[0xbe]).unwrap(), [("name4".to_owned(), "value".to_owned())]);
}

#[test]
fn every_symbol_has_its_code() {
    let lengths: u32 = (0..=255u8).map(|symbol| encode_huffman(&[symbol]).1).sum();
    assert_eq!(lengths, 5 * 10 + 6 * 26 + 7 * 32 + 8 * 6 + lengths_behind_the_usual());
    for symbol in 0..=255u8 {
        let mut out = Vec::new();
        huffman::decode(&encode_huffman(&[symbol]).0, &mut out).unwrap();
        assert_eq!(out, [symbol]);
    }
}

/// Total bits of all codes longer than eight bits (RFC 7541 appendix B).
fn lengths_behind_the_usual() -> u32 {
    let counts = [(10, 5), (11, 3), (12, 2), (13, 6), (14, 2), (15, 3), (19, 3), (20, 8), (21, 13), (22, 26), (23, 29), (24, 12)];
    let more = [(25, 4), (26, 15), (27, 19), (28, 29), (30, 3)];
    counts.iter().chain(&more).map(|(length, count)| length * count).sum()
}

/// A text in Huffman code, and its length in bits: encoded with the table of codes, not the decoder's.
fn encode_huffman(text: &[u8]) -> (Vec<u8>, u32) {
    let (mut bits, mut have, mut out, mut all) = (0u64, 0, Vec::new(), 0);
    for symbol in text {
        let (code, length) = huffman::code(*symbol);
        (bits, have, all) = (bits << length | u64::from(code), have + length, all + length);
        while have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    if have > 0 {
        out.push((bits << (8 - have)) as u8 | 0xff >> have);
    }
    (out, all)
}

/// The h2 crate's decoder is not public; its client is tested in `tests/against_h2.rs`. This tests what our encoder writes.
#[test]
fn a_written_block_is_read_again() {
    let mut block = HeaderBlock::default();
    block.request(b"PATCH", b"https", b"api.test", b"/a?b");
    block.field(b"Content-Type", b"text/plain");
    block.field(b"authorization", b"Bearer x");
    block.field("X-".repeat(60).as_bytes(), b"");
    let found = decoded(&mut HpackDecoder::new(), block.bytes()).unwrap();
    let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let long = "x-".repeat(60);
    let expected = [
        (":method", "PATCH"),
        (":scheme", "https"),
        (":authority", "api.test"),
        (":path", "/a?b"),
        ("content-type", "text/plain"),
        ("authorization", "Bearer x"),
        (long.as_str(), ""),
    ];
    assert_eq!(found, expected);
    for status in [100, 200, 204, 206, 304, 400, 404, 500, 418, 599] {
        let mut block = HeaderBlock::default();
        block.status(status);
        assert_eq!(decoded(&mut HpackDecoder::new(), block.bytes()).unwrap()[0].1, status.to_string());
    }
}

#[test]
fn names_of_the_static_table_are_found() {
    for index in 15..=static_table::STATIC_ENTRIES {
        let (name, _) = static_table::static_entry(index).unwrap();
        assert_eq!(static_table::static_name(name), Some(index), "{}", String::from_utf8_lossy(name));
    }
    assert_eq!(static_table::static_name(b"x-own"), None);
}

proptest! {
    #[test]
    fn any_text_survives_the_code(text: Vec<u8>) {
        let mut out = b"before".to_vec();
        huffman::decode(&encode_huffman(&text).0, &mut out).unwrap();
        prop_assert_eq!(&out[6..], text);
    }
}
