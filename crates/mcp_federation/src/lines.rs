//! The lines that a process writes, each of which is a message.

use crate::answer::MESSAGE_BYTES_MAX;
use crate::reading::read;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// Longest line that is left out. A process that writes a longer one is ended.
const SKIPPED_BYTES_MAX: usize = 64 << 20;
/// Bytes of the beginning and of the end of a line that is left out, in which its id is looked for.
const EDGE: usize = 128;

/// Reads lines.
pub(crate) struct Lines<R> {
    output: BufReader<R>,
    line: Vec<u8>,
    /// Whether the line was given, and is to be forgotten.
    is_given: bool,
    skipped: Option<Skipped>,
}

/// A line that is too long.
struct Skipped {
    bytes: usize,
    head: Vec<u8>,
}

/// One line.
#[derive(Debug, PartialEq)]
pub(crate) enum Line<'l> {
    Text(&'l [u8]),
    /// It was left out. `id` is that of the message in it, if it can be seen.
    TooLong {
        bytes: usize,
        id: Option<u64>,
    },
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(output: R) -> Self {
        Lines { output: BufReader::new(output), line: Vec::new(), is_given: false, skipped: None }
    }

    /// The next line; `None` at the end. What has been read stays if this is given up.
    ///
    /// # Errors
    /// The output cannot be read, or a line never ends.
    pub(crate) async fn next(&mut self) -> Result<Option<Line<'_>>, String> {
        if std::mem::take(&mut self.is_given) {
            self.line.clear();
        }
        loop {
            let room = (MESSAGE_BYTES_MAX + 1).saturating_sub(self.line.len()) as u64;
            let mut part = (&mut self.output).take(room);
            let read = part.read_until(b'\n', &mut self.line).await;
            let read = read.map_err(|error| format!("its output cannot be read: {error}"))?;
            // At the end, there may be no line feed.
            let is_whole = self.line.last() == Some(&b'\n') || read == 0;
            if is_whole && read == 0 && self.line.is_empty() && self.skipped.is_none() {
                return Ok(None);
            }
            if !is_whole && self.line.len() <= MESSAGE_BYTES_MAX {
                continue;
            }
            if is_whole && self.skipped.is_none() {
                self.is_given = true;
                return Ok(Some(Line::Text(&self.line)));
            }
            let first = self.line.get(..EDGE.min(self.line.len())).unwrap_or_default();
            let skipped = self.skipped.get_or_insert_with(|| Skipped { bytes: 0, head: first.to_vec() });
            skipped.bytes += self.line.len();
            if skipped.bytes > SKIPPED_BYTES_MAX {
                return Err("a line of its output is too long".to_owned());
            }
            if is_whole {
                let tail = self.line.get(self.line.len().saturating_sub(EDGE)..).unwrap_or_default();
                let line = Line::TooLong { bytes: skipped.bytes, id: id_of(&skipped.head, tail) };
                (self.skipped, self.is_given) = (None, true);
                return Ok(Some(line));
            }
            // The end of the line is kept whole, wherever the next part begins.
            self.line.drain(..self.line.len() - EDGE);
            skipped.bytes -= EDGE;
        }
    }

    /// The next line that is a message; `None` at the end.
    ///
    /// # Errors
    /// As for [`Self::next`].
    pub(crate) async fn message(&mut self) -> Result<Option<Value>, String> {
        while let Some(line) = self.next().await? {
            if let Line::Text(text) = line
                && let Ok(message) = read(text)
            {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }
}

/// The id of a message, where servers write it: behind the version, or behind the result.
fn id_of(head: &[u8], tail: &[u8]) -> Option<u64> {
    let plain = |bytes: &[u8]| -> String {
        bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| char::from(*byte)).collect()
    };
    let (head, tail) = (plain(head), plain(tail));
    let ahead = head.strip_prefix("{\"jsonrpc\":\"2.0\",").unwrap_or(head.strip_prefix('{')?).strip_prefix("\"id\":");
    let ahead = ahead.and_then(|rest| rest.split_once(',')).and_then(|(id, _)| id.parse().ok());
    ahead.or_else(|| tail.strip_suffix('}')?.rsplit_once("\"id\":")?.1.parse().ok())
}

#[cfg(test)]
mod tests;
