//! How a server does: what came of asking it, and its process if it is one.

use crate::last_words::with_words;
use crate::version::Era;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The process of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = McpProcess)]
pub struct ProcessFigures {
    /// Whether it runs.
    pub running: bool,
    /// When it was started last.
    #[schema(required)]
    pub started_unix_s: Option<u64>,
    /// How often it was started again.
    pub restarts: u64,
    /// When it ended last.
    #[schema(required)]
    pub ended_unix_s: Option<u64>,
    /// Why it ended last, with the end of what it wrote to its standard error.
    pub end: String,
    /// That end.
    #[serde(skip)]
    pub(crate) words: String,
    #[serde(skip)]
    pub(crate) version: String,
}

/// What is known of a server from asking it.
#[derive(Clone, Default)]
pub(crate) struct ServerHealth {
    pub fault: Option<String>,
    pub since_unix_s: Option<u64>,
    pub asked_unix_s: Option<u64>,
    pub spoken: Option<(String, Era)>,
}

impl ServerHealth {
    /// Notes what came of asking, and returns whether that is news.
    pub(crate) fn note(&mut self, fault: Option<String>, unix_s: u64) -> bool {
        let is_other = self.fault.is_some() != fault.is_some();
        if is_other || self.since_unix_s.is_none() {
            self.since_unix_s = Some(unix_s);
        }
        self.asked_unix_s = Some(unix_s);
        self.fault = fault;
        is_other
    }
}

impl ProcessFigures {
    /// A process has begun. Returns which one it is.
    pub(crate) fn begin(&mut self, unix_s: u64, version: String) -> u64 {
        self.restarts += u64::from(self.started_unix_s.is_some());
        (self.running, self.started_unix_s, self.version) = (true, Some(unix_s), version);
        self.restarts
    }

    /// It has ended, perhaps after the next one has begun.
    pub(crate) fn finish(&mut self, which: u64, unix_s: u64, why: &str, words: String) {
        self.running &= self.restarts != which;
        self.note_end(unix_s, why, words);
    }

    /// It has ended, perhaps before it has begun.
    pub(crate) fn note_end(&mut self, unix_s: u64, why: &str, words: String) {
        (self.ended_unix_s, self.end, self.words) = (Some(unix_s), with_words(why, &words), words);
    }
}

#[cfg(test)]
mod tests;
