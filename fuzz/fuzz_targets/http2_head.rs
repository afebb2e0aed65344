//! Heads and trailers on their way between HTTP/1.1 and HTTP/2. What must hold is written beside the tests, which run the same corpus without
//! a fuzzer.
#![no_main]

#[path = "../../crates/engine/src/http2/head.rs"]
#[allow(dead_code)]
mod head;

#[path = "../../crates/engine/src/http2/head/invariants.rs"]
mod invariants;

/// As much of the engine's module as translates heads.
mod http2 {
    pub(crate) use crate::head;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::http2_head(bytes));
