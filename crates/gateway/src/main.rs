//! Tollgate: an API gateway in one binary. It serves Tyk's API definitions, and everything it needs is in here.
#![forbid(unsafe_code)]

mod auth;
mod base;
mod client;
mod control;
mod data;
mod limit;
#[cfg(test)]
#[path = "../../http/tests/corpus/mutation.rs"]
mod mutation;
mod observe;
mod process;

use clap::Parser;
use client::top;
use process::{check, cli, migrate, run, schema};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let result = match cli.command() {
        cli::Command::Run(options) => run::run(options),
        cli::Command::Version => {
            println!("tollgate {}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        cli::Command::Check(options) => return check::check(&options),
        cli::Command::Schema(options) => {
            println!("{:#}", schema::schema(options.document));
            Ok(())
        }
        cli::Command::Migrate(options) => migrate::migrate(&options),
        cli::Command::Mock(options) => run::mock(options),
        cli::Command::Ask(request) => return client::run(*request),
        cli::Command::Top(options) => top::top(options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tollgate: {error}");
            ExitCode::FAILURE
        }
    }
}
