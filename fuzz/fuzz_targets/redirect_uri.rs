//! Where clients of the OAuth 2.0 provider ask to be sent back to. What must hold is written beside the tests, which run the same corpus
//! without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/base/path.rs"]
#[allow(dead_code)]
mod path;

#[path = "../../crates/gateway/src/base/form.rs"]
#[allow(dead_code)]
mod form;

#[path = "../../crates/gateway/src/auth/oauth/redirect.rs"]
mod redirect;

#[path = "../../crates/gateway/src/auth/oauth/redirect/invariants.rs"]
mod invariants;

/// As much of the gateway's modules as reads them.
mod base {
    pub(crate) use crate::{form, path};
}

mod auth {
    pub mod oauth {
        pub(crate) use crate::redirect;
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::redirect_uri(bytes));
