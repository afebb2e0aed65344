//! Stores data that must survive the gateway's process: sessions, certificates and other small documents, and the last known values of
//! counters. Every store answers the same questions.
//!
//! A store knows neither the content of a document nor the meaning of a counter. The gateway keeps live counters, rate limits and
//! the sessions for requests in memory; it loads them from a store and writes changes behind.
#![forbid(unsafe_code)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub mod change;
pub mod clock;
pub mod embedded;
pub mod fault;
pub mod memory;
pub mod question;
pub mod redis;
pub mod spend;
pub mod timings;
pub mod usage;

mod sweep;

pub use change::{ChangedDocument, change_document};
pub use clock::Clock;
pub use embedded::Embedded;
pub use fault::{StoreFault, StoreFaultKind};
pub use memory::Memory;
pub use question::{Answer, CounterValue, DocumentSpace, Page, Question};
pub use redis::{
    CachedValue, Heard, LogId, Redis, RedisSettings, RedisShape, RedisTls, Script, SharedRevision, SharedTexts, TextChange,
};
pub use timings::Timings;

/// What is on its way from a store.
pub type StoreReply<T> = Pin<Box<dyn Future<Output = Result<T, StoreFault>> + Send>>;
/// A pending answer.
pub type PendingAnswer = StoreReply<Answer>;

fn reply<T: 'static>(answer: PendingAnswer, take: fn(Answer) -> Result<T, StoreFault>) -> StoreReply<T> {
    Box::pin(async move { take(answer.await?) })
}

/// Stores documents and counters.
///
/// Answered changes are durable: no crash of the process undoes them. Questions that one thread asks in sequence are carried out in
/// that order. Each method sends its question when it is called, and not when its reply is awaited.
pub trait Store: Send + Sync {
    /// Sends a question, for the methods below. It is in the queue when this returns, unless the store has no capacity at the moment: then it waits while
    /// the reply is polled.
    ///
    /// Dropping the reply does not cancel the question; then it is unknown whether it is carried out.
    fn ask(&self, question: Question) -> PendingAnswer;

    /// A document, if it exists.
    fn read(&self, kind: DocumentSpace, id: String) -> StoreReply<Option<Vec<u8>>> {
        reply(self.ask(Question::Get { kind, id }), Answer::into_document)
    }

    /// Stores a document, replacing an existing one and its expiry (in Unix seconds). Tells whether there was one.
    fn write(&self, kind: DocumentSpace, id: String, value: Vec<u8>, expires_unix_s: Option<u64>) -> StoreReply<bool> {
        reply(self.ask(Question::Put { kind, id, value, expires_unix_s }), Answer::existed)
    }

    /// Stores a document in the place of exactly `old`, or if there is none. Tells whether there was one: that is to say, with an `old`
    /// whether it was replaced, and without one whether nothing was changed.
    fn write_over(
        &self,
        kind: DocumentSpace,
        id: String,
        old: Option<Vec<u8>>,
        value: Vec<u8>,
        expires_unix_s: Option<u64>,
    ) -> StoreReply<bool> {
        let question = match old {
            Some(old) => Question::Replace { kind, id, old, value, expires_unix_s },
            None => Question::PutNew { kind, id, value, expires_unix_s },
        };
        reply(self.ask(question), Answer::existed)
    }

    /// Deletes a document. Tells whether there was one.
    fn remove(&self, kind: DocumentSpace, id: String) -> StoreReply<bool> {
        reply(self.ask(Question::Delete { kind, id }), Answer::existed)
    }

    /// At most `limit` documents whose ids begin with `prefix`, sorted by the bytes of their ids, from behind `after`.
    fn page(&self, kind: DocumentSpace, prefix: String, after: Option<String>, limit: usize) -> StoreReply<Page> {
        reply(self.ask(Question::List { kind, prefix, after, limit }), Answer::into_page)
    }

    /// The counters with these names, at most [`question::COUNTERS_MAX`], in this order, without missing ones.
    fn counters(&self, names: Vec<String>) -> StoreReply<Vec<CounterValue>> {
        reply(self.ask(Question::Counters { names }), Answer::into_counters)
    }

    /// Stores counters, all or none; at most [`question::COUNTERS_MAX`].
    fn write_counters(&self, counters: Vec<CounterValue>) -> StoreReply<()> {
        reply(self.ask(Question::SaveCounters { counters }), |answer| answer.existed().map(|_| ()))
    }

    /// Deletes the counters with these names. Tells whether one of them existed.
    fn remove_counters(&self, names: Vec<String>) -> StoreReply<bool> {
        reply(self.ask(Question::DeleteCounters { names }), Answer::existed)
    }

    /// Deletes the counters whose names have this prefix. Tells whether one of them existed.
    fn remove_counters_under(&self, prefix: String) -> StoreReply<bool> {
        reply(self.ask(Question::DeleteCountersUnder { prefix }), Answer::existed)
    }

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
