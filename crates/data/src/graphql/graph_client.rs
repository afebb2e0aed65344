//! The threads and connections of data graphs and of inspected WebSockets.

use tollgate_outbound::{ClientThreads, LazyCallClient};

/// Most calls to sources at one time, of all APIs together.
const CALLS_MAX: usize = 8_192;
/// Stack of a thread: documents are checked and planned there, which is recursive.
const STACK_BYTES: usize = 8 << 20;

/// The threads and connections of data graphs, started when the first API needs them.
pub struct GraphClient(pub LazyCallClient);

impl Default for GraphClient {
    fn default() -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = ClientThreads { name: "graph", count, calls_max: CALLS_MAX, stack_bytes: STACK_BYTES };
        GraphClient(LazyCallClient::with_threads(threads))
    }
}
