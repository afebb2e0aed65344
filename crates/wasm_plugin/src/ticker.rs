//! The clock that interrupts calls: a thread that counts ticks while calls run, and sleeps while there are none.

use crate::limits::TICK;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::Thread;
use wasmtime::Engine;

/// After so many ticks without a call the thread sleeps: a second.
const IDLE_TICKS_MAX: u32 = 1_000;

/// The clock of an engine.
pub(crate) struct Ticker {
    state: Arc<TickerState>,
    thread: Thread,
}

#[derive(Default)]
struct TickerState {
    /// Calls that run now.
    running: AtomicUsize,
    /// Calls so far.
    calls: AtomicU64,
    is_asleep: AtomicBool,
}

/// A call that runs. The clock ticks until it is dropped.
pub(crate) struct Ticking<'a>(&'a TickerState);

impl Ticker {
    /// Starts the thread.
    pub(crate) fn start(engine: &Engine) -> io::Result<Self> {
        let state = Arc::new(TickerState::default());
        let (weak, engine) = (Arc::downgrade(&state), engine.clone());
        let thread = std::thread::Builder::new().name("wasm-ticker".to_owned()).spawn(move || tick(&weak, &engine))?;
        Ok(Ticker { state, thread: thread.thread().clone() })
    }

    /// Begins a call.
    pub(crate) fn begin(&self) -> Ticking<'_> {
        // The order matters: the thread looks at `running` after it has said that it sleeps.
        self.state.running.fetch_add(1, Ordering::SeqCst);
        self.state.calls.fetch_add(1, Ordering::Relaxed);
        if self.state.is_asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        Ticking(&self.state)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.thread.unpark();
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick(state: &Weak<TickerState>, engine: &Engine) {
    let (mut calls, mut idle_ticks) = (0, 0);
    while let Some(state) = state.upgrade() {
        let seen = state.calls.load(Ordering::Relaxed);
        idle_ticks = if seen == calls && state.running.load(Ordering::SeqCst) == 0 { idle_ticks + 1 } else { 0 };
        calls = seen;
        if idle_ticks <= IDLE_TICKS_MAX {
            drop(state);
            std::thread::sleep(TICK);
            engine.increment_epoch();
            continue;
        }
        state.is_asleep.store(true, Ordering::SeqCst);
        let is_idle = state.running.load(Ordering::SeqCst) == 0;
        let asleep = Arc::downgrade(&state);
        drop(state);
        if is_idle {
            std::thread::park();
        }
        let Some(state) = asleep.upgrade() else { return };
        state.is_asleep.store(false, Ordering::SeqCst);
        idle_ticks = 0;
    }
}
