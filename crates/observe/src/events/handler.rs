//! One handler: its queue, what it does, and what became of its events.

use super::event::GatewayEvent;
use super::recent::{RecentEntries, RecentSlots};
use super::script::EventScript;
use super::webhook::{Webhook, WebhookClients, WebhookFault};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// Events that wait for a handler. A receiver that is down for a moment misses nothing; more would only tell what is long over.
const QUEUE_MAX: usize = 1_000;

/// A handler as those see it who have events for it.
pub(super) struct EventSink {
    handler: Arc<EventTask>,
    recent: RecentSlots,
    /// Started with the first event; `None` if there is no thread for it.
    queue: OnceLock<Option<mpsc::Sender<Arc<GatewayEvent>>>>,
    start: Box<dyn Fn() -> Option<(Handle, Arc<WebhookClients>)> + Send + Sync>,
}

/// What a handler does with its events, one after the other.
struct EventTask {
    action: EventAction,
    figures: Arc<HandlerFigures>,
}

/// What a handler does.
pub(super) enum EventAction {
    Webhook(Box<Webhook>, Mutex<RecentEntries<String>>),
    Log { prefix: String },
    Script(Box<dyn EventScript>),
}

/// What became of a handler's events.
pub struct HandlerFigures {
    /// Id of the API; empty for the gateway's own handlers.
    pub api: String,
    /// `webhook`, `script`, `plugin` or `log`.
    pub action: &'static str,
    /// Host of the receiver; empty for the log.
    pub receiver: String,
    /// Events that wait, or are being sent.
    pub waiting: AtomicU64,
    counts: [AtomicU64; HandlerOutcome::ALL.len()],
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerOutcome {
    /// The receiver took it, or it is in the log.
    Sent,
    /// The same event was sent within `event_timeout`.
    Repeated,
    /// The queue was full.
    Dropped,
    /// The receiver could not be reached, or answered with an error.
    Failed,
    /// The receiver redirected to where webhooks are not sent.
    Redirected,
}

impl HandlerOutcome {
    pub const ALL: [HandlerOutcome; 5] = [
        HandlerOutcome::Sent,
        HandlerOutcome::Repeated,
        HandlerOutcome::Dropped,
        HandlerOutcome::Failed,
        HandlerOutcome::Redirected,
    ];

    /// Its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            HandlerOutcome::Sent => "sent",
            HandlerOutcome::Repeated => "repeated",
            HandlerOutcome::Dropped => "dropped",
            HandlerOutcome::Failed => "failed",
            HandlerOutcome::Redirected => "redirected",
        }
    }
}

impl HandlerFigures {
    pub(super) fn new(api: &str, action: &'static str, receiver: String) -> Self {
        HandlerFigures { api: api.to_owned(), action, receiver, waiting: AtomicU64::new(0), counts: Default::default() }
    }

    /// How many events had this outcome.
    pub fn count(&self, outcome: HandlerOutcome) -> u64 {
        self.counts.get(outcome as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    fn add(&self, outcome: HandlerOutcome) {
        if let Some(count) = self.counts.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl EventSink {
    /// `start` starts what the handler runs on; called with the first event.
    pub(super) fn new(
        action: EventAction,
        time_max: Duration,
        figures: Arc<HandlerFigures>,
        start: impl Fn() -> Option<(Handle, Arc<WebhookClients>)> + Send + Sync + 'static,
    ) -> Self {
        EventSink {
            handler: Arc::new(EventTask { action, figures }),
            recent: RecentSlots::new(time_max),
            queue: OnceLock::new(),
            start: Box::new(start),
        }
    }

    pub(super) fn figures(&self) -> &Arc<HandlerFigures> {
        &self.handler.figures
    }

    /// Whether it uses the request behind an event.
    pub(super) fn wants_request(&self) -> bool {
        match &self.handler.action {
            EventAction::Webhook(webhook, _) => webhook.wants_request(),
            EventAction::Script(_) => true,
            EventAction::Log { .. } => false,
        }
    }

    /// Takes an event, if it has not had it lately and there is room for it. Never waits.
    pub(super) fn take(&self, event: &Arc<GatewayEvent>) {
        let figures = self.figures();
        if self.recent.had(event.identity()) {
            return figures.add(HandlerOutcome::Repeated);
        }
        let queue = self.queue.get_or_init(|| {
            let (runtime, clients) = (self.start)()?;
            let (queue, events) = mpsc::channel(QUEUE_MAX);
            runtime.spawn(run(self.handler.clone(), events, clients));
            Some(queue)
        });
        figures.waiting.fetch_add(1, Ordering::Relaxed);
        if queue.as_ref().is_none_or(|queue| queue.try_send(event.clone()).is_err()) {
            figures.waiting.fetch_sub(1, Ordering::Relaxed);
            figures.add(HandlerOutcome::Dropped);
        }
    }
}

/// Handles the events of a queue until nobody can add one.
async fn run(task: Arc<EventTask>, mut events: mpsc::Receiver<Arc<GatewayEvent>>, clients: Arc<WebhookClients>) {
    while let Some(event) = events.recv().await {
        task.figures.add(task.handle(&event, &clients).await);
        task.figures.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl EventTask {
    async fn run(&self, script: &dyn EventScript, event: &GatewayEvent) -> HandlerOutcome {
        match script.call(event.to_json()).await {
            Ok(()) => HandlerOutcome::Sent,
            Err(error) => {
                tracing::warn!(
                    api = self.figures.api,
                    event = event.kind.name(),
                    error,
                    "a script or plugin failed to handle an event"
                );
                HandlerOutcome::Failed
            }
        }
    }

    async fn handle(&self, event: &GatewayEvent, clients: &WebhookClients) -> HandlerOutcome {
        let (webhook, sent) = match &self.action {
            EventAction::Log { prefix } => {
                tracing::warn!(api = self.figures.api, event = event.kind.name(), "{}", event.line(prefix));
                return HandlerOutcome::Sent;
            }
            EventAction::Script(script) => return self.run(script.as_ref(), event).await,
            EventAction::Webhook(webhook, sent) => (webhook, sent),
        };
        let (api, kind, receiver) = (&self.figures.api, event.kind.name(), &self.figures.receiver);
        let body = match webhook.body(event) {
            Ok(body) => body,
            Err(error) => {
                tracing::error!(api, event = kind, receiver, error, "the body of a webhook can't be rendered");
                return HandlerOutcome::Failed;
            }
        };
        // As in Tyk, a webhook that failed is not sent again either.
        if sent.lock().unwrap_or_else(PoisonError::into_inner).had(webhook.checksum(event, &body), Instant::now()) {
            return HandlerOutcome::Repeated;
        }
        match webhook.send(body, clients).await {
            Ok(()) => HandlerOutcome::Sent,
            Err(fault) => {
                tracing::warn!(api, event = kind, receiver, error = %fault, "a webhook failed");
                if matches!(fault, WebhookFault::Redirect(_)) { HandlerOutcome::Redirected } else { HandlerOutcome::Failed }
            }
        }
    }
}
