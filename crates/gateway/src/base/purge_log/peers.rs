//! The other gateways on the same Redis: who is alive, and which purges each has carried out.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tollgate_store::LogId;

/// How long a gateway counts as alive after its last message. They come every second, so that several may be lost.
const ALIVE_FOR: Duration = Duration::from_secs(5);
/// Gateways that are remembered: far more than share one Redis.
const PEERS_MAX: usize = 4_096;

/// What a gateway says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PeerPresence {
    pub gateway: String,
    /// The last entry of the log that it has carried out.
    pub applied: Option<String>,
    pub state: PresenceState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PresenceState {
    Up,
    /// It does not know the others yet and asks them to answer.
    New,
    /// It ends.
    Gone,
}

/// The gateways that were heard.
#[derive(Default)]
pub(super) struct PeerTable(BTreeMap<String, PurgePeer>);

struct PurgePeer {
    heard: Instant,
    applied: Option<LogId>,
}

impl PeerTable {
    pub(super) fn hear(&mut self, presence: PeerPresence, now: Instant) {
        self.0.retain(|_, peer| peer.is_alive(now));
        if presence.state == PresenceState::Gone {
            self.0.remove(&presence.gateway);
        } else if self.0.len() < PEERS_MAX || self.0.contains_key(&presence.gateway) {
            let applied = presence.applied.and_then(|id| id.parse().ok());
            self.0.insert(presence.gateway, PurgePeer { heard: now, applied });
        }
    }

    /// The gateways that are alive and have not carried out the log up to `id`.
    pub(super) fn unconfirmed(&self, id: LogId, now: Instant) -> Vec<String> {
        let lacks = |peer: &PurgePeer| peer.is_alive(now) && peer.applied.is_none_or(|applied| applied < id);
        self.0.iter().filter(|(_, peer)| lacks(peer)).map(|(name, _)| name.clone()).collect()
    }

    /// The gateways that are alive.
    pub(super) fn alive(&self, now: Instant) -> Vec<String> {
        self.0.iter().filter(|(_, peer)| peer.is_alive(now)).map(|(name, _)| name.clone()).collect()
    }
}

impl PurgePeer {
    fn is_alive(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.heard) < ALIVE_FOR
    }
}

#[cfg(test)]
mod tests;
