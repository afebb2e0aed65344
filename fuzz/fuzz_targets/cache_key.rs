//! What a cache knows a request by, beside what is forwarded of it. What must hold is written beside the tests, which run the same corpus without a
//! fuzzer.
#![no_main]

#[path = "../../crates/cache/tests/corpus/cache_key.rs"]
mod cache_key;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cache_key::cache_key(bytes));
