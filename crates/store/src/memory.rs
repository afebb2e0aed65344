//! A store that loses everything with the process: for tests, and for gateways that store nothing.

use crate::clock::Clock;
use crate::fault::StoreFault;
use crate::question::{Answer, CounterValue, DocumentSpace, PAGE_BYTES_MAX, PAGE_DOCUMENTS_MAX, Page, Question};
use crate::sweep::Sweep;
use crate::{PendingAnswer, Store};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Documents and counters in memory.
pub struct Memory {
    kept: Mutex<KeptDocument>,
    clock: Clock,
}

#[derive(Default)]
struct KeptDocument {
    documents: BTreeMap<DocumentSpace, BTreeMap<String, StoredDocument>>,
    counters: BTreeMap<String, CounterValue>,
    sweep: Sweep,
}

struct StoredDocument {
    value: Vec<u8>,
    expires_unix_s: Option<u64>,
}

impl Memory {
    /// An empty store.
    pub fn new(clock: Clock) -> Self {
        Memory { kept: Mutex::default(), clock }
    }

    /// No operation leaves the maps half changed, so a panic elsewhere under the lock is no reason to stop.
    fn kept(&self) -> MutexGuard<'_, KeptDocument> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn ask(&self, question: Question) -> PendingAnswer {
        let answer = question.check().map(|()| {
            let now = (self.clock)();
            let mut kept = self.kept();
            let answer = kept.answer(question, now);
            kept.sweep(now);
            answer
        });
        Box::pin(std::future::ready(answer))
    }

    fn for_each(&self, kind: DocumentSpace, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        let now = (self.clock)();
        let mut after = None;
        // By pages, so that the caller may ask questions meanwhile.
        loop {
            let page = self.kept().list(kind, "", after.as_deref(), PAGE_DOCUMENTS_MAX, now);
            page.documents.iter().for_each(|(id, value)| see(id, value));
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn for_each_counter(&self, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault> {
        let now = (self.clock)();
        let counters: Vec<CounterValue> = self.kept().counters.values().filter(|counter| counts(counter, now)).cloned().collect();
        counters.into_iter().for_each(see);
        Ok(())
    }
}

impl KeptDocument {
    fn answer(&mut self, question: Question, now: u64) -> Answer {
        match question {
            Question::Get { kind, id } => Answer::Document(self.get(kind, &id, now).map(|document| document.value.clone())),
            Question::Put { kind, id, value, expires_unix_s } => {
                let existed = self.get(kind, &id, now).is_some();
                self.documents.entry(kind).or_default().insert(id, StoredDocument { value, expires_unix_s });
                Answer::Done { existed }
            }
            Question::PutNew { kind, id, value, expires_unix_s } => {
                let existed = self.get(kind, &id, now).is_some();
                if !existed {
                    self.documents.entry(kind).or_default().insert(id, StoredDocument { value, expires_unix_s });
                }
                Answer::Done { existed }
            }
            Question::Replace { kind, id, old, value, expires_unix_s } => {
                let existed = self.get(kind, &id, now).is_some_and(|document| document.value == old);
                if existed {
                    self.documents.entry(kind).or_default().insert(id, StoredDocument { value, expires_unix_s });
                }
                Answer::Done { existed }
            }
            Question::Delete { kind, id } => {
                let gone = self.documents.get_mut(&kind).and_then(|documents| documents.remove(&id));
                Answer::Done { existed: gone.is_some_and(|document| document.lives(now)) }
            }
            Question::List { kind, prefix, after, limit } => Answer::Page(self.list(kind, &prefix, after.as_deref(), limit, now)),
            Question::Counters { names } => {
                let known = names.iter().filter_map(|name| self.counters.get(name));
                Answer::Counters(known.filter(|counter| counts(counter, now)).cloned().collect())
            }
            Question::SaveCounters { counters } => {
                self.counters.extend(counters.into_iter().map(|counter| (counter.name.clone(), counter)));
                Answer::Done { existed: false }
            }
            Question::DeleteCounters { names } => {
                let gone = names.iter().filter_map(|name| self.counters.remove(name));
                Answer::Done { existed: gone.filter(|counter| counts(counter, now)).count() > 0 }
            }
            Question::DeleteCountersUnder { prefix } => {
                let gone = self.counters.extract_if(.., |name, _| name.starts_with(&prefix));
                Answer::Done { existed: gone.filter(|(_, counter)| counts(counter, now)).count() > 0 }
            }
        }
    }

    fn get(&self, kind: DocumentSpace, id: &str, now: u64) -> Option<&StoredDocument> {
        self.documents.get(&kind)?.get(id).filter(|document| document.lives(now))
    }

    fn list(&self, kind: DocumentSpace, prefix: &str, after: Option<&str>, limit: usize, now: u64) -> Page {
        let limit = limit.clamp(1, PAGE_DOCUMENTS_MAX);
        let first = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let documents = self.documents.get(&kind).into_iter().flat_map(|all| all.range::<str, _>((first, Bound::Unbounded)));
        let mut page = Page::default();
        let mut bytes = 0;
        for (id, document) in documents.take_while(|(id, _)| id.starts_with(prefix)).filter(|(_, document)| document.lives(now)) {
            if page.documents.len() == limit || bytes >= PAGE_BYTES_MAX {
                page.next = page.documents.last().map(|(id, _)| id.clone());
                break;
            }
            bytes += id.len() + document.value.len();
            page.documents.push((id.clone(), document.value.clone()));
        }
        page
    }

    /// Memory is fast enough to sweep everything at once.
    fn sweep(&mut self, now: u64) {
        if !self.sweep.is_due(now) {
            return;
        }
        self.documents.values_mut().for_each(|documents| documents.retain(|_, document| document.lives(now)));
        self.counters.retain(|_, counter| counts(counter, now));
        self.sweep.removed(0, now);
    }
}

impl StoredDocument {
    fn lives(&self, now: u64) -> bool {
        self.expires_unix_s.is_none_or(|expires| now < expires)
    }
}

fn counts(counter: &CounterValue, now: u64) -> bool {
    now < counter.renews_unix_s
}
