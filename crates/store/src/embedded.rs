//! The store that needs no other software: one SQLite file, `tollgate.db`, in a directory that one process owns.
//!
//! One thread owns the connection and answers everything: the waiting questions become one transaction, which is synced to the disk
//! once, and only then are they answered. So all callers share the disk's latency, and no answer can be undone by a crash. Reads
//! wait with the writes: they are rare, because the gateway serves from memory, and in this way they see every earlier change. Only
//! walks over everything have their own connection, on the caller's thread, and do not delay the writer.

use crate::clock::{self, Clock};
use crate::fault::{StoreFault, StoreFaultKind};
use crate::question::{CounterValue, DocumentSpace, Question};
use crate::timings::Timings;
use crate::{PendingAnswer, Store};
use database::Database;
use files::Files;
use std::fs::File;
use std::future::ready;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedSender, WeakUnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, oneshot};
use writer::{QueuedQuestion, StoreWriter, Trouble};

mod database;
mod files;
mod loss;
mod schema;
mod writer;

/// Capacity for questions that wait or are being answered: about 100,000 sessions. If it is exhausted, callers wait and hold up
/// nothing else.
const QUEUE_BYTES_MAX: usize = 64 << 20;

/// A store in a directory. Dropping it carries out the questions in the queue, and blocks for as long.
pub struct Embedded {
    /// `None` only while it is being dropped.
    queue: Option<UnboundedSender<QueuedQuestion>>,
    writer: Option<JoinHandle<()>>,
    room: Arc<Semaphore>,
    clock: Clock,
    timings: Arc<Timings>,
    trouble: Arc<Trouble>,
    /// Released last, when the writer is gone.
    files: Files,
}

impl Embedded {
    /// Opens the store in a directory, creating both if they are missing, and upgrades a store of an earlier version.
    ///
    /// # Errors
    /// [`StoreFaultKind::InUse`] if another process, or this one, has it open; `Corrupt`, `TooNew`, `Denied`, `Full` or `Io` for
    /// errors of the files.
    pub fn open(directory: &Path) -> Result<Self, StoreFault> {
        Embedded::open_with_clock(directory, clock::system())
    }

    /// Opens the store that the previous process has open, with the lock that it passed on: see [`Embedded::lock`]. If the lock
    /// belongs to another directory, this works like [`Embedded::open`].
    ///
    /// # Errors
    /// Those of [`Embedded::open`].
    pub fn open_with_lock(directory: &Path, lock: File) -> Result<Self, StoreFault> {
        let files = Files::take(directory, Some(lock))?;
        let database = Database::open(files.database())?;
        Embedded::start(files, database, clock::system())
    }

    /// The lock on the directory, for a process that takes over. Both have the store until this process releases it, and at most
    /// one of them should change anything.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn lock(&self) -> io::Result<File> {
        self.files.lock()
    }

    /// Opens the store with another clock, which decides what has expired.
    ///
    /// # Errors
    /// Those of [`Embedded::open`].
    pub fn open_with_clock(directory: &Path, clock: Clock) -> Result<Self, StoreFault> {
        let files = Files::take(directory, None)?;
        let database = Database::open(files.database())?;
        Embedded::start(files, database, clock)
    }

    fn start(files: Files, database: Database, clock: Clock) -> Result<Self, StoreFault> {
        let (queue, questions) = unbounded_channel();
        let timings = Arc::new(Timings::default());
        let trouble = Arc::new(Trouble::default());
        let writer = StoreWriter::new(database, questions, clock.clone(), timings.clone(), trouble.clone());
        let writer = std::thread::Builder::new().name("store".into()).spawn(move || writer.run());
        let writer = writer.map_err(|error| StoreFault::new(StoreFaultKind::Io, error))?;
        let room = Arc::new(Semaphore::new(QUEUE_BYTES_MAX));
        Ok(Embedded { queue: Some(queue), writer: Some(writer), room, clock, timings, trouble, files })
    }

    /// Waits for all earlier questions.
    ///
    /// # Errors
    /// [`StoreFaultKind::Unavailable`] if the store stopped. Each question's own reply reports its result.
    pub async fn flush(&self) -> Result<(), StoreFault> {
        // A question that changes nothing is also answered in order.
        self.ask(Question::Counters { names: Vec::new() }).await.map(|_| ())
    }

    /// Waits for all earlier questions and closes the files. Blocks.
    pub fn close(self) {
        drop(self);
    }
}

impl Store for Embedded {
    fn ask(&self, question: Question) -> PendingAnswer {
        if let Err(fault) = question.check() {
            return Box::pin(ready(Err(fault)));
        }
        let Some(queue) = &self.queue else {
            return Box::pin(ready(Err(closed())));
        };
        let weight = u32::try_from(question.weight()).unwrap_or(u32::MAX);
        match self.room.clone().try_acquire_many_owned(weight) {
            Ok(room) => answer_to(queue, question, room),
            Err(TryAcquireError::Closed) => Box::pin(ready(Err(closed()))),
            Err(TryAcquireError::NoPermits) => ask_when_there_is_room(self.room.clone(), weight, queue.downgrade(), question),
        }
    }

    fn timings(&self) -> Option<&Timings> {
        Some(&self.timings)
    }

    fn trouble(&self) -> Option<Arc<StoreFault>> {
        self.trouble.load_full()
    }

    fn try_write(&self) -> Result<(), StoreFault> {
        let tried = Database::open_beside(self.files.database()).and_then(|mut database| database.try_write());
        match &tried {
            Ok(()) => self.trouble.store(None),
            Err(fault) if fault.is_of_files() => self.trouble.store(Some(Arc::new(fault.clone()))),
            // Another process writes.
            Err(_) => {}
        }
        tried
    }

    fn fold_log(&self) -> Result<(), StoreFault> {
        Database::open_beside(self.files.database())?.fold_log()
    }

    fn for_each(&self, kind: DocumentSpace, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        Database::open_for_reading(self.files.database())?.for_each(kind, (self.clock)(), see)
    }

    fn for_each_counter(&self, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault> {
        Database::open_for_reading(self.files.database())?.for_each_counter((self.clock)(), see)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.room.close();
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // It ends by itself when the queue is empty. If it panicked, the replies have reported it.
            let _ = writer.join();
        }
    }
}

/// Queues the question at once.
fn answer_to(queue: &UnboundedSender<QueuedQuestion>, question: Question, room: OwnedSemaphorePermit) -> PendingAnswer {
    let (reply, answer) = oneshot::channel();
    // If the writer is gone, so is the sender of the answer, which the reply reports.
    let _ = queue.send(QueuedQuestion { question, reply, room, at: Instant::now() });
    Box::pin(async move { answer.await.unwrap_or_else(|_| Err(closed())) })
}

/// Waits for room without holding the queue, so that a reply that nobody polls cannot keep the store from closing.
fn ask_when_there_is_room(
    room: Arc<Semaphore>,
    weight: u32,
    queue: WeakUnboundedSender<QueuedQuestion>,
    question: Question,
) -> PendingAnswer {
    Box::pin(async move {
        let room = room.acquire_many_owned(weight).await.map_err(|_| closed())?;
        let reply = answer_to(&queue.upgrade().ok_or_else(closed)?, question, room);
        reply.await
    })
}

fn closed() -> StoreFault {
    StoreFault::new(StoreFaultKind::Unavailable, "it is closed")
}

#[cfg(test)]
mod tests;
