use super::super::tests::{get, put, wait};
use crate::{Embedded, Store, StoreFaultKind};
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// The files of a killed store: copied while they were open, in the order of their dependencies.
fn killed(directory: &Path, keys: u32) {
    let living = tempdir().unwrap();
    let store = Embedded::open(living.path()).unwrap();
    for key in 0..keys {
        wait(store.ask(put(&key.to_string(), b"1".to_vec(), None))).unwrap();
    }
    for name in ["tollgate.db", "tollgate.db-wal", "tollgate.db-shm"] {
        fs::copy(living.path().join(name), directory.join(name)).unwrap();
    }
}

/// Names in a directory other than those of an open store.
fn kept(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter(|name| !matches!(&**name, "tollgate.db" | "tollgate.db-wal" | "tollgate.db-shm" | "tollgate.lock")).collect();
    names.sort();
    names
}

fn has(store: &Embedded, id: u32) -> bool {
    wait(store.ask(get(&id.to_string()))).unwrap().into_document().unwrap().is_some()
}

#[test]
fn a_first_start_and_a_start_after_a_kill_keep_nothing() {
    let directory = tempdir().unwrap();
    Embedded::open(directory.path()).unwrap().close();
    assert_eq!(kept(directory.path()), [""; 0]);
    let directory = tempdir().unwrap();
    killed(directory.path(), 50);
    let store = Embedded::open(directory.path()).unwrap();
    assert!((0..50).all(|key| has(&store, key)));
    assert_eq!(kept(directory.path()), [""; 0]);
}

#[test]
fn an_emptied_file_is_kept_with_its_log() {
    let directory = tempdir().unwrap();
    killed(directory.path(), 50);
    fs::write(directory.path().join("tollgate.db"), "").unwrap();
    let log = fs::read(directory.path().join("tollgate.db-wal")).unwrap();
    let store = Embedded::open(directory.path()).unwrap();
    assert!(!has(&store, 0));
    let names = kept(directory.path());
    assert!(names.len() == 3 && names[0].starts_with("tollgate.db.emptied-2"), "{names:?}");
    assert_eq!(names[2], format!("{}-wal", names[0]));
    assert_eq!(fs::read(directory.path().join(&names[2])).unwrap(), log);
    // The new one is an ordinary store.
    wait(store.ask(put("new", b"1".to_vec(), None))).unwrap();
    store.close();
    Embedded::open(directory.path()).unwrap();
    assert_eq!(kept(directory.path()), names);
}

#[test]
fn a_log_without_its_file_is_kept() {
    let directory = tempdir().unwrap();
    killed(directory.path(), 50);
    fs::remove_file(directory.path().join("tollgate.db")).unwrap();
    Embedded::open(directory.path()).unwrap();
    assert_eq!(kept(directory.path()).len(), 2, "the log and its index");
}

#[test]
fn a_cut_log_is_kept_and_what_is_left_of_it_is_read() {
    for left in [0, 20, 32, 5_000, 40_000] {
        let directory = tempdir().unwrap();
        killed(directory.path(), 50);
        let log = directory.path().join("tollgate.db-wal");
        fs::File::options().write(true).open(&log).unwrap().set_len(left).unwrap();
        let database = fs::read(directory.path().join("tollgate.db")).unwrap();
        let store = Embedded::open(directory.path()).unwrap();
        assert!(!has(&store, 49), "{left}");
        let names = kept(directory.path());
        assert!(names.len() == 2 && names[0].starts_with("tollgate.db.cut-2"), "{left}: {names:?}");
        assert_eq!(fs::read(directory.path().join(&names[0])).unwrap(), database);
        assert_eq!(fs::metadata(directory.path().join(&names[1])).unwrap().len(), left);
        store.close();
        Embedded::open(directory.path()).unwrap();
        assert_eq!(kept(directory.path()), names, "once is enough");
    }
}

#[test]
fn a_log_of_which_nothing_is_needed_can_be_cut() {
    let living = tempdir().unwrap();
    let store = Embedded::open(living.path()).unwrap();
    wait(store.ask(put("1", b"1".to_vec(), None))).unwrap();
    store.fold_log().unwrap();
    let directory = tempdir().unwrap();
    fs::copy(living.path().join("tollgate.db"), directory.path().join("tollgate.db")).unwrap();
    fs::copy(living.path().join("tollgate.db-shm"), directory.path().join("tollgate.db-shm")).unwrap();
    assert!(has(&Embedded::open(directory.path()).unwrap(), 1), "the file alone has everything");
    assert_eq!(kept(directory.path()), [""; 0]);
    wait(store.ask(put("2", b"1".to_vec(), None))).unwrap();
    assert!(has(&store, 2), "it goes on");
}

#[test]
fn a_database_that_is_none_is_not_touched_and_named() {
    for (name, make) in [
        ("text", (|database: Vec<u8>| vec![b'x'; database.len()]) as fn(Vec<u8>) -> Vec<u8>),
        ("cut", |mut database| {
            database.truncate(database.len() - 5_000);
            database
        }),
    ] {
        let directory = tempdir().unwrap();
        let store = Embedded::open(directory.path()).unwrap();
        for key in 0..200 {
            wait(store.ask(put(&key.to_string(), vec![b'1'; 500], None))).unwrap();
        }
        store.close();
        let path = directory.path().join("tollgate.db");
        let damaged = make(fs::read(&path).unwrap());
        fs::write(&path, &damaged).unwrap();
        let fault = Embedded::open(directory.path()).err().expect(name);
        assert_eq!(fault.kind, StoreFaultKind::Corrupt, "{name}: {fault}");
        assert!(fault.to_string().contains(path.to_str().unwrap()), "{name}: {fault}");
        assert_eq!(fs::read(&path).unwrap(), damaged, "{name}");
    }
}
