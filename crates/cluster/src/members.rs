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
/// How long before an outage was noticed somebody may have been heard last who lives on.
const HEARD_BEFORE: Duration = Duration::from_secs(10);
/// How long after a process began to listen others may not have been heard: time to come back from an outage and to say so.
const BACK_WITHIN: Duration = Duration::from_secs(2);
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
    /// Grows with each sign of the process: an old message that somebody sends again says nothing.
    pub number: u64,
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
    /// Since when this process hears the others; `None` while it does not.
    listening: Option<Instant>,
    /// When it heard them no longer, the last time.
    deaf: Option<Instant>,
}

/// What a sign of life means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HeardSign {
    /// It says nothing: it is old, or there is no room.
    Ignored,
    Known,
    News(NodeEvent),
}

struct Process {
    name: String,
    node: String,
    heard: Instant,
    number: u64,
    applied: Option<LogId>,
    is_gone: bool,
}

struct MemberNode {
    state: NodeState,
    heard: Instant,
    is_alive: bool,
}

impl KnownMembers {
    /// Notes a sign of life.
    pub(crate) fn hear(&mut self, sign: SignOfLife, now: Instant) -> HeardSign {
        let SignOfLife { id, process: name, node, state, number, applied, runs } = sign;
        let is_new = match self.processes.get(&id).map(|known| known.number) {
            Some(last) => last < number,
            None => make_room(&mut self.processes, |process| process.is_alive(now), |process| process.heard),
        };
        if !is_new {
            return HeardSign::Ignored;
        }
        let is_gone = state == PresenceState::Gone;
        let applied = applied.and_then(|id| id.parse().ok());
        self.processes.insert(id, Process { name, node: node.clone(), heard: now, number, applied, is_gone });
        if is_gone {
            let is_left = !self.processes.values().any(|other| other.node == node && other.is_alive(now));
            let was_alive = self.nodes.get_mut(&node).is_some_and(|known| is_left && std::mem::take(&mut known.is_alive));
            return if was_alive { HeardSign::News(NodeEvent::Left(node)) } else { HeardSign::Known };
        }
        let has_room = self.nodes.contains_key(&node) || make_room(&mut self.nodes, |node| node.is_alive, |node| node.heard);
        let joined = match self.nodes.get_mut(&node) {
            Some(known) => {
                known.heard = now;
                runs.into_iter().for_each(|runs| known.state = runs);
                !std::mem::replace(&mut known.is_alive, true)
            }
            None => {
                let state = runs.unwrap_or_else(|| NodeState { node: node.clone(), ..NodeState::default() });
                has_room && self.nodes.insert(node.clone(), MemberNode { state, heard: now, is_alive: true }).is_none()
            }
        };
        if joined { HeardSign::News(NodeEvent::Joined(node)) } else { HeardSign::Known }
    }

    /// This process does not hear the others any more.
    pub(crate) fn link_down(&mut self, now: Instant) {
        if self.listening.take().is_some() || self.deaf.is_none() {
            self.deaf = Some(now);
        }
    }

    /// This process hears the others again.
    pub(crate) fn link_up(&mut self, now: Instant) {
        self.listening = Some(now);
    }

    /// Whether this process hears the others.
    pub(crate) fn is_listening(&self) -> bool {
        self.listening.is_some()
    }

    /// Forgets who was silent for long, and tells who fell silent since the last call.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<NodeEvent> {
        self.processes.retain(|_, process| is_recent(process.heard, now, SHOWN_FOR));
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

    /// The processes that have not carried out the log of purges up to `id`; `counted` are there with this one, as Redis says.
    pub(crate) fn unconfirmed(&self, id: LogId, counted: u64, now: Instant) -> Vec<String> {
        let lacks = |process: &&Process| process.applied.is_none_or(|applied| applied < id);
        let lacking: Vec<String> = self.alive(now).filter(lacks).map(|process| process.name.clone()).collect();
        let unheard = counted.saturating_sub(self.alive(now).count() as u64 + 1);
        match lacking.is_empty() && unheard > 0 && !self.has_heard_all(now) {
            true => vec![format!("{unheard} that were not heard yet")],
            false => lacking,
        }
    }

    /// The processes that are alive, as people call them.
    pub(crate) fn processes(&self, now: Instant) -> Vec<String> {
        self.alive(now).map(|process| process.name.clone()).collect()
    }

    /// Whether this process has listened for so long that it knows all others.
    fn has_heard_all(&self, now: Instant) -> bool {
        self.listening.is_some_and(|since| !is_recent(since, now, BACK_WITHIN))
    }

    fn alive(&self, now: Instant) -> impl Iterator<Item = &Process> {
        // Who was not heard because this process heard nobody is still there.
        let may_live = move |process: &Process| {
            !self.has_heard_all(now) && self.deaf.is_some_and(|deaf| is_recent(process.heard, deaf, HEARD_BEFORE))
        };
        self.processes.values().filter(move |process| process.is_alive(now) || (!process.is_gone && may_live(process)))
    }
}

impl Process {
    fn is_alive(&self, now: Instant) -> bool {
        !self.is_gone && is_recent(self.heard, now, ALIVE_FOR)
    }
}

/// Makes room for one more, if need be in place of the one that was silent longest. Returns whether there is room.
fn make_room<T>(known: &mut BTreeMap<String, T>, is_alive: impl Fn(&T) -> bool, heard: impl Fn(&T) -> Instant) -> bool {
    if known.len() < MEMBERS_MAX {
        return true;
    }
    let silent = known.iter().filter(|(_, one)| !is_alive(one)).min_by_key(|(_, one)| heard(one)).map(|(name, _)| name.clone());
    silent.is_some_and(|name| known.remove(&name).is_some())
}

fn is_recent(heard: Instant, now: Instant, time: Duration) -> bool {
    now.saturating_duration_since(heard) < time
}

#[cfg(test)]
mod tests;
