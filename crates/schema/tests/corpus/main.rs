//! The fuzzer's corpus without a fuzzer: every committed input and seeded mutations of it, through both forms of a schema.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod invariants;
#[path = "../../../http/tests/corpus/mutation.rs"]
mod mutation;

#[test]
fn schemas_and_bodies() {
    mutation::Corpus::read("body_schema").each_and_mutated(10_000, invariants::body_schema);
}
