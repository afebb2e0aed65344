//! Loading of plugins, which runs their own code. Whoever loads one waits for the verdict, but not for long: a plugin that takes its time
//! goes on by itself, and its calls wait for it.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Plugins that load at one time. Each may take the memory of an instance.
const LOADING_MAX: usize = 8;
/// How long whoever loads a plugin waits in any case; most take a tenth of it.
const WAIT_MIN: Duration = Duration::from_millis(20);
/// What all slow loads together may take beyond that before nobody waits for them any more...
const SLOW_TIME_MAX: Duration = Duration::from_secs(1);
/// ... and what part of the time that passes is added to it.
const SLOW_TIME_PART: u32 = 10;
/// Stack of a thread that loads. Compilers of modules have threads of their own.
const STACK_BYTES: usize = 2 << 20;

/// What all loads of a process pass.
pub struct LoadGate {
    state: Mutex<GateState>,
    ended: Condvar,
}

struct GateState {
    running: usize,
    /// Time that slow loads may still take.
    patience: Duration,
    patience_at: Instant,
    waits_for_all: bool,
}

impl Default for LoadGate {
    fn default() -> Self {
        let state = GateState { running: 0, patience: SLOW_TIME_MAX, patience_at: Instant::now(), waits_for_all: false };
        LoadGate { state: Mutex::new(state), ended: Condvar::new() }
    }
}

impl LoadGate {
    /// From now on, whoever loads a plugin waits until it is loaded, however long that takes.
    pub fn wait_for_all(&self) {
        self.lock().waits_for_all = true;
    }

    /// Loads a plugin on a thread of its own. The result is `None` if it is not there when the patience is over; `late` is told then if the
    /// plugin can't be loaded in the end.
    ///
    /// # Errors
    /// There is no thread.
    pub fn load<F: Clone + Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> Result<(), F> + Send + 'static,
        late: impl FnOnce(&F) + Send + 'static,
    ) -> io::Result<Option<Result<(), F>>> {
        let (verdict, waiting) = sync_channel(1);
        let gate = self.clone();
        let run = move || {
            let place = LoadPlace::take(&gate);
            let result = work();
            drop(place);
            if let (Err(TrySendError::Disconnected(_)), Err(fault)) = (verdict.try_send(result.clone()), &result) {
                late(fault);
            }
        };
        let began = Instant::now();
        let wait_max = self.lock().wait_max(began);
        std::thread::Builder::new().name("plugin-load".to_owned()).stack_size(STACK_BYTES).spawn(run)?;
        let result = match wait_max {
            Some(time_max) => waiting.recv_timeout(time_max),
            None => waiting.recv().map_err(RecvTimeoutError::from),
        };
        self.lock().note_wait(began.elapsed());
        match result {
            Ok(result) => Ok(Some(result)),
            Err(RecvTimeoutError::Timeout) => Ok(waiting.try_recv().ok()),
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the thread that loads it has crashed")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GateState {
    /// How long whoever loads a plugin waits for it now; `None` if without limit.
    fn wait_max(&mut self, now: Instant) -> Option<Duration> {
        let more = now.saturating_duration_since(self.patience_at) / SLOW_TIME_PART;
        self.patience = self.patience.saturating_add(more).min(SLOW_TIME_MAX);
        self.patience_at = now;
        (!self.waits_for_all).then_some(WAIT_MIN + self.patience)
    }

    fn note_wait(&mut self, waited: Duration) {
        self.patience = self.patience.saturating_sub(waited.saturating_sub(WAIT_MIN));
        self.patience_at = Instant::now();
    }
}

/// One of the places for loads.
struct LoadPlace<'a>(&'a LoadGate);

impl<'a> LoadPlace<'a> {
    fn take(gate: &'a LoadGate) -> Self {
        let mut state = gate.lock();
        while state.running >= LOADING_MAX {
            state = gate.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.running += 1;
        LoadPlace(gate)
    }
}

impl Drop for LoadPlace<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.ended.notify_one();
    }
}

#[cfg(test)]
mod tests;
