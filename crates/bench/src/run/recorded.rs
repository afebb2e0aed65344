//! Counts the requests that a gateway has recorded, in the sink itself. Counted records are removed, as a pump would: otherwise the
//! machine pays for a gigabyte of cached files that the gateway never uses.

use super::sinks::Sinks;
use crate::probe::{self, HOST, LocalPort};
use crate::scenario::RecordSink;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The list that Tyk's pumps read.
const LIST: &str = "analytics-tyk-system-analytics";
/// Files and lists are written within a second, sums and spans every five seconds.
const SETTLE: Duration = Duration::from_millis(1_500);
const SETTLE_BATCHES: Duration = Duration::from_secs(6);
const REDIS_TIMEOUT: Duration = Duration::from_secs(10);
const BLOCK_BYTES: usize = 1 << 20;

/// The records of one running gateway.
pub(crate) struct Recorded {
    sink: RecordSink,
    dir: PathBuf,
    port: LocalPort,
    redis_port: u16,
    headers: Vec<(String, String)>,
    /// Hits at the last count; sums cannot be removed.
    seen: AtomicU64,
}

impl Recorded {
    pub(crate) fn new(sink: RecordSink, dir: &Path, port: impl Into<LocalPort>, redis_port: u16, secret: &str) -> Recorded {
        let headers = vec![("x-tyk-authorization".to_owned(), secret.to_owned())];
        Recorded { sink, dir: dir.to_owned(), port: port.into(), redis_port, headers, seen: AtomicU64::new(0) }
    }

    /// How long the gateway may take to write the last records.
    pub(crate) fn settle(&self) -> Duration {
        match self.sink {
            RecordSink::File(_) | RecordSink::Redis => SETTLE,
            RecordSink::Usage | RecordSink::Traces => SETTLE_BATCHES,
        }
    }

    /// Fails if fewer requests were recorded since the last call than were answered.
    pub(crate) fn judge(&self, requests: u64, sinks: &Sinks) -> Result<(), String> {
        let wanted = if self.sink == RecordSink::Traces { 1 } else { requests };
        match self.take(sinks)? {
            recorded if recorded >= wanted => Ok(()),
            recorded if self.sink == RecordSink::Traces => Err(format!("{recorded} batches of spans came to the collector")),
            recorded => Err(format!("{} of {requests} requests were not recorded", requests - recorded)),
        }
    }

    /// Records since the last call.
    pub(crate) fn take(&self, sinks: &Sinks) -> Result<u64, String> {
        match &self.sink {
            RecordSink::File(name) => take_lines(&self.dir, name).map_err(|error| format!("{name}: {error}")),
            RecordSink::Redis => take_list(self.redis_port).map_err(|error| format!("Redis on port {}: {error}", self.redis_port)),
            RecordSink::Usage => {
                let hits = self.hits()?;
                Ok(hits.saturating_sub(self.seen.swap(hits, Ordering::Relaxed)))
            }
            RecordSink::Traces => Ok(sinks.take_batches()),
        }
    }

    fn hits(&self) -> Result<u64, String> {
        let path = "/tyk/usage?by=api&last=7d";
        let answer = probe::send(self.port, "GET", path, &self.headers, b"")?;
        let value: Value = serde_json::from_str(&answer.body)
            .map_err(|error| format!("GET {path} was answered with {}: {error}", answer.status))?;
        let rows = value.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(rows.iter().filter_map(|row| row.get("hits")?.as_u64()).sum())
    }
}

/// Counts the lines of a file and of its rotated files, then empties them. No line is lost unless the gateway has removed a rotated file.
fn take_lines(dir: &Path, name: &str) -> io::Result<u64> {
    let mut lines = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(name) {
            continue;
        }
        lines += count_lines(File::open(entry.path())?)?;
        if entry.file_name() == name {
            OpenOptions::new().write(true).truncate(true).open(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(lines)
}

fn count_lines(mut file: File) -> io::Result<u64> {
    let mut block = vec![0; BLOCK_BYTES];
    let mut lines = 0;
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok(lines);
        }
        lines += block.iter().take(read).filter(|byte| **byte == b'\n').count() as u64;
    }
}

/// Removes all records from the list.
fn take_list(port: u16) -> io::Result<u64> {
    let mut stream = TcpStream::connect((HOST, port))?;
    stream.set_read_timeout(Some(REDIS_TIMEOUT))?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut ask = |command: String| {
        stream.write_all(command.as_bytes())?;
        let mut line = String::new();
        answers.read_line(&mut line)?;
        Ok::<_, io::Error>(line.trim_end().to_owned())
    };
    let mut taken = 0;
    loop {
        let length = ask(format!("LLEN {LIST}\r\n"))?;
        let count: u64 = length.strip_prefix(':').and_then(|count| count.parse().ok()).ok_or_else(|| io::Error::other(length))?;
        if count == 0 {
            return Ok(taken);
        }
        ask(format!("LTRIM {LIST} {count} -1\r\n"))?;
        taken += count;
    }
}

#[cfg(test)]
mod tests;
