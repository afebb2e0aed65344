//! The other gateways on the same Redis: who is alive, what each says of itself, and which purges it has carried out.
//!
//! A restart without interruption has two processes for a while, which are one gateway with one name.

use crate::node::{KnownNode, NodeEvent, NodeState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tollgate_store::LogId;

/// How long a process counts as alive after its last sign of life. They come every second, so that several may be lost.
const ALIVE_FOR: Duration = Duration::from_secs(5);
/// A silent gateway is shown for this time.
const SHOWN_FOR: Duration = Duration::from_secs(600);
/// Processes and gateways that are remembered: more than share one Redis, and a bound for what forged names could fill.
const MEMBERS_MAX: usize = 1_000;

/// A sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SignOfLife {
    /// The process, unlike any other.
    pub id: String,
    /// For people: the gateway's name, and which process it is.
    pub process: String,
    /// The gateway's name.
    pub node: String,
    pub state: PresenceState,
    /// When it was said, in Unix milliseconds: an old message that somebody sends again says nothing.
    pub unix_ms: u64,
    /// The last entry of the log of purges that it has carried out.
    pub applied: Option<String>,
    /// What it runs; not said every time.
    pub runs: Option<NodeState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PresenceState {
    Up,
    /// It does not know the others yet and asks them to answer.
    New,
    /// It ends.
    Gone,
}

/// The processes and gateways that were heard.
#[derive(Default)]
pub(crate) struct KnownMembers {
    processes: BTreeMap<String, Process>,
    nodes: BTreeMap<String, MemberNode>,
}

struct Process {
    name: String,
    node: String,
    heard: Instant,
    unix_ms: u64,
    applied: Option<LogId>,
}

struct MemberNode {
    state: NodeState,
    heard: Instant,
    /// When its last sign of life was said.
    unix_ms: u64,
    is_alive: bool,
}

impl KnownMembers {
    /// Notes a sign of life; tells what it means for the gateway.
    pub(crate) fn hear(&mut self, presence: SignOfLife, now: Instant) -> Option<NodeEvent> {
        let SignOfLife { id, process, node, state, unix_ms, applied, runs } = presence;
        let last = match self.processes.get(&id) {
            Some(known) => Some(known.unix_ms),
            None if self.processes.len() >= MEMBERS_MAX => return None,
            // The processes of a gateway have one clock.
            None => self.nodes.get(&node).map(|known| known.unix_ms),
        };
        if last.is_some_and(|last| last >= unix_ms) {
            return None;
        }
        if state == PresenceState::Gone {
            self.processes.remove(&id)?;
            let is_left = !self.processes.values().any(|other| other.node == node);
            let known = self.nodes.get_mut(&node)?;
            known.unix_ms = unix_ms;
            let was_alive = is_left && std::mem::take(&mut known.is_alive);
            return was_alive.then_some(NodeEvent::Left(node));
        }
        let applied = applied.and_then(|id| id.parse().ok());
        self.processes.insert(id, Process { name: process, node: node.clone(), heard: now, unix_ms, applied });
        let room = self.nodes.len() < MEMBERS_MAX;
        let joined = match self.nodes.get_mut(&node) {
            Some(known) => {
                (known.heard, known.unix_ms) = (now, unix_ms);
                runs.into_iter().for_each(|runs| known.state = runs);
                !std::mem::replace(&mut known.is_alive, true)
            }
            None => {
                let state = runs.unwrap_or_else(|| NodeState { node: node.clone(), ..NodeState::default() });
                room && self.nodes.insert(node.clone(), MemberNode { state, heard: now, unix_ms, is_alive: true }).is_none()
            }
        };
        joined.then_some(NodeEvent::Joined(node))
    }

    /// Forgets who was silent for long, and tells who fell silent since the last call.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<NodeEvent> {
        self.processes.retain(|_, process| is_recent(process.heard, now, ALIVE_FOR));
        let mut silent = Vec::new();
        self.nodes.retain(|name, node| {
            if !is_recent(node.heard, now, ALIVE_FOR) && std::mem::take(&mut node.is_alive) {
                silent.push(NodeEvent::Left(name.clone()));
            }
            is_recent(node.heard, now, SHOWN_FOR)
        });
        silent
    }

    /// The gateways that are remembered, with how long ago each was heard; `unix_s` is now.
    pub(crate) fn nodes(&self, now: Instant, unix_s: u64) -> Vec<KnownNode> {
        let known = self.nodes.values().map(|node| KnownNode {
            state: node.state.clone(),
            seen_unix_s: unix_s.saturating_sub(now.saturating_duration_since(node.heard).as_secs()),
            is_alive: node.is_alive && is_recent(node.heard, now, ALIVE_FOR),
        });
        known.collect()
    }

    /// The processes that are alive and have not carried out the log of purges up to `id`.
    pub(crate) fn unconfirmed(&self, id: LogId, now: Instant) -> Vec<String> {
        self.alive(now)
            .filter(|process| process.applied.is_none_or(|applied| applied < id))
            .map(|process| process.name.clone())
            .collect()
    }

    /// The processes that are alive, as people call them.
    pub(crate) fn processes(&self, now: Instant) -> Vec<String> {
        self.alive(now).map(|process| process.name.clone()).collect()
    }

    fn alive(&self, now: Instant) -> impl Iterator<Item = &Process> {
        self.processes.values().filter(move |process| is_recent(process.heard, now, ALIVE_FOR))
    }
}

fn is_recent(heard: Instant, now: Instant, time: Duration) -> bool {
    now.saturating_duration_since(heard) < time
}

#[cfg(test)]
mod tests;
