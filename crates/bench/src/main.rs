//! The measuring tools of Tollgate: a load generator and what is built on it. Nothing here runs in the gateway.
#![forbid(unsafe_code)]

mod cli;
mod load;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        cli::Command::Load(options) => load::run(*options),
        cli::Command::Merge(options) => load::merge::run(&options),
        cli::Command::Compare(options) => load::compare::run(&options),
        cli::Command::Selftest(options) => load::selftest::run(&options),
    }
}
