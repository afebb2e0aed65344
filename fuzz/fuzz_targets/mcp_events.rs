//! Event streams of MCP servers. What must hold is written beside the tests, which run the same corpus without a
//! fuzzer.
#![no_main]

#[path = "../../crates/mcp/tests/corpus/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::mcp_events(bytes));
