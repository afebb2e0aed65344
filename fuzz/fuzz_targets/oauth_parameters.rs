//! Queries and bodies of requests to the OAuth 2.0 provider. What must hold is written beside the tests, which run the same corpus without a
//! fuzzer.
#![no_main]

#[path = "../../crates/access/src/oauth/parameters.rs"]
#[allow(dead_code)]
mod parameters;

#[path = "../../crates/access/src/oauth/parameters/invariants.rs"]
mod invariants;

/// What the parser needs of the gateway beside it, which would bring much of the gateway along.
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

/// The module where the gateway has it.
mod oauth {
    pub(crate) use crate::parameters;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::oauth_parameters(bytes));
