//! JSON Web Tokens of clients, before their signatures are looked at. What must hold is written beside the tests, which run the same corpus
//! without a fuzzer.
#![no_main]

#[path = "../../crates/access/src/jwt/claims.rs"]
#[allow(dead_code)]
mod claims;
#[path = "../../crates/access/src/jwt/token.rs"]
mod token;

#[path = "../../crates/access/src/jwt/invariants.rs"]
mod invariants;

use claims::Claims;

/// The module where the gateway has it.
mod jwt {
    pub(crate) use crate::token::JwtToken;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::token(bytes));
