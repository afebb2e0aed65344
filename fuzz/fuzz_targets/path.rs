//! Paths of requests: decoded, cleaned, and where both forms of them correspond. What must hold is written beside the tests, which run the
//! same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/http/src/path/invariants.rs"]
mod invariants;

use tollgate_http::path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::path(bytes));
