//! All consumers of the process, by what they are told.

use crate::ConsumerFault;
use crate::consumer;
use crate::subscribers::{Subscribers, TopicRecords};
use crate::terms::ConsumerTerms;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// Most consumers at one time: each has about five threads, and up to 4 MiB of records that nobody has taken yet.
pub(crate) const CONSUMERS_MAX: usize = 256;

/// The consumers of the process.
#[derive(Clone, Default)]
pub struct Consumers(Arc<OpenConsumers>);

#[derive(Default)]
pub(crate) struct OpenConsumers {
    by_terms: Mutex<HashMap<ConsumerTerms, Arc<Subscribers>>>,
    /// Threads, with those that are about to end.
    threads: AtomicUsize,
}

impl Consumers {
    /// Subscribes to the records from now on. Whether they can be had turns out with the first of them.
    pub fn subscribe(&self, terms: ConsumerTerms) -> Result<TopicRecords, ConsumerFault> {
        terms.check().map_err(ConsumerFault::Terms)?;
        let mut by_terms = self.0.by_terms();
        if let Some(subscribers) = by_terms.get(&terms) {
            return Ok(subscribers.add());
        }
        let thread = self.0.clone().thread()?;
        let subscribers = Arc::<Subscribers>::default();
        let records = subscribers.add();
        by_terms.insert(terms.clone(), subscribers.clone());
        let work = {
            let (terms, subscribers) = (terms.clone(), subscribers);
            move || thread.serve(&terms, &subscribers)
        };
        if let Err(error) = Builder::new().name("kafka".to_owned()).spawn(work) {
            by_terms.remove(&terms);
            return Err(ConsumerFault::Unavailable(format!("no thread: {error}")));
        }
        Ok(records)
    }

    /// How many consumers there are, with those that are about to end.
    pub fn count(&self) -> usize {
        self.0.threads.load(Ordering::Relaxed)
    }
}

impl OpenConsumers {
    fn by_terms(&self) -> MutexGuard<'_, HashMap<ConsumerTerms, Arc<Subscribers>>> {
        self.by_terms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn thread(self: Arc<Self>) -> Result<ConsumerThread, ConsumerFault> {
        let thread = ConsumerThread(self);
        // The thread that was counted last takes itself off again.
        match thread.0.threads.fetch_add(1, Ordering::Relaxed) < CONSUMERS_MAX {
            true => Ok(thread),
            false => Err(ConsumerFault::TooMany),
        }
    }
}

/// The thread of a consumer. It is counted as long as it exists.
struct ConsumerThread(Arc<OpenConsumers>);

impl Drop for ConsumerThread {
    fn drop(&mut self) {
        self.0.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConsumerThread {
    fn serve(self, terms: &ConsumerTerms, subscribers: &Arc<Subscribers>) {
        let is_over = || self.forget_if_unused(terms, subscribers);
        if let Err(fault) = consumer::run(terms, subscribers, &is_over) {
            let mut by_terms = self.0.by_terms();
            by_terms.remove(terms);
            subscribers.end(&fault);
        }
    }

    /// Whether nobody subscribes any more. Then the next one gets a consumer of its own.
    fn forget_if_unused(&self, terms: &ConsumerTerms, subscribers: &Arc<Subscribers>) -> bool {
        if !subscribers.is_empty() {
            return false;
        }
        let mut by_terms = self.0.by_terms();
        // One may have come meanwhile.
        let is_unused = subscribers.is_empty();
        if is_unused {
            by_terms.remove(terms);
        }
        is_unused
    }
}

#[cfg(test)]
mod tests;
