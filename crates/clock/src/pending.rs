//! A result that requests wait for.

use std::pin::Pin;
use tokio::sync::watch;

/// A result that is not available yet. Any number of requests can wait for it.
#[derive(Clone)]
pub struct Pending<T>(watch::Receiver<Option<T>>);

/// Provides the result. If it is dropped without one, the waiting ends as well.
pub struct Completer<T>(watch::Sender<Option<T>>);

impl<T> Pending<T> {
    /// A completer and its pending result.
    pub fn pair() -> (Completer<T>, Pending<T>) {
        let (sender, receiver) = watch::channel(None);
        (Completer(sender), Pending(receiver))
    }
}

impl<T> Completer<T> {
    /// Provides the result.
    pub fn complete(self, value: T) {
        // Fails only if no one waits any more.
        let _ = self.0.send(Some(value));
    }

    /// Whether anyone still waits.
    pub fn is_awaited(&self) -> bool {
        self.0.receiver_count() > 0
    }
}

impl<T: Clone + Send + Sync + 'static> Pending<T> {
    /// The result, if available.
    pub fn get(&self) -> Option<T> {
        self.0.borrow().clone()
    }

    /// Completes when the result is available or never will be.
    pub async fn wait(mut self) {
        let _ = self.0.wait_for(Option::is_some).await;
    }

    /// The wait as work that holds a request.
    pub fn work(&self) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(self.clone().wait())
    }
}
