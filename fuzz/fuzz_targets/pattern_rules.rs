//! Patterns of endpoints beside Tyk's rules for them. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/base/pattern/invariants.rs"]
mod invariants;
#[path = "../../crates/gateway/src/base/pattern.rs"]
#[allow(dead_code, unused_imports)]
mod pattern;

/// As much of the gateway's modules as compiles them.
mod base {
    pub(crate) use crate::pattern;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::rules(bytes));
