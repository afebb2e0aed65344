//! The measuring tools of Tollgate: a load generator and what is built on it. Nothing here runs in the gateway.
#![forbid(unsafe_code)]

mod cli;
mod date;
mod listeners;
mod load;
mod peers;
mod probe;
mod relay;
mod report;
mod run;
mod scenario;
mod stats;
mod upstream;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        cli::Command::Run(options) => run::run(&options),
        cli::Command::Report(options) => report::run(&options),
        cli::Command::List(options) => run::list(&options),
        cli::Command::Load(options) => load::run(*options),
        cli::Command::Merge(options) => load::merge::run(&options),
        cli::Command::Compare(options) => load::compare::run(&options),
        cli::Command::Selftest(options) => load::selftest::run(&options),
        cli::Command::Relay(options) => relay::run(&options),
        cli::Command::Upstream(options) => upstream::run(&options),
    }
}
