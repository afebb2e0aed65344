//! Events and their handlers: webhooks and lines of the log. Whoever notices an event hands it over and goes on. Each handler has a bounded
//! queue, which a thread of its own empties: a receiver that is slow or gone costs no request anything, and what it misses is counted.

mod desk;
mod event;
mod handler;
mod recent;
mod script;
mod template;
mod webhook;

pub use desk::EventDesk;
pub use event::{ChainPlace, EventFacts, GatewayEvent};
pub use handler::{HandlerFigures, HandlerOutcome};
pub use script::{EventPlugins, EventScript, EventScripts, HandlerSources};

use handler::EventSink;
use std::fmt;
use std::sync::Arc;
use tollgate_model::events::EventKind;

/// The handlers of an API, or of the gateway.
pub struct EventSinks {
    by_kind: Vec<(EventKind, Vec<Arc<EventSink>>)>,
    /// Whether a handler uses the request behind an event.
    wants_request: bool,
}

impl fmt::Debug for EventSinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_kind.iter().map(|(kind, _)| kind.name())).finish()
    }
}

impl EventSinks {
    /// Whether anything happens after this event.
    #[inline]
    pub fn handle(&self, kind: EventKind) -> bool {
        self.by_kind.iter().any(|(own, _)| *own == kind)
    }

    /// Whether a handler uses the request behind an event.
    pub fn want_request(&self) -> bool {
        self.wants_request
    }

    /// Hands an event to its handlers. Never waits.
    pub fn tell(&self, event: GatewayEvent) {
        let Some((_, sinks)) = self.by_kind.iter().find(|(own, _)| *own == event.kind) else { return };
        let event = Arc::new(event);
        sinks.iter().for_each(|sink| sink.take(&event));
    }
}
