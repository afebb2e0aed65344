//! The buffers that connections of HTTP/2 write into. They are large and needed for moments: a core keeps a few for whoever is next.

use std::cell::RefCell;

/// Buffers that a core keeps, and bytes of each: a buffer that was grown by control frames beyond the usual is given back to the allocator.
const BUFFERS_MAX: usize = 8;
const BUFFER_BYTES_MAX: usize = 160 * 1024;

#[derive(Default)]
pub(crate) struct OutputBuffers(RefCell<Vec<Vec<u8>>>);

impl OutputBuffers {
    /// An empty buffer, with memory if there is a spare one.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes an empty buffer back.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        let mut buffers = self.0.borrow_mut();
        if buffers.len() < BUFFERS_MAX && buffer.capacity() <= BUFFER_BYTES_MAX {
            buffers.push(buffer);
        }
    }
}
