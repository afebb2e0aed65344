//! Top lists over a sliding window: a summary for each half minute, of which a question merges as many as it wants.

use crate::space_saving::Summary;
use std::collections::VecDeque;

/// Seconds of one summary, and thus the steps in which the window slides.
pub const PANE_S: u64 = 30;
/// Summaries that are kept: ten minutes.
pub const PANES_MAX: usize = 20;
/// Counters of one summary: a value with more than 1/256 of all requests is never missing.
pub const COUNTERS: usize = 256;

/// Summaries of the last ten minutes, by `D` fields of a request.
pub struct TopWindows<const D: usize> {
    panes: VecDeque<Pane<D>>,
}

struct Pane<const D: usize> {
    /// Unix time divided by [`PANE_S`].
    index: u64,
    seen: u64,
    fields: [Summary; D],
}

/// The merged summaries of a window.
pub struct TopWindow {
    /// Start of the oldest pane.
    pub from_unix_s: u64,
    /// Requests of the window.
    pub seen: u64,
    /// What was counted in it.
    pub summary: Summary,
}

impl<const D: usize> Default for TopWindows<D> {
    fn default() -> Self {
        TopWindows { panes: VecDeque::new() }
    }
}

impl<const D: usize> TopWindows<D> {
    /// Adds what was counted until `unix_s`, and forgets what is too old.
    pub fn add(&mut self, unix_s: u64, seen: u64, fields: &[Summary; D]) {
        let index = unix_s / PANE_S;
        if self.panes.back().is_none_or(|pane| pane.index != index) {
            // The clock may have been set back.
            self.panes.retain(|pane| pane.index < index && index - pane.index < PANES_MAX as u64);
            self.panes.push_back(Pane { index, seen: 0, fields: std::array::from_fn(|_| Summary::new(COUNTERS)) });
        }
        if let Some(pane) = self.panes.back_mut() {
            pane.seen += seen;
            pane.fields.iter_mut().zip(fields).for_each(|(own, more)| own.merge(more));
        }
    }

    /// The last `window_s` seconds of a field, in whole panes.
    pub fn window(&self, field: usize, unix_s: u64, window_s: u64) -> TopWindow {
        let now = unix_s / PANE_S;
        let oldest = now.saturating_sub(window_s.div_ceil(PANE_S).max(1));
        let mut window = TopWindow { from_unix_s: unix_s, seen: 0, summary: Summary::new(COUNTERS) };
        for pane in self.panes.iter().filter(|pane| (oldest..=now).contains(&pane.index)) {
            window.from_unix_s = window.from_unix_s.min(pane.index * PANE_S);
            window.seen += pane.seen;
            pane.fields.get(field).into_iter().for_each(|summary| window.summary.merge(summary));
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::{COUNTERS, PANE_S, PANES_MAX, TopWindows};
    use crate::space_saving::{SpaceSaving, Summary, TopCount};

    fn counted(values: &[&str]) -> [Summary; 1] {
        let mut counters = SpaceSaving::new(COUNTERS);
        values.iter().for_each(|value| counters.add(value.as_bytes(), &TopCount::default()));
        [counters.take()]
    }

    #[test]
    fn the_window_slides_and_the_memory_ends() {
        let mut windows = TopWindows::<1>::default();
        let start = 1_700_000_010 / PANE_S * PANE_S;
        for pane in 0..50 {
            let value = if pane < 48 { "old" } else { "new" };
            windows.add(start + pane * PANE_S, 2, &counted(&[value, "both"]));
        }
        assert_eq!(windows.panes.len(), PANES_MAX);
        let now = start + 49 * PANE_S + 29;
        let short = windows.window(0, now, 30);
        assert_eq!((short.seen, short.from_unix_s), (4, start + 48 * PANE_S));
        assert!(short.summary.top(9).iter().all(|(value, _)| &**value != b"old"));
        let long = windows.window(0, now, 600);
        assert_eq!(long.seen, 40);
        let rows = long.summary.top(9);
        assert_eq!((&*rows[0].0, rows[0].1.requests), (b"both".as_slice(), 20));
        assert_eq!((&*rows[1].0, rows[1].1.requests), (b"old".as_slice(), 18));
    }

    #[test]
    fn a_clock_that_is_set_back_starts_over() {
        let mut windows = TopWindows::<1>::default();
        windows.add(90_000, 1, &counted(&["late"]));
        windows.add(30_000, 1, &counted(&["early"]));
        let rows = windows.window(0, 30_010, 60).summary.top(9);
        assert_eq!((rows.len(), &*rows[0].0), (1, b"early".as_slice()));
    }
}
