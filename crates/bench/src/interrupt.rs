//! Handles Ctrl-C and SIGTERM: the first one ends the run in order, and the figures so far are reported.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use tokio::signal::unix::{SignalKind, signal};

/// Whether the run must end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    raised: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to watch for signals, on a separate thread; calls `on_second` for each signal after the first.
    pub(crate) fn watch(on_second: fn()) -> io::Result<Self> {
        let interrupt = Interrupt::default();
        let watcher = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut int, mut term) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        std::thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = int.recv() => {}
                        _ = term.recv() => {}
                    }
                    if watcher.raised.swap(true, SeqCst) {
                        on_second();
                    }
                }
            });
        });
        Ok(interrupt)
    }

    /// An error if the run must end, for `?`.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_raised() { Err("interrupted".to_owned()) } else { Ok(()) }
    }

    /// Ends the run.
    pub(crate) fn raise(&self) {
        self.raised.store(true, SeqCst);
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.raised.load(SeqCst)
    }
}
