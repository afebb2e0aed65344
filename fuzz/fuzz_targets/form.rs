//! Queries, forms and cookies. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/route/path.rs"]
#[allow(dead_code)]
mod path;

#[path = "../../crates/gateway/src/template/form.rs"]
mod form;

#[path = "../../crates/gateway/src/template/invariants.rs"]
mod invariants;

/// As much of the gateway's modules as reads them.
mod route {
    pub use crate::path::Path;
}
mod template {
    pub use crate::form::*;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::form(bytes));
