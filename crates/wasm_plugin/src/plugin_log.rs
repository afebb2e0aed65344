//! What a call logs. The lines are kept until the call ends, so that a call that starts again on another thread does not log twice.

use crate::limits::{LOG_BYTES_MAX, LOG_LINES_MAX};
use std::borrow::Cow;

/// The levels of the interface, by number.
pub(crate) const LEVEL_INFO: i32 = 2;
pub(crate) const LEVEL_ERROR: i32 = 4;

/// The lines of one call.
#[derive(Default)]
pub(crate) struct PluginLog {
    lines: Vec<(i32, String)>,
    bytes: usize,
    /// Lines that were too many.
    dropped: usize,
}

impl PluginLog {
    /// Adds a line, unless the call has logged too much.
    pub(crate) fn add(&mut self, level: i32, text: &[u8]) {
        if text.trim_ascii().is_empty() {
            return;
        }
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > LOG_BYTES_MAX || self.lines.len() >= LOG_LINES_MAX {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.lines.push((level, String::from_utf8_lossy(text).into_owned()));
    }

    /// Writes all lines to the gateway's log.
    pub(crate) fn write(&mut self, api: &str, plugin: &str) {
        if self.lines.is_empty() && self.dropped == 0 {
            return;
        }
        for (level, line) in self.lines.drain(..) {
            let message = escaped(&line);
            match level {
                ..=0 => tracing::trace!(api, plugin, "{message}"),
                1 => tracing::debug!(api, plugin, "{message}"),
                2 => tracing::info!(api, plugin, "{message}"),
                3 => tracing::warn!(api, plugin, "{message}"),
                _ => tracing::error!(api, plugin, "{message}"),
            }
        }
        if self.dropped > 0 {
            tracing::warn!(api, plugin, lines = self.dropped, "a call of a plugin logged too much: these lines are left out");
        }
        *self = PluginLog::default();
    }

    /// Forgets all lines.
    pub(crate) fn clear(&mut self) {
        *self = PluginLog::default();
    }

    /// Number of lines that are kept.
    #[cfg(test)]
    pub(crate) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// The last line, which often tells why a call failed.
    pub(crate) fn last(&self) -> Option<&str> {
        self.lines.last().map(|(_, line)| line.as_str())
    }
}

/// A line without control characters: a plugin must not forge lines of the log.
fn escaped(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    if line.chars().any(char::is_control) { Cow::Owned(line.escape_debug().to_string()) } else { Cow::Borrowed(line) }
}
