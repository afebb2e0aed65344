//! Threads that do work for several askers in turn.

use crate::fair_queue::FairQueue;
use std::fmt;
use std::hash::Hash;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a thread without work waits before it has the allocator return what its work has freed. The allocator does so only while memory is
/// taken and freed, and not within the first second.
const REST_AFTER: Duration = Duration::from_secs(2);
/// What is taken and freed for it: more than the allocator keeps for a thread.
const STIR_BYTES: usize = 4 << 20;

type QueuedJob = Box<dyn FnOnce() + Send>;

/// What a group of threads is like.
#[derive(Clone, Copy, Debug)]
pub struct ThreadPlan {
    /// What the system calls them; at most 15 bytes.
    pub name: &'static str,
    /// How many there are.
    pub threads: usize,
    /// Most pieces of work that wait, of all askers together.
    pub waiting_max: usize,
    /// Stack of a thread, in bytes.
    pub stack_bytes: usize,
}

/// The threads. They end when this is dropped, after the work that waits.
pub struct FairThreads<A>(Arc<FairQueue<A, QueuedJob>>)
where
    A: Hash + Eq + Clone;

impl<A: Hash + Eq + Clone> fmt::Debug for FairThreads<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FairThreads")
    }
}

/// Half as many threads as there are cores, so that others always find one that is free.
pub fn half_of_the_cores() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).max(1)
}

impl<A: Hash + Eq + Clone + Send + 'static> FairThreads<A> {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system has no thread.
    pub fn start(plan: ThreadPlan) -> io::Result<Self> {
        let threads = FairThreads(Arc::new(FairQueue::new(plan.waiting_max)));
        for _ in 0..plan.threads {
            let queue = threads.0.clone();
            Builder::new().name(plan.name.to_owned()).stack_size(plan.stack_bytes).spawn(move || work(&queue))?;
        }
        Ok(threads)
    }

    /// Queues work. False when there is no room for it; it is dropped then, as it may be later when another asker needs the room.
    pub fn put(&self, asker: A, job: impl FnOnce() + Send + 'static) -> bool {
        self.0.put(asker, Box::new(job))
    }

    /// Queues work, and waits for what it makes. Without room in the queue there is nothing, at once.
    pub fn run<T: Send + 'static>(
        &self,
        asker: A,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> + 'static {
        let (sender, made) = oneshot::channel();
        // Work that is not taken is dropped with its sender.
        self.put(asker, move || {
            // Who has asked may have gone meanwhile.
            if !sender.is_closed() {
                let _ = sender.send(job());
            }
        });
        async move { made.await.ok() }
    }
}

impl<A: Hash + Eq + Clone> Drop for FairThreads<A> {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn work<A: Hash + Eq + Clone>(queue: &FairQueue<A, QueuedJob>) {
    while let Some(job) = queue.take() {
        job();
        if queue.is_empty_for(REST_AFTER) {
            drop(black_box(Vec::<u8>::with_capacity(STIR_BYTES)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FairThreads, ThreadPlan};
    use std::sync::mpsc::channel;

    const PLAN: ThreadPlan = ThreadPlan { name: "tests", threads: 1, waiting_max: 4, stack_bytes: 256 << 10 };

    #[test]
    fn askers_have_their_turns_and_work_that_gives_way_is_nothing() {
        let threads = FairThreads::<u8>::start(PLAN).unwrap();
        let (open, gate) = channel::<()>();
        let (began, is_busy) = channel();
        assert!(threads.put(0, move || {
            began.send(()).unwrap();
            let _ = gate.recv();
        }));
        is_busy.recv().unwrap();
        let (said, order) = channel();
        let say = move |text: &'static str| {
            let said = said.clone();
            move || said.send(text).map(|()| text).unwrap()
        };
        let many: Vec<_> = ["first", "second", "third", "fourth"].map(|text| threads.run(1, say(text))).into();
        let full = threads.run(1, say("fifth"));
        let other = threads.run(2, say("other"));
        drop(open);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let made: Vec<_> = many.into_iter().map(|made| runtime.block_on(made)).collect();
        assert_eq!(made, [Some("first"), Some("second"), Some("third"), None], "the last of the longest line gives way");
        assert_eq!((runtime.block_on(full), runtime.block_on(other)), (None, Some("other")));
        drop(say);
        assert_eq!(order.iter().collect::<Vec<_>>(), ["first", "other", "second", "third"]);
    }

    #[test]
    fn what_nobody_waits_for_is_not_done() {
        let threads = FairThreads::<u8>::start(PLAN).unwrap();
        let (open, gate) = channel::<()>();
        threads.put(0, move || {
            let _ = gate.recv();
        });
        let (did, done) = channel();
        drop(threads.run(0, move || did.send(()).unwrap()));
        drop(open);
        assert!(done.recv().is_err());
    }
}
