//! Events of a `text/event-stream`, one after the other as their bytes arrive.

use tollgate_text::byte_order_mark::MARK;

/// Splits a stream into events. Their bytes, joined, are those of the stream, but for the mark that may begin it.
#[derive(Debug)]
pub struct EventReader {
    event: Vec<u8>,
    bytes_max: usize,
    /// Whether it is the first of the stream.
    is_first: bool,
    /// Whether the current line has no byte yet.
    at_line_start: bool,
    /// Whether the last byte was a carriage return: a line feed behind it ends no other line.
    after_return: bool,
    /// Whether the event ended with the last byte.
    is_complete: bool,
}

/// An event that exceeds the bound of its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTooLarge;

/// The lines of an event that say what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventParts {
    /// The type; empty for a message.
    pub kind: Vec<u8>,
    /// All lines of data, joined.
    pub data: Vec<u8>,
    id: Vec<u8>,
    retry_ms: Option<u64>,
}

impl EventReader {
    /// A reader of events of at most so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        EventReader { event: Vec::new(), bytes_max, is_first: true, at_line_start: true, after_return: false, is_complete: false }
    }

    /// Takes bytes up to the end of the next event, and returns that; `None` if it is not complete.
    ///
    /// # Errors
    /// The event is too large.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<&[u8]>, EventTooLarge> {
        if std::mem::take(&mut self.is_complete) {
            self.event.clear();
        }
        while let Some((byte, rest)) = bytes.split_first() {
            let joins_return = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            let ends_line = matches!(byte, b'\n' | b'\r');
            // The rest of a line is taken at once, up to the byte that is too many.
            let (taken, rest) = if ends_line { (std::slice::from_ref(byte), rest) } else { split_line(bytes, self.room()) };
            *bytes = rest;
            self.event.extend_from_slice(taken);
            if self.event.len() > self.bytes_max {
                return Err(EventTooLarge);
            }
            if joins_return {
                // The rest of a line's end. If that ended an event, it passes by itself.
                if self.event.len() == 1 {
                    self.is_complete = true;
                    return Ok(Some(&self.event));
                }
                continue;
            }
            if std::mem::replace(&mut self.at_line_start, ends_line) && ends_line {
                self.is_complete = true;
                return Ok(Some(self.behind_mark()));
            }
        }
        Ok(None)
    }

    /// Bytes until the event is too large.
    fn room(&self) -> usize {
        (self.bytes_max + 1).saturating_sub(self.event.len())
    }

    /// Bytes of the event that is not complete yet.
    pub fn held_bytes(&self) -> usize {
        if self.is_complete { 0 } else { self.event.len() }
    }

    /// Whether `bytes` are whole events by themselves, with nothing held before them: then they may pass without being read.
    pub fn may_skip(&self, bytes: &[u8]) -> bool {
        let is_between = !self.is_first && self.at_line_start && !self.after_return && self.held_bytes() == 0;
        is_between && bytes.ends_with(b"\n\n")
    }

    /// What is left when the stream has ended.
    pub fn rest(&mut self) -> &[u8] {
        if std::mem::take(&mut self.is_complete) {
            self.event.clear();
        }
        self.behind_mark()
    }

    /// The event without the mark that only the first one may have.
    fn behind_mark(&mut self) -> &[u8] {
        let mark = if std::mem::take(&mut self.is_first) { MARK } else { b"" };
        self.event.strip_prefix(mark).unwrap_or(&self.event)
    }
}

impl EventParts {
    /// Reads an event; `None` if it has no data.
    pub fn read(event: &[u8]) -> Option<Self> {
        let mut parts = EventParts { kind: Vec::new(), data: Vec::new(), id: Vec::new(), retry_ms: None };
        let mut has_data = false;
        for line in lines(event) {
            match field(line) {
                (b"event", value) => parts.kind = value.to_vec(),
                (b"id", value) => parts.id = value.to_vec(),
                (b"retry", value) => parts.retry_ms = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok()),
                (b"data", value) => {
                    if std::mem::replace(&mut has_data, true) {
                        parts.data.push(b'\n');
                    }
                    parts.data.extend_from_slice(value);
                }
                _ => {}
            }
        }
        has_data.then_some(parts)
    }

    /// Its id, if it has one that is a text.
    pub fn id(&self) -> Option<String> {
        std::str::from_utf8(&self.id).ok().filter(|id| !id.is_empty()).map(str::to_owned)
    }

    /// When a stream that has ended should be opened again, if it says so.
    pub fn retry(&self) -> Option<std::time::Duration> {
        self.retry_ms.map(std::time::Duration::from_millis)
    }

    /// Whether it is a message, which carries JSON-RPC.
    pub fn is_message(&self) -> bool {
        matches!(self.kind.as_slice(), b"" | b"message")
    }

    /// The event that these are the parts of, with other data.
    pub fn with_data(&self, event: &[u8], data: &[u8]) -> Vec<u8> {
        let mut made = Vec::with_capacity(event.len());
        for line in lines(event).filter(|line| !line.is_empty() && field(line).0 != b"data") {
            made.extend_from_slice(line);
            made.push(b'\n');
        }
        for line in lines(data) {
            made.extend_from_slice(b"data: ");
            made.extend_from_slice(line);
            made.push(b'\n');
        }
        made.push(b'\n');
        made
    }
}

/// The lines of an event, without their ends.
fn lines(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = event;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, behind) = split_line(rest, usize::MAX);
        rest = behind.strip_prefix(b"\r\n").or_else(|| behind.get(1..)).unwrap_or_default();
        Some(line)
    })
}

/// A line without its end, at most so many bytes of it, and what is behind them.
fn split_line(bytes: &[u8], bytes_max: usize) -> (&[u8], &[u8]) {
    let seen = bytes.get(..bytes_max).unwrap_or(bytes);
    let end = memchr::memchr2(b'\n', b'\r', seen).unwrap_or(seen.len());
    bytes.split_at_checked(end).unwrap_or((bytes, b""))
}

/// A line's name and value.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|byte| *byte == b':').and_then(|at| line.split_at_checked(at)) {
        None => (line, b""),
        Some((name, value)) => {
            let value = value.get(1..).unwrap_or_default();
            (name, value.strip_prefix(b" ").unwrap_or(value))
        }
    }
}

#[cfg(test)]
mod tests;
