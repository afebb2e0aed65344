//! API definitions from files and from the control API. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/model/tests/corpus/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::api_definition(bytes));
