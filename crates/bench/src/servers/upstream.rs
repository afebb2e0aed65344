//! `tollgate-bench upstream`: the server behind the measured gateways. It gives the responses of go-bench-suite and dummy-api, so
//! that commands written for them work unchanged. `tollgate mock` is the same server, with other paths described.

mod tls;

use super::listeners;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use tollgate_mock_upstream::OtherPaths;

/// Options of `upstream`.
#[derive(Debug, Args)]
pub(crate) struct UpstreamOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, visible_alias = "addr", value_name = "IP:PORT", default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,
    /// Threads, each with its own listener and connections [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Use TLS, with a self-signed certificate for localhost unless --cert and --key name another
    #[arg(long)]
    pub tls: bool,
    /// Certificate chain in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Private key in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
}

/// Serves until the process ends.
pub(crate) fn run(options: &UpstreamOptions) -> ExitCode {
    match serve_all(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("tollgate-bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Returns only the error that prevented the start.
fn serve_all(options: &UpstreamOptions) -> Result<(), String> {
    let acceptor = tls::acceptor(options)?;
    let listeners = listeners::open(options.listen, options.threads)?;
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    let what = |address| format!("upstream on {scheme}://{address}");
    listeners::serve(listeners, what, move |listener| {
        tollgate_mock_upstream::serve(listener, acceptor.clone(), OtherPaths::DummyApi)
    })
}

#[cfg(test)]
mod tests;
