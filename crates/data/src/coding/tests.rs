use super::*;

const PLAIN: &[u8] = br#"{"item":"a long enough text","items":["a long enough text","a long enough text"]}"#;

/// [`PLAIN`] compressed by other programs: Python's zlib, Node's brotli, zstd's own command.
const CLOSED: &[(&str, &str)] = &[
    (
        "gzip",
        "1f8b0800000000000203ab56ca2c49cd55b2524a54c8c9cf4b5748cdcb2f4dcf502849ad2851d201cb152b59456397c522185b0b00cb6406ec51000000",
    ),
    (
        "x-gzip",
        "1f8b0800000000000203ab56ca2c49cd55b2524a54c8c9cf4b5748cdcb2f4dcf502849ad2851d201cb152b59456397c522185b0b00cb6406ec51000000",
    ),
    ("deflate", "789cab56ca2c49cd55b2524a54c8c9cf4b5748cdcb2f4dcf502849ad2851d201cb152b59456397c522185b0b0063ae1bd6"),
    // Without its zlib frame, as some servers send it.
    ("deflate", "ab56ca2c49cd55b2524a54c8c9cf4b5748cdcb2f4dcf502849ad2851d201cb152b59456397c522185b0b00"),
    (
        "br",
        "1b5000189c07762cf236148bc9928723547a87e1edf5491d96ae16d99aa31b65b001078e7980eb82135e3ae2f4810d1c32311c30c12aeae53f62c607",
    ),
    (
        "zstd",
        "28b52ffd24517d010034027b226974656d223a2261206c6f6e6720656e6f7567682074657874222c73223a5b5d7d03003813109492fe9a4e9156fdd1",
    ),
];

/// 50 MB of zeros in some hundred bytes.
const BROTLI_BOMB: &str = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc13f0110870500baf77ffcffff837f02200e0b0074effff20f5e0fff04401c1600e8a0eb01";

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

#[test]
fn each_coding_is_opened_in_any_letter_case_and_in_layers() {
    for (coding, hex) in CLOSED {
        let closed = bytes(hex);
        for written in [coding.to_string(), coding.to_uppercase(), format!(" {coding} , identity")] {
            assert_eq!(open(written.as_bytes(), &closed, 1000).as_deref(), Ok(PLAIN), "{written}");
        }
    }
    let twice = Coding::Gzip.close(&bytes(CLOSED[4].1)).unwrap();
    assert_eq!(open(b"br, gzip", &twice, 1000).as_deref(), Ok(PLAIN));
    assert_eq!(open(b"identity", PLAIN, 1000).as_deref(), Ok(PLAIN));
    assert_eq!(open(b"gzip", b"", 1000).as_deref(), Ok(&b""[..]), "nothing is nothing in every coding");
}

#[test]
fn what_is_cut_or_damaged_or_unknown_is_an_error() {
    for (coding, hex) in CLOSED {
        let closed = bytes(hex);
        for length in 1..closed.len() - 4 {
            let opened = open(coding.as_bytes(), &closed[..length], 1000);
            assert!(opened.as_deref() != Ok(PLAIN), "{coding} cut behind {length}");
        }
        let mut damaged = closed.clone();
        for at in 0..damaged.len() {
            damaged[at] ^= 0x55;
            // Whatever the result, there is no panic and the limit holds.
            assert!(open(coding.as_bytes(), &damaged, 1000).map_or(0, |opened| opened.len()) <= 1000);
            damaged[at] ^= 0x55;
        }
        assert_eq!(open(coding.as_bytes(), b"no such coding at all", 1000), Err(OpenError::Malformed), "{coding}");
    }
    assert_eq!(open(b"compress", PLAIN, 1000), Err(OpenError::Unknown));
    assert_eq!(open(b"gzip, gzip, gzip", PLAIN, 1000), Err(OpenError::Unknown));
}

#[test]
fn a_body_that_grows_beyond_the_bound_is_not_opened_further() {
    let zeros = vec![0; 50_000_000];
    let bombs = [
        ("gzip", Coding::Gzip.close(&zeros).unwrap()),
        ("deflate", Coding::Deflate.close(&zeros).unwrap()),
        ("br", bytes(BROTLI_BOMB)),
        ("zstd", zstd_zeros(400)),
    ];
    for (coding, bomb) in bombs {
        assert!(bomb.len() < 600_000, "{coding} {}", bomb.len());
        assert_eq!(open(coding.as_bytes(), &bomb, 1_000_000), Err(OpenError::TooLarge), "{coding}");
    }
    let (coding, hex) = CLOSED[0];
    assert_eq!(open(coding.as_bytes(), &bytes(hex), PLAIN.len()).as_deref(), Ok(PLAIN), "just as large as it may be");
    assert_eq!(open(coding.as_bytes(), &bytes(hex), PLAIN.len() - 1), Err(OpenError::TooLarge));
}

/// A zstd frame with this many blocks of 128 KiB zeros, four bytes each (RFC 8878 §3.1.1.2).
fn zstd_zeros(blocks: u32) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for block in 0..blocks {
        let head = (131_072 << 3) | 1 << 1 | u32::from(block + 1 == blocks);
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn a_zstd_window_larger_than_any_use_is_refused() {
    // A window of 3.75 TB, the largest that a descriptor can name.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x0b, 0x00, 0x00, 0x00];
    assert_eq!(open(b"zstd", &frame, 1000), Err(OpenError::Malformed));
}
