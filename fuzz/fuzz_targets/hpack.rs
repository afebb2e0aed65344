//! Header blocks of HTTP/2 (RFC 7541). What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/http2/tests/corpus/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::hpack(bytes));
