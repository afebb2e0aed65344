//! `tollgate top`: shows a running gateway from its control API, live in a terminal, or once as text or JSON.

mod client;
mod more;
mod sample;
mod screen;
mod text;

use crate::ask::TlsOf;
use clap::Args;
use client::TopClient;
use sample::{Sample, View};
use std::error::Error;
use std::io::IsTerminal;
use std::time::Duration;

/// Options of `top`.
#[derive(Debug, Args)]
pub struct TopOptions {
    /// URL of the control API
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// Secret of the control API
    #[arg(long, value_name = "SECRET", env = "TYK_GW_SECRET", hide_env_values = true)]
    pub secret: Option<String>,
    /// Milliseconds between two samples
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pub interval_ms: u64,
    /// Paths, refusals and the past hour of all gateways that share the Redis
    #[arg(long)]
    pub all_nodes: bool,
    /// Take one sample and print it as text
    #[arg(long)]
    pub once: bool,
    /// Take one sample and print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs until the user ends it.
pub fn top(options: TopOptions, tls: TlsOf) -> Result<(), Box<dyn Error>> {
    let secret = options.secret.clone().unwrap_or_default();
    let client = TopClient::new(&options.url, secret, tls)?;
    let nodes = if options.all_nodes { "&nodes=all" } else { "" };
    let interval = Duration::from_millis(options.interval_ms.clamp(100, 3_600_000));
    if options.once || options.json {
        let first = Sample::take(&client, nodes)?;
        std::thread::sleep(interval);
        let view = View::between(&first, &Sample::take(&client, nodes)?);
        if options.json {
            println!("{}", view.to_json())
        } else {
            print!("{}", text::table(&view))
        }
        return Ok(());
    }
    if !std::io::stdout().is_terminal() {
        return Err("standard output is no terminal; use --once or --json".into());
    }
    screen::run(&client, interval, nodes)
}
