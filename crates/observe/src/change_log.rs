//! What happened to this gateway lately that explains a change in its figures: starts, reloads that changed something, gateways that came and
//! went. Kept in memory, the last two hundred.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use utoipa::ToSchema;

/// Kept changes: more marks than a plot of an hour can show.
const CHANGES_MAX: usize = 200;

/// Kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The gateway started.
    Restart,
    /// A reload changed something.
    Config,
    /// A reload found errors; what they concern stays as it was.
    ConfigFailed,
    /// Another gateway appeared.
    NodeJoined,
    /// Another gateway fell silent.
    NodeLeft,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GatewayChange {
    pub unix_s: u64,
    pub kind: ChangeKind,
    /// The gateway that it concerns.
    pub node: String,
    pub text: String,
}

/// The changes, oldest first.
#[derive(Default)]
pub struct RecentChanges(Mutex<(u64, VecDeque<GatewayChange>)>);

impl RecentChanges {
    /// Notes something that happens now.
    pub fn add(&self, kind: ChangeKind, node: &str, text: String) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, changes) = &mut *log;
        *count += 1;
        changes.push_back(GatewayChange { unix_s: tollgate_clock::unix_s(), kind, node: node.to_owned(), text });
        if changes.len() > CHANGES_MAX {
            changes.pop_front();
        }
    }

    /// How many there ever were.
    pub fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Those after the first `count`, as far as they are kept.
    pub fn after(&self, count: u64) -> Vec<GatewayChange> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, changes) = &*log;
        let new = usize::try_from(all.saturating_sub(count)).unwrap_or(usize::MAX);
        changes.iter().skip(changes.len().saturating_sub(new)).cloned().collect()
    }
}
