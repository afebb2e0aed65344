//! `tollgate replay`.

use super::configuration::sides_of;
use super::replay::{ReplayInput, ReplaySides, replay};
use super::{CommandFailure, Gateway};
use clap::Args;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for an answer: a gateway compiles two configurations first.
const ANSWER_TIME_MIN: Duration = Duration::from_secs(300);

/// Seconds of one question for live requests: what they are is written before the next one.
const SAMPLE_S: u64 = 5;

/// Options of `replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is sent to upstreams, and nothing counts. Limits begin full and follow the times of the records. Exit codes: 0 no request would be \
                  answered differently; 7 some would; others as for sync. Examples:\n  tollgate replay access.log --dir conf/\n  tollgate replay --live 60 \
                  --dir conf/\n  tollgate replay analytics.jsonl     which of them would be answered otherwise than recorded\n  tollgate replay --live 600 --save \
                  sample.jsonl --header Accept     keep live requests for later"
)]
pub struct ReplayCommand {
    /// Records of requests: analytics records or access log of Tollgate or Tyk, combined log of nginx or Apache, HAR, own lines of JSON; - for standard input;
    /// redis://HOST:PORT/DB for the records that wait for tyk-pump
    #[arg(value_name = "FILE", required_unless_present = "live")]
    records: Vec<PathBuf>,
    /// Take the gateway's own requests for this many seconds
    #[arg(long, value_name = "S", conflicts_with = "records")]
    live: Option<u64>,
    /// Keep the live requests in FILE instead of replaying them: without bodies, credentials and keys
    #[arg(long, value_name = "FILE", requires = "live", conflicts_with = "directory")]
    save: Option<PathBuf>,
    /// A header that the kept requests have; may be given several times
    #[arg(long = "header", value_name = "NAME", requires = "save")]
    headers: Vec<String>,
    /// Keep one of this many requests
    #[arg(long, value_name = "N", requires = "save", default_value_t = 1)]
    every: u32,
    /// Directory of the other configuration [default: compare with what was recorded]
    #[arg(long = "dir", value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Objects that are not in the directory are gone, as after sync --prune
    #[arg(long, requires = "directory")]
    prune: bool,
    /// Only objects with this tag
    #[arg(long, value_name = "TAG", requires = "directory")]
    tag: Option<String>,
    #[command(flatten)]
    gateway: super::GatewayOptions,
}

pub(super) fn run(command: &ReplayCommand, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let gateway = Gateway::new(&command.gateway, tls)?.waiting_for(ANSWER_TIME_MIN);
    if let (Some(file), Some(seconds)) = (&command.save, command.live) {
        return save(&gateway, command, file, seconds);
    }
    let sides = match &command.directory {
        None => ReplaySides { digest: "*".to_owned(), changes: Vec::new() },
        Some(directory) => sides_of(directory, command.tag.as_deref(), command.prune, &gateway)?,
    };
    let input = match command.live {
        Some(seconds) => ReplayInput::Live(seconds),
        None => ReplayInput::Records(&command.records),
    };
    let replayed = replay(&gateway, &sides, &input, command.directory.is_some())?;
    gateway.print(&replayed.answer, || replayed.to_text());
    if replayed.differs() { Err(CommandFailure::AnsweredDifferently) } else { Ok(()) }
}

/// Writes live requests as records that a replay takes.
fn save(gateway: &Gateway, command: &ReplayCommand, file: &Path, seconds: u64) -> Result<(), CommandFailure> {
    let failed = |error: std::io::Error| CommandFailure::Refused(format!("{} can't be written: {error}", file.display()));
    // A sample is never written over another one.
    let opened = OpenOptions::new().write(true).create_new(true).open(file).map_err(failed)?;
    let mut out = BufWriter::new(opened);
    let headers = super::segment(&command.headers.join(","));
    let (mut saved, mut missed, mut left) = (0_u64, 0_u64, seconds);
    while left > 0 {
        let time = left.min(SAMPLE_S);
        left -= time;
        let path = format!("/tyk/configuration/sample?seconds={time}&every={}&headers={headers}", command.every);
        let answer = gateway.get(&path)?;
        for request in answer.get("requests").and_then(Value::as_array).into_iter().flatten() {
            writeln!(out, "{request}").map_err(failed)?;
            saved += 1;
        }
        missed += answer.get("missed").and_then(Value::as_u64).unwrap_or_default();
        out.flush().map_err(failed)?;
    }
    let answer = serde_json::json!({"saved": saved, "missed": missed});
    gateway.print(&answer, || format!("{}: {saved} requests, {missed} missed", file.display()));
    Ok(())
}
