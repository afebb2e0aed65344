//! Patterns of endpoints and paths. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/data/endpoints.rs"]
#[allow(dead_code, unused_imports)]
mod endpoints;
#[path = "../../crates/gateway/src/data/endpoints/invariants.rs"]
mod invariants;
#[path = "../../crates/gateway/src/base/pattern.rs"]
#[allow(dead_code, unused_imports)]
mod pattern;

/// As much of the gateway's modules as matches them.
mod base {
    pub(crate) use crate::pattern;
}
mod data {
    pub(crate) use crate::endpoints;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::matching(bytes));
