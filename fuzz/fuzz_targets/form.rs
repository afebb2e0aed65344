//! Queries, forms and cookies. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/http/src/form/invariants.rs"]
mod invariants;

use tollgate_http::form;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::form(bytes));
