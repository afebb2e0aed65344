//! The threads and connections of data graphs and of inspected WebSockets.

use std::sync::Arc;
use tollgate_outbound::{ClientThreads, LazyCallClient, Shares};

/// Most calls to sources at one time, of all APIs together.
const CALLS_MAX: usize = 8_192;
/// Stack of a thread: documents are checked and planned there, which is recursive.
const STACK_BYTES: usize = 8 << 20;
/// Memory for the answers of sources, of all APIs together and of one. A query for which there is none left waits.
const ANSWERS_BYTES_MAX: usize = 2 << 30;
const ANSWERS_OF_API_BYTES_MAX: usize = 1 << 30;

/// The threads and connections of data graphs, started when the first API needs them, and the memory for the answers of their sources.
pub struct GraphClient(pub LazyCallClient, pub Arc<Shares>);

impl Default for GraphClient {
    fn default() -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = ClientThreads { name: "graph", count, calls_max: CALLS_MAX, stack_bytes: STACK_BYTES };
        GraphClient(LazyCallClient::with_threads(threads), Shares::new(ANSWERS_BYTES_MAX, ANSWERS_OF_API_BYTES_MAX))
    }
}
