//! The tables, by version. `PRAGMA user_version` is the number of steps that a file has gone; a newer version of the gateway runs
//! the rest. A released step is never edited: a change is another step. The version before may go on with the file, so that an upgrade can be taken back:
//! a step adds tables, indices and columns with defaults. One that changes what is there has an empty step before it, which puts it two steps away.

use crate::fault::{StoreFault, StoreFaultKind};
use rusqlite::{Connection, TransactionBehavior};

/// The steps. Both tables are trees by name, without row numbers: names come in no order, so a change touches one page instead of
/// two.
const STEPS: [&str; 1] = [
    // 1: documents and counters.
    "CREATE TABLE document (
        kind INTEGER NOT NULL,
        id TEXT NOT NULL,
        value BLOB NOT NULL,
        expires_unix_s INTEGER,
        PRIMARY KEY (kind, id)
    ) WITHOUT ROWID;
    CREATE INDEX document_expiry ON document (expires_unix_s) WHERE expires_unix_s IS NOT NULL;
    CREATE TABLE counter (
        name TEXT NOT NULL PRIMARY KEY,
        value INTEGER NOT NULL,
        renews_unix_s INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX counter_renewal ON counter (renews_unix_s);",
];

/// Marks the file as ours (`Toll`), for SQLite's tools and to reject databases of other programs.
const APPLICATION_ID: i64 = 0x546f_6c6c;

/// How many steps of a newer version this one can live with, without knowing them.
const STEPS_AHEAD_MAX: usize = 1;

/// Upgrades a file to the latest version, all steps or none.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreFault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number = |pragma| transaction.query_row(pragma, (), |row| row.get::<_, i64>(0));
    let (application, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    if application != APPLICATION_ID && (application, version, tables) != (0, 0, 0) {
        return Err(StoreFault::new(StoreFaultKind::Corrupt, "the database belongs to another program"));
    }
    let known = STEPS.len();
    let done = usize::try_from(version).unwrap_or(0);
    if done > known + STEPS_AHEAD_MAX {
        let detail = format_args!("its schema is version {done}, this program knows versions up to {known}");
        return Err(StoreFault::new(StoreFaultKind::TooNew, detail));
    }
    if done >= known {
        return Ok(());
    }
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known as i64)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests;
