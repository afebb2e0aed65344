//! The fields of signatures that clients send. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/data/src/middleware/signature_auth/fields.rs"]
#[allow(dead_code)]
mod fields;

#[path = "../../crates/data/src/middleware/signature_auth/fields/invariants.rs"]
mod invariants;

/// What the parser needs of the gateway beside it, which would bring much of the gateway along.
mod credentials {
    pub fn without_scheme<'v>(value: &'v [u8], scheme: &[u8]) -> &'v [u8] {
        match value.split_at_checked(scheme.len()) {
            Some((start, rest)) if start.eq_ignore_ascii_case(scheme) => rest.trim_ascii(),
            _ => value,
        }
    }
}

use fields::SignatureFields;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::signature_fields(bytes));
