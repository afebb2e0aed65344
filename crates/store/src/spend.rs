//! What language models cost, by hour and by day, beside usage in its file: for whom, which model at which provider, and what became of it.

use crate::fault::StoreFault;
use crate::usage::Usage;
use rusqlite::{Connection, Row, Transaction, params_from_iter, types::Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// Values that one answer tells apart while it is made. What is beyond makes it partial.
const GROUPS_MAX: usize = 200_000;
/// Values of the second dimension that keep their names; the others are summed as [`OTHER`].
const SPLITS_MAX: usize = 7;
/// Stands for values without rows of their own.
pub const OTHER: &str = "_other";
/// Minutes of a day, and of an hour.
const DAY: i64 = 24 * 60;
const HOUR: i64 = 60;
/// Days that are kept: a year can be compared with the one before.
const DAYS_MAX: i64 = 800;
/// A table for each length of intervals, in minutes.
const TABLES: [(&str, i64); 2] = [("spend_hour", HOUR), ("spend_day", DAY)];
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
    /// Intervals of this many minutes: hours, or days.
    Time(u32),
}

impl SpendBy {
    /// All but time, in the order of the tables' columns.
    pub const NAMED: [SpendBy; 10] = [
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

/// Spend, in the file of usage.
impl Usage {
    /// Creates the tables of spend if they are missing.
    pub fn prepare_spend(&self) -> Result<(), StoreFault> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction()?;
        create(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Adds sums to the existing ones.
    pub fn add_spend(&self, sums: &[(SpendKey, SpendCounts)]) -> Result<(), StoreFault> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction()?;
        for (table, minutes) in TABLES {
            let mut rows: BTreeMap<SpendKey, SpendCounts> = BTreeMap::new();
            for (key, counts) in sums {
                let minute = key.minute.div_euclid(minutes) * minutes;
                rows.entry(SpendKey { minute, ..key.clone() }).or_default().add(counts);
            }
            add_to(&transaction, table, &rows)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Deletes hours before a minute, and days that are too old.
    pub fn remove_spend_before(&self, minute: i64, now: i64) -> Result<(), StoreFault> {
        let connection = self.connect()?;
        connection.execute("DELETE FROM spend_hour WHERE minute < ?1", [minute - (HOUR - 1)])?;
        connection.execute("DELETE FROM spend_day WHERE minute < ?1", [minute.min(now - DAYS_MAX * DAY)])?;
        Ok(())
    }

    /// Answers a query. After `deadline`, the answer is what was read so far.
    pub fn spend(&self, question: &SpendQuestion, deadline: Instant) -> Result<SpendAnswer, StoreFault> {
        let connection = self.connect()?;
        let (mut groups, mut is_partial) = (SpendGroups::new(), false);
        for (table, from, to) in pieces(question) {
            if Instant::now() >= deadline || groups.len() > GROUPS_MAX {
                is_partial = true;
                break;
            }
            read(&connection, table, (from, to), question, &mut groups)?;
        }
        Ok(SpendAnswer { rows: rows(question, groups), is_partial })
    }
}

/// Creates the tables.
fn create(transaction: &Transaction<'_>) -> Result<(), StoreFault> {
    let columns = SpendBy::NAMED.map(SpendBy::name);
    let texts: String = columns.iter().map(|name| format!(", {name} TEXT NOT NULL")).collect();
    let sums: String = SUMS.iter().map(|name| format!(", {name} INTEGER NOT NULL")).collect();
    for (table, _) in TABLES {
        transaction.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS {table} (minute INTEGER NOT NULL{texts}{sums}, PRIMARY KEY (minute, {})) WITHOUT ROWID",
            columns.join(", ")
        ))?;
    }
    Ok(())
}

fn add_to(transaction: &Transaction<'_>, table: &str, rows: &BTreeMap<SpendKey, SpendCounts>) -> Result<(), StoreFault> {
    let sums: Vec<String> = SUMS.iter().map(|name| format!("{name} = {name} + excluded.{name}")).collect();
    let places = vec!["?"; 1 + SpendBy::NAMED.len() + SUMS.len()].join(", ");
    let mut statement =
        transaction.prepare(&format!("INSERT INTO {table} VALUES ({places}) ON CONFLICT DO UPDATE SET {}", sums.join(", ")))?;
    for (key, counts) in rows {
        let SpendKey { minute, api, org, policy, key, model, provider, instead_of, outcome, reason, budget } = key;
        let texts = [api, org, policy, key, model, provider, instead_of, outcome, reason, budget];
        let texts = texts.map(|text| Value::Text(text.clone()));
        let numbers = counts.values().map(|count| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)));
        statement.execute(params_from_iter(std::iter::once(Value::Integer(*minute)).chain(texts).chain(numbers)))?;
    }
    Ok(())
}

/// The parts of the period: whole days where they fit, hours at the edges, or hours alone if they are told apart.
fn pieces(question: &SpendQuestion) -> Vec<(&'static str, i64, i64)> {
    let (from, to) = (question.from, question.to);
    let tells_hours = matches!(question.by, SpendBy::Time(minutes) if i64::from(minutes) < DAY);
    let (first_day, last_day) = ((from + DAY - 1).div_euclid(DAY) * DAY, to.div_euclid(DAY) * DAY);
    if tells_hours || first_day >= last_day {
        return vec![("spend_hour", from, to)];
    }
    vec![("spend_day", first_day, last_day), ("spend_hour", last_day, to), ("spend_hour", from, first_day)]
}

/// The SQL of a dimension.
fn column(by: SpendBy) -> String {
    match by {
        SpendBy::Time(minutes) => format!("minute / {0} * {0}", minutes.max(1)),
        by => by.name().to_owned(),
    }
}

/// Adds the sums of one part of the period.
fn read(
    connection: &Connection,
    table: &str,
    (from, to): (i64, i64),
    question: &SpendQuestion,
    groups: &mut SpendGroups,
) -> Result<(), StoreFault> {
    let mut parameters = vec![Value::Integer(from), Value::Integer(to)];
    let mut wanted = String::new();
    for (by, value) in &question.only {
        parameters.push(Value::Text(value.clone()));
        wanted.push_str(&format!(" AND {} = ?{}", column(*by), parameters.len()));
    }
    let sums: String = SUMS.iter().map(|name| format!(", SUM({name})")).collect();
    let (value, split) = (column(question.by), question.split.map_or_else(|| "NULL".to_owned(), column));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT CAST({value} AS TEXT), CAST({split} AS TEXT){sums} FROM {table} WHERE minute >= ?1 AND minute < ?2{wanted} GROUP BY 1, 2"
    ))?;
    let mut found = statement.query(params_from_iter(parameters))?;
    while let Some(found) = found.next()? {
        groups.entry((found.get(0)?, found.get(1)?)).or_default().add(&counts(found)?);
    }
    Ok(())
}

fn counts(row: &Row<'_>) -> rusqlite::Result<SpendCounts> {
    let mut values = [0; SUMS.len()];
    for (index, value) in values.iter_mut().enumerate() {
        *value = u64::try_from(row.get::<_, i64>(2 + index)?).unwrap_or_default();
    }
    Ok(SpendCounts::of(values))
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
