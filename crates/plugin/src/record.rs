//! Plugins that change analytics records before they are written, beside all requests.

use crate::HookFault;

/// The plugin of one API that changes its analytics records, ready to be called.
pub trait RecordPlugin: Send + Sync {
    /// Processes a record: a JSON object with the names of tyk-pump's outputs. Called on a data thread, so it must return at once. `done` may
    /// be called on any thread. If it is dropped, the record is lost.
    fn process(&self, record: String, done: RecordReply);
}

/// Takes what became of a record.
pub type RecordReply = Box<dyn FnOnce(Result<RecordAnswer, HookFault>) + Send>;

/// What became of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordAnswer {
    /// The record to write, in the same form.
    Changed(String),
    /// Nothing is to be written.
    Dropped,
}
