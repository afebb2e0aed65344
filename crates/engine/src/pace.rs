//! How fast a client must send or take a body. Only time in which it is waited for counts, so that neither a slow upstream nor a quiet
//! answer is held against it.

/// The least speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Bytes a second; 0 for any speed.
    pub bytes_per_s_min: u64,
    /// How far a client may fall behind that speed.
    pub grace_ms: u64,
}

impl Speed {
    /// How long so many bytes may take in all; `None` for as long as they want.
    #[inline]
    pub(crate) fn allowed_ms(&self, bytes: u64) -> Option<u64> {
        let taken_ms = bytes.saturating_mul(1_000).checked_div(self.bytes_per_s_min)?;
        Some(self.grace_ms.saturating_add(taken_ms))
    }
}

/// How far one direction of an exchange has fallen behind its least speed. Bytes make up for time that was waited, never for time to come:
/// who was fast for a minute may not stop for an hour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    behind_us: u64,
    since_ms: Option<u64>,
    /// Bytes that were taken into account by [`Pace::moved_to`].
    moved: u64,
}

impl Pace {
    /// The client is waited for.
    #[inline]
    pub(crate) fn wait(&mut self, now_ms: u64) {
        self.since_ms.get_or_insert(now_ms);
    }

    /// It went on, or something else is waited for.
    #[inline]
    pub(crate) fn go_on(&mut self, now_ms: u64) {
        if let Some(since_ms) = self.since_ms.take() {
            let waited_us = now_ms.saturating_sub(since_ms).saturating_mul(1_000);
            self.behind_us = self.behind_us.saturating_add(waited_us);
        }
    }

    /// It moved so many bytes.
    #[inline]
    pub(crate) fn moved(&mut self, bytes: u64, speed: &Speed) {
        if let Some(worth_us) = bytes.saturating_mul(1_000_000).checked_div(speed.bytes_per_s_min) {
            self.behind_us = self.behind_us.saturating_sub(worth_us);
        }
    }

    /// It has moved so many bytes in all by now, and may still be waited for.
    pub(crate) fn moved_to(&mut self, total: u64, speed: &Speed, now_ms: u64) {
        if self.since_ms.is_some() {
            self.go_on(now_ms);
            self.wait(now_ms);
        }
        self.moved(total.saturating_sub(self.moved), speed);
        self.moved = self.moved.max(total);
    }

    /// When the client is too slow, if it is waited for and does not go on.
    #[inline]
    pub(crate) fn due_ms(&self, speed: &Speed) -> Option<u64> {
        let since_ms = self.since_ms.filter(|_| speed.bytes_per_s_min > 0)?;
        Some(since_ms.saturating_add(speed.grace_ms.saturating_sub(self.behind_us / 1_000)))
    }
}

/// Looks at a client that takes no more bytes from the gateway: it may well take those that the system holds for it. Where that holds
/// megabytes, a client of 16 kB a second lets nothing be written for minutes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    last_ms: u64,
    progress_ms: u64,
    left: u64,
}

/// Looks at a client within the time that it may take nothing.
const LOOKS: u64 = 4;

impl Looks {
    /// When to look next at a client that nothing could be written to since `since_ms`; a moment that is over when it is stuck.
    #[inline]
    pub(crate) fn due_ms(&self, since_ms: u64, limit_ms: u64) -> u64 {
        let next_ms = self.last_ms.max(since_ms).saturating_add(limit_ms.div_ceil(LOOKS));
        next_ms.min(self.progress_ms.max(since_ms).saturating_add(limit_ms))
    }

    /// So many bytes are left for it to take, its own system's buffers aside.
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
