//! Queries and bodies of requests to the OAuth 2.0 provider. What must hold is written beside the tests, which run the same corpus without a
//! fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/base/path.rs"]
#[allow(dead_code)]
mod path;

#[path = "../../crates/gateway/src/base/form.rs"]
#[allow(dead_code)]
mod form;

#[path = "../../crates/gateway/src/auth/oauth/parameters.rs"]
mod parameters;

#[path = "../../crates/gateway/src/auth/oauth/parameters/invariants.rs"]
mod invariants;

/// What the parser needs of the gateway beside it, which would bring the whole gateway along.
mod refused {
    pub enum ErrorCode {
        InvalidRequest,
    }

    pub struct OauthRefusal;

    impl OauthRefusal {
        pub fn because(_: ErrorCode, _: &'static str) -> Self {
            OauthRefusal
        }
    }
}

mod base {
    pub(crate) use crate::{form, path};
}

mod auth {
    pub mod oauth {
        pub(crate) use crate::parameters;
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::oauth_parameters(bytes));
