//! Live progress on standard error: one rewritten line on a terminal, otherwise one line per second if requested.

use super::measure::series::SecondUpdate;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// The displayed progress.
pub(crate) struct ProgressLine {
    shown: Option<ProgressForm>,
    requests: u64,
    errors: u64,
    connections_open: BTreeMap<usize, u64>,
    requests_before: u64,
    next_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressForm {
    Rewritten,
    Lines,
}

impl ProgressLine {
    /// Progress is shown on a terminal, or if requested.
    pub(crate) fn new(asked: bool, unwanted: bool) -> Self {
        let shown = match (unwanted, stderr().is_terminal(), asked) {
            (true, ..) => None,
            (_, true, _) => Some(ProgressForm::Rewritten),
            (_, false, true) => Some(ProgressForm::Lines),
            (_, false, false) => None,
        };
        // Reports of a second arrive shortly after its end.
        let next_ns = NS_PER_SECOND + NS_PER_SECOND / 10;
        ProgressLine { shown, requests: 0, errors: 0, connections_open: BTreeMap::new(), requests_before: 0, next_ns }
    }

    /// Adds the report of a thread.
    pub(crate) fn note(&mut self, update: &SecondUpdate) {
        self.requests += update.requests;
        self.errors += update.errors;
        self.connections_open.insert(update.thread, update.connections_open);
    }

    /// Prints once a second.
    pub(crate) fn print(&mut self, now_ns: u64) {
        let Some(form) = self.shown.filter(|_| now_ns >= self.next_ns) else { return };
        self.next_ns += NS_PER_SECOND;
        let line = format!(
            "{:>5} s  {:>8} requests/s  {:>10} requests  {:>6} errors  {:>5} connections",
            now_ns / NS_PER_SECOND,
            self.requests - self.requests_before,
            self.requests,
            self.errors,
            self.connections_open.values().sum::<u64>(),
        );
        self.requests_before = self.requests;
        // A terminal that disappeared is no reason to end the load.
        let _ = match form {
            ProgressForm::Rewritten => write!(stderr(), "\r{line}\x1b[K"),
            ProgressForm::Lines => writeln!(stderr(), "{line}"),
        };
    }

    /// Clears the line on a terminal.
    pub(crate) fn finish(&mut self) {
        if self.shown == Some(ProgressForm::Rewritten) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
