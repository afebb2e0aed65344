//! A log that several processes append to and read from where they left off: a Redis stream.

use super::{Redis, read};
use crate::fault::{StoreFault, StoreFaultKind};
use std::fmt;
use std::str::FromStr;

/// The field of an entry.
const FIELD: &str = "entry";

/// The place of an entry in a log. Later entries have larger ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogId {
    ms: u64,
    sequence: u64,
}

impl FromStr for LogId {
    type Err = StoreFault;

    fn from_str(text: &str) -> Result<Self, StoreFault> {
        let parsed = text.split_once('-').and_then(|(ms, sequence)| Some((ms.parse().ok()?, sequence.parse().ok()?)));
        let (ms, sequence) =
            parsed.ok_or_else(|| StoreFault::new(StoreFaultKind::Corrupt, format_args!("{text:?} is no id of a stream")))?;
        Ok(LogId { ms, sequence })
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.sequence)
    }
}

impl Redis {
    /// Appends an entry. The log keeps about `entries_max` of the last ones.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn append_to_log(&self, log: &str, entry: &[u8], entries_max: usize) -> Result<LogId, StoreFault> {
        let mut append = redis::cmd("XADD");
        append.arg(log).arg("MAXLEN").arg("~").arg(entries_max).arg("*").arg(FIELD).arg(entry);
        read::read::<String>(self.command(append).await?)?.parse()
    }

    /// Entries from this id on, the entry with the id first if it still exists; at most `count`.
    ///
    /// # Errors
    /// The server's error, or that it is unavailable.
    pub async fn log_from(&self, log: &str, first: LogId, count: usize) -> Result<Vec<(LogId, Vec<u8>)>, StoreFault> {
        let range = redis::cmd("XRANGE").arg(log).arg(first.to_string()).arg("+").arg("COUNT").arg(count).to_owned();
        let entries: Vec<(String, Vec<Vec<u8>>)> = read::read(self.command(range).await?)?;
        entries.into_iter().map(|(id, fields)| Ok((id.parse()?, fields.into_iter().nth(1).unwrap_or_default()))).collect()
    }
}
