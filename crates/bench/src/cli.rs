//! The command line as it was typed.

use crate::{load, relay, report, run, upstream};
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// Measures HTTP servers: gateways beside each other in scenarios, and a load generator that takes hey's flags.
#[derive(Debug, Parser)]
#[command(name = "tollgate-bench", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure gateways beside each other in scenarios.
    Run(run::RunOptions),
    /// Make the reports of a run again.
    Report(report::ReportOptions),
    /// Show the scenarios, and which gateways are installed.
    List(run::ListOptions),
    /// Send load to a server and report latency, throughput, statuses and errors.
    Load(Box<load::Options>),
    /// Merge results of `load`, of several machines or processes, without loss.
    Merge(load::merge::Options),
    /// Compare two results of `load`, or two runs; exit code 1 if the second is worse.
    Compare(load::compare::Options),
    /// Check that the load generator sees what it must: a known delay, a stall, every answer and status.
    Selftest(load::selftest::Options),
    /// Run the server that scenarios are measured with: go-bench-suite's and dummy-api's answers, WebSocket echo, events.
    Upstream(upstream::UpstreamOptions),
    /// Copy bytes to an upstream and back, or answer with a file, without looking at them: what no proxy can be cheaper than.
    Relay(relay::RelayOptions),
}

/// Prints what a command found out, or why it could not.
pub fn say(outcome: Result<String, String>) -> ExitCode {
    match outcome {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("tollgate-bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// The command that `args` ask for; ends the process with help or a usage error otherwise.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Command {
    let args = load::single_dash::normalise(&Cli::command(), args);
    Cli::parse_from(args).command
}
