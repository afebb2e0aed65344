//! PROXY headers of load balancers. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/engine/src/proxy_header.rs"]
#[allow(dead_code)]
mod proxy_header;

#[path = "../../crates/engine/src/proxy_header/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::proxy_header(bytes));
