//! The headers that name a request's trace. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/observe/src/trace.rs"]
#[allow(dead_code)]
mod trace;

#[path = "../../crates/observe/src/trace_state.rs"]
mod trace_state;

#[path = "../../crates/observe/src/trace/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::trace(bytes));
