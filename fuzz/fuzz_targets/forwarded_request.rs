//! Requests from the network, and what is forwarded of them. What must hold is written beside the tests, which run the same corpus without a
//! fuzzer.
#![no_main]

#[path = "../../crates/http/tests/corpus/forwarded.rs"]
mod forwarded;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| forwarded::forwarded_request(bytes));
