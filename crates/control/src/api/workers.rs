//! Worker threads of the control plane. The thread with the connections answers only probes and hands over everything else, so that
//! probes are answered however long the rest takes. This module limits the memory of requests and responses.

use super::answer::{ControlAnswer, error};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tollgate_text::byte_order_mark;

/// While one thread compiles for seconds, the other serves; more threads would take CPU time from the data threads.
const THREADS: usize = 2;
/// Threads for blocking work: password hashes and usage queries.
const BLOCKING_THREADS_MAX: usize = 4;
/// Maximum concurrent requests; more wait. The number is high because most of them wait for the store or a reload.
const REQUESTS_MAX: usize = 64;
/// Maximum bytes of concurrent request bodies: eight of the longest. Parsed, they take about ten times as much.
const BODIES_BYTES_MAX: usize = 128 << 20;
/// Maximum bytes of responses in transit: a list of a million keys has 40 MiB.
const ANSWERS_BYTES_MAX: usize = 256 << 20;
/// Bytes of a block in which a body is collected.
const BLOCK_BYTES: usize = 256 << 10;
/// How long the rest of a body is read that is too long: who still sends would not see the answer.
const REST_TIME_MAX: Duration = Duration::from_secs(10);
/// Time from a head to the end of its body: enough for the longest body at 300 kB/s.
const BODY_TIME_MAX: Duration = Duration::from_secs(60);

/// Creates the threads. They end when the runtime is dropped, which blocks.
pub(super) fn start() -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).max_blocking_threads(BLOCKING_THREADS_MAX).thread_name("control-worker").enable_all().build()
}

/// Runs requests with their own limits. Requests with the gateway's secret and public ones use separate instances.
#[derive(Clone)]
pub(super) struct Workers {
    threads: Handle,
    body_bytes_max: usize,
    requests: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    answers: Arc<Semaphore>,
}

impl Workers {
    pub(super) fn new(threads: Handle, body_bytes_max: usize) -> Self {
        let [requests, bodies, answers] =
            [REQUESTS_MAX, BODIES_BYTES_MAX, ANSWERS_BYTES_MAX].map(|permits| Arc::new(Semaphore::new(permits)));
        Workers { threads, body_bytes_max, requests, bodies, answers }
    }

    /// Reads a body. The permit must be held as long as the body.
    async fn read(&self, mut body: Body) -> Result<(GatheredBody, OwnedSemaphorePermit), ControlAnswer> {
        let too_large = || {
            let message = format!("the body is larger than {} bytes", self.body_bytes_max);
            error(StatusCode::PAYLOAD_TOO_LARGE, message)
        };
        let declared = body.size_hint().lower();
        if usize::try_from(declared).is_ok_and(|bytes| bytes > self.body_bytes_max) {
            discard(body);
            return Err(too_large());
        }
        let mut held = take(&self.bodies, 0)?;
        let mut gathered = GatheredBody::default();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| error(StatusCode::BAD_REQUEST, "the body ends before its end"))?;
            let Ok(data) = frame.into_data() else { continue };
            if gathered.bytes + data.len() > self.body_bytes_max {
                discard(body);
                return Err(too_large());
            }
            held.merge(take(&self.bodies, data.len())?);
            gathered.add(&data);
        }
        Ok((gathered, held))
    }

    /// Reserves a response's share of the limit until it is sent.
    fn hold(&self, response: Response) -> Response {
        let bytes = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX).min(ANSWERS_BYTES_MAX);
        match take(&self.answers, bytes) {
            Ok(share) => response.map(|body| Body::new(HeldBody { body, _share: share })),
            Err(busy) => (no_room(), busy).into_response(),
        }
    }
}

/// Runs a request on the worker threads.
pub(super) async fn run(State(workers): State<Workers>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let (body, held) = match tokio::time::timeout(BODY_TIME_MAX, workers.read(body)).await {
        Ok(Ok(read)) => read,
        Ok(Err(answer)) if answer.status == StatusCode::SERVICE_UNAVAILABLE => return (no_room(), answer).into_response(),
        Ok(Err(answer)) => return answer.into_response(),
        Err(_) => return error(StatusCode::REQUEST_TIMEOUT, "the body did not come in time").into_response(),
    };
    let Ok(turn) = workers.requests.clone().acquire_owned().await else { return ended() };
    // Continues even if the caller disconnects: a change is carried out completely.
    let work = workers.threads.spawn(async move {
        let response = next.run(Request::from_parts(head, Body::from(unmarked(body.into_bytes())))).await;
        drop((held, turn));
        response
    });
    match work.await {
        Ok(response) => workers.hold(response),
        Err(_) => ended(),
    }
}

/// A body without the byte-order mark at its start, whatever it is.
fn unmarked(body: Bytes) -> Bytes {
    let mark = body.len() - byte_order_mark::without(&body).len();
    body.slice(mark..)
}

/// Reads the rest of a body for a while, and keeps nothing of it.
fn discard(mut body: Body) {
    let rest = async move { while body.frame().await.is_some_and(|frame| frame.is_ok()) {} };
    tokio::spawn(tokio::time::timeout(REST_TIME_MAX, rest));
}

/// A body in blocks that never move: one that grows in place would leave as much freed memory behind as it holds.
#[derive(Default)]
struct GatheredBody {
    blocks: Vec<Vec<u8>>,
    bytes: usize,
}

impl GatheredBody {
    fn add(&mut self, data: &[u8]) {
        self.bytes += data.len();
        match self.blocks.last_mut().filter(|block| block.capacity() - block.len() >= data.len()) {
            Some(block) => block.extend_from_slice(data),
            None => {
                // Sized for small bodies.
                let mut block = Vec::with_capacity(data.len().max(self.bytes.min(BLOCK_BYTES)));
                block.extend_from_slice(data);
                self.blocks.push(block);
            }
        }
    }

    fn into_bytes(mut self) -> Bytes {
        if self.blocks.len() > 1 { self.blocks.concat().into() } else { self.blocks.pop().unwrap_or_default().into() }
    }
}

/// Acquires permits if available, without waiting.
fn take(permits: &Arc<Semaphore>, count: usize) -> Result<OwnedSemaphorePermit, ControlAnswer> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let busy = |_| error(StatusCode::SERVICE_UNAVAILABLE, "The control API has too much to do, please try again");
    permits.clone().try_acquire_many_owned(count).map_err(busy)
}

fn no_room() -> [(axum::http::HeaderName, &'static str); 1] {
    [(RETRY_AFTER, "1")]
}

/// The response if the work panicked or the process ends.
fn ended() -> Response {
    error(StatusCode::INTERNAL_SERVER_ERROR, "the request was not finished").into_response()
}

/// A response and its share of the limit.
struct HeldBody {
    body: Body,
    _share: OwnedSemaphorePermit,
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
