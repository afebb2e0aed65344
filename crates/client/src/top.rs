//! `tollgate top`: shows a running gateway from its control API, live in a terminal, or once as text or JSON.

mod client;
mod more;
mod sample;
#[cfg_attr(not(feature = "screen"), path = "top/screen_absent.rs")]
mod screen;
#[cfg(test)]
#[allow(dead_code, reason = "the test asks only for its refusal")]
mod screen_absent;
mod text;

use crate::ask::{GatewayAddress, TlsOf, print, secret_of};
use clap::{Args, ValueEnum};
use client::TopClient;
use sample::{Sample, View};
use std::error::Error;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

/// Windows that the key `w` switches between.
const WINDOWS_S: [u64; 3] = [60, 300, 600];

/// Options of `top`.
#[derive(Debug, Args)]
pub struct TopOptions {
    /// URL of the control API
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// File with the secret or a token, - for standard input [default: TOLLGATE_SECRET, TYK_GW_SECRET, your sign-in with tollgate login,
    /// secret of the configuration, else the one that the gateway generated in its data directory]
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// The secret itself, which other users of this machine can see: better use --secret-file
    #[arg(long, value_name = "SECRET", conflicts_with = "secret_file")]
    pub secret: Option<String>,
    /// The gateway's configuration file, which has its secret
    #[arg(long, short = 'c', value_name = "FILE")]
    pub conf: Option<PathBuf>,
    /// Milliseconds between two samples
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pub interval_ms: u64,
    /// Paths, refusals and the past hour of all gateways that share the Redis
    #[arg(long)]
    pub all_nodes: bool,
    /// Field of the list of the most frequent values
    #[arg(long, value_enum, value_name = "FIELD", default_value_t = TopField::Path)]
    pub by: TopField,
    /// Seconds that this list covers, up to 600
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=WINDOWS_S[2]))]
    pub window: u64,
    /// Take one sample and print it as text
    #[arg(long)]
    pub once: bool,
    /// Take one sample and print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs until the user ends it.
pub fn top(options: TopOptions, tls: TlsOf) -> Result<(), Box<dyn Error>> {
    let address = GatewayAddress::parse(&options.url).map_err(|reason| format!("{}: {reason}", options.url))?;
    let secret = match &options.secret {
        Some(secret) => secret.clone(),
        None => secret_of(&address, options.secret_file.as_deref(), options.conf.as_deref(), tls)?.unwrap_or_default(),
    };
    let client = TopClient::new(address, secret, tls)?;
    let nodes = if options.all_nodes { "&nodes=all" } else { "" };
    let asked = TopAsked { nodes, by: options.by, window_s: options.window };
    let interval = Duration::from_millis(options.interval_ms.clamp(100, 3_600_000));
    if options.once || options.json {
        let first = Sample::take(&client, asked)?;
        std::thread::sleep(interval);
        let view = View::between(&first, &Sample::take(&client, asked)?);
        if options.json {
            print(&view.to_json().to_string())
        } else {
            print(&text::table(&view))
        }
        return Ok(());
    }
    if !std::io::stdout().is_terminal() {
        return Err("standard output is no terminal; use --once or --json".into());
    }
    screen::run(&client, interval, asked)
}

/// What is asked for besides the metrics.
#[derive(Clone, Copy)]
struct TopAsked {
    /// A part of queries: empty, or for all gateways.
    nodes: &'static str,
    by: TopField,
    window_s: u64,
}

/// Fields whose most frequent values can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopField {
    /// Ids of APIs.
    Api,
    /// Hashes of keys.
    Key,
    /// Paths.
    Path,
    /// Status codes.
    Status,
    /// Addresses of clients.
    Address,
    /// The clients' `User-Agent`.
    Agent,
    /// Methods.
    Method,
}

impl TopField {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl TopAsked {
    /// The same list by the next field.
    fn next_field(self) -> Self {
        let fields = TopField::value_variants();
        let place = fields.iter().position(|field| *field == self.by).unwrap_or_default();
        let by = fields.iter().cycle().nth(place + 1).copied().unwrap_or(self.by);
        TopAsked { by, ..self }
    }

    /// The same list over the next window.
    fn next_window(self) -> Self {
        let longer = WINDOWS_S.into_iter().find(|window_s| *window_s > self.window_s);
        TopAsked { window_s: longer.unwrap_or(WINDOWS_S[0]), ..self }
    }
}
