//! `tollgate dump`, `diff` and `sync`: the configuration of a gateway as files in a directory. A sync is one change: the gateway makes all of it or
//! nothing. A gateway without that endpoint, such as Tyk, gets request by request.

mod directory;
mod dump;
mod files;
mod live;
mod object;
mod one_by_one;
mod plan;
mod show;
mod tyk_sync;

use super::replay::{ReplayInput, ReplaySides, ReplaySource, Replayed, replay};
use super::{CommandFailure, Gateway, GatewayOptions};
use clap::{Args, ValueEnum};
use live::LiveConfiguration;
use object::PartKind;
pub(super) use show::change_text;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the exit codes of `diff` and `sync` mean.
const EXIT_CODES: &str = "Exit codes: 0 nothing differs, or the sync is done; 1 a document is broken or the gateway refuses; 2 wrong command line; 3 no \
                          answer; 4 wrong secret; 5 there are differences (diff, sync --dry-run); 6 someone else changed the configuration meanwhile, \
                          nothing was changed; 7 requests would be answered differently (--replay, --canary), nothing was changed; \
                          8 done, but not all gateways have confirmed it (--wait).";

/// Time for an answer: a gateway compiles all documents of a change first, thousands of them in seconds.
const ANSWER_TIME_MIN: Duration = Duration::from_secs(300);

/// The directory, and which part of it.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Directory with apis/, policies/, certificates/, clients/, keys/ and portal/, or with a .tyk.json of tyk-sync
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Only objects with this tag: in `tags` of APIs, policies and templates of keys, `gatewayTags` of OpenAPI documents; clients as their APIs. What the developer portal offers has no tags, and is left out
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only these parts
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<PartName>,
    #[command(flatten)]
    gateway: GatewayOptions,
}

/// A part of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PartName {
    /// API definitions and OpenAPI documents
    Apis,
    /// Policies
    Policies,
    /// Certificates, by fingerprint
    Certificates,
    /// Clients of OAuth 2.0
    Clients,
    /// Templates of keys
    Keys,
    /// Products, plans and pages of the developer portal
    Portal,
}

/// Options of `dump`.
#[derive(Debug, Args)]
#[command(
    after_help = "Secrets are never written: a mask stands in their place, and a sync keeps what the gateway has. Files whose objects are as \
                        they say stay as they are; a file keeps its name."
)]
pub struct DumpCommand {
    #[command(flatten)]
    selection: Selection,
    /// Delete files of objects that the gateway does not have
    #[arg(long)]
    prune: bool,
}

/// Options of `diff`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DiffCommand {
    #[command(flatten)]
    selection: Selection,
    /// Count objects that are not in the directory as differences, as sync --prune would delete them
    #[arg(long)]
    prune: bool,
    #[command(flatten)]
    replay: ReplaySource,
}

/// Options of `sync`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct SyncCommand {
    #[command(flatten)]
    selection: Selection,
    /// Delete objects that are not in the directory. Parts of which the directory has nothing are left alone
    #[arg(long)]
    prune: bool,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    replay: ReplaySource,
    /// First run the new configuration in the shadow of the one in service for this many seconds, on the gateway's live requests
    #[arg(long, value_name = "S", conflicts_with = "records")]
    canary: Option<u64>,
    /// Sync even if requests would be answered differently
    #[arg(long)]
    accept: bool,
    /// Wait until all gateways that share definitions serve the change, and say which do; those with other files of their own are named
    #[arg(long)]
    wait: bool,
}

/// Which objects a command is about.
struct ConfigurationScope {
    tag: Option<String>,
    kinds: Vec<PartKind>,
}

impl ConfigurationScope {
    fn of(selection: &Selection) -> Self {
        let is_asked_for = |kind: &PartKind| selection.only.is_empty() || selection.only.contains(&kind.part());
        let can_be_tagged = |kind: &PartKind| selection.tag.is_none() || kind.takes_tags();
        let kinds = PartKind::ALL.into_iter().filter(|kind| is_asked_for(kind) && can_be_tagged(kind));
        ConfigurationScope { tag: selection.tag.clone(), kinds: kinds.collect() }
    }

    fn has(&self, kind: PartKind) -> bool {
        self.kinds.contains(&kind)
    }
}

pub(super) fn dump(command: &DumpCommand, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let DumpCommand { selection, prune } = command;
    let gateway = Gateway::new(&selection.gateway, tls)?.waiting_for(ANSWER_TIME_MIN);
    let live = LiveConfiguration::read(&gateway)?;
    let written = dump::write(&selection.directory, &live, &ConfigurationScope::of(selection), *prune)?;
    gateway.print(&written.to_json(), || written.to_text());
    Ok(())
}

pub(super) fn diff(command: &DiffCommand, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let DiffCommand { selection, prune, replay } = command;
    let trial = replay.files().map(ReplayInput::Records);
    compare_or_sync(selection, &Wanted { prune: *prune, dry_run: true, trial, accept: false, wait: false }, tls)
}

pub(super) fn sync(command: &SyncCommand, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let SyncCommand { selection, prune, dry_run, replay, canary, accept, wait } = command;
    let trial = canary.map(ReplayInput::Live).or_else(|| replay.files().map(ReplayInput::Records));
    compare_or_sync(selection, &Wanted { prune: *prune, dry_run: *dry_run, trial, accept: *accept, wait: *wait }, tls)
}

/// What to do with differences.
struct Wanted<'w> {
    prune: bool,
    dry_run: bool,
    /// Requests that try the change before it is made.
    trial: Option<ReplayInput<'w>>,
    /// Make it even if they would be answered differently.
    accept: bool,
    /// Wait for the other gateways.
    wait: bool,
}

fn compare_or_sync(selection: &Selection, wanted: &Wanted<'_>, tls: super::TlsOf) -> Result<(), CommandFailure> {
    let gateway = Gateway::new(&selection.gateway, tls)?.waiting_for(ANSWER_TIME_MIN);
    let scope = ConfigurationScope::of(selection);
    // The directory comes first: its errors need no gateway.
    let local = directory::read(&selection.directory, &scope)?;
    let live = LiveConfiguration::read(&gateway)?;
    let plan = plan::Comparison::new(&local, &live, &scope, wanted.prune)?;
    let tried = match &wanted.trial {
        Some(input) => Some(replay(&gateway, &sides(&plan, &live)?, input, true)?),
        None => None,
    };
    let is_different = tried.as_ref().is_some_and(Replayed::differs);
    let dry_run = wanted.dry_run || (is_different && !wanted.accept);
    let outcome = match live.digest() {
        Some(digest) => plan.send(&gateway, digest, dry_run, wanted.wait)?,
        None => one_by_one::send(&plan, &live, &gateway, dry_run)?,
    };
    let answer = match &tried {
        None => outcome.to_json(),
        Some(tried) => {
            let mut answer = outcome.to_json();
            super::document::put(&mut answer, "replay", tried.answer.clone());
            answer
        }
    };
    gateway.print(&answer, || match &tried {
        None => outcome.to_text(),
        Some(tried) => format!("{}\n\n{}", outcome.to_text(), tried.to_text()),
    });
    match () {
        () if is_different && dry_run => Err(CommandFailure::AnsweredDifferently),
        () if dry_run && outcome.differs() => Err(CommandFailure::Differs),
        () if !dry_run && !outcome.serving().is_complete() => Err(CommandFailure::NotConfirmed),
        () => Ok(()),
    }
}

/// The configuration of a directory beside the one in service.
pub(super) fn sides_of(directory: &Path, tag: Option<&str>, prune: bool, gateway: &Gateway) -> Result<ReplaySides, CommandFailure> {
    let scope = ConfigurationScope { tag: tag.map(str::to_owned), kinds: PartKind::ALL.to_vec() };
    let local = directory::read(directory, &scope)?;
    let live = LiveConfiguration::read(gateway)?;
    sides(&plan::Comparison::new(&local, &live, &scope, prune)?, &live)
}

fn sides(plan: &plan::Comparison<'_>, live: &LiveConfiguration) -> Result<ReplaySides, CommandFailure> {
    let digest =
        live.digest().ok_or_else(|| CommandFailure::Refused("this gateway can't replay requests: it is no Tollgate".to_owned()))?;
    Ok(ReplaySides { digest: digest.to_owned(), changes: plan.changes() })
}

#[cfg(test)]
mod tests;
