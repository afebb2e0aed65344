//! The fuzzer's corpus of documents without a fuzzer: every committed input and seeded mutations of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod invariants;
#[path = "../../../http/tests/corpus/mutation.rs"]
mod mutation;

#[test]
fn api_definitions() {
    mutation::Corpus::read("api_definition").each_and_mutated(20_000, invariants::api_definition);
}

#[test]
fn sessions() {
    mutation::Corpus::read("session").each_and_mutated(20_000, invariants::session);
}

#[test]
fn keys() {
    mutation::Corpus::read("key").each_and_mutated(20_000, invariants::key);
}
