//! The commands that start no gateway: those that talk to a running one, and `tollgate top`.
#![forbid(unsafe_code)]
// Without the live view, some code that only it uses remains.
#![cfg_attr(not(feature = "screen"), allow(dead_code))]

mod ask;
mod top;
mod visible;

pub use ask::{CliRequest, Proof, ProofPlan, ProofRequest, TlsOf, ask, prove};
pub use top::{TopOptions, top};
