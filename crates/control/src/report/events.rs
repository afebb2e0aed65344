//! Handlers of events: what became of their events.

use super::exposition::{Exposition, MetricKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tollgate_observe::events::{EventDesk, HandlerFigures, HandlerOutcome};

/// Handlers with series of their own: as many as a scrape can carry. `/tyk/live` shows as many.
const HANDLERS_MAX: usize = 1_000;

/// Figures of handlers by API, kind and receiver.
type EventRows = BTreeMap<(String, &'static str, String), (u64, [u64; HandlerOutcome::ALL.len()])>;

/// Several handlers of an API may have the same receiver: they are one row.
fn rows(desk: &EventDesk) -> EventRows {
    let mut rows = EventRows::new();
    let add = |figures: Arc<HandlerFigures>| {
        let (waiting, counts) = rows.entry((figures.api.clone(), figures.action, figures.receiver.clone())).or_default();
        *waiting += figures.waiting.load(Ordering::Relaxed);
        for (sum, outcome) in counts.iter_mut().zip(HandlerOutcome::ALL) {
            *sum += figures.count(outcome);
        }
    };
    desk.figures().into_iter().take(HANDLERS_MAX).for_each(add);
    rows
}

/// The series of handlers.
pub(super) fn event_series(text: &mut Exposition, desk: &EventDesk) {
    let rows = rows(desk);
    text.family("tollgate_events", MetricKind::Counter, "Events by handler and what became of them.");
    for ((api, handler, receiver), (_, counts)) in &rows {
        for (outcome, count) in HandlerOutcome::ALL.iter().zip(counts) {
            let labels = [("api", api.as_str()), ("handler", handler), ("receiver", receiver), ("result", outcome.name())];
            text.sample(&labels, *count as f64);
        }
    }
    text.family("tollgate_waiting_events", MetricKind::Gauge, "Events that wait for their handler, or are being sent.");
    for ((api, handler, receiver), (waiting, _)) in &rows {
        text.sample(&[("api", api), ("handler", handler), ("receiver", receiver)], *waiting as f64);
    }
}

/// The handlers as `/tyk/live` shows them.
pub(super) fn live_events(desk: &EventDesk) -> Vec<Value> {
    let shown = rows(desk).into_iter().map(|((api, handler, receiver), (waiting, counts))| {
        let outcomes = HandlerOutcome::ALL.iter().zip(counts).map(|(outcome, count)| (outcome.name().to_owned(), json!(count)));
        let own = [("api_id", json!(api)), ("handler", json!(handler)), ("receiver", json!(receiver)), ("waiting", json!(waiting))];
        Value::Object(own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(outcomes).collect::<Map<_, _>>())
    });
    shown.collect()
}
