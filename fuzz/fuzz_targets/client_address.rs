//! What proxies, and those who pretend to be one, say of the client's address. What must hold is written beside the tests, which run the same
//! corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/data/client_address.rs"]
#[allow(dead_code)]
mod client_address;

#[path = "../../crates/gateway/src/data/client_address/invariants.rs"]
mod invariants;

/// As much of the gateway's modules as reads it.
mod data {
    pub(crate) use crate::client_address;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::client_address(bytes));
