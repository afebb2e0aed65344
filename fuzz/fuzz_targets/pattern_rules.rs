//! Patterns of endpoints beside Tyk's rules for them. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/pattern/src/invariants.rs"]
mod invariants;

use tollgate_pattern::{Pattern, PatternRules};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::rules(bytes));
