//! Output buffers of HTTP/2 connections. They are large and used only briefly: a core keeps a few for reuse.

use std::cell::RefCell;

/// Maximum spare buffers of a core, and bytes of each: a buffer that control frames grew beyond that is freed.
const BUFFERS_MAX: usize = 8;
const BUFFER_BYTES_MAX: usize = 160 * 1024;

#[derive(Default)]
pub(crate) struct OutputBuffers(RefCell<Vec<Vec<u8>>>);

impl OutputBuffers {
    /// An empty buffer, a spare one with memory if available.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Returns an empty buffer for reuse.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        let mut buffers = self.0.borrow_mut();
        if buffers.len() < BUFFERS_MAX && buffer.capacity() <= BUFFER_BYTES_MAX {
            buffers.push(buffer);
        }
    }
}
