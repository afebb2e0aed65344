//! The jq language for transforms of bodies, on jaq's parser and interpreter. A filter is compiled once; a function that this crate does not have
//! is a compile error with its line. A run has maximum work, stack and depth of values ([`JqLimit`]): no filter runs for ever, overflows its
//! thread's stack or takes all memory. The crate has no I/O and no clock, and depends on nothing of the gateway.
//!
//! Values and functions are ours, because they must count what they use. Their semantics are those of jq 1.6.

mod arithmetic;
mod ast;
mod budget;
mod filter;
mod functions;
mod json;
mod members;
mod paths;
mod quick;
mod run;
mod value;

pub use budget::JqLimit;
pub use filter::{CompileError, FilterFailure, JqFilter};
pub use value::JqValue;

#[cfg(test)]
mod tests;
