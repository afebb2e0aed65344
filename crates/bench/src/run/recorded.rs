//! Counts the requests that a gateway has recorded, in the sink itself. Counted records are removed.

use crate::machine::Machine;
use crate::probe::{self, Endpoint};
use crate::scenario::RecordSink;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Files and lists are written within a second, sums and spans every five seconds.
const SETTLE: Duration = Duration::from_millis(1_500);
const SETTLE_BATCHES: Duration = Duration::from_secs(6);

/// The records of one running gateway.
pub(crate) struct Recorded {
    sink: RecordSink,
    machine: Arc<Machine>,
    dir: PathBuf,
    place: Endpoint,
    redis_port: u16,
    headers: Vec<(String, String)>,
    /// Hits at the last count; sums cannot be removed.
    seen: AtomicU64,
}

impl Recorded {
    pub(crate) fn new(
        sink: RecordSink,
        machine: &Arc<Machine>,
        dir: &Path,
        place: impl Into<Endpoint>,
        redis_port: u16,
        secret: &str,
    ) -> Recorded {
        let headers = vec![("x-tyk-authorization".to_owned(), secret.to_owned())];
        let (machine, dir, place) = (machine.clone(), dir.to_owned(), place.into());
        Recorded { sink, machine, dir, place, redis_port, headers, seen: AtomicU64::new(0) }
    }

    /// How long the gateway may take to write the last records.
    pub(crate) fn settle(&self) -> Duration {
        match self.sink {
            RecordSink::File(_) | RecordSink::Redis => SETTLE,
            RecordSink::Usage | RecordSink::Traces => SETTLE_BATCHES,
        }
    }

    /// Fails if fewer requests were recorded since the last call than were answered.
    pub(crate) fn judge(&self, requests: u64) -> Result<(), String> {
        let wanted = if self.sink == RecordSink::Traces { 1 } else { requests };
        match self.take()? {
            recorded if recorded >= wanted => Ok(()),
            recorded if self.sink == RecordSink::Traces => Err(format!("{recorded} batches of spans came to the collector")),
            recorded => Err(format!("{} of {requests} requests were not recorded", requests - recorded)),
        }
    }

    /// Records since the last call.
    pub(crate) fn take(&self) -> Result<u64, String> {
        match &self.sink {
            RecordSink::File(name) => self.machine.take_lines(&self.dir, name),
            RecordSink::Redis => self.machine.take_list(self.redis_port),
            RecordSink::Usage => {
                let hits = self.hits()?;
                Ok(hits.saturating_sub(self.seen.swap(hits, Ordering::Relaxed)))
            }
            RecordSink::Traces => self.machine.take_batches(),
        }
    }

    fn hits(&self) -> Result<u64, String> {
        let path = "/tyk/usage?by=api&last=7d";
        let answer = probe::send(self.place, "GET", path, &self.headers, b"")?;
        let value: Value = serde_json::from_str(&answer.body)
            .map_err(|error| format!("GET {path} was answered with {}: {error}", answer.status))?;
        let rows = value.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(rows.iter().filter_map(|row| row.get("hits")?.as_u64()).sum())
    }
}

#[cfg(test)]
mod tests;
