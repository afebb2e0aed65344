//! The dynamic table of a decoder (RFC 7541 §2.3.2): the fields that the peer may repeat by index. Names and values are consecutive
//! in one buffer, which grows as the table fills: an entry costs no allocation, and an unused table no memory.

use super::TABLE_BYTES_MAX;
use crate::field_list::FIELD_OVERHEAD;
use std::collections::VecDeque;

/// Recently decoded fields by index.
pub(super) struct DynamicTable {
    /// Bytes of the entries, the oldest first; those before `start` are evicted.
    bytes: Vec<u8>,
    start: usize,
    entries: VecDeque<FieldEntry>,
    /// Size of the entries (§4.1), and its limit.
    size: usize,
    size_max: usize,
}

#[derive(Clone, Copy)]
struct FieldEntry {
    start: u32,
    name_len: u32,
    value_len: u32,
}

impl FieldEntry {
    fn len(&self) -> usize {
        self.name_len as usize + self.value_len as usize
    }
}

impl DynamicTable {
    pub(super) fn new() -> Self {
        DynamicTable { bytes: Vec::new(), start: 0, entries: VecDeque::new(), size: 0, size_max: TABLE_BYTES_MAX }
    }

    /// Name and value of an entry; the newest is 0.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.get(self.entries.len().checked_sub(index + 1)?)?;
        let bytes = self.bytes.get(entry.start as usize..)?.get(..entry.len())?;
        bytes.split_at_checked(entry.name_len as usize)
    }

    /// Adds an entry and evicts the oldest to make room. An entry larger than the table empties it and is not added (§4.4).
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + FIELD_OVERHEAD;
        self.shrink_to(self.size_max.saturating_sub(size));
        if size > self.size_max {
            return;
        }
        if self.start > 0 && self.bytes.len() + name.len() + value.len() > self.bytes.capacity() {
            self.bytes.drain(..self.start);
            let gone = std::mem::take(&mut self.start) as u32;
            self.entries.iter_mut().for_each(|entry| entry.start -= gone);
        }
        let entry = FieldEntry { start: self.bytes.len() as u32, name_len: name.len() as u32, value_len: value.len() as u32 };
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.entries.push_back(entry);
        self.size += size;
    }

    /// Changes the size limit.
    pub(super) fn resize(&mut self, size_max: usize) {
        self.size_max = size_max;
        self.shrink_to(size_max);
    }

    fn shrink_to(&mut self, size: usize) {
        while self.size > size {
            let Some(entry) = self.entries.pop_front() else { break };
            self.start += entry.len();
            self.size -= entry.len() + FIELD_OVERHEAD;
        }
        if self.entries.is_empty() {
            self.bytes.clear();
            self.start = 0;
        }
    }
}
