//! Threads for work on bodies that may take more than a millisecond, in which a data thread serves hundreds of other requests. The request is
//! held meanwhile. Small bodies never come here: handing one to another thread and back takes about as long as its work.

use crate::base::started_once::ThreadGroup;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use tokio::sync::oneshot;

/// Bodies of up to this size are worked on where they arrive, if a brief budget is enough.
pub(crate) const HERE_BYTES_MAX: usize = 16 << 10;
/// How long a request waits for the work on its body.
pub(crate) const OFFLOAD_TIME_MAX: Duration = Duration::from_secs(10);
/// Most pieces of work that wait for a thread. Their bodies are within the bound for all kept bodies.
const WAITING_MAX: usize = 256;
/// Stack of a thread: documents are nested as deep as their readers allow, and schemas 512 times.
const STACK_BYTES: usize = 8 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// The threads: half as many as there are cores, so that data threads always find one that is free.
pub(crate) struct BodyThreads(SyncSender<Job>);

impl ThreadGroup for BodyThreads {
    const NAME: &'static str = "bodies";

    fn start() -> io::Result<Self> {
        let (sender, receiver) = sync_channel::<Job>(WAITING_MAX);
        let receiver = Arc::new(Mutex::new(receiver));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..(cores / 2).max(1) {
            let receiver = receiver.clone();
            Builder::new().name("bodies".to_owned()).stack_size(STACK_BYTES).spawn(move || work(&receiver))?;
        }
        Ok(BodyThreads(sender))
    }
}

impl BodyThreads {
    /// Queues work, and waits for what it makes. Without room in the queue there is nothing, at once.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> + 'static {
        let (sender, made) = oneshot::channel();
        let job = move || {
            // The request may have gone meanwhile.
            if !sender.is_closed() {
                let _ = sender.send(job());
            }
        };
        // A job that is not taken is dropped with its sender.
        let _ = self.0.try_send(Box::new(job));
        async move { made.await.ok() }
    }
}

fn work(receiver: &Mutex<Receiver<Job>>) {
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        job();
    }
}
