//! Why a script could not be loaded, or a call brought no result.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Why a program can't be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFault {
    /// Name of the source; empty if it is none of them.
    pub source: String,
    /// What is wrong, with the line.
    pub message: String,
}

/// Why a call brought no result. Clients never see the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptFault {
    /// It took longer than allowed.
    Timeout(Duration),
    /// It threw, with message and place.
    Thrown(String),
    /// It used up its memory.
    Memory,
    /// It logged too much.
    LogFlood,
    /// Its function returned something that is no result.
    NoResult(Cow<'static, str>),
    /// Its result has a value of another type than it must.
    Unreadable(String),
    /// Too many calls of the API wait.
    Busy,
    /// Its program could not be loaded.
    NotLoaded(String),
    /// The process that ran it has ended.
    Ended,
    /// The engine can't be started: no memory, no thread, or no process.
    Unavailable(String),
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptFault::Timeout(time) => write!(f, "the script took longer than {} ms", time.as_millis()),
            ScriptFault::Thrown(what) | ScriptFault::Unreadable(what) => f.write_str(what),
            ScriptFault::Memory => f.write_str("the script used more memory than it may, or threw null"),
            ScriptFault::LogFlood => f.write_str("the script logged too much"),
            ScriptFault::NoResult(why) => f.write_str(why),
            ScriptFault::Busy => f.write_str("too many calls of this API's scripts wait"),
            ScriptFault::NotLoaded(why) => write!(f, "the script can't be loaded: {why}"),
            ScriptFault::Ended => f.write_str("the process that ran the script has ended"),
            ScriptFault::Unavailable(why) => write!(f, "the script engine can't be started: {why}"),
        }
    }
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.source.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.source, self.message) }
    }
}
