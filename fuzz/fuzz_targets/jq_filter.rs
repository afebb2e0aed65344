//! Filters and documents: compiling, running with and without the interpreter, writing. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/jq/tests/corpus/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::jq_filter(bytes));
