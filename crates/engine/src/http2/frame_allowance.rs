//! Limits the frames of a client that carry no part of a request. Each frame is cheap, but the protocol allows any number: without
//! a limit, one client can keep a core busy with pings (CVE-2019-9512) or settings (CVE-2019-9515). Requests and content add to the
//! allowance, so that clients that acknowledge every piece of a download, or ping while they work, have enough.

use std::cell::Cell;
use tollgate_http2::FrameCounts;

/// Frames that a client may send at once without any work: a hundred times what clients send at their start, and four milliseconds
/// of a core.
const FRAMES_MAX: u32 = 4_000;
/// Frames added per second: twenty times the pings of the most eager client, and less than a thousandth of a core.
const FRAMES_PER_S: u64 = 100;
/// Frames added per request, for those that clients send with it: priority, window updates, reset.
const FRAMES_PER_REQUEST: u32 = 8;
/// Frames added per piece of a response, for those that clients send for it: window updates for stream and connection, and a ping
/// to measure latency.
const FRAMES_PER_PIECE: u32 = 4;
/// Bytes of content that add one more frame: some clients send both window updates every few thousand bytes.
const BYTES_PER_FRAME: usize = 1024;
/// Bytes of a large head that cost as much as a frame, until the head has become a request: a head is fully decoded even if it is
/// then rejected as too large.
const HEAD_BYTES_PER_FRAME: usize = 64;
/// Maximum allowance earned by work: a client that has downloaded a hundred megabytes does not need more at once.
const FRAMES_EARNED_MAX: u32 = 100_000;

pub(crate) struct FrameAllowance {
    left: Cell<u32>,
    /// Coarse time up to which elapsed seconds were credited.
    counted_ms: Cell<u64>,
    is_over: Cell<bool>,
    /// Bytes of large heads that have not become requests.
    heads: Cell<usize>,
}

impl FrameAllowance {
    pub(crate) fn new(now_ms: u64) -> Self {
        FrameAllowance {
            left: Cell::new(FRAMES_MAX),
            counted_ms: Cell::new(now_ms),
            is_over: Cell::new(false),
            heads: Cell::new(0),
        }
    }

    /// Whether the client exceeded its allowance.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Charges frames that the client sent.
    pub(crate) fn count(&self, begun: FrameCounts, now_ms: u64) {
        self.earn(begun.data);
        self.heads.set(self.heads.get().saturating_add(begun.large_heads));
        let cost = begun.control.saturating_add(frames_for(begun.large_heads));
        if cost == 0 {
            return;
        }
        let earned = now_ms.saturating_sub(self.counted_ms.get()).saturating_mul(FRAMES_PER_S) / 1000;
        if earned > 0 {
            self.counted_ms.set(now_ms);
            // Elapsed time never raises the allowance above its initial value.
            let with_time = u64::from(self.left.get()).saturating_add(earned).min(u64::from(FRAMES_MAX));
            self.left.set(self.left.get().max(u32::try_from(with_time).unwrap_or(FRAMES_MAX)));
        }
        match self.left.get().checked_sub(cost) {
            Some(left) => self.left.set(left),
            None => self.is_over.set(true),
        }
    }

    /// Credits a request with a head of this size.
    pub(crate) fn earn_request(&self, head_bytes: impl FnOnce() -> usize) {
        self.earn(FRAMES_PER_REQUEST);
        if self.heads.get() > 0 {
            let bytes = head_bytes().min(self.heads.get());
            self.heads.set(self.heads.get() - bytes);
            self.earn(frames_for(bytes));
        }
    }

    /// Credits a piece of a response that is sent.
    pub(crate) fn earn_piece(&self, bytes: usize) {
        self.earn(FRAMES_PER_PIECE.saturating_add(u32::try_from(bytes / BYTES_PER_FRAME).unwrap_or(u32::MAX)));
    }

    fn earn(&self, frames: u32) {
        self.left.set(self.left.get().saturating_add(frames).min(FRAMES_EARNED_MAX));
    }
}

fn frames_for(head_bytes: usize) -> u32 {
    u32::try_from(head_bytes / HEAD_BYTES_PER_FRAME).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
