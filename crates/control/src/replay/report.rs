//! What a replay has found, in groups with examples.

use super::difference::{Difference, DifferenceCause};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use utoipa::ToSchema;

/// Groups that are kept apart; whoever has more repairs these first.
const GROUPS_MAX: usize = 500;
/// Examples of each group.
const EXAMPLES_MAX: usize = 5;
/// Different callers of a group that are counted.
const KEYS_MAX: usize = 10_000;
/// Unreadable lines that are named.
const UNREADABLE_MAX: usize = 10;

/// What a replay has found.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayReport {
    /// Requests that were decided.
    requests: u64,
    /// Those that both configurations answer in the same way.
    same: u64,
    different: u64,
    /// Those that depend on what was not recorded, in both configurations, by what they depend on.
    undecided: BTreeMap<String, u64>,
    /// The differences, the most frequent first.
    #[schema(inline)]
    groups: Vec<ReplayGroup>,
    /// Different requests in groups that are left out.
    left_out: u64,
    /// Requests that the configuration in service would answer otherwise than recorded: it or its keys have changed since.
    unlike_recorded: u64,
    #[schema(inline)]
    unlike_groups: Vec<ReplayGroup>,
    /// Live requests that were not decided, because they came faster.
    missed: u64,
    /// Lines that are no recorded requests.
    unreadable: u64,
    /// The first of them: why.
    unreadable_because: Vec<String>,
}

/// Requests that differ in the same way.
#[derive(Clone, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReplayGroup {
    /// `null` for a difference from what was recorded.
    #[schema(required, inline)]
    cause: Option<DifferenceCause>,
    api_id: String,
    /// What the configuration in service does, or what was recorded.
    from: String,
    /// What the other one does.
    to: String,
    requests: u64,
    /// Different keys among them, at most 10,000.
    keys: usize,
    #[schema(inline)]
    examples: Vec<RecordedExample>,
}

/// One of the requests.
#[derive(Clone, Default, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedExample {
    pub time_ms: u64,
    pub method: String,
    pub host: String,
    pub path: String,
    /// Listed form of its key; empty without one.
    pub key: String,
    /// What the configuration in service does.
    pub old: String,
    /// What the other one does.
    pub new: String,
}

/// What is counted while a replay runs.
#[derive(Default)]
pub(super) struct ReplayState {
    requests: u64,
    same: u64,
    different: u64,
    undecided: BTreeMap<&'static str, u64>,
    groups: ReportGroups,
    unlike: ReportGroups,
    unreadable: u64,
    unreadable_because: Vec<String>,
}

#[derive(Default)]
struct ReportGroups {
    by_name: HashMap<(Option<DifferenceCause>, String, String, String), ReportGroup>,
    left_out: u64,
    hashes: RandomState,
}

#[derive(Default)]
struct ReportGroup {
    requests: u64,
    keys: HashSet<u64>,
    examples: Vec<RecordedExample>,
}

impl ReportGroups {
    fn add(&mut self, name: (Option<DifferenceCause>, &str, String, String), example: RecordedExample) {
        let (cause, api, from, to) = name;
        let name = (cause, api.to_owned(), from, to);
        if self.by_name.len() >= GROUPS_MAX && !self.by_name.contains_key(&name) {
            self.left_out += 1;
            return;
        }
        let group = self.by_name.entry(name).or_default();
        group.requests += 1;
        if !example.key.is_empty() && group.keys.len() < KEYS_MAX {
            group.keys.insert(self.hashes.hash_one(&example.key));
        }
        if group.examples.len() < EXAMPLES_MAX {
            group.examples.push(example);
        }
    }

    fn shown(&self) -> Vec<ReplayGroup> {
        let shown = self.by_name.iter().map(|((cause, api, from, to), group)| ReplayGroup {
            cause: *cause,
            api_id: api.clone(),
            from: from.clone(),
            to: to.clone(),
            requests: group.requests,
            keys: group.keys.len(),
            examples: group.examples.clone(),
        });
        let mut shown: Vec<ReplayGroup> = shown.collect();
        shown.sort_by(|a, b| {
            (b.requests, a.cause, &a.api_id, &a.from, &a.to).cmp(&(a.requests, b.cause, &b.api_id, &b.from, &b.to))
        });
        shown
    }
}

impl ReplayState {
    pub(super) fn note_same(&mut self) {
        self.requests += 1;
        self.same += 1;
    }

    pub(super) fn note_undecided(&mut self, by: &'static str) {
        self.requests += 1;
        *self.undecided.entry(by).or_default() += 1;
    }

    pub(super) fn note_difference(&mut self, api: &str, difference: Difference, example: RecordedExample) {
        self.requests += 1;
        self.different += 1;
        let Difference { cause, from, to, old, new } = difference;
        self.groups.add((Some(cause), api, from, to), RecordedExample { old, new, ..example });
    }

    pub(super) fn note_unlike(&mut self, api: &str, recorded: String, now: String, example: RecordedExample) {
        let example = RecordedExample { old: recorded.clone(), new: now.clone(), ..example };
        self.unlike.add((None, api, recorded, now), example);
    }

    pub(super) fn note_unreadable(&mut self, why: String) {
        self.unreadable += 1;
        if self.unreadable_because.len() < UNREADABLE_MAX {
            self.unreadable_because.push(why);
        }
    }

    pub(super) fn report(&self, missed: u64) -> ReplayReport {
        let unlike_groups = self.unlike.shown();
        ReplayReport {
            requests: self.requests,
            same: self.same,
            different: self.different,
            undecided: self.undecided.iter().map(|(by, requests)| ((*by).to_owned(), *requests)).collect(),
            groups: self.groups.shown(),
            left_out: self.groups.left_out,
            unlike_recorded: unlike_groups.iter().map(|group| group.requests).sum::<u64>() + self.unlike.left_out,
            unlike_groups,
            missed,
            unreadable: self.unreadable,
            unreadable_because: self.unreadable_because.clone(),
        }
    }
}
