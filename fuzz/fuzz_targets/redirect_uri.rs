//! Where clients of the OAuth 2.0 provider ask to be sent back to. What must hold is written beside the tests, which run the same corpus
//! without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/route/path.rs"]
#[allow(dead_code)]
mod path;

#[path = "../../crates/gateway/src/template/form.rs"]
#[allow(dead_code)]
mod form;

#[path = "../../crates/gateway/src/oauth/redirect.rs"]
mod redirect;

#[path = "../../crates/gateway/src/oauth/redirect/invariants.rs"]
mod invariants;

/// As much of the gateway's modules as reads them.
mod route {
    pub use crate::path::Path;
}

mod template {
    pub use crate::form::{decode_form, encode_form, parameter};
}

mod oauth {
    pub(crate) use crate::redirect;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::redirect_uri(bytes));
