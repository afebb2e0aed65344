//! The SQL: carries out questions on one connection, within a transaction that the caller bounds.

use super::schema;
use crate::fault::{StoreFault, StoreFaultKind};
use crate::question::{Answer, CounterValue, DocumentSpace, PAGE_BYTES_MAX, PAGE_DOCUMENTS_MAX, Page, Question};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum wait for an operator's tool that has locked the database.
const BUSY_MS_MAX: u64 = 5_000;
/// The writer's page cache, as negative KiB: the inner pages of a million sessions.
const CACHE_KIB: i64 = -16_384;
/// Pages of 4 KiB in the log before they are moved to the database: 16 MiB, because names come in no order and a batch may touch as
/// many pages as it has questions. More would only enlarge the file and slow down the next start.
const LOG_PAGES_MAX: i64 = 4_096;

/// A connection.
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the file for reading and writing, and upgrades it.
    pub(super) fn open(path: &Path) -> Result<Self, StoreFault> {
        Database::open_or_fault(path).map_err(|fault: StoreFault| fault.within(path))
    }

    fn open_or_fault(path: &Path) -> Result<Self, StoreFault> {
        let mut connection = Connection::open_with_flags(path, flags())?;
        connection.busy_timeout(Duration::from_millis(BUSY_MS_MAX))?;
        let mode: String = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0))?;
        if mode != "wal" {
            let detail = format_args!("the file system does not take a write-ahead log (journal mode {mode})");
            return Err(StoreFault::new(StoreFaultKind::Io, detail));
        }
        // Synced with every transaction: answered changes survive a power failure too.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "cache_size", CACHE_KIB)?;
        connection.query_row(&format!("PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX}"), (), |_| Ok(()))?;
        // Truncates a log that grew because a long walk kept it from being emptied.
        connection.query_row(&format!("PRAGMA journal_size_limit = {}", LOG_PAGES_MAX * 4_096), (), |_| Ok(()))?;
        schema::migrate(&mut connection)?;
        Ok(Database { connection, path: path.to_owned() })
    }

    /// Opens the file for reading, in addition to the writer.
    pub(super) fn open_for_reading(path: &Path) -> Result<Self, StoreFault> {
        let database = Database::open_beside(path)?;
        let only = database.connection.pragma_update(None, "query_only", true);
        only.map_err(|error| StoreFault::from(error).within(path)).map(|()| database)
    }

    /// Opens the file briefly, in addition to the writer.
    pub(super) fn open_beside(path: &Path) -> Result<Self, StoreFault> {
        let open = || {
            let connection = Connection::open_with_flags(path, flags())?;
            connection.busy_timeout(Duration::from_millis(BUSY_MS_MAX))?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            Ok(Database { connection, path: path.to_owned() })
        };
        open().map_err(|fault: StoreFault| fault.within(path))
    }

    #[cfg(test)]
    pub(super) fn execute_batch(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }

    /// Moves the log into the database and empties it. Until the next change, the database file alone is the store.
    pub(super) fn fold_log(&self) -> Result<(), StoreFault> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy = self.connection.query_row(sql, (), |row| row.get::<_, bool>(0));
        match is_busy.map_err(|error| StoreFault::from(error).within(&self.path))? {
            false => Ok(()),
            true => Err(StoreFault::new(StoreFaultKind::Unavailable, "another program reads the database")),
        }
    }

    /// Writes a value that the database already has to the log.
    pub(super) fn try_write(&mut self) -> Result<(), StoreFault> {
        let mut write = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let version: i64 = transaction.query_row("PRAGMA user_version", (), |row| row.get(0))?;
            transaction.pragma_update(None, "user_version", version)?;
            Ok(transaction.commit()?)
        };
        write().map_err(|fault: StoreFault| fault.within(&self.path))
    }

    /// Carries out all of the work and syncs it to the disk, or nothing.
    pub(super) fn transaction<T>(&mut self, work: impl FnOnce(&Statements) -> Result<T, StoreFault>) -> Result<T, StoreFault> {
        let Database { connection, path } = self;
        Self::carry_out(connection, work).map_err(|fault| if fault.is_of_files() { fault.within(path) } else { fault })
    }

    fn carry_out<T>(connection: &mut Connection, work: impl FnOnce(&Statements) -> Result<T, StoreFault>) -> Result<T, StoreFault> {
        // Starts without a lock, so that reads alone neither lock nor sync. Dropped without a commit, it is rolled back.
        let statements = Statements { transaction: connection.transaction()? };
        let done = work(&statements)?;
        statements.transaction.commit()?;
        Ok(done)
    }

    pub(super) fn for_each(&self, kind: DocumentSpace, now: u64, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        self.walk_documents(kind, now, see).map_err(|fault| fault.within(&self.path))
    }

    pub(super) fn for_each_counter(&self, now: u64, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault> {
        self.walk_counters(now, see).map_err(|fault| fault.within(&self.path))
    }

    fn walk_documents(&self, kind: DocumentSpace, now: u64, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        let sql = "SELECT id, value FROM document
            WHERE kind = ?1 AND (expires_unix_s IS NULL OR expires_unix_s > ?2) ORDER BY id";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query((kind.code(), seconds(now)))?;
        while let Some(row) = rows.next()? {
            see(text(row, 0)?, blob(row, 1)?);
        }
        Ok(())
    }

    fn walk_counters(&self, now: u64, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault> {
        let sql = "SELECT name, value, renews_unix_s FROM counter WHERE renews_unix_s > ?1 ORDER BY name";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([seconds(now)])?;
        while let Some(row) = rows.next()? {
            see(counter(row)?);
        }
        Ok(())
    }
}

/// The operations within a transaction.
pub(super) struct Statements<'c> {
    transaction: Transaction<'c>,
}

impl Statements<'_> {
    /// Carries out a question.
    pub(super) fn answer(&self, question: &Question, now: u64) -> Result<Answer, StoreFault> {
        match question {
            Question::Get { kind, id } => self.get(*kind, id, now).map(Answer::Document),
            Question::Put { kind, id, value, expires_unix_s } => {
                let existed = self.lives(*kind, id, now)?;
                self.put(*kind, id, value, *expires_unix_s)?;
                Ok(Answer::Done { existed })
            }
            Question::PutNew { kind, id, value, expires_unix_s } => {
                let existed = self.lives(*kind, id, now)?;
                if !existed {
                    self.put(*kind, id, value, *expires_unix_s)?;
                }
                Ok(Answer::Done { existed })
            }
            Question::Replace { kind, id, old, value, expires_unix_s } => {
                let existed = self.get(*kind, id, now)?.as_ref() == Some(old);
                if existed {
                    self.put(*kind, id, value, *expires_unix_s)?;
                }
                Ok(Answer::Done { existed })
            }
            Question::Delete { kind, id } => {
                let existed = self.lives(*kind, id, now)?;
                self.execute("DELETE FROM document WHERE kind = ?1 AND id = ?2", (kind.code(), id))?;
                Ok(Answer::Done { existed })
            }
            Question::List { kind, prefix, after, limit } => {
                self.list(*kind, prefix, after.as_deref(), *limit, now).map(Answer::Page)
            }
            Question::Counters { names } => self.counters(names, now).map(Answer::Counters),
            Question::SaveCounters { counters } => {
                counters.iter().try_for_each(|counter| self.save_counter(counter))?;
                Ok(Answer::Done { existed: false })
            }
            Question::DeleteCounters { names } => {
                let existed = !self.counters(names, now)?.is_empty();
                for name in names {
                    self.execute("DELETE FROM counter WHERE name = ?1", [name])?;
                }
                Ok(Answer::Done { existed })
            }
            Question::DeleteCountersUnder { prefix } => self.delete_counters_under(prefix, now),
        }
    }

    /// Deletes some expired rows, and returns their number.
    pub(super) fn remove_expired(&self, now: u64, rows_max: usize) -> Result<usize, StoreFault> {
        let bounds = (seconds(now), i64::try_from(rows_max).unwrap_or(i64::MAX));
        let documents = "DELETE FROM document WHERE (kind, id) IN
            (SELECT kind, id FROM document WHERE expires_unix_s <= ?1 LIMIT ?2)";
        let counters = "DELETE FROM counter WHERE name IN (SELECT name FROM counter WHERE renews_unix_s <= ?1 LIMIT ?2)";
        Ok(self.execute(documents, bounds)?.max(self.execute(counters, bounds)?))
    }

    fn get(&self, kind: DocumentSpace, id: &str, now: u64) -> Result<Option<Vec<u8>>, StoreFault> {
        let sql = "SELECT value FROM document
            WHERE kind = ?1 AND id = ?2 AND (expires_unix_s IS NULL OR expires_unix_s > ?3)";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let mut rows = statement.query((kind.code(), id, seconds(now)))?;
        rows.next()?.map(|row| Ok(blob(row, 0)?.to_vec())).transpose()
    }

    fn lives(&self, kind: DocumentSpace, id: &str, now: u64) -> Result<bool, StoreFault> {
        let sql = "SELECT 1 FROM document
            WHERE kind = ?1 AND id = ?2 AND (expires_unix_s IS NULL OR expires_unix_s > ?3)";
        Ok(self.transaction.prepare_cached(sql)?.exists((kind.code(), id, seconds(now)))?)
    }

    fn put(&self, kind: DocumentSpace, id: &str, value: &[u8], expires_unix_s: Option<u64>) -> Result<(), StoreFault> {
        let sql = "INSERT OR REPLACE INTO document (kind, id, value, expires_unix_s) VALUES (?1, ?2, ?3, ?4)";
        self.execute(sql, (kind.code(), id, value, expires_unix_s.map(seconds))).map(|_| ())
    }

    fn list(&self, kind: DocumentSpace, prefix: &str, after: Option<&str>, limit: usize, now: u64) -> Result<Page, StoreFault> {
        let limit = limit.clamp(1, PAGE_DOCUMENTS_MAX);
        let first = after.map_or(prefix, |after| after.max(prefix));
        let sql = "SELECT id, value FROM document
            WHERE kind = ?1 AND id >= ?2 AND (expires_unix_s IS NULL OR expires_unix_s > ?3) ORDER BY id";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let mut rows = statement.query((kind.code(), first, seconds(now)))?;
        let mut page = Page::default();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let id = text(row, 0)?;
            if !id.starts_with(prefix) {
                break;
            }
            if Some(id) == after {
                continue;
            }
            if page.documents.len() == limit || bytes >= PAGE_BYTES_MAX {
                page.next = page.documents.last().map(|(id, _)| id.clone());
                break;
            }
            let value = blob(row, 1)?;
            bytes += id.len() + value.len();
            page.documents.push((id.to_owned(), value.to_vec()));
        }
        Ok(page)
    }

    fn counters(&self, names: &[String], now: u64) -> Result<Vec<CounterValue>, StoreFault> {
        let sql = "SELECT name, value, renews_unix_s FROM counter WHERE name = ?1 AND renews_unix_s > ?2";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let mut counters = Vec::new();
        for name in names {
            let mut rows = statement.query((name, seconds(now)))?;
            if let Some(row) = rows.next()? {
                counters.push(counter(row)?);
            }
        }
        Ok(counters)
    }

    /// Usually only the value is new, and the index of expiries does not change.
    fn save_counter(&self, counter: &CounterValue) -> Result<(), StoreFault> {
        let values = (&counter.name, counter.value, seconds(counter.renews_unix_s));
        let known = self.execute("UPDATE counter SET value = ?2 WHERE name = ?1 AND renews_unix_s = ?3", values)?;
        if known == 0 {
            self.execute("INSERT OR REPLACE INTO counter (name, value, renews_unix_s) VALUES (?1, ?2, ?3)", values)?;
        }
        Ok(())
    }

    fn delete_counters_under(&self, prefix: &str, now: u64) -> Result<Answer, StoreFault> {
        let living = "SELECT 1 FROM counter WHERE name >= ?1 AND (?2 IS NULL OR name < ?2) AND renews_unix_s > ?3";
        let existed = self.transaction.prepare_cached(living)?.exists((prefix, end_of(prefix), seconds(now)))?;
        self.execute("DELETE FROM counter WHERE name >= ?1 AND (?2 IS NULL OR name < ?2)", (prefix, end_of(prefix)))?;
        Ok(Answer::Done { existed })
    }

    fn execute(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<usize, StoreFault> {
        Ok(self.transaction.prepare_cached(sql)?.execute(parameters)?)
    }
}

/// Threads do not share a connection, so SQLite need not lock it. The file exists already, with its mode.
fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// The column holds 63 bits, which no clock reaches.
fn seconds(unix_s: u64) -> i64 {
    i64::try_from(unix_s).unwrap_or(i64::MAX)
}

/// The first text after all texts with this `prefix`; `None` if there is no such text.
fn end_of(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        // This also skips the gap of the surrogates.
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

fn counter(row: &Row<'_>) -> Result<CounterValue, StoreFault> {
    let renews_unix_s = match row.get::<_, i64>(2)? {
        i64::MAX => u64::MAX,
        seconds => u64::try_from(seconds).unwrap_or(0),
    };
    Ok(CounterValue { name: text(row, 0)?.to_owned(), value: row.get(1)?, renews_unix_s })
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, StoreFault> {
    row.get_ref(column)?.as_str().map_err(|error| StoreFault::new(StoreFaultKind::Corrupt, error))
}

fn blob<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], StoreFault> {
    row.get_ref(column)?.as_blob().map_err(|error| StoreFault::new(StoreFaultKind::Corrupt, error))
}

impl From<rusqlite::Error> for StoreFault {
    fn from(error: rusqlite::Error) -> Self {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreFaultKind::Corrupt,
            Some(ErrorCode::DiskFull) => StoreFaultKind::Full,
            Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen) => StoreFaultKind::Denied,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreFaultKind::Unavailable,
            Some(ErrorCode::TooBig) => StoreFaultKind::TooLarge,
            Some(_) => StoreFaultKind::Io,
            // Not an error of SQLite but of decoding a row: a column does not hold what was written.
            None => StoreFaultKind::Corrupt,
        };
        StoreFault::new(kind, error)
    }
}

#[cfg(test)]
mod tests;
