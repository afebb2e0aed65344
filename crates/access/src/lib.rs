//! Who may call, and how often: keys and their limits, tokens and those who issue them, passwords, certificates. It is used by both planes
//! and knows no request.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "used by the crates of one program only: a name that says all needs no sentence")]

pub mod certificates;
pub mod digest;
pub mod identity;
pub mod jwt;
pub mod keys;
#[cfg(test)]
#[path = "../../http/tests/corpus/mutation.rs"]
mod mutation;
pub mod oauth;
pub mod passwords;
pub mod secret;
