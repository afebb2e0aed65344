//! The fuzzer's corpus without a fuzzer: every committed input, and seeded mutations of it, through the functions that the network reaches.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod differential;
mod forwarded;
mod invariants;
mod mutation;

use mutation::Corpus;

/// Mutations of the whole corpus in one run. A fuzzer does millions; this many find what a careless change breaks.
const MUTATIONS: usize = 20_000;

#[test]
fn request_heads() {
    Corpus::read("request_head").each_and_mutated(MUTATIONS, |bytes| {
        invariants::request_head(bytes);
        differential::request_head(bytes);
    });
}

#[test]
fn response_heads() {
    Corpus::read("response_head").each_and_mutated(MUTATIONS, |bytes| {
        invariants::response_head(bytes);
        differential::response_head(bytes);
    });
}

#[test]
fn chunked_bodies() {
    Corpus::read("chunked_body").each_and_mutated(MUTATIONS, invariants::chunked_body);
}

#[test]
fn forwarded_requests() {
    Corpus::read("forwarded_request").each_and_mutated(MUTATIONS, forwarded::forwarded_request);
}
