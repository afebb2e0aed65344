//! Stores data that must survive the gateway's process: sessions, certificates and other small documents, and the last known values of
//! counters. Every store answers the same questions.
//!
//! A store knows neither the content of a document nor the meaning of a counter. The gateway keeps live counters, rate limits and
//! the sessions for requests in memory; it loads them from a store and writes changes behind.
#![forbid(unsafe_code)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub mod clock;
pub mod embedded;
pub mod fault;
pub mod memory;
pub mod question;
pub mod redis;
pub mod timings;
pub mod usage;

mod sweep;

pub use clock::Clock;
pub use embedded::Embedded;
pub use fault::{StoreFault, StoreFaultKind};
pub use memory::Memory;
pub use question::{Answer, CounterValue, DocumentSpace, Page, Question};
pub use redis::{
    CachedValue, Heard, LogId, Redis, RedisSettings, RedisShape, RedisTls, Script, SharedRevision, SharedTexts, TextChange,
};
pub use timings::Timings;

/// A pending answer.
pub type PendingAnswer = Pin<Box<dyn Future<Output = Result<Answer, StoreFault>> + Send>>;

/// Stores documents and counters.
///
/// Answered changes are durable: no crash of the process undoes them. Questions that one thread asks in sequence are carried out in
/// that order.
pub trait Store: Send + Sync {
    /// Sends a question. It is in the queue when this returns, unless the store has no capacity at the moment: then it waits while
    /// the reply is polled.
    ///
    /// Dropping the reply does not cancel the question; then it is unknown whether it is carried out.
    fn ask(&self, question: Question) -> PendingAnswer;

    /// The latency of answers, if it is measured.
    fn timings(&self) -> Option<&Timings> {
        None
    }

    /// Why nothing can be written, as known from the last failed change or the last [`Store::try_write`].
    fn trouble(&self) -> Option<Arc<StoreFault>> {
        None
    }

    /// Checks whether the store is writable. Blocks.
    ///
    /// # Errors
    /// The reason why it is not.
    fn try_write(&self) -> Result<(), StoreFault> {
        Ok(())
    }

    /// Merges the stored data into as few files as possible, for people who copy them after this process has ended. Blocks.
    ///
    /// # Errors
    /// The reason why it failed; nothing is lost.
    fn fold_log(&self) -> Result<(), StoreFault> {
        Ok(())
    }

    /// Visits every document of a kind that has not expired, sorted by id, one at a time: for the start of the gateway, which must
    /// not hold all of them twice. Blocks. Concurrent changes may or may not be seen.
    ///
    /// # Errors
    /// A fault in the middle ends the walk; the documents before it have been visited.
    fn for_each(&self, kind: DocumentSpace, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault>;

    /// Visits every counter that has not expired, like [`Store::for_each`] for documents.
    ///
    /// # Errors
    /// A fault in the middle ends the walk; the counters before it have been visited.
    fn for_each_counter(&self, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault>;
}
