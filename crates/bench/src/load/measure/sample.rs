//! One answered request, as the recorder and the lines of `-o csv` take it.

use crate::load::wire::connection::TimedResponse;

/// A request that has its answer.
pub(crate) struct RequestSample<'a> {
    pub due_ns: u64,
    pub started_ns: u64,
    /// Of the connection that had to be opened for it.
    pub connect_ns: Option<u64>,
    pub answer: &'a TimedResponse,
}
