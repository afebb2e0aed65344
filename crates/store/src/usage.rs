//! Usage by minute, in a separate file: how often an API, a key or a path was used, for how long and with what result. Adding a batch is
//! one transaction; a query sums over a period. Independent of HTTP.

use crate::fault::{StoreFault, StoreFaultKind};
use rusqlite::{Connection, OpenFlags, Row, params_from_iter, types::Value};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum wait for another process that uses the file.
const BUSY: Duration = Duration::from_secs(5);
/// Number of buckets of durations; the last one is for everything above all bounds.
pub const BUCKETS: usize = 17;

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
#[derive(Clone, Debug, PartialEq, Eq, Default)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A query.
#[derive(Clone, Debug)]
pub struct UsageQuestion {
    /// First minute.
    pub from: i64,
    /// The first minute after the period.
    pub to: i64,
    /// Only this API.
    pub api: Option<String>,
    /// Only this key.
    pub key: Option<String>,
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
    /// Maximum rows: those with the most hits, or the earliest intervals.
    pub rows_max: usize,
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// The value of the group; for intervals, the first minute.
    pub value: String,
    /// Sums.
    pub counts: UsageCounts,
    /// Requests with a status below 400.
    pub good: u64,
}

/// The file.
#[derive(Clone, Debug)]
pub struct Usage {
    path: PathBuf,
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
        let connection = usage.connect()?;
        connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))?;
        let buckets: String = bucket_names().map(|name| format!(", {name} INTEGER NOT NULL")).collect();
        connection.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS usage (
                minute INTEGER NOT NULL, api TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL, method TEXT NOT NULL,
                path TEXT NOT NULL, status INTEGER NOT NULL, hits INTEGER NOT NULL, total_us INTEGER NOT NULL,
                upstream_us INTEGER NOT NULL, max_us INTEGER NOT NULL, request_bytes INTEGER NOT NULL,
                response_bytes INTEGER NOT NULL{buckets},
                PRIMARY KEY (minute, api, key, version, method, path, status)) WITHOUT ROWID"
        ))?;
        Ok(usage)
    }

    fn connect(&self) -> Result<Connection, StoreFault> {
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
        {
            let sums = "hits total_us upstream_us request_bytes response_bytes".split(' ').map(str::to_owned).chain(bucket_names());
            let sums: Vec<String> = sums.map(|name| format!("{name} = {name} + excluded.{name}")).collect();
            let places = vec!["?"; 13 + BUCKETS].join(", ");
            let mut statement = transaction.prepare(&format!(
                "INSERT INTO usage VALUES ({places}) ON CONFLICT DO UPDATE SET {}, max_us = max(max_us, excluded.max_us)",
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
        }
        transaction.commit()?;
        Ok(())
    }

    /// Deletes everything before a minute. Returns the number of rows.
    pub fn remove_before(&self, minute: i64) -> Result<usize, StoreFault> {
        Ok(self.connect()?.execute("DELETE FROM usage WHERE minute < ?1", [minute])?)
    }

    /// Answers a query.
    pub fn ask(&self, question: &UsageQuestion) -> Result<Vec<UsageRow>, StoreFault> {
        let connection = self.connect()?;
        let (value, order) = match question.by {
            UsageBy::Api => ("api".to_owned(), "2 DESC, 1"),
            UsageBy::Key => ("key".to_owned(), "2 DESC, 1"),
            UsageBy::Version => ("version".to_owned(), "2 DESC, 1"),
            UsageBy::Method => ("method".to_owned(), "2 DESC, 1"),
            UsageBy::Path => ("path".to_owned(), "2 DESC, 1"),
            UsageBy::Status => ("status".to_owned(), "2 DESC, 1"),
            UsageBy::Time(minutes) => (format!("minute / {0} * {0}", minutes.max(1)), "1"),
        };
        let mut parameters = vec![Value::Integer(question.from), Value::Integer(question.to)];
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
        if let Some((first, last)) = question.status {
            wanted.push_str(&format!(" AND status BETWEEN {first} AND {last}"));
        }
        parameters.push(Value::Integer(i64::try_from(question.rows_max).unwrap_or(i64::MAX)));
        let buckets: String = bucket_names().map(|name| format!(", SUM({name})")).collect();
        let mut statement = connection.prepare(&format!(
            "SELECT CAST({value} AS TEXT), SUM(hits), SUM(CASE WHEN status < 400 THEN hits ELSE 0 END), SUM(total_us), SUM(upstream_us),
                MAX(max_us), SUM(request_bytes), SUM(response_bytes){buckets}
             FROM usage WHERE minute >= ?1 AND minute < ?2{wanted} GROUP BY {value} ORDER BY {order} LIMIT ?{}",
            parameters.len()
        ))?;
        let rows = statement.query_map(params_from_iter(parameters), row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn row(row: &Row<'_>) -> rusqlite::Result<UsageRow> {
    let number = |index: usize| row.get::<_, i64>(index).map(|number| u64::try_from(number).unwrap_or_default());
    let mut buckets = [0; BUCKETS];
    for (index, bucket) in buckets.iter_mut().enumerate() {
        *bucket = number(8 + index)?;
    }
    Ok(UsageRow {
        value: row.get(0)?,
        good: number(2)?,
        counts: UsageCounts {
            hits: number(1)?,
            total_us: number(3)?,
            upstream_us: number(4)?,
            max_us: number(5)?,
            request_bytes: number(6)?,
            response_bytes: number(7)?,
            buckets,
        },
    })
}

fn bucket_names() -> impl Iterator<Item = String> {
    (0..BUCKETS).map(|index| format!("b{index}"))
}

#[cfg(test)]
mod tests;
