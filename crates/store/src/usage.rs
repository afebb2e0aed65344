//! Usage by minute, in a separate file: how often an API, a key or a path was used, for how long and with what result. Adding a batch is
//! one transaction; a query sums over a period. Sums by hour and by day are kept beside the minutes, so that a month is a few rows. Independent of
//! HTTP.

use crate::fault::{StoreFault, StoreFaultKind};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Transaction, params_from_iter, types::Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum wait for another process that uses the file.
const BUSY: Duration = Duration::from_secs(5);
/// Number of buckets of durations; the last one is for everything above all bounds.
pub const BUCKETS: usize = 17;

/// Values that one answer tells apart while it is made. What is beyond makes it partial.
const GROUPS_MAX: usize = 200_000;
/// Values of the second dimension that keep their names; the others are summed as [`OTHER`].
const SPLITS_MAX: usize = 7;
/// Stands for values without rows of their own.
const OTHER: &str = "_other";
/// A table for each length of intervals, in minutes.
const TABLES: [(&str, i64); 3] = [("usage", 1), ("usage_hour", 60), ("usage_day", 24 * 60)];

/// The dimensions of one minute's counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsageKey {
    /// Unix time divided by 60.
    pub minute: i64,
    /// Id of the API.
    pub api: String,
    /// The key in the form in which it is shown; empty without a key.
    pub key: String,
    /// Name of the version.
    pub version: String,
    /// Method.
    pub method: String,
    /// Path or pattern.
    pub path: String,
    /// Status code.
    pub status: u16,
}

/// The counts.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsageCounts {
    /// Requests.
    pub hits: u64,
    /// Sum of their durations, in microseconds.
    pub total_us: u64,
    /// Sum of the upstream's durations, in microseconds.
    pub upstream_us: u64,
    /// The longest duration.
    pub max_us: u64,
    /// Bytes from clients.
    pub request_bytes: u64,
    /// Bytes to clients.
    pub response_bytes: u64,
    /// Durations by bucket.
    pub buckets: [u64; BUCKETS],
}

/// The dimensions to group by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UsageBy {
    /// Id of the API.
    Api,
    /// Key.
    Key,
    /// Version.
    Version,
    /// Method.
    Method,
    /// Path.
    Path,
    /// Status code.
    Status,
    /// Intervals of this many minutes.
    Time(u32),
}

impl UsageBy {
    /// All but time.
    pub const NAMED: [UsageBy; 6] = [UsageBy::Api, UsageBy::Key, UsageBy::Version, UsageBy::Method, UsageBy::Path, UsageBy::Status];

    /// Its name, which is that of its column.
    pub fn name(self) -> &'static str {
        match self {
            UsageBy::Api => "api",
            UsageBy::Key => "key",
            UsageBy::Version => "version",
            UsageBy::Method => "method",
            UsageBy::Path => "path",
            UsageBy::Status => "status",
            UsageBy::Time(_) => "time",
        }
    }

    /// That of a name; time has a width, and is none of them.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|by| by.name() == name)
    }
}

/// A query.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UsageQuestion {
    /// First minute.
    pub from: i64,
    /// The first minute after the period.
    pub to: i64,
    /// Only this API.
    pub api: Option<String>,
    /// Only this key.
    pub key: Option<String>,
    /// Only these keys; all if it is empty. Earlier versions know no such list, and answer with all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Only this path.
    pub path: Option<String>,
    /// Only this version.
    pub version: Option<String>,
    /// Only this method.
    pub method: Option<String>,
    /// Only status codes in this range, inclusive.
    pub status: Option<(u16, u16)>,
    /// What to group by.
    pub by: UsageBy,
    /// What to group each of these by.
    pub split: Option<UsageBy>,
    /// Maximum rows: those with the most hits, or the earliest intervals.
    pub rows_max: usize,
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRow {
    /// The value of the group; for intervals, the first minute.
    pub value: String,
    /// The value of the second dimension, if one was asked for.
    pub split: Option<String>,
    /// Sums.
    pub counts: UsageCounts,
    /// Requests with a status below 400.
    pub good: u64,
    /// The last interval that has requests: a minute, or the first minute of an hour or day.
    pub last_minute: i64,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageAnswer {
    /// The rows.
    pub rows: Vec<UsageRow>,
    /// The first minute from which on the rows are complete, if the time did not suffice for all of the period.
    pub partial_from: Option<i64>,
}

/// The file.
#[derive(Clone, Debug)]
pub struct Usage {
    path: PathBuf,
}

impl UsageAnswer {
    /// One answer to a question of which several answered a part, such as gateways that count different requests.
    pub fn merged(question: &UsageQuestion, answers: impl IntoIterator<Item = UsageAnswer>) -> Self {
        let (mut groups, mut partial_from) = (UsageGroups::new(), None);
        for answer in answers {
            partial_from = partial_from.max(answer.partial_from);
            answer.rows.into_iter().for_each(|row| merge(&mut groups, row));
        }
        UsageAnswer { rows: rows(question, groups), partial_from }
    }
}

impl UsageCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &UsageCounts) {
        self.hits += other.hits;
        self.total_us += other.total_us;
        self.upstream_us += other.upstream_us;
        self.max_us = self.max_us.max(other.max_us);
        self.request_bytes += other.request_bytes;
        self.response_bytes += other.response_bytes;
        self.buckets.iter_mut().zip(other.buckets).for_each(|(own, more)| *own += more);
    }
}

impl Usage {
    /// Opens the usage file in a directory, and creates it if it is missing.
    pub fn open(directory: &Path) -> Result<Self, StoreFault> {
        std::fs::create_dir_all(directory).map_err(|error| StoreFault::new(StoreFaultKind::Io, error))?;
        let usage = Usage { path: directory.join("usage.db") };
        let mut connection = usage.connect()?;
        connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))?;
        let transaction = connection.transaction()?;
        for (table, minutes) in TABLES {
            create(&transaction, table, minutes)?;
        }
        transaction
            .execute_batch("CREATE TABLE IF NOT EXISTS last_seen (key TEXT PRIMARY KEY, minute INTEGER NOT NULL) WITHOUT ROWID")?;
        transaction.commit()?;
        Ok(usage)
    }

    pub(crate) fn connect(&self) -> Result<Connection, StoreFault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(BUSY)?;
        // Usage may lose its last seconds in a power failure, but is never corrupted.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(connection)
    }

    /// Adds counts to the existing ones.
    pub fn add(&self, rows: &[(UsageKey, UsageCounts)]) -> Result<(), StoreFault> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction()?;
        for (table, minutes) in TABLES {
            let mut sums: BTreeMap<UsageKey, UsageCounts> = BTreeMap::new();
            for (key, counts) in rows {
                let minute = key.minute.div_euclid(minutes) * minutes;
                sums.entry(UsageKey { minute, ..key.clone() }).or_default().add(counts);
            }
            add_to(&transaction, table, &sums)?;
        }
        let mut seen: HashMap<&str, i64> = HashMap::new();
        for (key, _) in rows.iter().filter(|(key, _)| !key.key.is_empty() && key.key != OTHER) {
            let last = seen.entry(&key.key).or_insert(key.minute);
            *last = key.minute.max(*last);
        }
        {
            let mut statement = transaction
                .prepare("INSERT INTO last_seen VALUES (?1, ?2) ON CONFLICT DO UPDATE SET minute = max(minute, excluded.minute)")?;
            for (key, minute) in seen {
                statement.execute((key, minute))?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Deletes everything before a minute. Returns the number of rows.
    pub fn remove_before(&self, minute: i64) -> Result<usize, StoreFault> {
        let connection = self.connect()?;
        let mut removed = connection.execute("DELETE FROM last_seen WHERE minute < ?1", [minute])?;
        for (table, minutes) in TABLES {
            // An interval goes when all of it is too old.
            removed += connection.execute(&format!("DELETE FROM {table} WHERE minute < ?1 - {}", minutes - 1), [minute])?;
        }
        Ok(removed)
    }

    /// The minute in which a key was used last.
    pub fn last_seen(&self, key: &str) -> Result<Option<i64>, StoreFault> {
        let connection = self.connect()?;
        Ok(connection.query_row("SELECT minute FROM last_seen WHERE key = ?1", [key], |row| row.get(0)).optional()?)
    }

    /// Answers a query, however long it takes.
    pub fn ask(&self, question: &UsageQuestion) -> Result<Vec<UsageRow>, StoreFault> {
        Ok(self.answer(question, None)?.rows)
    }

    /// Answers a query, from the latest interval back. After `deadline`, the answer is what was read so far.
    pub fn answer(&self, question: &UsageQuestion, deadline: Option<Instant>) -> Result<UsageAnswer, StoreFault> {
        let connection = self.connect()?;
        let mut groups: UsageGroups = HashMap::new();
        let mut partial_from = None;
        let mut read_from = question.to;
        let Some((first, end)) = stored(&connection)? else { return Ok(UsageAnswer { rows: Vec::new(), partial_from }) };
        for (table, from, to) in pieces(question, question.from.max(first), question.to.min(end)) {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) || groups.len() > GROUPS_MAX {
                partial_from = Some(read_from);
                break;
            }
            read(&connection, table, from, to, question, &mut groups)?;
            read_from = from;
        }
        Ok(UsageAnswer { rows: rows(question, groups), partial_from })
    }
}

type UsageGroups = HashMap<(String, Option<String>), UsageRow>;

/// Creates a table of sums; if it is new, from the minutes that there are.
fn create(transaction: &Transaction<'_>, table: &str, minutes: i64) -> Result<(), StoreFault> {
    let known: Option<i64> = transaction
        .query_row("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1", [table], |row| row.get(0))
        .optional()?;
    if known.is_some() {
        return Ok(());
    }
    let buckets: String = bucket_names().map(|name| format!(", {name} INTEGER NOT NULL")).collect();
    transaction.execute_batch(&format!(
        "CREATE TABLE {table} (
            minute INTEGER NOT NULL, api TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL, method TEXT NOT NULL,
            path TEXT NOT NULL, status INTEGER NOT NULL, hits INTEGER NOT NULL, total_us INTEGER NOT NULL,
            upstream_us INTEGER NOT NULL, max_us INTEGER NOT NULL, request_bytes INTEGER NOT NULL,
            response_bytes INTEGER NOT NULL{buckets},
            PRIMARY KEY (minute, api, key, version, method, path, status)) WITHOUT ROWID"
    ))?;
    if minutes > 1 {
        let sums: String = bucket_names().map(|name| format!(", SUM({name})")).collect();
        transaction.execute_batch(&format!(
            "INSERT INTO {table} SELECT minute / {minutes} * {minutes}, api, key, version, method, path, status, SUM(hits), SUM(total_us),
                SUM(upstream_us), MAX(max_us), SUM(request_bytes), SUM(response_bytes){sums}
             FROM usage GROUP BY 1, 2, 3, 4, 5, 6, 7"
        ))?;
    }
    Ok(())
}

fn add_to(transaction: &Transaction<'_>, table: &str, rows: &BTreeMap<UsageKey, UsageCounts>) -> Result<(), StoreFault> {
    let sums = "hits total_us upstream_us request_bytes response_bytes".split(' ').map(str::to_owned).chain(bucket_names());
    let sums: Vec<String> = sums.map(|name| format!("{name} = {name} + excluded.{name}")).collect();
    let places = vec!["?"; 13 + BUCKETS].join(", ");
    let mut statement = transaction.prepare(&format!(
        "INSERT INTO {table} VALUES ({places}) ON CONFLICT DO UPDATE SET {}, max_us = max(max_us, excluded.max_us)",
        sums.join(", ")
    ))?;
    for (key, counts) in rows {
        let number = |count: u64| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        let texts = [&key.api, &key.key, &key.version, &key.method, &key.path].map(|text| Value::Text(text.clone()));
        let numbers = [counts.hits, counts.total_us, counts.upstream_us, counts.max_us];
        let bytes = [counts.request_bytes, counts.response_bytes];
        let values = std::iter::once(Value::Integer(key.minute))
            .chain(texts)
            .chain([Value::Integer(i64::from(key.status))])
            .chain(numbers.into_iter().chain(bytes).chain(counts.buckets).map(number));
        statement.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// The first minute of the first day with sums, and the minute after the last day; `None` without sums.
fn stored(connection: &Connection) -> Result<Option<(i64, i64)>, StoreFault> {
    let of_row = |row: &Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?));
    let (first, last) = connection.query_row("SELECT min(minute), max(minute) FROM usage_day", (), of_row)?;
    Ok(first.zip(last).map(|(first, last)| (first, last + 24 * 60)))
}

/// The parts of the period, latest first: whole days and hours where they fit, minutes at the edges. A part takes one query.
fn pieces(question: &UsageQuestion, start: i64, end: i64) -> Vec<(&'static str, i64, i64)> {
    let step = match question.by {
        UsageBy::Time(minutes) => i64::from(minutes.max(1)),
        _ => 24 * 60,
    };
    let mut pieces = Vec::new();
    let mut to = end;
    while to > start {
        // The longest interval that ends here, begins in the period and does not span two rows.
        let fits = |(_, minutes): &&(&str, i64)| to.rem_euclid(*minutes) == 0 && to - minutes >= start && step % minutes == 0;
        let (table, minutes) = TABLES.iter().rev().find(fits).copied().unwrap_or(("usage", 1));
        let floor = match minutes {
            // To the next hour or day, where a longer interval may fit.
            1 if step % 60 == 0 => (to - 1).div_euclid(60) * 60,
            60 if step % (24 * 60) == 0 => (to - 1).div_euclid(24 * 60) * 24 * 60,
            1 | 60 => to - 6 * 60,
            _ => to - minutes,
        };
        let from = floor.max(start);
        // Whole intervals only.
        let from = from + (to - from).rem_euclid(minutes);
        pieces.push((table, from, to));
        to = from;
    }
    pieces
}

/// The SQL of a dimension.
fn column(by: UsageBy) -> String {
    match by {
        UsageBy::Time(minutes) => format!("minute / {0} * {0}", minutes.max(1)),
        by => by.name().to_owned(),
    }
}

/// Adds the sums of one part of the period.
fn read(
    connection: &Connection,
    table: &str,
    from: i64,
    to: i64,
    question: &UsageQuestion,
    groups: &mut UsageGroups,
) -> Result<(), StoreFault> {
    let mut parameters = vec![Value::Integer(from), Value::Integer(to)];
    let mut wanted = String::new();
    let texts = [
        ("api", &question.api),
        ("key", &question.key),
        ("path", &question.path),
        ("version", &question.version),
        ("method", &question.method),
    ];
    for (column, text) in texts {
        if let Some(text) = text {
            parameters.push(Value::Text(text.clone()));
            wanted.push_str(&format!(" AND {column} = ?{}", parameters.len()));
        }
    }
    if !question.keys.is_empty() {
        let places = vec!["?"; question.keys.len()].join(", ");
        wanted.push_str(&format!(" AND key IN ({places})"));
        parameters.extend(question.keys.iter().cloned().map(Value::Text));
    }
    if let Some((first, last)) = question.status {
        wanted.push_str(&format!(" AND status BETWEEN {first} AND {last}"));
    }
    let buckets: String = bucket_names().map(|name| format!(", SUM({name})")).collect();
    let (value, split) = (column(question.by), question.split.map_or_else(|| "NULL".to_owned(), column));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT CAST({value} AS TEXT), CAST({split} AS TEXT), SUM(hits), SUM(CASE WHEN status < 400 THEN hits ELSE 0 END), SUM(total_us),
            SUM(upstream_us), MAX(max_us), SUM(request_bytes), SUM(response_bytes), MAX(minute){buckets}
         FROM {table} WHERE minute >= ?1 AND minute < ?2{wanted} GROUP BY 1, 2"
    ))?;
    let mut found = statement.query(params_from_iter(parameters))?;
    while let Some(found) = found.next()? {
        let more = row(found)?;
        merge(groups, more);
    }
    Ok(())
}

fn merge(groups: &mut UsageGroups, more: UsageRow) {
    match groups.get_mut(&(more.value.clone(), more.split.clone())) {
        Some(own) => {
            own.counts.add(&more.counts);
            own.good += more.good;
            own.last_minute = own.last_minute.max(more.last_minute);
        }
        None => drop(groups.insert((more.value.clone(), more.split.clone()), more)),
    }
}

/// The rows in order: the most used first, or by time.
fn rows(question: &UsageQuestion, groups: UsageGroups) -> Vec<UsageRow> {
    let groups = if question.split.is_some() { named_splits(groups) } else { groups };
    let mut totals: HashMap<String, u64> = HashMap::new();
    groups.values().for_each(|row| *totals.entry(row.value.clone()).or_default() += row.counts.hits);
    let mut order: Vec<(String, u64)> = totals.into_iter().collect();
    match question.by {
        UsageBy::Time(_) => order.sort_by_key(|(value, _)| value.parse::<i64>().unwrap_or_default()),
        _ => order.sort_by(|(a_value, a), (b_value, b)| b.cmp(a).then_with(|| a_value.cmp(b_value))),
    }
    let places: HashMap<String, usize> =
        order.into_iter().take(question.rows_max).enumerate().map(|(place, (value, _))| (value, place)).collect();
    let mut rows: Vec<(usize, UsageRow)> = groups.into_values().filter_map(|row| Some((*places.get(&row.value)?, row))).collect();
    rows.sort_by(|(a, a_row), (b, b_row)| {
        a.cmp(b).then_with(|| b_row.counts.hits.cmp(&a_row.counts.hits)).then_with(|| a_row.split.cmp(&b_row.split))
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Sums the values of the second dimension that are not among the most used.
fn named_splits(groups: UsageGroups) -> UsageGroups {
    let mut totals: HashMap<Option<String>, u64> = HashMap::new();
    groups.values().for_each(|row| *totals.entry(row.split.clone()).or_default() += row.counts.hits);
    let mut order: Vec<_> = totals.into_iter().collect();
    order.sort_by(|(a_value, a), (b_value, b)| b.cmp(a).then_with(|| a_value.cmp(b_value)));
    let named: Vec<Option<String>> = order.into_iter().take(SPLITS_MAX).map(|(value, _)| value).collect();
    let mut summed = UsageGroups::new();
    for mut row in groups.into_values() {
        if !named.contains(&row.split) {
            row.split = Some(OTHER.to_owned());
        }
        merge(&mut summed, row);
    }
    summed
}

fn row(row: &Row<'_>) -> rusqlite::Result<UsageRow> {
    let number = |index: usize| row.get::<_, i64>(index).map(|number| u64::try_from(number).unwrap_or_default());
    let mut buckets = [0; BUCKETS];
    for (index, bucket) in buckets.iter_mut().enumerate() {
        *bucket = number(10 + index)?;
    }
    Ok(UsageRow {
        value: row.get(0)?,
        split: row.get(1)?,
        good: number(3)?,
        last_minute: row.get(9)?,
        counts: UsageCounts {
            hits: number(2)?,
            total_us: number(4)?,
            upstream_us: number(5)?,
            max_us: number(6)?,
            request_bytes: number(7)?,
            response_bytes: number(8)?,
            buckets,
        },
    })
}

fn bucket_names() -> impl Iterator<Item = String> {
    (0..BUCKETS).map(|index| format!("b{index}"))
}

#[cfg(test)]
mod tests;
