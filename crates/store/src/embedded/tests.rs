use super::database::Database;
use super::files::Files;
use super::{Embedded, QUEUE_BYTES_MAX};
use crate::question::{DOCUMENT_BYTES_MAX, DocumentSpace, Question};
use crate::{Clock, Store, StoreFault, StoreFaultKind, clock};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tempfile::tempdir;

pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(super) fn put(id: &str, value: Vec<u8>, expires_unix_s: Option<u64>) -> Question {
    Question::Put { kind: DocumentSpace::Session, id: id.into(), value, expires_unix_s }
}

pub(super) fn get(id: &str) -> Question {
    Question::Get { kind: DocumentSpace::Session, id: id.into() }
}

pub(super) fn fault(opened: Result<Embedded, StoreFault>) -> StoreFault {
    opened.err().expect("it must not open")
}

/// A store on a database that the test has modified.
fn open_changed(directory: &Path, clock: Clock, sql: &str) -> Embedded {
    let files = Files::take(directory, None).unwrap();
    let database = Database::open(files.database()).unwrap();
    database.execute_batch(sql);
    Embedded::start(files, database, clock).unwrap()
}

#[test]
fn one_directory_has_one_user() {
    let directory = tempdir().unwrap();
    let first = Embedded::open(directory.path()).unwrap();
    let refused = fault(Embedded::open(directory.path()));
    assert_eq!(refused.kind, StoreFaultKind::InUse);
    assert!(refused.to_string().starts_with("another process uses this data directory: /"), "{refused}");
    first.close();
    Embedded::open(directory.path()).unwrap();
}

#[test]
fn a_lock_that_is_handed_on_lets_one_more_in_and_nobody_else() {
    let (directory, other) = (tempdir().unwrap(), tempdir().unwrap());
    let first = Embedded::open(directory.path()).unwrap();
    wait(first.ask(put("a", b"1".to_vec(), None))).unwrap();
    let second = Embedded::open_with_lock(directory.path(), first.lock().unwrap()).unwrap();
    assert_eq!(wait(second.ask(get("a"))).unwrap(), wait(first.ask(get("a"))).unwrap());
    assert_eq!(fault(Embedded::open(directory.path())).kind, StoreFaultKind::InUse);
    first.close();
    assert_eq!(fault(Embedded::open(directory.path())).kind, StoreFaultKind::InUse, "the second one has it");
    wait(second.ask(put("b", b"2".to_vec(), None))).unwrap();
    // The lock of one directory does not open another.
    let third = Embedded::open(other.path()).unwrap();
    assert_eq!(fault(Embedded::open_with_lock(other.path(), second.lock().unwrap())).kind, StoreFaultKind::InUse);
    drop(third);
    second.close();
    Embedded::open(directory.path()).unwrap();
}

#[test]
fn files_are_for_their_owner_only() {
    let directory = tempdir().unwrap();
    let data = directory.path().join("made/by/open");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("tollgate.db"), "").unwrap();
    fs::set_permissions(data.join("tollgate.db"), fs::Permissions::from_mode(0o644)).unwrap();
    let store = Embedded::open(&data).unwrap();
    wait(store.ask(put("k", b"1".to_vec(), None))).unwrap();
    let names: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(names.len() >= 3, "{names:?}");
    for entry in names {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
    let made = directory.path().join("new");
    Embedded::open(&made).unwrap();
    assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_directory_that_cannot_be_made_is_a_fault() {
    let directory = tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = fault(Embedded::open(&file.join("data")));
    assert_eq!(refused.kind, StoreFaultKind::Io);
    assert!(refused.detail.contains("file/data"), "{refused}");
}

#[test]
fn a_file_that_is_no_database_is_corrupt() {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("tollgate.db"), "this is not a database, it is a text of some length".repeat(100)).unwrap();
    let refused = fault(Embedded::open(directory.path()));
    assert_eq!(refused.kind, StoreFaultKind::Corrupt);
    assert!(refused.detail.contains("tollgate.db"), "{refused}");
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let directory = tempdir().unwrap();
    let other = rusqlite::Connection::open(directory.path().join("tollgate.db")).unwrap();
    other.execute_batch("CREATE TABLE theirs (a)").unwrap();
    drop(other);
    let refused = fault(Embedded::open(directory.path()));
    assert_eq!(refused.kind, StoreFaultKind::Corrupt);
    assert!(refused.detail.ends_with("the database belongs to another program"), "{refused}");
}

/// Zeroes, noise and a missing end, at many places: the result is always an answer or a fault.
#[test]
fn a_damaged_file_is_a_fault_and_never_a_panic() {
    let original = tempdir().unwrap();
    let store = Embedded::open(original.path()).unwrap();
    let replies: Vec<_> = (0..500).map(|n| store.ask(put(&format!("k{n}"), vec![b'v'; 400], Some(u64::MAX)))).collect();
    wait(async {
        for reply in replies {
            reply.await.unwrap();
        }
    });
    store.close();
    let bytes = fs::read(original.path().join("tollgate.db")).unwrap();
    let mut corrupt = 0;
    for page in 0..bytes.len() / 4_096 {
        for damage in ["zeroes", "noise", "cut"] {
            let mut damaged = bytes.clone();
            let start = page * 4_096;
            match damage {
                "zeroes" => damaged[start..start + 4_096].fill(0),
                "noise" => damaged[start..start + 200].iter_mut().for_each(|byte| *byte = byte.wrapping_mul(31).wrapping_add(7)),
                _ => damaged.truncate(start.max(1)),
            }
            let directory = tempdir().unwrap();
            fs::write(directory.path().join("tollgate.db"), damaged).unwrap();
            let found = match Embedded::open(directory.path()) {
                Err(fault) => vec![fault],
                Ok(store) => used(&store),
            };
            assert!(found.iter().all(|fault| fault.kind == StoreFaultKind::Corrupt), "page {page}, {damage}: {found:?}");
            corrupt += usize::from(!found.is_empty());
        }
    }
    assert!(corrupt > bytes.len() / 4_096, "{corrupt} of {} damages were noticed", 3 * bytes.len() / 4_096);
}

/// Uses every operation once and returns the faults.
fn used(store: &Embedded) -> Vec<StoreFault> {
    let list = Question::List { kind: DocumentSpace::Session, prefix: String::new(), after: None, limit: 10_000 };
    let questions = [get("k7"), list, put("k7", b"1".to_vec(), None), Question::DeleteCountersUnder { prefix: String::new() }];
    let mut faults: Vec<_> = questions.into_iter().filter_map(|question| wait(store.ask(question)).err()).collect();
    faults.extend(store.for_each(DocumentSpace::Session, &mut |_, _| ()).err());
    faults.extend(store.for_each_counter(&mut |_| ()).err());
    faults
}

/// SQLite's own limit instead of a full disk: the library reports both in the same way.
#[test]
fn a_full_disk_loses_nothing_and_passes() {
    let directory = tempdir().unwrap();
    let store = open_changed(directory.path(), clock::system(), "PRAGMA max_page_count = 60");
    wait(store.ask(put("before", b"1".to_vec(), None))).unwrap();
    // Together, so that most share a transaction with the one that does not fit.
    let large = store.ask(put("large", vec![b'v'; 1 << 20], None));
    let small: Vec<_> = (0..50).map(|n| store.ask(put(&format!("small{n}"), b"1".to_vec(), None))).collect();
    let refused = wait(large).unwrap_err();
    assert_eq!(refused.kind, StoreFaultKind::Full);
    wait(async {
        for reply in small {
            reply.await.unwrap();
        }
    });
    assert!(wait(store.ask(get("before"))).unwrap().into_document().unwrap().is_some());
    assert_eq!(wait(store.ask(get("large"))).unwrap().into_document().unwrap(), None);
    assert!(wait(store.ask(get("small49"))).unwrap().into_document().unwrap().is_some());
    assert!(wait(store.ask(Question::Delete { kind: DocumentSpace::Session, id: "before".into() })).unwrap().existed().unwrap());
}

#[test]
fn the_sweep_gives_room_back() {
    let directory = tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_000));
    let clock: Clock = {
        let time = time.clone();
        Arc::new(move || time.load(Relaxed))
    };
    let store = Embedded::open_with_clock(directory.path(), clock).unwrap();
    let rows = || {
        let connection = rusqlite::Connection::open(directory.path().join("tollgate.db")).unwrap();
        connection.query_row("SELECT count(*) FROM document", (), |row| row.get::<_, i64>(0)).unwrap()
    };
    for n in 0..2_500 {
        drop(store.ask(put(&format!("k{n}"), b"1".to_vec(), Some(1_030))));
    }
    wait(store.ask(put("kept", b"1".to_vec(), None))).unwrap();
    time.store(1_031, Relaxed);
    wait(store.flush()).unwrap();
    wait(store.flush()).unwrap();
    assert_eq!(rows(), 2_501, "not yet due");
    time.store(1_100, Relaxed);
    // Each is followed by one sweep, which ends before the next is answered.
    for left in [2_501, 1_501, 501, 1] {
        wait(store.flush()).unwrap();
        assert!(rows() <= left, "{} of at most {left}", rows());
    }
    store.close();
    assert_eq!(rows(), 1);
}

#[test]
fn whoever_finds_no_room_waits_and_nobody_else() {
    let directory = tempdir().unwrap();
    let store = Embedded::open(directory.path()).unwrap();
    // One and a half times the capacity.
    let count = QUEUE_BYTES_MAX * 3 / 2 / DOCUMENT_BYTES_MAX;
    let replies: Vec<_> = (0..count).map(|n| store.ask(put(&format!("{n}"), vec![b'v'; DOCUMENT_BYTES_MAX], None))).collect();
    wait(async {
        for reply in replies {
            reply.await.unwrap();
        }
    });
    let mut found = 0;
    store.for_each(DocumentSpace::Session, &mut |_, _| found += 1).unwrap();
    assert_eq!(found, count);
}

#[test]
fn closing_waits_for_what_was_handed_over_and_refuses_the_rest() {
    let directory = tempdir().unwrap();
    let store = Embedded::open(directory.path()).unwrap();
    let count = QUEUE_BYTES_MAX * 3 / 2 / DOCUMENT_BYTES_MAX;
    let replies: Vec<_> = (0..count).map(|n| store.ask(put(&format!("{n}"), vec![b'v'; DOCUMENT_BYTES_MAX], None))).collect();
    store.close();
    let mut kept = 0;
    wait(async {
        for reply in replies {
            match reply.await {
                Ok(_) => kept += 1,
                Err(fault) => assert!(fault.is_retryable(), "{fault}"),
            }
        }
    });
    let store = Embedded::open(directory.path()).unwrap();
    let mut found = 0;
    store.for_each(DocumentSpace::Session, &mut |_, _| found += 1).unwrap();
    assert_eq!(found, kept);
    assert!(kept >= QUEUE_BYTES_MAX / DOCUMENT_BYTES_MAX - 1, "{kept}");
}

#[test]
fn a_full_disk_is_told_until_something_can_be_written_again() {
    let directory = tempdir().unwrap();
    let store = open_changed(directory.path(), clock::system(), "PRAGMA max_page_count = 16");
    assert_eq!(store.trouble(), None);
    let full = (0..64).find_map(|number: u32| wait(store.ask(put(&number.to_string(), vec![b'1'; 4_000], None))).err());
    let full = full.expect("a fault");
    assert_eq!(full.kind, StoreFaultKind::Full);
    assert!(full.to_string().contains("/tollgate.db: "), "{full}");
    assert_eq!(store.trouble().as_deref(), Some(&full));
    // Reads are answered meanwhile.
    assert!(wait(store.ask(get("0"))).unwrap().into_document().unwrap().is_some());
    assert!(store.trouble().is_some());
    // The connection that tries has no such limit.
    store.try_write().unwrap();
    assert_eq!(store.trouble(), None);
}

#[test]
fn a_question_that_is_too_large_says_nothing_about_the_disk() {
    let directory = tempdir().unwrap();
    let store = Embedded::open(directory.path()).unwrap();
    assert!(wait(store.ask(put("k", vec![0; DOCUMENT_BYTES_MAX + 1], None))).is_err());
    assert_eq!(store.trouble(), None);
}
