//! The fuzzer's corpus without a fuzzer: every committed input and seeded mutations of it, through compiling, running and writing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod invariants;
#[path = "../../../http/tests/corpus/mutation.rs"]
mod mutation;

#[test]
fn filters_and_documents() {
    mutation::Corpus::read("jq_filter").each_and_mutated(3_000, invariants::jq_filter);
}
