//! Work for the cores: each takes what it is given when it starts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::mpsc;

/// Takes work to the cores, in turn.
pub struct CoreQueue<T> {
    cores: Vec<mpsc::Sender<T>>,
    /// What the cores take when they start.
    inboxes: Mutex<Vec<Option<mpsc::Receiver<T>>>>,
    turn: AtomicUsize,
}

impl<T> CoreQueue<T> {
    /// A queue in which so much waits for each core.
    pub fn new(cores: usize, waiting_max: usize) -> Self {
        let (cores, inboxes) = (0..cores).map(|_| mpsc::channel(waiting_max)).map(|(sender, inbox)| (sender, Some(inbox))).unzip();
        CoreQueue { cores, inboxes: Mutex::new(inboxes), turn: AtomicUsize::new(0) }
    }

    /// The work of a core; `None` if it was taken before.
    pub fn of_core(&self, index: usize) -> Option<mpsc::Receiver<T>> {
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index)?.take()
    }

    /// Gives work to the next core. False if too much waits.
    pub fn send(&self, work: T) -> bool {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let core = turn.checked_rem(self.cores.len()).and_then(|turn| self.cores.get(turn));
        core.is_some_and(|core| core.try_send(work).is_ok())
    }
}
