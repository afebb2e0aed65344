//! The fuzzer's corpus without a fuzzer: every committed input and seeded mutations of it, through everything that a client or an upstream can make
//! the cache read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod cache_key;
mod invariants;
#[path = "../../../http/tests/corpus/mutation.rs"]
mod mutation;

#[test]
fn fields_of_clients_and_upstreams() {
    mutation::Corpus::read("cache_fields").each_and_mutated(20_000, invariants::cache_fields);
}

#[test]
fn keys_beside_what_is_forwarded() {
    mutation::Corpus::read("cache_key").each_and_mutated(20_000, cache_key::cache_key);
}

/// A quadratic reader would take an hour for these.
#[test]
fn long_fields_are_read_once() {
    for piece in [
        ",", "\"", "\\", "a,", "a=1,", "a=\"", "\"a\",", "W/\"a\",", "0-0,", "bytes=", "-1,", "(", "a;b", "*,", " ", ":aa:", "%\"",
        "|",
    ] {
        let long = piece.repeat(300_000 / piece.len());
        invariants::values(long.as_bytes());
        invariants::values(format!("bytes={long}").as_bytes());
        invariants::values(format!("max-age=\"{long}").as_bytes());
    }
}
