//! Minimum speed at which a client must send or take a body. Only time spent waiting for the client counts, so a slow upstream or a
//! quiet response is never held against it.

/// A minimum speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Bytes per second; 0 for no minimum.
    pub bytes_per_s_min: u64,
    /// How far a client may fall behind that speed.
    pub grace_ms: u64,
}

impl Speed {
    /// Maximum time for this many bytes; `None` for no limit.
    #[inline]
    pub(crate) fn allowed_ms(&self, bytes: u64) -> Option<u64> {
        let taken_ms = bytes.saturating_mul(1_000).checked_div(self.bytes_per_s_min)?;
        Some(self.grace_ms.saturating_add(taken_ms))
    }
}

/// How far one direction of an exchange has fallen behind its minimum speed. Bytes make up for past waiting, but earn no credit for
/// the future: a client that was fast for a minute may not pause for an hour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    behind_us: u64,
    since_ms: Option<u64>,
    /// Bytes that [`Pace::moved_to`] has taken into account.
    moved: u64,
}

impl Pace {
    /// The gateway starts to wait for the client.
    #[inline]
    pub(crate) fn wait(&mut self, now_ms: u64) {
        self.since_ms.get_or_insert(now_ms);
    }

    /// The wait is over: the client continued, or something else is awaited.
    #[inline]
    pub(crate) fn go_on(&mut self, now_ms: u64) {
        if let Some(since_ms) = self.since_ms.take() {
            let waited_us = now_ms.saturating_sub(since_ms).saturating_mul(1_000);
            self.behind_us = self.behind_us.saturating_add(waited_us);
        }
    }

    /// The client moved this many bytes.
    #[inline]
    pub(crate) fn moved(&mut self, bytes: u64, speed: &Speed) {
        if let Some(worth_us) = bytes.saturating_mul(1_000_000).checked_div(speed.bytes_per_s_min) {
            self.behind_us = self.behind_us.saturating_sub(worth_us);
        }
    }

    /// The client has moved this many bytes in total, and may still be waited for.
    pub(crate) fn moved_to(&mut self, total: u64, speed: &Speed, now_ms: u64) {
        if self.since_ms.is_some() {
            self.go_on(now_ms);
            self.wait(now_ms);
        }
        self.moved(total.saturating_sub(self.moved), speed);
        self.moved = self.moved.max(total);
    }

    /// When the client counts as too slow, if the gateway is waiting for it and it does not continue.
    #[inline]
    pub(crate) fn due_ms(&self, speed: &Speed) -> Option<u64> {
        let since_ms = self.since_ms.filter(|_| speed.bytes_per_s_min > 0)?;
        Some(since_ms.saturating_add(speed.grace_ms.saturating_sub(self.behind_us / 1_000)))
    }
}

/// Monitors a client that accepts no more bytes from the gateway: it may still be reading the bytes that the kernel buffers for it.
/// If the kernel buffers megabytes, a client of 16 kB/s allows no write for minutes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    last_ms: u64,
    progress_ms: u64,
    left: u64,
}

/// Checks per client within the time that it may take nothing.
const LOOKS: u64 = 4;

impl Looks {
    /// When to check a client next that has accepted no bytes since `since_ms`; a time in the past if the client is stuck.
    #[inline]
    pub(crate) fn due_ms(&self, since_ms: u64, limit_ms: u64) -> u64 {
        let next_ms = self.last_ms.max(since_ms).saturating_add(limit_ms.div_ceil(LOOKS));
        next_ms.min(self.progress_ms.max(since_ms).saturating_add(limit_ms))
    }

    /// Records a check: `left` bytes remain for the client to take, not counting the buffers of its own system.
    pub(crate) fn look(&mut self, now_ms: u64, since_ms: u64, left: u64) {
        let is_first = self.last_ms <= since_ms;
        if !is_first && left < self.left {
            self.progress_ms = now_ms;
        }
        (self.last_ms, self.left) = (now_ms, left);
    }
}

#[cfg(test)]
mod tests;
