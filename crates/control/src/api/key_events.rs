//! Events of keys that the control API creates, changes and removes, for the gateway's own handlers.

use super::Control;
use super::answer::ControlAnswer;
use axum::http::StatusCode;
use serde_json::Value;
use tollgate_clock::unix_ns;
use tollgate_model::events::EventKind;
use tollgate_observe::events::{EventFacts, GatewayEvent};

/// Tells of a key if the answer is a success. The session in `body` has its organisation.
pub(super) fn tell_key(
    control: &Control,
    kind: EventKind,
    message: &'static str,
    body: &[u8],
    answer: ControlAnswer,
) -> ControlAnswer {
    let org = || {
        let session: Value = serde_json::from_slice(body).unwrap_or_default();
        session.get("org_id").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    tell(control, kind, message, org, answer)
}

/// Tells that a key of an organisation is removed.
pub(super) fn tell_removed(control: &Control, org: &str, answer: ControlAnswer) -> ControlAnswer {
    tell(control, EventKind::TokenDeleted, "Key deleted.", || org.to_owned(), answer)
}

fn tell(
    control: &Control,
    kind: EventKind,
    message: &'static str,
    org: impl FnOnce() -> String,
    answer: ControlAnswer,
) -> ControlAnswer {
    let ControlAnswer { status, value, .. } = &answer;
    if let Some(sinks) =
        control.shared.settings.watch.gateway_events.as_ref().filter(|sinks| *status == StatusCode::OK && sinks.handle(kind))
    {
        let key = value.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
        let facts = EventFacts::Token { org: org(), key };
        sinks.tell(GatewayEvent { kind, message: message.into(), unix_ns: unix_ns(), request: String::new(), facts });
    }
    answer
}
