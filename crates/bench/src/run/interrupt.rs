//! Ctrl-C and SIGTERM end a run between two steps: children are stopped and what was measured is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::signal::unix::{SignalKind, signal};

/// Whether the run is to end.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The reason as an error, for `?`.
    pub fn check(&self) -> Result<(), String> {
        if self.is_wanted() { Err("interrupted".to_owned()) } else { Ok(()) }
    }
}

/// Begins to watch for signals, on a thread of its own.
pub fn watch() -> Result<Stop, String> {
    let failed = |error: std::io::Error| format!("signals cannot be watched: {error}");
    let stop = Stop::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let wanted = stop.clone();
    std::thread::spawn(move || {
        runtime.block_on(async {
            let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
                return;
            };
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                wanted.0.store(true, Ordering::Relaxed);
            }
        });
    });
    Ok(stop)
}
