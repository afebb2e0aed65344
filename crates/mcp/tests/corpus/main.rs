//! The fuzzer's corpus without a fuzzer: every committed input and seeded mutations of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod invariants;
#[path = "../../../http/tests/corpus/mutation.rs"]
mod mutation;

#[test]
fn messages() {
    mutation::Corpus::read("mcp_message").each_and_mutated(50_000, invariants::mcp_message);
}

#[test]
fn events() {
    mutation::Corpus::read("mcp_events").each_and_mutated(50_000, invariants::mcp_events);
}
