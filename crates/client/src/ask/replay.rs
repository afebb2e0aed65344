//! Replays: which recorded or live requests would another configuration answer differently? The gateway decides, without sending anything; the
//! records are read here.

mod combined_log;
mod records;
mod redis_records;
mod report;

use super::change_answer::made;
use super::{CommandFailure, Gateway, accepted};
use clap::Args;
pub(super) use records::RecordReader;
pub(super) use report::replay_text;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes of requests that are sent at once: some ten thousand, a second's work.
const PIECE_BYTES: usize = 8 << 20;
/// Time between two looks at the progress of live requests.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is run through both configurations.
#[derive(Debug, Args)]
pub(super) struct ReplaySource {
    /// Records of requests: analytics records or access log of Tollgate or Tyk, combined log of nginx or Apache, HAR, own lines of JSON; - for standard
    /// input; redis://HOST:PORT/DB for the records that wait for tyk-pump. May be given several times
    #[arg(long = "replay", value_name = "FILE")]
    records: Vec<PathBuf>,
}

/// What a replay has found.
pub(super) struct Replayed {
    pub answer: Value,
    has_other: bool,
}

/// The configuration in service, and the changes that make another of it.
pub(super) struct ReplaySides {
    pub digest: String,
    pub changes: Vec<Value>,
}

/// Where requests come from.
pub(super) enum ReplayInput<'i> {
    Records(&'i [PathBuf]),
    /// The gateway's own for some seconds.
    Live(u64),
}

impl ReplaySource {
    pub(super) fn files(&self) -> Option<&[PathBuf]> {
        Some(self.records.as_slice()).filter(|files| !files.is_empty())
    }
}

/// Runs requests through the configuration in service and the changed one.
pub(super) fn replay(
    gateway: &Gateway,
    sides: &ReplaySides,
    input: &ReplayInput<'_>,
    has_other: bool,
) -> Result<Replayed, CommandFailure> {
    let body = json!({"digest": sides.digest, "changes": sides.changes}).to_string().into_bytes();
    let begun = made(gateway.ask("POST", "/tyk/configuration/replays", Some(body))?)?;
    let id = begun.get("id").and_then(Value::as_u64).unwrap_or_default();
    let place = format!("/tyk/configuration/replays/{id}");
    let outcome = match input {
        ReplayInput::Records(files) => send_records(gateway, &place, files),
        ReplayInput::Live(seconds) => watch(gateway, &place, *seconds),
    };
    let ended = gateway.call("DELETE", &place, None);
    outcome?;
    Ok(Replayed { answer: ended?, has_other })
}

fn send_records(gateway: &Gateway, place: &str, files: &[PathBuf]) -> Result<(), CommandFailure> {
    for file in files {
        let mut reader = RecordReader::open(file)?;
        let mut piece = Vec::new();
        loop {
            let is_end = !reader.read_into(&mut piece, PIECE_BYTES)?;
            if !piece.is_empty() {
                accepted(gateway.ask("POST", &format!("{place}/requests"), Some(std::mem::take(&mut piece)))?)?;
            }
            if is_end {
                break;
            }
        }
        reader.check(&shown_name(file))?;
    }
    Ok(())
}

fn shown_name(file: &Path) -> String {
    if let Some(address) = file.to_str().filter(|_| redis_records::is_redis(file)) {
        return redis_records::shown_address(address);
    }
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

fn watch(gateway: &Gateway, place: &str, seconds: u64) -> Result<(), CommandFailure> {
    let began = Instant::now();
    accepted(gateway.ask("POST", &format!("{place}/requests?live={seconds}"), Some(Vec::new()))?)?;
    while began.elapsed() < Duration::from_secs(seconds) + LOOK_EVERY {
        std::thread::sleep(LOOK_EVERY.min(Duration::from_secs(seconds.max(1))));
        // A gateway that restarts meanwhile has lost the replay.
        gateway.get(place)?;
    }
    Ok(())
}

impl Replayed {
    /// Whether a request would be answered differently.
    pub(super) fn differs(&self) -> bool {
        let count = if self.has_other { "different" } else { "unlike_recorded" };
        self.answer.get(count).and_then(Value::as_u64).unwrap_or_default() > 0
    }

    pub(super) fn to_text(&self) -> String {
        replay_text(&self.answer, self.has_other)
    }
}
