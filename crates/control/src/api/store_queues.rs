//! The queues of the control plane in front of the store: changes of files that were found, entries of the log of changes, revisions. Whoever
//! answers a request puts what belongs to it into a queue before; when the process ends, all of that is stored first.

mod backlog;

pub(super) use backlog::{Storable, store_all};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Revisions, and reloads with found changes, that wait for the store. What comes then waits with its answer.
pub(super) const WAITING_MAX: usize = 64;

/// The queues, for the end of the process.
pub struct StoreQueues {
    pub(super) stop: watch::Sender<bool>,
    pub(super) ended: oneshot::Receiver<()>,
}

impl StoreQueues {
    /// Waits until all that was put into the queues is stored; false if that takes too long.
    pub async fn finish(self, time_max: Duration) -> bool {
        let _ = self.stop.send(true);
        // An error says that the thread of the control plane has ended.
        tokio::time::timeout(time_max, self.ended).await.is_ok_and(|ended| ended.is_ok())
    }
}

/// The next item of a queue; `None` when nothing more is put into it and it is empty.
pub(super) async fn next<T>(queue: &mut mpsc::Receiver<T>, stopped: &mut watch::Receiver<bool>) -> Option<T> {
    tokio::select! {
        biased;
        item = queue.recv() => item,
        _ = stopped.wait_for(|stopped| *stopped) => None,
    }
}

#[cfg(test)]
mod tests;
