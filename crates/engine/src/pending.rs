//! An answer to come, for which requests are held.

use crate::service::Work;
use tokio::sync::watch;

/// An answer to come. Any number of requests can wait for it.
#[derive(Clone)]
pub struct Pending<T>(watch::Receiver<Option<T>>);

/// The place to put an answer. Dropping it without one ends the waiting as well.
pub struct Completer<T>(watch::Sender<Option<T>>);

impl<T> Pending<T> {
    /// Where an answer will be put, and the answer to come.
    pub fn pair() -> (Completer<T>, Pending<T>) {
        let (sender, receiver) = watch::channel(None);
        (Completer(sender), Pending(receiver))
    }
}

impl<T> Completer<T> {
    /// Gives the answer.
    pub fn complete(self, value: T) {
        // Nobody may be waiting any longer.
        let _ = self.0.send(Some(value));
    }

    /// Whether anybody still waits.
    pub fn is_awaited(&self) -> bool {
        self.0.receiver_count() > 0
    }
}

impl<T: Clone + Send + Sync + 'static> Pending<T> {
    /// The answer, if it is there.
    pub fn get(&self) -> Option<T> {
        self.0.borrow().clone()
    }

    /// Done when the answer is there or will never be.
    pub async fn wait(mut self) {
        let _ = self.0.wait_for(Option::is_some).await;
    }

    /// The same as work that holds a request.
    pub fn work(&self) -> Work {
        Box::pin(self.clone().wait())
    }
}
