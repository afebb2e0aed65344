//! JSON Web Tokens of clients, before their signatures are looked at. What must hold is written beside the tests, which run the same corpus
//! without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/auth/jwt/claims.rs"]
#[allow(dead_code)]
mod claims;
#[path = "../../crates/gateway/src/auth/jwt/token.rs"]
mod token;

#[path = "../../crates/gateway/src/auth/jwt/invariants.rs"]
mod invariants;

use claims::Claims;

/// As much of the gateway's module as takes tokens apart.
mod auth {
    pub mod jwt {
        pub(crate) use crate::token::JwtToken;
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::token(bytes));
