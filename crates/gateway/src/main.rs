//! Tollgate: an API gateway in one binary. It serves Tyk's API definitions, and everything it needs is in here.
#![forbid(unsafe_code)]

mod answers;
mod breaker;
mod bus;
mod certificates;
mod check;
mod cli;
mod client;
mod client_address;
mod clock;
mod compile;
mod control;
mod credentials;
mod endpoints;
mod error_templates;
mod exchange;
mod handover;
mod header_names;
mod identity;
mod jwt;
mod keys;
mod limit;
mod logs;
mod middleware;
mod migrate;
mod mock;
#[cfg(test)]
#[path = "../../http/tests/corpus/mutation.rs"]
mod mutation;
mod notify;
mod oauth;
mod observe;
mod outside;
mod passwords;
mod pattern;
mod re2;
mod recent;
mod refusal;
mod registry;
mod reload;
mod route;
mod run;
mod secret;
mod service;
mod settings;
mod signals;
mod snapshot;
mod storage;
mod template;
mod tls;
mod top;
mod trace;
mod upstream;

use clap::Parser;
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
