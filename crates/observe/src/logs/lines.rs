//! Log lines on their way to standard error. Callers put a line into a bounded buffer and continue; one thread writes. A line that
//! does not fit is dropped and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// Maximum buffered bytes: about five thousand lines, for a reader that is briefly slow.
const WAITING_BYTES_MAX: usize = 1024 * 1024;
/// How long the thread waits for a line before it calls `tick`.
const TICK: Duration = Duration::from_secs(1);
/// A buffer that grew beyond this is freed.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// The sending side of the buffer.
#[derive(Clone)]
pub struct LogLines(Arc<SharedLines>);

/// The writing side of the buffer.
pub struct LogWriter(Arc<SharedLines>);

#[derive(Default)]
struct SharedLines {
    state: Mutex<LineState>,
    changed: Condvar,
    taken: AtomicU64,
    dropped: AtomicU64,
    /// Dropped lines that were already reported.
    told: AtomicU64,
}

#[derive(Default)]
struct LineState {
    waiting: Vec<u8>,
    is_writing: bool,
}

impl SharedLines {
    fn state(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogLines {
    pub fn new() -> (LogLines, LogWriter) {
        let shared = Arc::<SharedLines>::default();
        (LogLines(shared.clone()), LogWriter(shared))
    }

    /// Lines that were buffered.
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Lines that were dropped.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Lines dropped since the last call.
    pub fn take_dropped(&self) -> u64 {
        let dropped = self.dropped();
        dropped.saturating_sub(self.0.told.swap(dropped, Ordering::Relaxed))
    }

    /// Waits until everything is written, at most `time_max`.
    pub fn flush(&self, time_max: Duration) {
        let is_left = |state: &mut LineState| state.is_writing || !state.waiting.is_empty();
        let _ = self.0.changed.wait_timeout_while(self.0.state(), time_max, is_left);
    }

    fn leave(&self, line: &[u8]) {
        let mut state = self.0.state();
        if state.waiting.len() + line.len() > WAITING_BYTES_MAX {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let is_first = state.waiting.is_empty();
        state.waiting.extend_from_slice(line);
        drop(state);
        self.0.taken.fetch_add(1, Ordering::Relaxed);
        if is_first {
            self.0.changed.notify_all();
        }
    }
}

impl LogWriter {
    /// Writes while the process lives, and calls `tick` about once a second.
    pub fn run(self, mut out: impl Write, tick: impl Fn()) {
        let mut batch = Vec::new();
        loop {
            self.write_batch(&mut batch, &mut out);
            tick();
        }
    }

    /// Waits for lines and writes all that are buffered.
    fn write_batch(&self, batch: &mut Vec<u8>, out: &mut impl Write) {
        let shared = &self.0;
        let waited = shared.changed.wait_timeout_while(shared.state(), TICK, |state| state.waiting.is_empty());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        std::mem::swap(&mut state.waiting, batch);
        state.is_writing = true;
        drop(state);
        // A missing reader is no reason to end.
        let _ = out.write_all(batch).and_then(|()| out.flush());
        batch.clear();
        batch.shrink_to(KEPT_BYTES_MAX);
        shared.state().is_writing = false;
        shared.changed.notify_all();
    }
}

impl<'l> MakeWriter<'l> for LogLines {
    type Writer = &'l LogLines;

    fn make_writer(&'l self) -> &'l LogLines {
        self
    }
}

/// Accepts one whole line per call, as the formatting layer passes it.
impl Write for &LogLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.leave(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
