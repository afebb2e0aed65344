//! Tollgate: an API gateway in one binary. It serves Tyk's API definitions, and everything it needs is in here.
#![cfg_attr(not(test), deny(clippy::print_stdout, reason = "say! outlasts a reader that has gone"))]
// Without a part, some code that only this part uses remains.
#![cfg_attr(not(feature = "wasm"), allow(dead_code))]

/// Writes a line to standard output. It is not an error if the reader has gone.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{}\n", format_args!($($text)*)));
    }};
}

mod acme;
mod allocator;
mod announcement;
mod bundle_build;
mod check;
mod cli;
mod control_plane;
mod engine_settings;
mod handover;
mod import;
#[cfg_attr(not(feature = "kubernetes"), path = "kubernetes_absent.rs")]
mod kubernetes;
#[cfg(all(test, feature = "kubernetes"))]
#[allow(dead_code, reason = "only what it refuses is tested")]
mod kubernetes_absent;
mod manifest_findings;
mod manifests;
mod manual;
mod migrate;
mod notify;
mod parts;
mod pid_file;
mod plugin_drivers;
mod run;
mod schema;
mod secret_stores;
mod signals;
mod storage;
mod verify;

#[cfg(test)]
mod tests;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    if tollgate_javascript::serve_scripts_if_asked() {
        return ExitCode::SUCCESS;
    }
    let cli = cli::Cli::parse();
    let result = match cli.command() {
        cli::CliCommand::Run(options) => run::run(options, None),
        cli::CliCommand::Kubernetes(options) => {
            kubernetes::Controller::of(&options).and_then(|controller| run::run(options.run, Some(controller)))
        }
        cli::CliCommand::Version(options) => verify::version(&options),
        cli::CliCommand::Check(options) => return check::check(&options),
        cli::CliCommand::Schema(options) => {
            say!("{:#}", schema::schema(options.document));
            Ok(())
        }
        cli::CliCommand::Completions(options) => manual::print_completions(options.shell),
        cli::CliCommand::Man(options) => manual::manual(options.directory.as_deref()),
        cli::CliCommand::Bundle(command) => return bundle_build::bundle(&command),
        cli::CliCommand::Import(options) => return import::run(&options),
        cli::CliCommand::Migrate(options) => migrate::migrate(&options),
        cli::CliCommand::Mock(options) => run::mock(options),
        cli::CliCommand::Ask(request) => return tollgate_client::ask(*request, tollgate_tls::for_commands),
        cli::CliCommand::Top(options) => tollgate_client::top(options, tollgate_tls::for_commands),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tollgate: {error}");
            ExitCode::FAILURE
        }
    }
}
