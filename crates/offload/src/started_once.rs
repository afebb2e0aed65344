//! Threads that start when they are first needed, and then stay.

use std::io;
use std::sync::{Arc, OnceLock};

/// A group of threads.
pub trait ThreadGroup: Sized {
    /// What the log calls them.
    const NAME: &'static str;

    /// Starts them.
    ///
    /// # Errors
    /// The system has no thread.
    fn start() -> io::Result<Self>;
}

/// A group of threads, started when it is first needed.
#[derive(Debug)]
pub struct StartedOnce<T>(OnceLock<Option<Arc<T>>>);

impl<T> Default for StartedOnce<T> {
    fn default() -> Self {
        StartedOnce(OnceLock::new())
    }
}

impl<T: ThreadGroup> StartedOnce<T> {
    /// The threads; `None` when the system cannot start them.
    pub fn get(&self) -> Option<Arc<T>> {
        let start = || T::start().map(Arc::new).inspect_err(|error| tracing::error!(%error, "no threads for {}", T::NAME)).ok();
        self.0.get_or_init(start).clone()
    }

    /// The threads, if somebody has needed them.
    pub fn started(&self) -> Option<&T> {
        self.0.get()?.as_deref()
    }
}
