//! Regular expressions in Go's syntax (RE2), for the `regex` crates. There `\w`, `\d`, `\s` and `\b` mean ASCII, a brace that is no repetition is
//! a text, and classes have no operators. The crates read all of that differently, which would let more through an allow list, or less be
//! refused by a block list. What Go rejects is an error.

mod translator;

use regex::{Regex, RegexBuilder, bytes};
use std::error::Error;

pub use translator::translate;

/// Most memory of a compiled expression, in bytes.
const BYTES_MAX: usize = 1 << 20;

/// Compiles an expression. `Err` says why it cannot be used.
pub fn compile(expression: &str) -> Result<Regex, String> {
    let build = |written: &str| RegexBuilder::new(written).size_limit(BYTES_MAX).build();
    build(&translate(expression)?).map_err(|error| explained(expression, &error))
}

/// Compiles an expression that matches arbitrary bytes.
pub fn compile_for_bytes(expression: &str) -> Result<bytes::Regex, String> {
    let build = |written: &str| bytes::RegexBuilder::new(written).size_limit(BYTES_MAX).build();
    build(&translate(expression)?).map_err(|error| explained(expression, &error))
}

/// Why the crates do not compile an expression. They name their limit, or show the translated expression with the fault in the last line.
pub fn explained(expression: &str, error: &dyn Error) -> String {
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let line = cause.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("the regular expression {expression:?} cannot be compiled: {}", line.trim_start_matches("error: "))
}
