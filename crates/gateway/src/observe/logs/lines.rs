//! Lines on their way to standard error. Whoever logs leaves a line in a bounded buffer and goes on; one thread writes. A line that finds no
//! room is lost and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// Bytes that may wait: some five thousand lines, for a reader that is slow for a moment.
const WAITING_BYTES_MAX: usize = 1024 * 1024;
/// How long the thread waits for a line before it looks whether there is anything else to say.
const TICK: Duration = Duration::from_secs(1);
/// A buffer that grew beyond this is given back to the allocator.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// Where lines are left.
#[derive(Clone)]
pub struct LogLines(Arc<SharedLines>);

/// Who writes them.
pub struct LogWriter(Arc<SharedLines>);

#[derive(Default)]
struct SharedLines {
    state: Mutex<LineState>,
    changed: Condvar,
    taken: AtomicU64,
    dropped: AtomicU64,
    /// Those of the dropped ones that were spoken of.
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

    /// Lines that found room.
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Lines that found none.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Lines that found no room since this was asked last.
    pub fn take_dropped(&self) -> u64 {
        let dropped = self.dropped();
        dropped.saturating_sub(self.0.told.swap(dropped, Ordering::Relaxed))
    }

    /// Waits until everything is written, but not longer than this.
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
    /// Writes for as long as the process lives, and calls `tick` about once a second in between.
    pub fn run(self, mut out: impl Write, tick: impl Fn()) {
        let mut batch = Vec::new();
        loop {
            self.write_batch(&mut batch, &mut out);
            tick();
        }
    }

    /// Waits for lines and writes those that are there by then.
    fn write_batch(&self, batch: &mut Vec<u8>, out: &mut impl Write) {
        let shared = &self.0;
        let waited = shared.changed.wait_timeout_while(shared.state(), TICK, |state| state.waiting.is_empty());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        std::mem::swap(&mut state.waiting, batch);
        state.is_writing = true;
        drop(state);
        // Nobody may be there to read it, which is no reason to end.
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

/// Takes a whole line at each call, as the layer that formats gives it.
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
