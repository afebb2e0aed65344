//! `tollgate top`: shows a running gateway from its control API, live in a terminal, or once as text or JSON.

mod client;
mod sample;
mod screen;
mod text;

use crate::process::cli::TopOptions;
use client::Client;
use sample::{Sample, View};
use std::error::Error;
use std::io::IsTerminal;
use std::time::Duration;

/// Runs until the user ends it.
pub fn top(options: TopOptions) -> Result<(), Box<dyn Error>> {
    let secret = options.secret.clone().unwrap_or_default();
    let client = Client::new(&options.url, secret)?;
    let interval = Duration::from_millis(options.interval_ms.clamp(100, 3_600_000));
    if options.once || options.json {
        let first = Sample::take(&client)?;
        std::thread::sleep(interval);
        let view = View::between(&first, &Sample::take(&client)?);
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
    screen::run(&client, interval)
}
