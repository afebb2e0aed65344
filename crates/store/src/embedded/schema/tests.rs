use super::STEPS;
use crate::embedded::Embedded;
use crate::embedded::tests::{fault, get, put, wait};
use crate::question::{Answer, DocumentSpace, Question};
use crate::{Clock, Store, StoreFaultKind};
use std::path::Path;
use std::sync::Arc;
use tempfile::tempdir;

/// What the program of each schema's first release wrote, made by `scripts/store-fixture.py`.
const WRITTEN: [&str; STEPS.len()] = [include_str!("version_1.sql")];

/// When the fixtures were new: nothing in them has expired.
const NOW_UNIX_S: u64 = 1_795_900_000;

fn database(directory: &Path, sql: &str) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(directory.join("tollgate.db")).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

fn open(directory: &Path) -> Embedded {
    let clock: Clock = Arc::new(|| NOW_UNIX_S);
    Embedded::open_with_clock(directory, clock).unwrap()
}

/// Every table, column and index.
fn tables(directory: &Path) -> Vec<String> {
    let connection = database(directory, "");
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").unwrap();
    let texts = statement.query_map((), |row| row.get::<_, String>(0)).unwrap();
    texts.map(|text| text.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn version(directory: &Path) -> usize {
    let version: i64 = database(directory, "").query_row("PRAGMA user_version", (), |row| row.get(0)).unwrap();
    usize::try_from(version).unwrap()
}

#[test]
fn the_store_of_every_released_schema_is_read_and_upgraded() {
    let new = tempdir().unwrap();
    open(new.path()).close();
    for (index, written) in WRITTEN.iter().enumerate() {
        let directory = tempdir().unwrap();
        let connection = database(directory.path(), written);
        let (id, value): (String, Vec<u8>) = connection
            .query_row("SELECT id, value FROM document WHERE kind = 1", (), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        let (name, used): (String, i64) =
            connection.query_row("SELECT name, value FROM counter", (), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        drop(connection);
        assert_eq!(version(directory.path()), index + 1);

        let store = open(directory.path());
        assert_eq!(wait(store.ask(get(&id))).unwrap(), Answer::Document(Some(value)));
        let Answer::Counters(counters) = wait(store.ask(Question::Counters { names: vec![name] })).unwrap() else {
            panic!("no counters")
        };
        assert_eq!(counters.iter().map(|counter| counter.value).collect::<Vec<_>>(), [used]);
        let latest = Question::Get { kind: DocumentSpace::Console, id: "revision/latest".to_owned() };
        assert_eq!(wait(store.ask(latest)).unwrap(), Answer::Document(Some(b"1".to_vec())));
        store.close();
        assert_eq!((version(directory.path()), tables(directory.path())), (STEPS.len(), tables(new.path())));
    }
}

/// A step of the kind that schema.rs allows.
const NEXT: &str = "ALTER TABLE document ADD COLUMN note TEXT NOT NULL DEFAULT 'new';
    CREATE TABLE more (a INTEGER);
    INSERT INTO more VALUES (7);
    CREATE INDEX document_note ON document (note);";

#[test]
fn the_store_of_the_next_version_serves_and_keeps_what_it_does_not_know() {
    let directory = tempdir().unwrap();
    let store = open(directory.path());
    wait(store.ask(put("a", b"1".to_vec(), None))).unwrap();
    store.close();
    let next = STEPS.len() + 1;
    drop(database(directory.path(), &format!("{NEXT} PRAGMA user_version = {next};")));
    let upgraded = tables(directory.path());

    let store = open(directory.path());
    assert_eq!(wait(store.ask(get("a"))).unwrap(), Answer::Document(Some(b"1".to_vec())));
    wait(store.ask(put("b", b"2".to_vec(), None))).unwrap();
    store.close();
    assert_eq!((version(directory.path()), tables(directory.path())), (next, upgraded));
    let connection = database(directory.path(), "");
    let count = |sql| connection.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((count("SELECT count(*) FROM document WHERE note = 'new'"), count("SELECT a FROM more")), (2, 7));
}

#[test]
fn a_store_two_steps_ahead_is_refused_and_left_alone() {
    let directory = tempdir().unwrap();
    open(directory.path()).close();
    let (known, ahead) = (STEPS.len(), STEPS.len() + 2);
    drop(database(directory.path(), &format!("PRAGMA user_version = {ahead};")));
    let refused = fault(Embedded::open(directory.path()));
    assert_eq!(refused.kind, StoreFaultKind::TooNew);
    assert!(
        refused.detail.ends_with(&format!("its schema is version {ahead}, this program knows versions up to {known}")),
        "{refused}"
    );
    assert_eq!(version(directory.path()), ahead);
    // The failed attempt released the lock.
    assert_eq!(fault(Embedded::open(directory.path())).kind, StoreFaultKind::TooNew);
}
