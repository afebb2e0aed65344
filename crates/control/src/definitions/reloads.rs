//! The thread that reloads.

use super::store::{DefinitionStore, ReloadReport};
use std::io;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Requests reloads. Requests that arrive during a reload are answered by one more.
#[derive(Clone)]
pub struct Reloads {
    requests: mpsc::Sender<ReloadWaiter>,
}

/// The requester of a reload; `None` if it does not wait for the report.
type ReloadWaiter = Option<oneshot::Sender<ReloadReport>>;

impl Reloads {
    /// Starts the reload thread. `interval` is the minimum time between two reloads that no one waits for.
    pub fn start(definitions: Arc<DefinitionStore>, interval: Duration) -> io::Result<Self> {
        let (requests, inbox) = mpsc::channel::<ReloadWaiter>();
        let run = move || {
            let mut last: Option<Instant> = None;
            while let Ok(first) = inbox.recv() {
                let waiting = gather(first, &inbox, last.map_or(Duration::ZERO, |last| interval.saturating_sub(last.elapsed())));
                let report = definitions.reload();
                last = Some(Instant::now());
                for asker in waiting {
                    // The requester may have stopped waiting.
                    let _ = asker.send(report.clone());
                }
            }
        };
        std::thread::Builder::new().name("reload".to_owned()).spawn(run)?;
        Ok(Reloads { requests })
    }

    /// Requests a reload; the receiver gets its report.
    pub fn request(&self) -> oneshot::Receiver<ReloadReport> {
        let (sender, receiver) = oneshot::channel();
        self.send(Some(sender));
        receiver
    }

    /// Requests a reload without waiting for it.
    pub fn request_later(&self) {
        self.send(None);
    }

    fn send(&self, asker: ReloadWaiter) {
        if self.requests.send(asker).is_err() {
            tracing::error!("the reload thread is gone");
        }
    }
}

/// Collects the requesters of the next reload. It starts when someone waits for it, at the latest after `time_max`.
fn gather(first: ReloadWaiter, inbox: &mpsc::Receiver<ReloadWaiter>, time_max: Duration) -> Vec<oneshot::Sender<ReloadReport>> {
    let end = Instant::now() + time_max;
    let mut waiting: Vec<_> = first.into_iter().collect();
    loop {
        waiting.extend(inbox.try_iter().flatten());
        let left = end.saturating_duration_since(Instant::now());
        if !waiting.is_empty() || left.is_zero() {
            return waiting;
        }
        match inbox.recv_timeout(left) {
            Ok(asker) => waiting.extend(asker),
            Err(_) => return waiting,
        }
    }
}
