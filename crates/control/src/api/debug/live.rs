//! `/tyk/debug/stream`: a request that an operator tries, whose answer is seen as it comes.

use super::{LOST, RunningTry, TriedRequest, start};
use crate::api::Control;
use crate::api::answer::Error;
use crate::api::stream::EventBody;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, channel, unbounded_channel};
use tollgate_admin::Operator;
use tollgate_data::control_caller::ControlCaller;

/// Events that wait for a slow reader.
const EVENTS_MAX: usize = 64;

/// Try a request, and see its answer as it comes
///
/// Like `/tyk/debug`. Each event `piece` has a part of the response's body as a JSON string; the last event, `end`, has what `/tyk/debug` answers. The request may take ten minutes, and ends when the reader leaves.
#[utoipa::path(
    post, path = "/tyk/debug/stream", tag = "APIs", operation_id = "tryRequestStream",
    security(("secret" = ["editor", "scope:closed"])),
    params(("reveal" = Option<String>, Query, description = "`true`: show the secrets that the gateway adds to the request.")),
    request_body(content = TriedRequest, example = json!({"path": "/quick/things?page=2"})),
    responses(
        (status = 200, description = "Events until the response has ended.", content((String = "text/event-stream"))),
        (status = 400, body = Error, description = "The body is no request; the message names the member."),
        (status = 429, body = Error, description = "Eight others are on their way."),
        (status = 500, body = Error, description = "The store of keys does not answer."),
    )
)]
pub(in crate::api) async fn debug_stream(
    State(control): State<Arc<Control>>,
    operator: Option<Extension<Operator>>,
    caller: Option<Extension<ControlCaller>>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (pieces, received) = unbounded_channel();
    let running = match start(&control, (operator, caller), &query, &headers, &body, Some(pieces)).await {
        Ok(running) => running,
        Err(answer) => return answer.into_response(),
    };
    let (events, reader) = channel(EVENTS_MAX);
    tokio::spawn(tell(control, running, received, events));
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store, no-transform")];
    (headers, Body::new(EventBody(reader))).into_response()
}

/// Tells what comes until its end, or until nobody reads. Then the request ends as well.
async fn tell(control: Arc<Control>, running: RunningTry, mut pieces: UnboundedReceiver<Vec<u8>>, events: Sender<Bytes>) {
    let mut rest = Vec::new();
    loop {
        let piece = tokio::select! {
            piece = pieces.recv() => piece,
            () = events.closed() => return,
        };
        // The core lets go of it when the response has ended.
        let Some(piece) = piece else { break };
        rest.extend_from_slice(&piece);
        let text = whole_text(&mut rest);
        if !text.is_empty() && events.send(event("piece", &text)).await.is_err() {
            return;
        }
    }
    let ended = tokio::select! {
        ended = running.end(&control) => ended,
        () = events.closed() => return,
    };
    let last = match &ended {
        Some(answer) => event("end", answer),
        None => event("end", &json!({"status": 0, "error": LOST})),
    };
    // The reader may be gone.
    let _ = events.send(last).await;
}

/// Takes the text that is whole: a piece may end within a character.
fn whole_text(bytes: &mut Vec<u8>) -> String {
    let end = match std::str::from_utf8(bytes) {
        Err(fault) if fault.error_len().is_none() => fault.valid_up_to(),
        _ => bytes.len(),
    };
    let whole: Vec<u8> = bytes.drain(..end).collect();
    String::from_utf8_lossy(&whole).into_owned()
}

fn event(name: &str, value: &impl Serialize) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {}\n\n", serde_json::to_string(value).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::whole_text;

    #[test]
    fn a_character_that_is_cut_waits_for_its_rest() {
        let mut bytes = "a\u{20ac}".as_bytes()[..3].to_vec();
        assert_eq!(whole_text(&mut bytes), "a");
        bytes.extend_from_slice(&"\u{20ac}b".as_bytes()[2..]);
        assert_eq!((whole_text(&mut bytes), bytes.len()), ("\u{20ac}b".to_owned(), 0));
        let mut wrong = vec![0xff, b'x'];
        assert_eq!(whole_text(&mut wrong), "\u{fffd}x");
    }
}
