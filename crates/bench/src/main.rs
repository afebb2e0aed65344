//! The measuring tools of Tollgate: a load generator and what is built on it. Nothing here runs in the gateway.
#![forbid(unsafe_code)]

mod amount;
mod cli;
mod compare;
mod exit;
mod interrupt;
mod load;
mod machine;
mod peers;
mod probe;
mod record;
mod report;
mod run;
mod scenario;
mod servers;
mod stats;
mod usage;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        cli::BenchCommand::Run(options) => run::run(&options),
        cli::BenchCommand::Report(options) => report::run(&options),
        cli::BenchCommand::List(options) => run::list(&options),
        cli::BenchCommand::Load(options) => load::run(*options),
        cli::BenchCommand::Merge(options) => load::result::merge::run(&options),
        cli::BenchCommand::Compare(options) => compare::run(&options),
        cli::BenchCommand::Selftest(options) => load::selftest::run(&options),
        cli::BenchCommand::Agent => machine::serve(),
        cli::BenchCommand::Relay(options) => servers::relay::run(&options),
        cli::BenchCommand::Upstream(options) => servers::upstream::run(&options),
    }
}
