//! Time limits that the h2 crate does not have: a client that begins a header block, or any frame but one of data, must finish it within
//! the time of a request's head, and its first frame must come within that time too. Reads along, and counts bytes of frames; what the
//! frames mean is h2's.

use super::PREFACE;
use crate::core::Core;
use crate::deadlines::NEVER;
use std::rc::Rc;
use std::task::Context;

/// Bytes of a frame's header (RFC 9113 §4.1).
const FRAME_HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// The patience that is had with one client.
pub struct Patience {
    core: Rc<Core>,
    deadline: usize,
    frames: Frames,
    /// What is waited for, by number; `None` when nothing is.
    waits_for: Option<u64>,
}

impl Patience {
    pub fn new(core: Rc<Core>) -> Self {
        let deadline = core.deadlines.register();
        Patience { core, deadline, frames: Frames::default(), waits_for: None }
    }

    /// The client had its time.
    pub fn is_over(&self) -> bool {
        self.core.deadlines.take_expired(self.deadline)
    }

    /// The client sent these bytes; the task of `cx` is woken when the time for what is to follow them is over.
    pub fn saw(&mut self, cx: &Context<'_>, bytes: &[u8]) {
        self.frames.read(bytes);
        let waits_for = self.frames.unfinished();
        if waits_for == self.waits_for {
            return;
        }
        self.waits_for = waits_for;
        let until_ms = match waits_for {
            Some(_) => self.core.deadlines.now_ms().saturating_add(self.core.limits.head_ms),
            None => NEVER,
        };
        self.core.deadlines.set(self.deadline, until_ms, cx.waker());
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.core.deadlines.release(self.deadline);
    }
}

/// Where a sequence of frames stands.
struct Frames {
    /// Bytes of the preface or of a frame's content that are still to come.
    left: usize,
    header: [u8; FRAME_HEADER],
    /// Bytes of `header` that are there; all of them while the content comes.
    have: usize,
    /// A header block has begun and its end has not come.
    in_block: bool,
    /// Frames and header blocks that were finished. Before the first one that was the preface.
    finished: u64,
}

impl Default for Frames {
    fn default() -> Self {
        Frames { left: PREFACE.len(), header: [0; FRAME_HEADER], have: FRAME_HEADER, in_block: false, finished: 0 }
    }
}

impl Frames {
    fn read(&mut self, mut bytes: &[u8]) {
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
                }
            }
            if self.have == FRAME_HEADER && self.left == 0 {
                self.end();
            }
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
    fn unfinished(&self) -> Option<u64> {
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
