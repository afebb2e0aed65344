//! `tollgate audit`: whether the lines of audit files are those that a gateway wrote.

use super::{CommandFailure, print};
use clap::{Args, Subcommand};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tollgate_admin::{AuditChain, AuditCheck, AuditKey};
use tollgate_model::config::audit_end;

/// Faults that are told; a file that is no audit file has one in each line.
const TOLD_MAX: usize = 100;

/// Options of `audit`.
#[derive(Debug, Args)]
pub struct AuditOptions {
    #[command(subcommand)]
    command: AuditCommand,
}

/// Commands about audit files.
#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Check the chain of hashes: exit code 1, and where, if a line was changed, removed, moved or put in.
    #[command(
        after_help = "Files of a rotation are checked as one chain, the oldest first:\n  tollgate audit verify audit.jsonl.2 \
                            audit.jsonl.1 audit.jsonl"
    )]
    Verify {
        /// File with the gateway's audit_key, if it has one
        #[arg(long, value_name = "FILE")]
        key_file: Option<PathBuf>,
        /// The files, the oldest first
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

pub(super) fn run(AuditOptions { command: AuditCommand::Verify { key_file, files } }: AuditOptions) -> Result<(), CommandFailure> {
    let key = key_file.as_deref().map_or(Ok(AuditKey::default()), read_key)?;
    let mut check = AuditCheck::new(key.clone());
    let mut told = Vec::new();
    for file in &files {
        let unreadable = |error: std::io::Error| CommandFailure::Refused(format!("{}: {error}", file.display()));
        let tell = |place: usize, fault: String| {
            if told.len() < TOLD_MAX {
                told.push(format!("{}: line {place}: {fault}", file.display()));
            }
        };
        check.read(BufReader::new(File::open(file).map_err(unreadable)?), tell).map_err(unreadable)?;
    }
    if check.span().is_none() && check.faults() > 0 {
        let key = match key_file {
            None => "if the gateway has an audit_key, name a file with it: --key-file",
            Some(_) => "the gateway's audit_key is another one",
        };
        let lines = check.faults();
        return Err(CommandFailure::Refused(format!("no hash fits in {lines} lines: this is no audit file, or {key}")));
    }
    let end = check.span().map(|(_, end)| end.clone()).unwrap_or_default();
    let missing = files.last().and_then(|file| cut_off(file, &end, &key));
    let more = (check.faults().saturating_sub(told.len())).checked_sub(1).map(|more| format!("and {} more", more + 1));
    told.extend(more);
    told.extend(missing);
    if let Some((first, end)) = check.span() {
        print(&format!("changes {first} to {}, last hash {}", end.number, end.hash));
    }
    match told.as_slice() {
        [] if check.span().is_some() => Ok(()),
        [] => Err(CommandFailure::Refused("there is no line to check".to_owned())),
        told => Err(CommandFailure::Refused(format!("this is not what was written:\n{}", told.join("\n")))),
    }
}

/// The key in a file: its text, without the line end that editors add.
fn read_key(file: &Path) -> Result<AuditKey, CommandFailure> {
    let refused = |why: &str| CommandFailure::Refused(format!("{}: {why}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| refused(&error.to_string()))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(refused("there is no key in it")),
        key => Ok(AuditKey::new(key)),
    }
}

/// What is missing at the end of the newest file, by what the gateway has kept beside it.
fn cut_off(file: &Path, end: &AuditChain, key: &AuditKey) -> Option<String> {
    let Some(kept) = AuditChain::of_kept(&fs::read(audit_end(file)).ok()?, key) else {
        return Some(format!("{}: what was noted beside it about its last line is not what was written", file.display()));
    };
    let is_other = kept.number > end.number || (kept.number == end.number && kept.hash != end.hash);
    is_other.then(|| format!("{}: the last lines are missing: the gateway wrote up to number {}", file.display(), kept.number))
}
