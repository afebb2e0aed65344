//! Reads along with the bytes that an HTTP/2 client sends: where its frames begin and end, and of which kind they are. What they mean is
//! h2's.

use super::PREFACE;

/// Bytes of a frame's header (RFC 9113 §4.1).
const FRAME_HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
/// A frame of a head that is larger than usual heads are.
const LARGE_HEAD_BYTES: usize = 1024;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Frames that have begun.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameCounts {
    pub all: u32,
    /// Those that carry content or end a stream.
    pub data: u32,
    /// Those that carry no part of a request: settings, pings, windows, priorities, resets, what nobody knows, and data without content.
    pub control: u32,
    /// Bytes of heads, where a frame has more than usual.
    pub large_heads: usize,
}

/// Where a sequence of frames stands.
pub struct Frames {
    /// Bytes of the preface or of a frame's content that are still to come.
    left: usize,
    header: [u8; FRAME_HEADER],
    /// Bytes of `header` that are there; all of them while the content comes.
    have: usize,
    /// A header block has begun and its end has not come.
    in_block: bool,
    /// Frames and header blocks that were finished. Before the first one that was the preface.
    finished: u64,
    begun: FrameCounts,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            left: PREFACE.len(),
            header: [0; FRAME_HEADER],
            have: FRAME_HEADER,
            in_block: false,
            finished: 0,
            begun: FrameCounts::default(),
        }
    }
}

impl Frames {
    /// Reads on. How many frames begin in these bytes.
    pub fn read(&mut self, mut bytes: &[u8]) -> FrameCounts {
        self.begun = FrameCounts::default();
        while !bytes.is_empty() {
            if self.left > 0 {
                let taken = self.left.min(bytes.len());
                self.left -= taken;
                bytes = bytes.get(taken..).unwrap_or_default();
            } else {
                let taken = (FRAME_HEADER - self.have).min(bytes.len());
                let (now, later) = bytes.split_at(taken);
                if let Some(room) = self.header.get_mut(self.have..self.have + taken) {
                    room.copy_from_slice(now);
                }
                self.have += taken;
                bytes = later;
                if self.have == FRAME_HEADER {
                    let [high, middle, low, ..] = self.header;
                    self.left = u32::from_be_bytes([0, high, middle, low]) as usize;
                    self.count();
                }
            }
            if self.have == FRAME_HEADER && self.left == 0 {
                self.end();
            }
        }
        self.begun
    }

    /// A frame's header is complete.
    fn count(&mut self) {
        let [_, _, _, kind, flags, ..] = self.header;
        self.begun.all += 1;
        if matches!(kind, HEADERS | CONTINUATION) && self.left > LARGE_HEAD_BYTES {
            self.begun.large_heads += self.left;
        }
        match kind {
            DATA if self.left > 0 || flags & END_STREAM != 0 => self.begun.data += 1,
            HEADERS => {}
            _ => self.begun.control += 1,
        }
    }

    /// A frame, or the preface, is complete.
    fn end(&mut self) {
        let [_, _, _, kind, flags, ..] = self.header;
        if matches!(kind, HEADERS | CONTINUATION) && self.finished > 0 {
            self.in_block = flags & END_HEADERS == 0;
        }
        self.have = 0;
        // A block is one thing, however many frames it has.
        if !self.in_block {
            self.finished += 1;
        }
    }

    /// The number of what is begun and not finished. Content that is data has limits of its own.
    pub fn unfinished(&self) -> Option<u64> {
        let [_, _, _, kind, ..] = self.header;
        let begun = match self.have {
            0 => self.in_block,
            FRAME_HEADER => kind != DATA || self.finished == 0,
            _ => true,
        };
        // The preface alone is not enough: its first frame belongs to it (RFC 9113 §3.4).
        (begun || self.finished <= 1).then_some(self.finished)
    }
}

#[cfg(test)]
mod tests;
