//! Messages of MCP: what they call, and lists that are filtered. What must hold is written beside the tests, which run the same corpus without a
//! fuzzer.
#![no_main]

#[path = "../../crates/mcp/tests/corpus/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::mcp_message(bytes));
