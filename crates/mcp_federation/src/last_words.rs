//! The last that a process has written to its standard error, for people who look. Clients never get it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How much is kept.
const BYTES_MAX: usize = 4 << 10;
/// How long what is left is read after the process has ended.
const REST_MAX: Duration = Duration::from_millis(200);

/// What one process has written.
#[derive(Clone, Default)]
pub(crate) struct LastWords {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Arc<Notify>,
}

impl LastWords {
    /// Reads to the end.
    pub(crate) async fn read(self, mut error: impl AsyncRead + Unpin) {
        let mut part = vec![0; BYTES_MAX];
        while let Ok(read @ 1..) = error.read(&mut part).await {
            let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.extend_from_slice(part.get(..read).unwrap_or_default());
            let surplus = bytes.len().saturating_sub(BYTES_MAX);
            bytes.drain(..surplus);
        }
        self.ended.notify_one();
    }

    /// The text in one line, when the process has ended; empty for none.
    pub(crate) async fn at_end(&self) -> String {
        // What it has started may still write.
        let _ = timeout(REST_MAX, self.ended.notified()).await;
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text: String = String::from_utf8_lossy(&bytes).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.trim().to_owned()
    }
}

/// Why something is over, with what it has written.
pub(crate) fn with_words(why: &str, words: &str) -> String {
    if words.is_empty() { why.to_owned() } else { format!("{why}; it wrote: {words}") }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, LastWords, with_words};

    #[tokio::test]
    async fn the_end_is_kept_in_one_line() {
        let words = LastWords::default();
        let text = format!("{}\nlast\u{1b} line\n", "x".repeat(3 * BYTES_MAX));
        words.clone().read(text.as_bytes()).await;
        let kept = words.at_end().await;
        assert!(kept.ends_with("x last  line") && kept.len() < BYTES_MAX, "{}", kept.len());
        assert_eq!(with_words("gone", &kept), format!("gone; it wrote: {kept}"));
        assert_eq!(with_words("gone", &LastWords::default().at_end().await), "gone");
    }
}
