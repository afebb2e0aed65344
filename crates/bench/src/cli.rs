//! The command line as typed.

use crate::servers::{relay, upstream};
use crate::{load, report, run};
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

/// Measures HTTP servers: compares gateways in scenarios, and generates load with hey's flags.
#[derive(Debug, Parser)]
#[command(name = "tollgate-bench", version, propagate_version = true)]
struct BenchCli {
    #[command(subcommand)]
    command: BenchCommand,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Compare gateways in scenarios.
    Run(run::SuiteOptions),
    /// Regenerate the reports of a run.
    Report(report::ReportOptions),
    /// List the scenarios and the installed gateways.
    List(run::ListOptions),
    /// Send load to a server and report latency, throughput, statuses and errors.
    Load(Box<load::LoadOptions>),
    /// Merge `load` results of several machines or processes without loss.
    Merge(load::result::merge::MergeOptions),
    /// Compare two results of `load`, or two runs; exit code 1 if the second is worse.
    Compare(crate::compare::CompareOptions),
    /// Check that the load generator detects a known delay and a stall, and counts every response and status.
    Selftest(load::selftest::SelftestOptions),
    /// Run the upstream server of scenarios: the responses of go-bench-suite and dummy-api, WebSocket echo, events.
    Upstream(upstream::UpstreamOptions),
    /// Copy bytes to an upstream and back without parsing them, or answer with a file: the lower bound for the cost of a proxy.
    Relay(relay::RelayOptions),
    /// Take orders from `run --hosts` on standard input, for a machine of a run. It is started over SSH.
    #[command(hide = true)]
    Agent,
}

/// Parses the command line; prints help or a usage error and exits if there is no command to run.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> BenchCommand {
    let args = load::single_dash::normalise(&BenchCli::command(), args);
    BenchCli::parse_from(args).command
}
