//! Who gets the records of one consumer. All get all of them; who is too slow loses the subscription.

use crate::ConsumerFault;
use bytes::Bytes;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Longest time that a record waits for a subscriber, as in Tyk. Until then, all other subscribers of the consumer wait, too.
pub(crate) const SLOW_TIME_MAX: Duration = Duration::from_secs(5);
/// Records that wait for one subscriber. They are shared by all of them.
pub(crate) const WAITING_MAX: usize = 8;
/// How often a full subscriber is tried again.
const TRY_INTERVAL: Duration = Duration::from_millis(2);

/// Who gets the records of one consumer.
#[derive(Default)]
pub(crate) struct Subscribers(Mutex<Vec<Subscriber>>);

#[derive(Clone)]
struct Subscriber {
    records: mpsc::Sender<Bytes>,
    end: Arc<OnceLock<ConsumerFault>>,
}

/// The records of one subscription.
pub struct TopicRecords {
    records: mpsc::Receiver<Bytes>,
    end: Arc<OnceLock<ConsumerFault>>,
}

impl TopicRecords {
    /// The value of the next record; `Err` is why there is none. Empty for a record without one.
    pub async fn next(&mut self) -> Result<Bytes, ConsumerFault> {
        match self.records.recv().await {
            Some(record) => Ok(record),
            None => Err(self.end.get().cloned().unwrap_or_else(|| ConsumerFault::Unavailable("the consumer has ended".to_owned()))),
        }
    }
}

impl Subscribers {
    /// Gives another one all records from now on.
    pub(crate) fn add(&self) -> TopicRecords {
        let (sender, records) = mpsc::channel(WAITING_MAX);
        let end = Arc::new(OnceLock::new());
        self.list().push(Subscriber { records: sender, end: end.clone() });
        TopicRecords { records, end }
    }

    fn list(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        let mut list = self.list();
        list.retain(|subscriber| !subscriber.records.is_closed());
        list.is_empty()
    }

    /// Gives a record to all. Waits for those that have too many already; who lets it wait for too long loses the subscription.
    pub(crate) fn deliver(&self, record: &Bytes) {
        let deadline = Instant::now() + SLOW_TIME_MAX;
        let mut waiting = self.list().clone();
        loop {
            let is_full = |subscriber: &Subscriber| {
                matches!(subscriber.records.try_send(record.clone()), Err(mpsc::error::TrySendError::Full(_)))
            };
            waiting.retain(is_full);
            if waiting.is_empty() {
                return;
            }
            if Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(TRY_INTERVAL);
        }
        for slow in waiting {
            // Set once; nobody else sets it while the consumer runs.
            let _ = slow.end.set(ConsumerFault::TooSlow);
            self.list().retain(|subscriber| !subscriber.records.same_channel(&slow.records));
        }
    }

    /// Tells all why there are no more records.
    pub(crate) fn end(&self, fault: &ConsumerFault) {
        for subscriber in self.list().drain(..) {
            // Set once, at the end.
            let _ = subscriber.end.set(fault.clone());
        }
    }
}
