//! One answered request, as passed to the recorder and to `-o csv`.

use crate::load::wire::connection::TimedResponse;

/// A request with its response.
pub(crate) struct RequestSample<'a> {
    pub due_ns: u64,
    pub started_ns: u64,
    /// Time to connect, if a connection had to be opened.
    pub connect_ns: Option<u64>,
    pub answer: &'a TimedResponse,
}
