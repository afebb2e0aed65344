//! What language models cost, by hour and by day, beside usage in its file: for whom, which model at which provider, and what became of it.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

mod tables;

/// Values of the second dimension that keep their names; the others are summed as [`OTHER`].
const SPLITS_MAX: usize = 7;
/// Stands for values without rows of their own.
pub const OTHER: &str = "_other";
const SUMS: [&str; 11] = [
    "requests",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cost_micro_usd",
    "estimated",
    "streams",
    "first_token_us",
];

/// The dimensions of one hour's sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpendKey {
    /// Unix time divided by 60.
    pub minute: i64,
    /// Id of the API.
    pub api: String,
    /// The caller's organisation.
    pub org: String,
    /// The policies of the key.
    pub policy: String,
    /// The key in the form in which it is shown; empty without a key.
    pub key: String,
    /// The model's name at the provider; that of the configuration where nobody answered.
    pub model: String,
    /// The provider; empty if none was asked.
    pub provider: String,
    /// The provider that was asked before, and gave no answer.
    pub instead_of: String,
    /// What became of it.
    pub outcome: String,
    /// Why it was not answered, or not completely.
    pub reason: String,
    /// The budget that refused or ended it.
    pub budget: String,
    /// The team that it is of; empty without one.
    pub team: String,
}

/// The sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendCounts {
    /// Requests that ended here. Each is counted once, whoever was asked.
    pub requests: u64,
    /// Requests to providers.
    pub attempts: u64,
    /// Tokens of prompts, with those from and into the providers' caches.
    pub input_tokens: u64,
    /// Tokens of answers, with reasoning.
    pub output_tokens: u64,
    /// Of prompts, from the providers' caches.
    pub cached_tokens: u64,
    /// Of prompts, into the providers' caches.
    pub cache_write_tokens: u64,
    /// Of answers, for reasoning.
    pub reasoning_tokens: u64,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u64,
    /// Attempts whose provider has not told all, so that something is estimated.
    pub estimated: u64,
    /// Streams that have begun, and the sum of the times until their first tokens.
    pub streams: u64,
    /// That sum, in microseconds.
    pub first_token_us: u64,
}

/// The dimensions to group by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpendBy {
    /// Id of the API.
    Api,
    /// Organisation.
    Org,
    /// Policies.
    Policy,
    /// Key.
    Key,
    /// Model.
    Model,
    /// Provider.
    Provider,
    /// Provider that was asked before.
    InsteadOf,
    /// What became of requests.
    Outcome,
    /// Why.
    Reason,
    /// Budget.
    Budget,
    /// Team.
    Team,
    /// Intervals of this many minutes: hours, or days.
    Time(u32),
}

impl SpendBy {
    /// All but time, in the order of the tables' columns.
    pub const NAMED: [SpendBy; 11] = [
        SpendBy::Api,
        SpendBy::Org,
        SpendBy::Policy,
        SpendBy::Key,
        SpendBy::Model,
        SpendBy::Provider,
        SpendBy::InsteadOf,
        SpendBy::Outcome,
        SpendBy::Reason,
        SpendBy::Budget,
        SpendBy::Team,
    ];

    /// Its name, which is that of its column.
    pub fn name(self) -> &'static str {
        match self {
            SpendBy::Api => "api",
            SpendBy::Org => "org",
            SpendBy::Policy => "policy",
            SpendBy::Key => "key",
            SpendBy::Model => "model",
            SpendBy::Provider => "provider",
            SpendBy::InsteadOf => "instead_of",
            SpendBy::Outcome => "outcome",
            SpendBy::Reason => "reason",
            SpendBy::Budget => "budget",
            SpendBy::Team => "team",
            SpendBy::Time(_) => "time",
        }
    }

    /// That of a name; time has a width, and is none of them.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|by| by.name() == name)
    }
}

/// A query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpendQuestion {
    /// First minute; of an hour.
    pub from: i64,
    /// The first minute after the period; of an hour.
    pub to: i64,
    /// Only where these have these values.
    pub only: Vec<(SpendBy, String)>,
    /// What to group by.
    pub by: SpendBy,
    /// What to group each of these by.
    pub split: Option<SpendBy>,
    /// Maximum rows: those that cost the most, or the earliest intervals.
    pub rows_max: usize,
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendRow {
    /// The value of the group; for intervals, the first minute.
    pub value: String,
    /// The value of the second dimension, if one was asked for.
    pub split: Option<String>,
    /// Sums.
    pub counts: SpendCounts,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendAnswer {
    /// The rows.
    pub rows: Vec<SpendRow>,
    /// Whether the time did not suffice for all of the period.
    pub is_partial: bool,
}

type SpendGroups = HashMap<(String, Option<String>), SpendCounts>;

impl SpendCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &SpendCounts) {
        let mut sums = self.values();
        sums.iter_mut().zip(other.values()).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        *self = SpendCounts::of(sums);
    }

    fn values(&self) -> [u64; SUMS.len()] {
        [
            self.requests,
            self.attempts,
            self.input_tokens,
            self.output_tokens,
            self.cached_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
            self.cost_micro_usd,
            self.estimated,
            self.streams,
            self.first_token_us,
        ]
    }

    fn of(values: [u64; SUMS.len()]) -> Self {
        let [
            requests,
            attempts,
            input_tokens,
            output_tokens,
            cached_tokens,
            cache_write_tokens,
            reasoning_tokens,
            cost_micro_usd,
            estimated,
            streams,
            first_token_us,
        ] = values;
        SpendCounts {
            requests,
            attempts,
            input_tokens,
            output_tokens,
            cached_tokens,
            cache_write_tokens,
            reasoning_tokens,
            cost_micro_usd,
            estimated,
            streams,
            first_token_us,
        }
    }
}

impl SpendAnswer {
    /// One answer to a question of which several answered a part, such as gateways that count different requests.
    pub fn merged(question: &SpendQuestion, answers: impl IntoIterator<Item = SpendAnswer>) -> Self {
        let (mut groups, mut is_partial) = (SpendGroups::new(), false);
        for answer in answers {
            is_partial |= answer.is_partial;
            answer.rows.into_iter().for_each(|row| groups.entry((row.value, row.split)).or_default().add(&row.counts));
        }
        SpendAnswer { rows: rows(question, groups), is_partial }
    }
}

/// What comes first: what costs most, then what was asked for most.
fn rank(counts: &SpendCounts) -> (u64, u64, u64) {
    (counts.cost_micro_usd, counts.requests, counts.attempts)
}

/// The rows in order: what costs most first, or by time.
fn rows(question: &SpendQuestion, groups: SpendGroups) -> Vec<SpendRow> {
    let groups = if question.split.is_some() { named_splits(groups) } else { groups };
    let mut totals: HashMap<String, SpendCounts> = HashMap::new();
    groups.iter().for_each(|((value, _), counts)| totals.entry(value.clone()).or_default().add(counts));
    let mut order: Vec<(String, SpendCounts)> = totals.into_iter().collect();
    match question.by {
        SpendBy::Time(_) => order.sort_by_key(|(value, _)| value.parse::<i64>().unwrap_or_default()),
        _ => order.sort_by(|(a_value, a), (b_value, b)| rank(b).cmp(&rank(a)).then_with(|| a_value.cmp(b_value))),
    }
    let places: HashMap<String, usize> =
        order.into_iter().take(question.rows_max).enumerate().map(|(place, (value, _))| (value, place)).collect();
    let row = |((value, split), counts)| Some((*places.get(&value)?, SpendRow { value, split, counts }));
    let mut rows: Vec<(usize, SpendRow)> = groups.into_iter().filter_map(row).collect();
    rows.sort_by(|(a, a_row), (b, b_row)| {
        a.cmp(b).then_with(|| rank(&b_row.counts).cmp(&rank(&a_row.counts))).then_with(|| a_row.split.cmp(&b_row.split))
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Sums the values of the second dimension that are not among the dearest.
fn named_splits(groups: SpendGroups) -> SpendGroups {
    let mut totals: HashMap<Option<String>, SpendCounts> = HashMap::new();
    groups.iter().for_each(|((_, split), counts)| totals.entry(split.clone()).or_default().add(counts));
    let mut order: Vec<_> = totals.into_iter().collect();
    order.sort_by(|(a_value, a), (b_value, b)| rank(b).cmp(&rank(a)).then_with(|| a_value.cmp(b_value)));
    let named: Vec<Option<String>> = order.into_iter().take(SPLITS_MAX).map(|(value, _)| value).collect();
    let mut summed = SpendGroups::new();
    for ((value, split), counts) in groups {
        let split = if named.contains(&split) { split } else { Some(OTHER.to_owned()) };
        summed.entry((value, split)).or_default().add(&counts);
    }
    summed
}

#[cfg(test)]
mod tests;
