//! Threads for work on bodies that may take more than a millisecond, in which a data thread serves hundreds of other requests. The request is
//! held meanwhile. Small bodies never come here: handing one to another thread and back takes about as long as its work.

use crate::base::started_once::ThreadGroup;
use std::hint::black_box;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
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

/// How long threads without work wait before they have the allocator return what their work has freed. It does so only while memory is taken
/// and freed, and not within the first second.
const REST_AFTER: Duration = Duration::from_secs(2);
/// What is taken and freed for it: more than the allocator keeps for a thread.
const STIR_BYTES: usize = 4 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// The work that waits for a thread.
struct Jobs {
    receiver: Receiver<Job>,
    /// Whether nothing has been done since memory was returned.
    rests: bool,
}

/// The threads: half as many as there are cores, so that data threads always find one that is free.
pub(crate) struct BodyThreads(SyncSender<Job>);

impl ThreadGroup for BodyThreads {
    const NAME: &'static str = "bodies";

    fn start() -> io::Result<Self> {
        let (sender, receiver) = sync_channel::<Job>(WAITING_MAX);
        let jobs = Arc::new(Mutex::new(Jobs { receiver, rests: true }));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..(cores / 2).max(1) {
            let jobs = jobs.clone();
            Builder::new().name("bodies".to_owned()).stack_size(STACK_BYTES).spawn(move || work(&jobs))?;
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

fn work(jobs: &Mutex<Jobs>) {
    while let Some(job) = jobs.lock().unwrap_or_else(PoisonError::into_inner).next() {
        job();
    }
}

impl Jobs {
    /// Waits for the next piece of work; `None` when there will be none.
    fn next(&mut self) -> Option<Job> {
        if !self.rests {
            match self.receiver.recv_timeout(REST_AFTER) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    drop(black_box(Vec::<u8>::with_capacity(STIR_BYTES)));
                    self.rests = true;
                }
            }
        }
        let job = self.receiver.recv().ok();
        self.rests = false;
        job
    }
}
