//! The fuzzer's corpus without a fuzzer, and random frames.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod invariants;
#[path = "../../../http/tests/corpus/mutation.rs"]
mod mutation;

use mutation::Corpus;

#[test]
fn any_bytes_are_header_blocks_or_errors() {
    Corpus::read("hpack").each_and_mutated(100_000, invariants::hpack);
}

#[test]
fn any_frames_are_events_or_errors() {
    Corpus::read("http2_frames").each_and_mutated(50_000, invariants::http2_frames);
}
