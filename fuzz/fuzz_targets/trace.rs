//! The headers that name a request's trace. What must hold is written beside the tests, which run the same corpus without a fuzzer.
#![no_main]

#[path = "../../crates/gateway/src/observe/trace.rs"]
#[allow(dead_code)]
mod trace;

#[path = "../../crates/gateway/src/observe/trace_state.rs"]
mod trace_state;

#[path = "../../crates/gateway/src/observe/trace/invariants.rs"]
mod invariants;

/// As much of the gateway's modules as reads them.
mod observe {
    pub(crate) use crate::trace;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::trace(bytes));
