//! Ctrl-C and SIGTERM: the first ends the run, and what was measured so far is reported; the second ends the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use tokio::signal::unix::{SignalKind, signal};

/// Whether the run is to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
}

impl Interrupt {
    /// Watches for signals from now on, in a thread of its own.
    pub fn watch() -> io::Result<Self> {
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
                        std::process::exit(i32::from(super::EXIT_INTERRUPTED));
                    }
                }
            });
        });
        Ok(interrupt)
    }

    /// Ends the run.
    pub fn raise(&self) {
        self.raised.store(true, SeqCst);
    }

    pub fn is_raised(&self) -> bool {
        self.raised.load(SeqCst)
    }
}
