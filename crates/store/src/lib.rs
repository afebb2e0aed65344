//! What must outlive the gateway's process: sessions, certificates and other small documents, and the last known
//! values of counters. One contract of questions and answers for every store.
//!
//! A store knows neither what a document says nor what a counter counts: live counters, rate limits and the sessions
//! that requests are checked against are kept in memory by the gateway, which loads them from here and writes behind.
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
pub use question::{Answer, Counter, Kind, Page, Question};
pub use redis::{Heard, ListWriter, ListWriterState, Redis, RedisSettings, RedisShape, RedisTls, Script, Values};
pub use timings::Timings;

/// An answer to come.
pub type Reply = Pin<Box<dyn Future<Output = Result<Answer, StoreFault>> + Send>>;

/// A place that keeps documents and counters.
///
/// What was answered is kept: once a change is answered, no crash of the process takes it back. Questions asked one
/// after the other by one thread are carried out in that order.
pub trait Store: Send + Sync {
    /// Hands a question over. It is on its way when this returns, unless the store has no room for it at the moment: then
    /// it waits its turn while the reply is polled.
    ///
    /// Dropping the reply does not take the question back; whether it is carried out is then unknown.
    fn ask(&self, question: Question) -> Reply;

    /// How long it takes to answer, if that is counted.
    fn timings(&self) -> Option<&Timings> {
        None
    }

    /// Why nothing can be written, as far as that is known: since the last change that failed, or the last [`Store::try_write`].
    fn trouble(&self) -> Option<Arc<StoreFault>> {
        None
    }

    /// Finds out whether something can be written. Blocks.
    ///
    /// # Errors
    /// Why not.
    fn try_write(&self) -> Result<(), StoreFault> {
        Ok(())
    }

    /// Brings what is stored into as few files as possible, for whoever copies them once this process has ended. Blocks.
    ///
    /// # Errors
    /// What stands against it; nothing is lost then.
    fn fold_log(&self) -> Result<(), StoreFault> {
        Ok(())
    }

    /// Every living document of a kind, in the order of the ids, one at a time: for the start of the gateway, which must
    /// not hold all of them twice. Blocks. What is stored meanwhile may or may not be seen.
    ///
    /// # Errors
    /// A fault in the middle ends the walk; the documents before it have been handed over.
    fn for_each(&self, kind: Kind, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault>;

    /// Every counter that has not been renewed since, as [`Store::for_each`] does for documents.
    ///
    /// # Errors
    /// A fault in the middle ends the walk; the counters before it have been handed over.
    fn for_each_counter(&self, see: &mut dyn FnMut(Counter)) -> Result<(), StoreFault>;
}
