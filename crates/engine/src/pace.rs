//! How fast a client must send or take a body. Only time in which it is waited for counts, so that neither a slow upstream nor a quiet
//! answer is held against it.

/// The least speed, after a time of grace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Bytes a second; 0 for any speed.
    pub bytes_per_s_min: u64,
    /// Time that counts for nothing, in all.
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

/// The time that one direction of an exchange has waited for the client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    waited_ms: u64,
    since_ms: Option<u64>,
}

impl Pace {
    /// The client is waited for.
    #[inline]
    pub fn wait(&mut self, now_ms: u64) {
        self.since_ms.get_or_insert(now_ms);
    }

    /// It went on, or something else is waited for.
    #[inline]
    pub fn go_on(&mut self, now_ms: u64) {
        if let Some(since_ms) = self.since_ms.take() {
            self.waited_ms = self.waited_ms.saturating_add(now_ms.saturating_sub(since_ms));
        }
    }

    /// When a client that has moved so many bytes is too slow, if it is waited for and does not go on.
    #[inline]
    pub fn due_ms(&self, speed: &Speed, bytes: u64) -> Option<u64> {
        let since_ms = self.since_ms?;
        Some(since_ms.saturating_add(speed.allowed_ms(bytes)?.saturating_sub(self.waited_ms)))
    }
}

#[cfg(test)]
mod tests;
