//! Keys that clients present, some of which say whose they are. What must hold is written beside the tests, which run the same corpus without
//! a fuzzer.
#![no_main]

#[path = "../../crates/model/tests/corpus/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::key(bytes));
