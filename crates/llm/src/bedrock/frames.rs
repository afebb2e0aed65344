//! Frames of `application/vnd.amazon.eventstream`: lengths, headers, payload, and a checksum of both the lengths and the whole.

/// The lengths, their checksum, and the checksum at the end.
const OVERHEAD: usize = 16;
/// The type of a header that is a string.
const STRING: u8 = 7;

/// Splits a stream into frames. It keeps the one that is not complete yet.
#[derive(Debug)]
pub(crate) struct FrameReader {
    bytes: Vec<u8>,
    bytes_max: usize,
}

/// A frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EventFrame {
    /// Whether it is an event; otherwise an exception.
    pub(crate) is_event: bool,
    /// The type of the event or exception.
    pub(crate) kind: String,
    /// The payload.
    pub(crate) data: Vec<u8>,
}

impl FrameReader {
    /// A reader of frames of at most so many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        FrameReader { bytes: Vec::new(), bytes_max }
    }

    /// Takes bytes up to the end of the next frame, and returns that; `None` if it is not complete.
    pub(crate) fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<EventFrame>, &'static str> {
        self.take(bytes, OVERHEAD - 4);
        let Some(length) = number(&self.bytes, 0) else { return Ok(None) };
        let (Some(headers), Some(checksum)) = (number(&self.bytes, 4), number(&self.bytes, 8)) else { return Ok(None) };
        if checksum != crc32(self.bytes.get(..8).unwrap_or_default()) {
            return Err("a frame's lengths have a wrong checksum");
        }
        let (length, headers) = (length as usize, headers as usize);
        if length > self.bytes_max {
            return Err("an event is too large");
        }
        if length < OVERHEAD || headers > length - OVERHEAD {
            return Err("a frame's lengths do not fit");
        }
        self.take(bytes, length);
        if self.bytes.len() < length {
            return Ok(None);
        }
        let frame = std::mem::take(&mut self.bytes);
        let (content, checksum) = frame.split_at_checked(length - 4).unwrap_or_default();
        if number(checksum, 0) != Some(crc32(content)) {
            return Err("a frame has a wrong checksum");
        }
        let (headers, data) = content.get(OVERHEAD - 4..).and_then(|rest| rest.split_at_checked(headers)).unwrap_or_default();
        let mut read = EventFrame { data: data.to_vec(), ..EventFrame::default() };
        read_headers(headers, &mut read).ok_or("a frame's headers are broken")?;
        Ok(Some(read))
    }

    /// Bytes of the frame that is not complete yet.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Takes bytes until there are so many.
    fn take(&mut self, bytes: &mut &[u8], wanted: usize) {
        let missing = wanted.saturating_sub(self.bytes.len()).min(bytes.len());
        if let Some((taken, rest)) = bytes.split_at_checked(missing) {
            self.bytes.extend_from_slice(taken);
            *bytes = rest;
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn read_headers(mut bytes: &[u8], frame: &mut EventFrame) -> Option<()> {
    while let Some((length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (kind, rest) = rest.split_first()?;
        let size = match *kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            9 => 16,
            6 | STRING => 2 + usize::from(u16::from_be_bytes(rest.get(..2)?.try_into().ok()?)),
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(size)?;
        if *kind == STRING {
            let text = std::str::from_utf8(value.get(2..)?).ok()?;
            match name {
                b":message-type" => frame.is_event = text == "event",
                b":event-type" | b":exception-type" | b":error-code" => frame.kind = text.to_owned(),
                _ => {}
            }
        }
        bytes = rest;
    }
    Some(())
}

/// The checksum of Ethernet and gzip, with a table of sixteen rows, which fits into two cache lines.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut at = 0;
        while at < 16 {
            let mut row = at as u32;
            let mut bit = 0;
            while bit < 4 {
                row = if row & 1 == 1 { row >> 1 ^ 0xedb8_8320 } else { row >> 1 };
                bit += 1;
            }
            #[allow(clippy::indexing_slicing, reason = "the loop ends at the table's end")]
            {
                table[at] = row;
            }
            at += 1;
        }
        table
    };
    let half = |sum: u32| sum >> 4 ^ TABLE.get((sum & 15) as usize).copied().unwrap_or_default();
    !bytes.iter().fold(!0, |sum, byte| half(half(sum ^ u32::from(*byte))))
}

#[cfg(test)]
mod tests;
