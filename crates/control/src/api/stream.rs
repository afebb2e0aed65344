//! `/tyk/stream`: what happens, as server-sent events. One sample serves all streams; a stream that cannot keep up skips samples.

use super::Control;
use super::answer::{Error, error};
use super::failures::MetricsOff;
use super::nodes::asks_all;
use super::query::Parameters;
use super::tail;
use crate::figures_question::FiguresQuestion;
use crate::statistics::{STREAMS_MAX, Subscription, event, masked_event};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde_json::json;
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tollgate_cluster::Cluster;
use tollgate_observe::tap::{TailBatch, TailFilter};

/// Silence after which a comment is sent: proxies close connections on which nothing happens, most after 30 s or more.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
/// How long a client may take to read before its stream ends.
const SEND_TIME_MAX: Duration = Duration::from_secs(30);
/// Time between two questions to other gateways about their tails.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);
/// Messages on their way to a connection.
const QUEUE_MAX: usize = 4;

/// What a stream can have.
struct StreamTopics {
    live: bool,
    changes: bool,
    /// Which requests the live tail shows.
    tail: Option<TailFilter>,
    /// Of all gateways.
    is_sum: bool,
    /// Ends the stream after so many events.
    events_max: u64,
}

/// What happens, as server-sent events
///
/// `live`: the figures of the last two seconds. `tail`: requests as they end, filtered and if there are many a sample of them. `changes`: starts and changes of the configuration. A comment is sent every 15 s; at most 64 streams are open. An event `end` says that the gateway drains.
#[utoipa::path(
    get, path = "/tyk/stream", tag = "Figures", operation_id = "openStream",
    security(("secret" = ["viewer", "scope:tail"])),
    params(
        ("topics" = Option<String>, Query, description = "`live`, `tail`, `changes`, or several with commas; `live` by default.", example = "live"),
        ("api" = Option<String>, Query, description = "Tail: id of the API."),
        ("key" = Option<String>, Query, description = "Tail: hash of the key."),
        ("alias" = Option<String>, Query, description = "Tail: alias of the key."),
        ("status" = Option<String>, Query, description = "Tail: a status or class, such as 429 or 5xx."),
        ("cause" = Option<String>, Query, description = "Tail: cause, as in metrics."),
        ("request_id" = Option<String>, Query, description = "Tail: id of the request."),
        ("trace" = Option<String>, Query, description = "Tail: id of its trace."),
        ("address" = Option<String>, Query, description = "Tail: address of the client."),
        ("nodes" = Option<String>, Query, description = "`all`: `live` are sums over all gateways that share the Redis, and `tail` has requests of all of them."),
        ("events" = Option<String>, Query, description = "The stream ends after so many events, for scripts.", example = "1"),
    ),
    responses(
        (status = 200, description = "Events, until one side ends it.", content((String = "text/event-stream"))),
        (status = 400, body = Error, description = "A parameter is unknown or has an invalid value."),
        (status = 429, body = Error, description = "Too many streams are open."),
        MetricsOff,
    )
)]
pub(super) async fn stream(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> Response {
    if !control.shared.observer.metrics {
        return super::metrics::switched_off().into_response();
    }
    let topics = match StreamTopics::read(&query) {
        Ok(topics) => topics,
        Err(message) => return error(StatusCode::BAD_REQUEST, message).into_response(),
    };
    // A gateway alone is its own sum.
    let cluster = control.nodes.cluster.as_ref().filter(|_| topics.is_sum);
    let Some(subscription) = control.statistics.subscribe(cluster.is_some()) else {
        return error(StatusCode::TOO_MANY_REQUESTS, format!("{STREAMS_MAX} streams are open already")).into_response();
    };
    let tail = match topics.tail.clone().map(|filter| control.shared.observer.watch.tail(filter)) {
        Some(None) => {
            return error(StatusCode::TOO_MANY_REQUESTS, "too many tails with different filters are open").into_response();
        }
        Some(Some(tail)) => tail,
        // Nothing is ever sent.
        None => broadcast::channel(1).1,
    };
    let (sender, receiver) = mpsc::channel::<Bytes>(QUEUE_MAX);
    if let (Some(cluster), Some(filter)) = (cluster, topics.tail.clone()) {
        tokio::spawn(follow(control.clone(), cluster.clone(), filter, subscription.ending.clone(), sender.clone()));
    }
    tokio::spawn(send(topics, subscription, tail, sender));
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        // nginx would hold events back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::new(EventBody(receiver))).into_response()
}

/// The body of a stream.
pub(super) struct EventBody(pub(super) mpsc::Receiver<Bytes>);

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl StreamTopics {
    fn read(query: &HashMap<String, String>) -> Result<Self, String> {
        let known: Vec<&str> = tail::FILTERS.into_iter().chain(["topics", "events", "idle", "nodes"]).collect();
        let parameters = Parameters::new(query, &known)?;
        let mut topics = StreamTopics {
            live: false,
            changes: false,
            tail: None,
            is_sum: asks_all(&parameters)?,
            events_max: parameters.number("events")?.unwrap_or(u64::MAX),
        };
        for topic in parameters.text("topics").unwrap_or("live").split(',') {
            match topic {
                "live" => topics.live = true,
                "changes" => topics.changes = true,
                "tail" => topics.tail = Some(tail::filter(&parameters)?),
                other => return Err(format!("topics has {other:?}; it may have live, tail and changes")),
            }
        }
        Ok(topics)
    }
}

/// Sends events until the client is gone or the gateway drains.
async fn send(topics: StreamTopics, mut from: Subscription, mut tail: broadcast::Receiver<Bytes>, to: mpsc::Sender<Bytes>) {
    if !put(&to, Bytes::from_static(b"retry: 2000\n\n")).await {
        return;
    }
    let mut left = topics.events_max;
    if topics.live && !from.first.is_empty() {
        left = left.saturating_sub(1);
        if !put(&to, std::mem::take(&mut from.first)).await {
            return;
        }
    }
    while left > 0 {
        let heartbeat = tokio::time::sleep(HEARTBEAT_EVERY);
        let message = tokio::select! {
            biased;
            () = drained(&mut from.ending) => {
                put(&to, event("end", &json!({ "reason": "drain" }))).await;
                return;
            }
            () = to.closed() => return,
            live = from.live.recv(), if topics.live => live,
            change = from.changes.recv(), if topics.changes => change,
            batch = tail.recv(), if topics.tail.is_some() => batch,
            () = heartbeat => {
                if !put(&to, Bytes::from_static(b": 15\n\n")).await {
                    return;
                }
                continue;
            }
        };
        match message {
            Ok(message) => {
                left -= 1;
                if !put(&to, message).await {
                    return;
                }
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// Sends the tails of the other gateways.
async fn follow(
    control: Arc<Control>,
    cluster: Arc<Cluster>,
    filter: TailFilter,
    mut ending: watch::Receiver<bool>,
    to: mpsc::Sender<Bytes>,
) {
    let asker = control.shared.observer.node().to_owned();
    let Ok(question) = serde_json::to_value(FiguresQuestion::Follow { filter, asker }) else { return };
    loop {
        let answers = tokio::select! {
            () = drained(&mut ending) => return,
            () = to.closed() => return,
            answers = cluster.ask(question.clone()) => answers.answers,
        };
        let batches = answers.into_iter().filter_map(|(_, answer)| serde_json::from_value::<TailBatch>(answer).ok());
        for batch in batches.filter(|batch| batch.seen > 0) {
            if !put(&to, masked_event("tail", &batch, &control.shared)).await {
                return;
            }
        }
        tokio::select! {
            () = drained(&mut ending) => return,
            () = to.closed() => return,
            () = tokio::time::sleep(FOLLOW_EVERY) => {}
        }
    }
}

async fn drained(ending: &mut watch::Receiver<bool>) {
    // Fails when the process ends, which is the same.
    let _ = ending.wait_for(|ending| *ending).await;
}

/// Whether a message went on its way.
async fn put(to: &mpsc::Sender<Bytes>, message: Bytes) -> bool {
    matches!(tokio::time::timeout(SEND_TIME_MAX, to.send(message)).await, Ok(Ok(())))
}
