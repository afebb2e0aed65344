//! Paths of requests: decoded, cleaned, and where both forms of them correspond. What must hold is written beside the tests, which run the
//! same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/base/path.rs"]
#[allow(dead_code)]
mod path;

#[path = "../../crates/gateway/src/base/path/invariants.rs"]
mod invariants;

/// As much of the gateway's modules as reads paths.
mod base {
    pub(crate) use crate::path;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::path(bytes));
