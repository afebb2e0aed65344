//! The command line as it was typed.

use crate::servers::{relay, upstream};
use crate::{load, report, run};
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

/// Measures HTTP servers: gateways beside each other in scenarios, and a load generator that takes hey's flags.
#[derive(Debug, Parser)]
#[command(name = "tollgate-bench", version, propagate_version = true)]
struct BenchCli {
    #[command(subcommand)]
    command: BenchCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure gateways beside each other in scenarios.
    Run(run::SuiteOptions),
    /// Make the reports of a run again.
    Report(report::ReportOptions),
    /// Show the scenarios, and which gateways are installed.
    List(run::ListOptions),
    /// Send load to a server and report latency, throughput, statuses and errors.
    Load(Box<load::LoadOptions>),
    /// Merge results of `load`, of several machines or processes, without loss.
    Merge(load::result::merge::MergeOptions),
    /// Compare two results of `load`, or two runs; exit code 1 if the second is worse.
    Compare(crate::compare::CompareOptions),
    /// Check that the load generator sees what it must: a known delay, a stall, every answer and status.
    Selftest(load::selftest::SelftestOptions),
    /// Run the server that scenarios are measured with: go-bench-suite's and dummy-api's answers, WebSocket echo, events.
    Upstream(upstream::UpstreamOptions),
    /// Copy bytes to an upstream and back, or answer with a file, without looking at them: what no proxy can be cheaper than.
    Relay(relay::RelayOptions),
}

/// The command that `args` ask for; ends the process with help or a usage error otherwise.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> BenchCommand {
    let args = load::single_dash::normalise(&BenchCli::command(), args);
    BenchCli::parse_from(args).command
}
