//! Tells whoever wants to know when a target goes down or comes up again.

use std::sync::{Mutex, PoisonError};

/// A target that checks find down, or up again.
pub struct HostEvent<'e> {
    pub api: &'e str,
    /// URL of the check.
    pub check: &'e str,
    pub is_up: bool,
    /// Why it is down.
    pub error: &'e str,
    /// Status of the last answer; 0 if there was none.
    pub status: u16,
}

/// A receiver of events. It must not wait.
type Listener = Box<dyn Fn(&HostEvent<'_>) + Send + Sync>;

/// The receivers of events.
#[derive(Default)]
pub struct HostEvents(Mutex<Vec<Listener>>);

impl HostEvents {
    /// Calls `listener` with every event from now on.
    pub fn listen(&self, listener: impl Fn(&HostEvent<'_>) + Send + Sync + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// Writes the event to the log and tells all receivers.
    pub fn tell(&self, event: &HostEvent<'_>) {
        let HostEvent { api, check, is_up, error, .. } = *event;
        match is_up {
            true => tracing::warn!(api, check, event = "HostUp", "target is up again"),
            false => tracing::warn!(api, check, event = "HostDown", error, "target is down"),
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|listener| listener(event));
    }
}
