//! The thread on which a client is served.

use std::thread::{self, ThreadId};
use tokio::runtime::Handle;

/// The core that serves a client. What is read on it reaches the client without another thread's waking up.
#[derive(Clone, Debug)]
pub struct ClientCore {
    thread: ThreadId,
    runtime: Handle,
}

impl ClientCore {
    /// The core whose thread calls this; `None` on a thread without a runtime.
    pub fn current() -> Option<Self> {
        Some(ClientCore { thread: thread::current().id(), runtime: Handle::try_current().ok()? })
    }

    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The result of a task that runs on it; `None` if the core has ended, or the task has panicked. The task ends when nobody waits any more.
    pub(crate) async fn run<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let mut running = EndWith(self.runtime.spawn(task));
        (&mut running.0).await.ok()
    }
}

/// A task that ends with this.
struct EndWith<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for EndWith<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
