//! `POST {listen_path}/tyk/batch/`: sends the requests of a batch to the gateway itself, as the client that asks for them, and answers with all
//! their responses. As in Tyk the batch itself passes no chain; each of its requests does.

use super::GatewayHandler;
use super::arrival::RequestContext;
use crate::base::answers::RequestSlot;
use crate::base::path::raw_offset;
use crate::data::batch::{Batch, BatchFault, BatchReply, BatchedRequest, PATH, write_replies};
use crate::data::refusal::{self, Refusal};
use crate::data::url::Url;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tollgate_engine::{ClientInfo, NotKept, Outgoing, OwnFault, OwnRequests, OwnResponse, Verdict, Work};
use tollgate_http::Body;

/// How long a batch may take; requests that have no response by then are answered as failed. As long as Tyk's server takes to write an answer.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Under what a request keeps its batch.
const BATCH: u64 = RequestSlot::Batch.number();

/// A batch on its way.
struct RunningBatch {
    batch: Batch,
    replies: RefCell<Vec<Option<OwnResponse>>>,
    /// Bytes that bodies of replies may still have, all together.
    bytes_left: Cell<usize>,
    listen_path: String,
    host: Vec<u8>,
    address_header: String,
    own_requests: Rc<dyn OwnRequests>,
    client: ClientInfo,
}

/// Whether a request is for a batch.
pub(super) fn is_batch(url: &Url<'_>) -> bool {
    url.path_behind_listen() == PATH
}

impl GatewayHandler {
    /// Answers a request for a batch, or holds it.
    pub(super) fn batch(
        &mut self,
        arrival: &RequestContext<'_>,
        url: &Url<'_>,
        outgoing: &mut Outgoing,
    ) -> Result<Verdict, Refusal> {
        if let Some(running) = self.answers.get::<Rc<RunningBatch>>(BATCH) {
            let replies = running.replies.borrow();
            let replies = replies.iter().map(|reply| reply.as_ref().map(shown));
            let body = write_replies(running.batch.requests.iter().zip(replies));
            reply(outgoing, 200, body);
            return Ok(Verdict::Reply);
        }
        // As in Tyk, which says nothing to it.
        if arrival.request.method != "POST" {
            outgoing.edits.clear();
            outgoing.status = 200;
            return Ok(Verdict::Reply);
        }
        let limits = &arrival.core.shared.settings.batch;
        let body = match self.answers.body() {
            Some(Ok(body)) => body,
            Some(Err(NotKept::TooLarge)) => return Err(refusal::REQUEST_TOO_LARGE),
            Some(Err(NotKept::NoRoom)) => return Err(refusal::BODIES_FULL),
            None if arrival.request.body == Body::None => b"",
            None => return Ok(Verdict::Read(limits.body_bytes_max)),
        };
        let parsed = match self.is_own {
            true => Err(BatchFault::Nested),
            false => Batch::parse(body, limits.requests_max),
        };
        let batch = match parsed {
            Ok(batch) => batch,
            Err(fault) => {
                reply(outgoing, 400, json!({"status": "error", "message": fault.message()}).to_string().into_bytes());
                return Ok(Verdict::Reply);
            }
        };
        let Some(own_requests) = self.core.own_requests.get() else { return Err(refusal::UPSTREAM_FAILED) };
        let raw = &url.path.raw;
        let running = Rc::new(RunningBatch {
            replies: RefCell::new(batch.requests.iter().map(|_| None).collect()),
            batch,
            bytes_left: Cell::new(limits.body_bytes_max),
            listen_path: raw.get(..raw_offset(raw, url.listen_bytes)).unwrap_or_default().to_owned(),
            host: arrival.request.authority.to_vec(),
            address_header: arrival.core.shared.settings.client_address_header().to_owned(),
            own_requests: own_requests.clone(),
            client: ClientInfo {
                address: SocketAddr::new(arrival.client_ip, arrival.peer.port()),
                listener: self.listener,
                tls: self.client_tls.clone(),
                http2: false,
                is_own: true,
                ticket: 0,
            },
        });
        self.answers.put(BATCH, running.clone());
        Ok(Verdict::Await(running.work(), TIME_MAX))
    }
}

fn shown(response: &OwnResponse) -> BatchReply<'_> {
    BatchReply { status: response.status, headers: &response.headers, body: &response.body }
}

fn reply(outgoing: &mut Outgoing, status: u16, body: Vec<u8>) {
    outgoing.edits.clear();
    outgoing.edits.add_lines(b"Content-Type: application/json\r\n");
    outgoing.status = status;
    outgoing.body = body;
}

impl RunningBatch {
    /// Sends the requests, at once or in turn.
    fn work(self: Rc<Self>) -> Work {
        Box::pin(async move {
            if self.batch.in_turn {
                for index in 0..self.batch.requests.len() {
                    self.send(index).await;
                }
                return;
            }
            let mut sent: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> = Vec::with_capacity(self.batch.requests.len());
            for index in 0..self.batch.requests.len() {
                sent.push(Box::pin(self.send(index)));
            }
            // Each is polled whenever one has moved: there are few.
            std::future::poll_fn(|cx| {
                sent.retain_mut(|request| request.as_mut().poll(cx).is_pending());
                if sent.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
        })
    }

    async fn send(&self, index: usize) {
        let Some(request) = self.batch.requests.get(index) else { return };
        match self.response(request).await {
            Ok(reply) => {
                if let Some(place) = self.replies.borrow_mut().get_mut(index) {
                    *place = Some(reply);
                }
            }
            Err(why) => tracing::debug!(url = request.relative_url, why, "a request of a batch has no response"),
        }
    }

    async fn response(&self, request: &BatchedRequest) -> Result<OwnResponse, String> {
        let bytes = request.write(&self.listen_path, &self.host, &self.address_header);
        let bytes = bytes.ok_or_else(|| "it has an invalid header".to_owned())?;
        let response = self.own_requests.send(self.client.clone(), bytes, request.is_head(), self.bytes_left.get()).await;
        let response = response.map_err(|fault| fault.to_string())?;
        let left = self.bytes_left.get().checked_sub(response.body.len());
        self.bytes_left.set(left.ok_or_else(|| OwnFault::TooLarge.to_string())?);
        Ok(response)
    }
}
