//! Where answers are kept for later requests. The response cache of the gateway does it; tests do it in memory.

use hyper::body::Bytes;
use std::pin::Pin;

/// What a store is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AnswerName<'a> {
    /// Letters and digits that no other request has.
    pub key: &'a str,
    /// The path of its request, for purges.
    pub path: &'a str,
    /// Its tag, for purges.
    pub tag: &'a str,
    /// Seconds for which it is kept.
    pub ttl_s: u64,
}

/// What a store has.
pub enum FoundAnswer {
    /// The answer.
    Kept(Bytes),
    /// Nothing, and the place for it.
    Place(Box<dyn AnswerPlace>),
}

/// A place for the answer to one request. Purges since the request meet it.
pub trait AnswerPlace: Send {
    /// Keeps an answer.
    fn keep(self: Box<Self>, answer: &[u8]);
}

/// Keeps answers within a bound of memory, where several gateways share a store for all of them.
pub trait AnswerStore: Send + Sync {
    /// Looks for an answer.
    fn find<'a>(&'a self, name: AnswerName<'a>) -> Pin<Box<dyn Future<Output = FoundAnswer> + Send + 'a>>;

    /// Looks for what all gateways see, also where this one has kept something else.
    fn find_shared<'a>(&'a self, name: AnswerName<'a>) -> Pin<Box<dyn Future<Output = Option<Bytes>> + Send + 'a>>;

    /// Keeps something in the place of what is there.
    fn replace(&self, name: AnswerName<'_>, kept: &[u8]);

    /// Most bytes of one answer.
    fn answer_bytes_max(&self) -> usize;
}
