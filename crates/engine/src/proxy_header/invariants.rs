//! Invariants of any bytes in the place of a PROXY header. The function panics if one is violated. The fuzzer calls it, and so do
//! the tests, with the same corpus.

use crate::proxy_header::{Progress, parse};
use std::net::IpAddr;

/// Maximum length of a header: the fixed part of version 2 and the most that may follow it. The parser never asks for more.
const HEADER_BYTES_MAX: usize = 16 + 4096;

/// Read incrementally as from a socket, bytes parse to the same result each time, and the parser never asks for a byte beyond the
/// header.
pub(super) fn proxy_header(bytes: &[u8]) {
    let mut have = 0;
    let outcome = loop {
        match parse(&bytes[..have]) {
            Ok(Progress::Wants(more)) => {
                assert!(more > 0, "nothing is asked for and nothing is decided");
                assert!(have + more <= HEADER_BYTES_MAX, "{} bytes are waited for", have + more);
                if have + more > bytes.len() {
                    break None;
                }
                have += more;
            }
            Ok(Progress::Complete(client)) => break Some((client, have)),
            Err(_) => return,
        }
    };
    // Whatever the result, every shorter prefix was incomplete or rejected.
    for cut in 0..have {
        match parse(&bytes[..cut]) {
            Ok(Progress::Complete(_)) => panic!("a header of {have} bytes is complete after {cut}"),
            Ok(Progress::Wants(_)) => {}
            Err(fault) => panic!("refused after {cut} bytes ({fault}), and taken with more"),
        }
    }
    let Some((Some(client), length)) = outcome else { return };
    if let Ok(text) = std::str::from_utf8(&bytes[..length])
        && let Some(line) = text.strip_prefix("PROXY TCP")
    {
        // Naive parser: the second word is the address, the fourth the port.
        let words: Vec<&str> = line.trim_end_matches("\r\n").split(' ').collect();
        assert_eq!(words.len(), 5, "{line:?}");
        assert_eq!(words[1].parse::<IpAddr>().ok(), Some(client.ip()), "{line:?}");
        assert_eq!(words[3].parse::<u16>().ok(), Some(client.port()), "{line:?}");
    }
}
