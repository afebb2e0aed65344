//! When the server-sent events of a response came.

/// Most pauses that are kept of one response; further events are counted only.
const GAPS_MAX: usize = 100_000;

/// The events of one response so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventTimes {
    /// Number of complete events.
    pub count: u64,
    /// When the first was complete.
    pub first_ns: u64,
    /// From each event to the next. Events that came together have none between them.
    pub gaps_ns: Vec<u64>,
    last_ns: u64,
    /// Whether the current line has anything, and whether the current event has a line.
    has_text: bool,
    has_line: bool,
}

impl EventTimes {
    /// Notes a piece of the body that came at this time.
    pub(crate) fn push(&mut self, content: &[u8], now_ns: u64) {
        for byte in content {
            match byte {
                b'\n' if self.has_text => (self.has_text, self.has_line) = (false, true),
                b'\n' if self.has_line => {
                    self.has_line = false;
                    self.ended(now_ns);
                }
                b'\n' | b'\r' => {}
                _ => self.has_text = true,
            }
        }
    }

    fn ended(&mut self, now_ns: u64) {
        match self.count {
            0 => self.first_ns = now_ns,
            _ if self.gaps_ns.len() < GAPS_MAX => self.gaps_ns.push(now_ns.saturating_sub(self.last_ns)),
            _ => {}
        }
        self.count += 1;
        self.last_ns = now_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::EventTimes;

    #[test]
    fn events_end_with_an_empty_line_however_they_are_cut() {
        let stream = b": a comment\n\ndata: one\n\nevent: x\r\ndata: two\r\n\r\n\n\ndata: cut";
        for size in [1, 2, 3, 7, stream.len()] {
            let mut times = EventTimes::default();
            (5u64..).zip(stream.chunks(size)).for_each(|(now, piece)| times.push(piece, now));
            assert_eq!((times.count, times.gaps_ns.len()), (3, 2), "{size}");
            assert!(times.first_ns >= 5 && times.gaps_ns.iter().sum::<u64>() <= times.last_ns - times.first_ns);
        }
    }
}
