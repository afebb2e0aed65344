//! Which lines are written when there are many of one kind: the first ones of each ten seconds, and then their number.

use std::collections::HashMap;
use tracing::Level;
use tracing::callsite::Identifier;

/// Lines of one kind that are written in one window.
const LINES_MAX: u32 = 20;
/// The length of a window.
const WINDOW_MS: u64 = 10_000;
/// Kinds that are told apart: places in the code, times APIs, times causes. Beyond this a place is one kind.
const KINDS_MAX: usize = 1024;

/// What makes lines of one kind: where they come from, which API they are about, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LineKind {
    pub callsite: Identifier,
    pub api: Option<String>,
    pub cause: Option<String>,
}

/// Lines that were left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub kind: LineKind,
    pub level: Level,
    pub message: String,
    pub lines: u64,
    pub seconds: u64,
}

/// The kinds whose lines came lately.
#[derive(Default)]
pub(super) struct LineLimiter {
    windows: HashMap<LineKind, LineWindow>,
    left_out: u64,
}

struct LineWindow {
    began_ms: u64,
    level: Level,
    message: String,
    written: u32,
    left_out: u64,
}

impl LineLimiter {
    /// Whether a line is written.
    pub(super) fn admit(&mut self, mut kind: LineKind, level: Level, message: String, now_ms: u64) -> bool {
        if self.windows.len() >= KINDS_MAX && !self.windows.contains_key(&kind) {
            kind = LineKind { api: None, cause: None, ..kind };
        }
        let window = self.windows.entry(kind).or_insert(LineWindow { began_ms: now_ms, level, message, written: 0, left_out: 0 });
        if window.written < LINES_MAX {
            window.written += 1;
            return true;
        }
        window.left_out += 1;
        self.left_out += 1;
        false
    }

    /// Ends the windows that are over, or `all`, and says what they left out.
    pub(super) fn take_left_out(&mut self, now_ms: u64, all: bool) -> Vec<Summary> {
        let is_over = |window: &LineWindow| all || now_ms.saturating_sub(window.began_ms) >= WINDOW_MS;
        let over = self.windows.extract_if(|_, window| is_over(window));
        let left_out = over.filter(|(_, window)| window.left_out > 0);
        let summary = |(kind, window): (LineKind, LineWindow)| Summary {
            kind,
            level: window.level,
            message: window.message,
            lines: window.left_out,
            seconds: now_ms.saturating_sub(window.began_ms).div_ceil(1_000),
        };
        left_out.map(summary).collect()
    }

    /// Lines that were left out since the start.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests;
