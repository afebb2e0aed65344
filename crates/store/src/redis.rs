//! The store that several gateways share: a Redis server, one behind sentinels, or a Redis Cluster. Names and values are Tyk's, so
//! that Tyk's nodes can share it too.
//!
//! One thread owns the connection. All questions share it, and questions that arrive together are sent in one write. Answered
//! changes are as durable as the server's configuration makes them.

use crate::fault::{StoreFault, StoreFaultKind};
use crate::question::{CounterValue, DocumentSpace, QUESTION_BYTES_MAX, Question};
use crate::timings::Timings;
use crate::{PendingAnswer, Store};
use ::redis::{Cmd, ErrorKind, ServerErrorKind, Value};
use futures_util::future::try_join;
use invalidation::Topics;
use link::Link;
use std::future::ready;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

mod answer;
mod cached;
mod collections;
mod connection;
mod invalidation;
mod link;
mod list;
mod log;
mod names;
mod read;
mod scan;
mod settings;
mod shared_texts;
mod walk;

pub use cached::CachedValue;
pub use invalidation::Heard;
pub use log::LogId;
pub use settings::{RedisSettings, RedisShape, RedisTls};
pub use shared_texts::{SharedRevision, SharedTexts, TextChange};

/// Capacity for questions that wait or are being answered, as in the embedded store. Callers wait if it is exhausted.
const QUEUE_BYTES_MAX: usize = 4 * QUESTION_BYTES_MAX;

/// A store in Redis. Dropping it discards unprocessed questions.
pub struct Redis {
    link: Arc<Link>,
    runtime: Handle,
    room: Arc<Semaphore>,
    /// Dropping it ends the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Redis {
    /// Starts to connect and returns without waiting: the server may come up later.
    ///
    /// # Errors
    /// [`StoreFaultKind::Io`] if no thread can be started.
    pub fn open(settings: RedisSettings) -> Result<Self, StoreFault> {
        if let Some(tls) = &settings.tls {
            tls.install().map_err(|error| StoreFault::new(StoreFaultKind::Io, error))?;
        }
        let io = |error| StoreFault::new(StoreFaultKind::Io, error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(io)?;
        let handle = runtime.handle().clone();
        let link = Arc::new(Link::new(settings));
        let (stop, stopped) = oneshot::channel::<()>();
        let keep = link.clone().keep();
        let run = move || {
            runtime.spawn(keep);
            let _ = runtime.block_on(stopped);
        };
        let thread = std::thread::Builder::new().name("redis".into()).spawn(run).map_err(io)?;
        let room = Arc::new(Semaphore::new(QUEUE_BYTES_MAX));
        Ok(Redis { link, runtime: handle, room, stop: Some(stop), thread: Some(thread) })
    }

    /// Why the store is unavailable; `None` if it is available.
    pub fn trouble(&self) -> Option<String> {
        self.link.trouble()
    }

    /// Waits for the connection. Blocks.
    pub fn wait_until_up(&self, time_max: Duration) -> bool {
        let (sender, receiver) = std::sync::mpsc::channel();
        let link = self.link.clone();
        self.runtime.spawn(async move {
            let _ = sender.send(link.wait_until_up(time_max).await);
        });
        receiver.recv().unwrap_or(false)
    }

    /// The thread's runtime, for other work than questions.
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Sends a message to all subscribers of a channel.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub fn publish(&self, channel: &str, message: &[u8]) -> impl Future<Output = Result<(), StoreFault>> + Send + 'static {
        let command = redis::cmd("PUBLISH").arg(channel).arg(message).to_owned();
        let link = self.link.clone();
        self.spawn(async move { link.ask(&command).await.map(|_| ()) })
    }

    /// Subscribes to a channel and to changes of sessions, on the store's thread, for as long as the store lives.
    pub fn listen(&self, channel: &str, hear: impl FnMut(Heard) + Send + 'static) {
        self.runtime.spawn(invalidation::listen(self.link.clone(), Topics::MessagesAndSessions(channel.to_owned()), hear));
    }

    /// Subscribes to channels, on the store's thread, for as long as the store lives.
    pub fn listen_to_channels(&self, channels: &[&str], hear: impl FnMut(Heard) + Send + 'static) {
        let channels = channels.iter().map(|channel| (*channel).to_owned()).collect();
        self.runtime.spawn(invalidation::listen(self.link.clone(), Topics::Messages(channels), hear));
    }

    /// A document, and its remaining lifetime unless it never expires.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn document(&self, kind: DocumentSpace, id: &str) -> Result<Option<(Vec<u8>, Option<Duration>)>, StoreFault> {
        let key = names::document(kind, id);
        let (get, life) = (redis::cmd("GET").arg(&key).to_owned(), redis::cmd("PTTL").arg(&key).to_owned());
        let link = self.link.clone();
        let (value, left_ms) = self.spawn(async move { try_join(link.ask(&get), link.ask(&life)).await }).await?;
        let value: Option<Vec<u8>> = read::read(value)?;
        let left_ms: i64 = read::read(left_ms)?;
        Ok(value.map(|value| (value, u64::try_from(left_ms).ok().map(Duration::from_millis))))
    }

    /// The ids of all documents of a kind, sorted.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn ids(&self, kind: DocumentSpace) -> Result<Vec<String>, StoreFault> {
        let link = self.link.clone();
        self.spawn(async move { scan::document_ids(&link, kind, "").await }).await
    }

    /// Probes the connection at once, instead of at the next interval, because an answer was late.
    pub fn suspect(&self) {
        self.link.suspect();
    }

    /// Runs a script on one key; the result is integers.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub fn run(
        &self,
        script: &Script,
        key: &str,
        arguments: &[String],
    ) -> impl Future<Output = Result<Vec<i64>, StoreFault>> + Send + 'static {
        let known = ::redis::cmd("EVALSHA").arg(&script.hash).arg(1).arg(key).arg(arguments).to_owned();
        let (code, key, arguments) = (script.code, key.to_owned(), arguments.to_vec());
        let link = self.link.clone();
        self.spawn(async move {
            let connection = link.connection()?;
            let answer = match connection.ask(&known).await {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                    connection.ask(::redis::cmd("EVAL").arg(code).arg(1).arg(key).arg(arguments)).await
                }
                answer => answer,
            };
            read::read(link.notice(answer)?)
        })
    }

    /// Sends any command in the server's syntax.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn command(&self, command: Cmd) -> Result<Value, StoreFault> {
        let link = self.link.clone();
        self.spawn(async move { link.ask(&command).await }).await
    }

    /// Runs on the store's thread, where it continues even if nobody waits for it any more.
    fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreFault>> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreFault>> + Send + 'static {
        let task = self.runtime.spawn(work);
        async move { task.await.unwrap_or_else(|_| Err(closed())) }
    }
}

/// A script that the server runs atomically.
pub struct Script {
    code: &'static str,
    hash: String,
}

impl Script {
    /// Creates a script from its text.
    pub fn new(code: &'static str) -> Self {
        Script { code, hash: ::redis::Script::new(code).get_hash().to_owned() }
    }
}

impl Store for Redis {
    fn ask(&self, question: Question) -> PendingAnswer {
        if let Err(fault) = question.check() {
            return Box::pin(ready(Err(fault)));
        }
        let weight = u32::try_from(question.weight()).unwrap_or(u32::MAX);
        let (link, room, runtime) = (self.link.clone(), self.room.clone(), self.runtime.clone());
        match room.clone().try_acquire_many_owned(weight) {
            Ok(permit) => Box::pin(self.spawn(async move {
                let _held = permit;
                answer::answer(&link, question).await
            })),
            Err(_) => Box::pin(async move {
                let permit = room.acquire_many_owned(weight).await.map_err(|_| closed())?;
                let task = runtime.spawn(async move {
                    let _held = permit;
                    answer::answer(&link, question).await
                });
                task.await.unwrap_or_else(|_| Err(closed()))
            }),
        }
    }

    fn timings(&self) -> Option<&Timings> {
        Some(self.link.timings())
    }

    fn for_each(&self, kind: DocumentSpace, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        let mut pages = walk::documents(&self.runtime, self.link.clone(), kind);
        while let Some(page) = pages.blocking_recv() {
            page?.iter().for_each(|(id, value)| see(id, value));
        }
        Ok(())
    }

    fn for_each_counter(&self, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault> {
        let mut pages = walk::counters(&self.runtime, self.link.clone());
        while let Some(page) = pages.blocking_recv() {
            page?.into_iter().for_each(&mut *see);
        }
        Ok(())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the replies have reported it.
            let _ = thread.join();
        }
    }
}

fn closed() -> StoreFault {
    StoreFault::new(StoreFaultKind::Unavailable, "it is closed")
}
