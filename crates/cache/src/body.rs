//! The body of a stored response: pieces of shared memory that one task appends to while any number of others, on any core, read. It ends
//! complete or truncated; a truncated body is never stored.

use crate::budget::MemoryCharge;
use crate::waiters::{WaitPlace, Waiters, wake};
use bytes::Bytes;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

/// Pieces smaller than this are merged with the next one, so that a body that trickles in does not need a piece for each byte.
const PIECE_BYTES_MIN: usize = 4 * 1024;
/// Memory overhead of one piece, in bytes: its entry in the list, its reference counter and the allocation's header.
const PIECE_OVERHEAD: u64 = 96;

/// A response body, complete or growing.
#[derive(Debug)]
pub(crate) struct StoredBody {
    /// Length that the response's head announced.
    declared: Option<u64>,
    /// The pieces, once the body is complete. Reading them takes no lock.
    complete: OnceLock<Box<[BodyPiece]>>,
    growing: Mutex<Growth>,
}

#[derive(Clone, Debug)]
struct BodyPiece {
    start: u64,
    bytes: Bytes,
}

impl BodyPiece {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

#[derive(Debug)]
struct Growth {
    pieces: Vec<BodyPiece>,
    len: u64,
    state: GrowthState,
    readers: Waiters,
    charge: MemoryCharge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrowthState {
    Open,
    Complete,
    Cut,
}

/// Why bytes were not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PushError {
    /// The body exceeds the length that the head announced.
    TooLong,
    /// The body exceeds the size limit of one object.
    TooLarge,
    /// The budget is used up.
    NoMemory,
    /// The body has ended already.
    Ended,
}

impl StoredBody {
    /// Makes an empty body. With a declared length, `charge` covers [`StoredBody::bytes_max`] of it, so that the body never runs out of
    /// memory.
    pub(crate) fn new(declared: Option<u64>, charge: MemoryCharge) -> Self {
        let (state, readers) = (GrowthState::Open, Waiters::default());
        let growing = Growth { pieces: Vec::new(), len: 0, state, readers, charge };
        StoredBody { declared, complete: OnceLock::new(), growing: Mutex::new(growing) }
    }

    fn lock(&self) -> MutexGuard<'_, Growth> {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Most memory that a body of `len` bytes takes, however it arrives.
    pub(crate) fn bytes_max(len: u64) -> u64 {
        weight(len, usize::try_from(len).unwrap_or(usize::MAX) / PIECE_BYTES_MIN + 1)
    }

    /// Length of the body, if it is known.
    pub(crate) fn len(&self) -> Option<u64> {
        self.complete_len().or(self.declared)
    }

    fn complete_len(&self) -> Option<u64> {
        self.complete.get().map(|pieces| pieces.last().map_or(0, BodyPiece::end))
    }

    /// Memory of a complete body, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        let pieces = self.complete.get().map_or(&[][..], |pieces| pieces);
        weight(pieces.last().map_or(0, BodyPiece::end), pieces.len())
    }

    /// A copy of a complete body.
    pub(crate) fn copy(&self) -> Option<Vec<u8>> {
        let pieces = self.complete.get()?;
        Some(pieces.iter().flat_map(|piece| piece.bytes.iter().copied()).collect())
    }

    /// Appends bytes and wakes readers.
    pub(crate) fn push(&self, bytes: &[u8], len_max: u64) -> Result<(), PushError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut growing = self.lock();
        if growing.state != GrowthState::Open {
            return Err(PushError::Ended);
        }
        let len = growing.len + bytes.len() as u64;
        if self.declared.is_some_and(|declared| len > declared) {
            return Err(PushError::TooLong);
        }
        if len > len_max {
            return Err(PushError::TooLarge);
        }
        let is_joined = growing.pieces.last().is_some_and(|last| last.bytes.len() < PIECE_BYTES_MIN);
        let pieces = growing.pieces.len() + usize::from(!is_joined);
        if !growing.charge.grow_to(weight(len, pieces)) {
            return Err(PushError::NoMemory);
        }
        let start = growing.len;
        match growing.pieces.last_mut() {
            Some(last) if last.bytes.len() < PIECE_BYTES_MIN => last.bytes = [&last.bytes, bytes].concat().into(),
            _ => growing.pieces.push(BodyPiece { start, bytes: Bytes::copy_from_slice(bytes) }),
        }
        growing.len = len;
        let waiting = growing.readers.take();
        drop(growing);
        wake(waiting);
        Ok(())
    }

    /// Ends the body after its last byte. Returns `false` when bytes are missing or it was truncated; it counts as truncated then.
    pub(crate) fn finish(&self) -> bool {
        let mut growing = self.lock();
        if growing.state == GrowthState::Complete {
            return true;
        }
        let is_whole = growing.state == GrowthState::Open && self.declared.is_none_or(|declared| declared == growing.len);
        growing.state = if is_whole { GrowthState::Complete } else { GrowthState::Cut };
        if is_whole {
            let pieces = std::mem::take(&mut growing.pieces).into_boxed_slice();
            let exact = weight(growing.len, pieces.len());
            growing.charge.shrink_to(exact);
            // Only this place sets it, once.
            let _ = self.complete.set(pieces);
        }
        let waiting = growing.readers.take();
        drop(growing);
        wake(waiting);
        is_whole
    }

    /// Ends the body early; readers learn that it is truncated.
    pub(crate) fn cut(&self) {
        let mut growing = self.lock();
        if growing.state == GrowthState::Open {
            growing.state = GrowthState::Cut;
        }
        let waiting = growing.readers.take();
        drop(growing);
        wake(waiting);
    }
}

fn weight(len: u64, pieces: usize) -> u64 {
    len.saturating_add(pieces as u64 * PIECE_OVERHEAD)
}

/// Result of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyRead {
    /// The next bytes. They are shared: holding them copies nothing and keeps their memory.
    Data(Bytes),
    /// No bytes are available yet; the waker will be called.
    Pending,
    /// All bytes have been returned.
    End,
    /// The body is truncated because its upstream failed. The bytes sent so far are not a complete answer.
    Cut,
}

/// Reader of one span of a body.
#[derive(Debug)]
pub(crate) struct SpanReader {
    body: Arc<StoredBody>,
    at: u64,
    end: Option<u64>,
    place: Option<WaitPlace>,
}

impl SpanReader {
    /// Makes a reader from `start` to `end`; without `end`, to the last byte.
    pub(crate) fn new(body: Arc<StoredBody>, start: u64, end: Option<u64>) -> Self {
        SpanReader { body, at: start, end, place: None }
    }

    /// Returns the next bytes of the span. After [`BodyRead::Pending`], `waker` is called when there are more.
    pub(crate) fn next(&mut self, waker: &Waker) -> BodyRead {
        if self.end.is_some_and(|end| self.at >= end) {
            return BodyRead::End;
        }
        if let Some(pieces) = self.body.complete.get() {
            return data(&mut self.at, self.end, pieces).unwrap_or(BodyRead::End);
        }
        let mut growing = self.body.lock();
        if let Some(read) = data(&mut self.at, self.end, &growing.pieces) {
            return read;
        }
        match growing.state {
            // Completed after the check above.
            GrowthState::Complete => {
                drop(growing);
                let pieces = self.body.complete.get().map_or(&[][..], |pieces| pieces);
                data(&mut self.at, self.end, pieces).unwrap_or(BodyRead::End)
            }
            GrowthState::Cut => BodyRead::Cut,
            GrowthState::Open => {
                let readers = &mut growing.readers;
                let place = self.place.get_or_insert_with(|| readers.join());
                readers.wait(place, waker);
                BodyRead::Pending
            }
        }
    }
}

impl Drop for SpanReader {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.body.lock().readers.leave(place);
        }
    }
}

/// The bytes from `at` on that one piece contains.
fn data(at: &mut u64, end: Option<u64>, pieces: &[BodyPiece]) -> Option<BodyRead> {
    let piece = pieces.get(pieces.partition_point(|piece| piece.end() <= *at))?;
    let skip = usize::try_from(at.checked_sub(piece.start)?).ok()?;
    let most = end.map_or(u64::MAX, |end| end.saturating_sub(*at));
    let take = (piece.bytes.len() - skip).min(usize::try_from(most).unwrap_or(usize::MAX));
    let bytes = piece.bytes.slice(skip..skip + take);
    *at += bytes.len() as u64;
    Some(BodyRead::Data(bytes))
}

#[cfg(test)]
mod tests;
