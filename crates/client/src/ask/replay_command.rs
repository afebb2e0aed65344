//! `tollgate replay`.

use super::configuration::sides_of;
use super::replay::{ReplayInput, ReplaySides, replay};
use super::{CommandFailure, Gateway};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Time for an answer: a gateway compiles two configurations first.
const ANSWER_TIME_MIN: Duration = Duration::from_secs(300);

/// Options of `replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is sent to upstreams, and nothing counts. Limits begin full and follow the times of the records. Exit codes: 0 no request would be \
                  answered differently; 7 some would; others as for sync. Examples:\n  tollgate replay access.log --dir conf/\n  tollgate replay --live 60 \
                  --dir conf/\n  tollgate replay analytics.jsonl     which of them would be answered otherwise than recorded"
)]
pub struct ReplayCommand {
    /// Records of requests: analytics records or access log of Tollgate or Tyk, combined log of nginx or Apache, HAR, own lines of JSON; - for standard input
    #[arg(value_name = "FILE", required_unless_present = "live")]
    records: Vec<PathBuf>,
    /// Take the gateway's own requests for this many seconds
    #[arg(long, value_name = "S", conflicts_with = "records")]
    live: Option<u64>,
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
