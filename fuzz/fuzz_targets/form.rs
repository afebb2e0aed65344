//! Queries, forms and cookies. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/base/path.rs"]
#[allow(dead_code)]
mod path;

#[path = "../../crates/gateway/src/base/form.rs"]
mod form;

#[path = "../../crates/gateway/src/base/form/invariants.rs"]
mod invariants;

/// As much of the gateway's modules as reads them.
mod base {
    pub(crate) use crate::{form, path};
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::form(bytes));
