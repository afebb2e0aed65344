//! `tollgate-bench compare`: whether a second result is worse than a first, for people and for CI. It compares results of `load` by
//! client-side figures, and runs by CPU time.

use crate::amount;
use crate::exit::CommandError;
use crate::load::result;
use crate::report;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 if nothing is worse by more than the threshold, 1 if something is, 2 if the files cannot be compared."
)]
pub(crate) struct CompareOptions {
    /// The reference: a result of `load`, or the directory of a `run`
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The result to compare with it
    #[arg(value_name = "B")]
    after: PathBuf,
    /// How much worse a figure may be
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = amount::share)]
    threshold: f64,
}

/// Runs `compare`.
pub(crate) fn run(options: &CompareOptions) -> ExitCode {
    let CompareOptions { before, after, threshold } = options;
    let compared = match report::compare::runs(before, after, *threshold) {
        Some(compared) => compared,
        None => result::compare::files(before, after, *threshold),
    };
    compared.unwrap_or_else(|message| CommandError::Usage(message).report())
}
