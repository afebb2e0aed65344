//! A store with a clock that the test moves, and shorthands for its questions.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tollgate_store::{Answer, Clock, CounterValue, DocumentSpace, Embedded, Page, Question, Store, StoreFault, StoreFaultKind};

/// When tests begin.
pub(crate) const START_UNIX_S: u64 = 1_700_000_000;

#[derive(Clone)]
pub(crate) struct Time {
    now: Arc<AtomicU64>,
    start: u64,
    /// Makes a server believe that so many seconds have passed.
    age: Option<Arc<dyn Fn(u64)>>,
}

impl Time {
    pub(crate) fn new() -> Self {
        Time { now: Arc::new(AtomicU64::new(START_UNIX_S)), start: START_UNIX_S, age: None }
    }

    /// The time of a server that has a clock of its own.
    pub(crate) fn of_server(age: impl Fn(u64) + 'static) -> Self {
        let start = tollgate_store::clock::system()();
        Time { now: Arc::new(AtomicU64::new(start)), start, age: Some(Arc::new(age)) }
    }

    pub(crate) fn clock(&self) -> Clock {
        let time = self.now.clone();
        Arc::new(move || time.load(Relaxed))
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Relaxed)
    }

    pub(crate) fn rewind(&self) {
        self.now.store(self.start, Relaxed);
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.now.fetch_add(seconds, Relaxed);
        if let Some(age) = &self.age {
            age(seconds);
        }
    }
}

pub(crate) fn embedded(directory: &Path, time: &Time) -> Embedded {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match Embedded::open_with_clock(directory, time.clock()) {
            // A process that another test is starting has this one's files, and their locks, until it is another program.
            Err(fault) if fault.kind == StoreFaultKind::InUse && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened.unwrap(),
        }
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(crate) fn ask(store: &dyn Store, question: Question) -> Result<Answer, StoreFault> {
    wait(store.ask(question))
}

pub(crate) fn get(store: &dyn Store, kind: DocumentSpace, id: &str) -> Option<Vec<u8>> {
    ask(store, Question::Get { kind, id: id.into() }).unwrap().into_document().unwrap()
}

pub(crate) fn put(store: &dyn Store, kind: DocumentSpace, id: &str, value: &[u8], expires_unix_s: Option<u64>) -> bool {
    ask(store, Question::Put { kind, id: id.into(), value: value.into(), expires_unix_s }).unwrap().existed().unwrap()
}

pub(crate) fn put_new(store: &dyn Store, kind: DocumentSpace, id: &str, value: &[u8], expires_unix_s: Option<u64>) -> bool {
    ask(store, Question::PutNew { kind, id: id.into(), value: value.into(), expires_unix_s }).unwrap().existed().unwrap()
}

/// Stores a document in place of `old`.
pub(crate) fn replace(
    store: &dyn Store,
    kind: DocumentSpace,
    id: &str,
    [old, value]: [&[u8]; 2],
    expires_unix_s: Option<u64>,
) -> bool {
    let (id, old, value) = (id.into(), old.into(), value.into());
    ask(store, Question::Replace { kind, id, old, value, expires_unix_s }).unwrap().existed().unwrap()
}

pub(crate) fn delete(store: &dyn Store, kind: DocumentSpace, id: &str) -> bool {
    ask(store, Question::Delete { kind, id: id.into() }).unwrap().existed().unwrap()
}

pub(crate) fn list(store: &dyn Store, kind: DocumentSpace, prefix: &str, after: Option<&str>, limit: usize) -> Page {
    let question = Question::List { kind, prefix: prefix.into(), after: after.map(Into::into), limit };
    ask(store, question).unwrap().into_page().unwrap()
}

pub(crate) fn all(store: &dyn Store, kind: DocumentSpace) -> Vec<(String, Vec<u8>)> {
    let mut documents = Vec::new();
    store.for_each(kind, &mut |id, value| documents.push((id.to_owned(), value.to_vec()))).unwrap();
    documents
}

pub(crate) fn save_counters(store: &dyn Store, counters: Vec<CounterValue>) {
    ask(store, Question::SaveCounters { counters }).unwrap().existed().unwrap();
}

pub(crate) fn counters(store: &dyn Store, names: &[&str]) -> Vec<CounterValue> {
    let names = names.iter().map(|name| name.to_string()).collect();
    ask(store, Question::Counters { names }).unwrap().into_counters().unwrap()
}

pub(crate) fn all_counters(store: &dyn Store) -> Vec<CounterValue> {
    let mut counters = Vec::new();
    store.for_each_counter(&mut |counter| counters.push(counter)).unwrap();
    counters
}

/// Numbers that look random and are the same for the same seed (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
