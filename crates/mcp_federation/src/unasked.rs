//! What servers write that nobody gets.

use std::time::{Duration, Instant};

/// Bytes in this time. A server that writes more is not listened to any more.
const BYTES_MAX: usize = 16 << 20;
const TIME: Duration = Duration::from_secs(60);

/// Why.
pub(crate) const UNASKED: &str = "it writes more than anybody has asked for";

/// Counts them.
#[derive(Default)]
pub(crate) struct Unasked {
    bytes: usize,
    since: Option<Instant>,
}

impl Unasked {
    /// Counts some more. Says whether it is too much.
    pub(crate) fn add(&mut self, bytes: usize) -> bool {
        if bytes > 0 && self.since.is_none_or(|since| since.elapsed() >= TIME) {
            *self = Unasked { bytes: 0, since: Some(Instant::now()) };
        }
        self.bytes += bytes;
        self.bytes > BYTES_MAX
    }
}
