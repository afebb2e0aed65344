//! Patterns of endpoints and paths. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/endpoints.rs"]
#[allow(dead_code, unused_imports)]
mod endpoints;
#[path = "../../crates/gateway/src/endpoints/invariants.rs"]
mod invariants;
#[path = "../../crates/gateway/src/pattern.rs"]
#[allow(dead_code, unused_imports)]
mod pattern;
#[path = "../../crates/gateway/src/re2.rs"]
#[allow(dead_code)]
mod re2;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::matching(bytes));
