//! Where clients of the OAuth 2.0 provider ask to be sent back to. What must hold is written beside the tests, which run the same corpus
//! without a fuzzer.
#![no_main]

#[path = "../../crates/access/src/oauth/redirect.rs"]
#[allow(dead_code)]
mod redirect;

#[path = "../../crates/access/src/oauth/redirect/invariants.rs"]
mod invariants;

/// The module where the gateway has it.
mod oauth {
    pub(crate) use crate::redirect;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::redirect_uri(bytes));
