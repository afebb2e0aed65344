//! Rate limit for log lines of one kind: the first lines of each ten seconds are written, then only their number.

use std::collections::HashMap;
use tracing::Level;
use tracing::callsite::Identifier;

/// Lines of one kind written per window.
const LINES_MAX: u32 = 20;
/// Length of a window.
const WINDOW_MS: u64 = 10_000;
/// Maximum kinds: source locations times APIs times causes. Beyond this, all lines of a source location are one kind.
const KINDS_MAX: usize = 1024;

/// Determines which lines are of one kind: source location, API and cause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LineKind {
    pub callsite: Identifier,
    pub api: Option<String>,
    pub cause: Option<String>,
}

/// Summary of suppressed lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SuppressedLines {
    pub kind: LineKind,
    pub level: Level,
    pub message: String,
    pub lines: u64,
    pub seconds: u64,
}

/// The kinds of recent lines.
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
    /// Whether to write a line.
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

    /// Closes the windows that have ended, or `all`, and returns what they suppressed.
    pub(super) fn take_left_out(&mut self, now_ms: u64, all: bool) -> Vec<SuppressedLines> {
        let is_over = |window: &LineWindow| all || now_ms.saturating_sub(window.began_ms) >= WINDOW_MS;
        let over = self.windows.extract_if(|_, window| is_over(window));
        let left_out = over.filter(|(_, window)| window.left_out > 0);
        let summary = |(kind, window): (LineKind, LineWindow)| SuppressedLines {
            kind,
            level: window.level,
            message: window.message,
            lines: window.left_out,
            seconds: now_ms.saturating_sub(window.began_ms).div_ceil(1_000),
        };
        left_out.map(summary).collect()
    }

    /// Lines suppressed since the start.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests;
