//! Patterns of endpoints and paths. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/data/src/endpoints.rs"]
#[allow(dead_code, unused_imports)]
mod endpoints;

#[path = "../../crates/data/src/endpoints/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::matching(bytes));
