//! The log: text or JSON on standard error.

use crate::cli::LogFormat;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging. `RUST_LOG`-style directives in `level` are understood; an unknown level means `info`.
pub fn start(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_new(if level.is_empty() { "info" } else { level }).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let started = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            builder.with_ansi(colours).try_init()
        }
    };
    if let Err(error) = started {
        eprintln!("tollgate: cannot start the log: {error}");
    }
}
