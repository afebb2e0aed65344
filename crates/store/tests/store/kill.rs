//! A process that stores and is killed at a random moment: what it was answered is there afterwards.

use crate::setting::{Random, wait};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tollgate_store::{CounterValue, DocumentSpace, Embedded, Question, Store, StoreFaultKind};

const ROUNDS: u64 = 20;
const THREADS: usize = 8;
/// Tells the child which directory is its own.
const DIRECTORY: &str = "TOLLGATE_TEST_KILL_DIRECTORY";

#[test]
fn what_was_answered_survives_a_kill_at_any_moment() {
    let mut random = Random(u64::from(std::process::id()));
    let mut answered = 0;
    for round in 0..ROUNDS {
        let directory = tempfile::tempdir().unwrap();
        let lines = killed_after(directory.path(), random.below(100) as usize, Duration::from_micros(random.below(5_000)));
        answered += lines.len();
        check(directory.path(), &lines, round);
    }
    assert!(answered > 10 * ROUNDS as usize, "only {answered} lines: the children were killed before they did anything");
}

/// Starts a child that stores, kills it a while after so many lines, and returns its lines.
fn killed_after(directory: &Path, count: usize, while_: Duration) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child_that_is_killed", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    while !first.contains("open") {
        first.clear();
        assert_ne!(output.read_line(&mut first).unwrap(), 0, "the child ended by itself");
    }
    assert_eq!(Embedded::open(directory).err().map(|fault| fault.kind), Some(StoreFaultKind::InUse));
    // Read meanwhile: a full pipe would stop the child instead.
    let (told, is_time) = std::sync::mpsc::channel();
    let lines = std::thread::spawn(move || {
        let count_line = |(number, line): (usize, std::io::Result<String>)| {
            if number == count {
                told.send(()).unwrap();
            }
            line.unwrap()
        };
        output.lines().enumerate().map(count_line).collect::<Vec<_>>()
    });
    is_time.recv().expect("a child that goes on");
    std::thread::sleep(while_);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.join().unwrap()
}

fn check(directory: &Path, lines: &[String], round: u64) {
    let store = Embedded::open(directory).unwrap();
    let mut there = HashSet::new();
    store
        .for_each(DocumentSpace::Session, &mut |id, value| {
            assert_eq!(value, document(id));
            there.insert(id.to_owned());
        })
        .unwrap();
    let mut counted = std::collections::HashMap::new();
    store
        .for_each_counter(&mut |counter| {
            counted.insert(counter.name, counter.value);
        })
        .unwrap();

    let of = |what: &str| {
        let words = lines.iter().filter_map(|line| line.split_once(' ').filter(|(first, _)| *first == what));
        words.map(|(_, id)| id.to_owned()).collect::<HashSet<String>>()
    };
    let (put, deleting, deleted) = (of("put"), of("deleting"), of("deleted"));
    let missing: Vec<_> = put.iter().filter(|id| !deleting.contains(*id) && !there.contains(*id)).collect();
    assert!(missing.is_empty(), "round {round}: {missing:?} of {} were answered and are not there", put.len());
    let undead: Vec<_> = deleted.iter().filter(|id| there.contains(*id)).collect();
    assert!(undead.is_empty(), "round {round}: {undead:?} of {} were deleted and are there", deleted.len());
    for line in of("counted") {
        let (name, value) = line.split_once(' ').unwrap();
        assert!(counted[name] >= value.parse::<i64>().unwrap(), "round {round}: {line}, not {}", counted[name]);
    }
}

/// Long enough for some to lie across several pages.
fn document(id: &str) -> Vec<u8> {
    id.repeat(1 + id.len() * id.bytes().map(usize::from).sum::<usize>() % 700).into_bytes()
}

/// The child: not a test of its own.
#[test]
fn child_that_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    let store = Embedded::open(&directory).unwrap();
    say("\nopen");
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|thread| {
            drop(scope.spawn({
                let store = &store;
                move || store_until_killed(store, thread)
            }))
        })
    });
}

fn store_until_killed(store: &Embedded, thread: usize) {
    for n in 0_u32.. {
        let id = format!("{thread}-{n}");
        let put = Question::Put { kind: DocumentSpace::Session, id: id.clone(), value: document(&id), expires_unix_s: None };
        wait(store.ask(put)).unwrap();
        say(&format!("put {id}"));
        if n % 3 == 0 {
            say(&format!("deleting {id}"));
            wait(store.ask(Question::Delete { kind: DocumentSpace::Session, id: id.clone() })).unwrap();
            say(&format!("deleted {id}"));
        }
        let counter = CounterValue { name: format!("c{thread}"), value: i64::from(n), renews_unix_s: u64::MAX };
        wait(store.ask(Question::SaveCounters { counters: vec![counter] })).unwrap();
        say(&format!("counted c{thread} {n}"));
    }
}

/// One write, so that a line is there whole or not at all.
fn say(line: &str) {
    std::io::stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
}
