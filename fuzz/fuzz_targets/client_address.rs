//! What proxies, and those who pretend to be one, say of the client's address. What must hold is written beside the tests, which run the same
//! corpus without a fuzzer.
#![no_main]

#[path = "../../crates/data/src/client_address.rs"]
#[allow(dead_code)]
mod client_address;

#[path = "../../crates/data/src/client_address/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::client_address(bytes));
