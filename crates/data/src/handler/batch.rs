//! `POST {listen_path}/tyk/batch/`: sends the requests of a batch to the gateway itself, as the client that asks for them, and answers with all
//! their responses. As in Tyk the batch itself passes no chain; each of its requests does.

use super::GatewayHandler;
use super::context::RequestContext;
use super::held::HeldAt;
use super::running_batch::{BatchAnswer, RunningBatch, reply};
use crate::batch::{Batch, BatchFault, PATH};
use crate::exchange::{Awaited, GRACE};
use crate::offload::{HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal::{self, Refusal};
use crate::snapshot::CoreSnapshot;
use crate::url::Url;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tollgate_engine::{ClientInfo, HoldUntil, NotKept, Outgoing, Verdict};
use tollgate_http::Body;
use tollgate_http::path::raw_offset;

/// How long a batch may take; requests that have no response by then are answered as failed. As long as Tyk's server takes to write an answer.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Whether a request is for a batch.
pub(super) fn is_batch(url: &Url<'_>) -> bool {
    url.path_behind_listen() == PATH
}

impl GatewayHandler {
    /// Answers a request for a batch, or holds it.
    pub(super) fn batch(
        &mut self,
        context: &RequestContext<'_>,
        snapshot: &Rc<CoreSnapshot>,
        url: Url<'_>,
        outgoing: &mut Outgoing,
    ) -> Result<Verdict, Refusal> {
        // As in Tyk, which says nothing to it.
        if context.request.method != "POST" {
            outgoing.edits.clear();
            outgoing.status = 200;
            return Ok(Verdict::Reply);
        }
        let limits = &context.core.shared.settings.sizes.batch;
        let body = match &self.state.body.sent {
            Some(Ok(body)) => body.clone(),
            Some(Err(NotKept::TooLarge)) => return Err(refusal::REQUEST_TOO_LARGE),
            Some(Err(NotKept::NoRoom)) => return Err(refusal::BODIES_FULL),
            None if context.request.body == Body::None => Arc::default(),
            None => {
                let (until, at) = (HoldUntil::Body(limits.body_bytes_max), HeldAt::BatchBody(url.into_owned()));
                return Ok(self.hold(context, snapshot, until, at, outgoing));
            }
        };
        if self.is_own {
            return self.send_batch(context, snapshot, url, Err(BatchFault::Nested), outgoing);
        }
        let requests_max = limits.requests_max;
        if body.len() <= HERE_BYTES_MAX {
            return self.send_batch(context, snapshot, url, Batch::parse(&body, requests_max), outgoing);
        }
        let threads = context.arrival.body_threads.get().ok_or(refusal::BODY_WORK_BUSY)?;
        let (work, parsed) = Awaited::new(threads.run(context.arrival.body_sender(), move || Batch::parse(&body, requests_max)));
        let until = HoldUntil::Done(work, OFFLOAD_TIME_MAX + GRACE);
        Ok(self.hold(context, snapshot, until, HeldAt::BatchParsed(url.into_owned(), parsed), outgoing))
    }

    /// Sends the requests of a batch, or tells what is wrong with it.
    pub(super) fn send_batch(
        &mut self,
        context: &RequestContext<'_>,
        snapshot: &Rc<CoreSnapshot>,
        url: Url<'_>,
        parsed: Result<Batch, BatchFault>,
        outgoing: &mut Outgoing,
    ) -> Result<Verdict, Refusal> {
        let limits = &context.core.shared.settings.sizes.batch;
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
            batch: Arc::new(batch),
            bytes_left: Cell::new(limits.body_bytes_max),
            listen_path: raw.get(..raw_offset(raw, url.listen_bytes)).unwrap_or_default().to_owned(),
            host: context.request.authority.to_vec(),
            address_header: context.core.shared.settings.client_address_header().to_owned(),
            own_requests: own_requests.clone(),
            threads: context.core.shared.registry.body_threads.clone(),
            answer: RefCell::new(BatchAnswer::Replies),
            client: ClientInfo {
                address: SocketAddr::new(context.arrival.client_ip, context.arrival.peer.port()),
                listener: self.listener,
                tls: self.client_tls.clone(),
                http2: false,
                is_own: true,
                ticket: 0,
            },
        });
        let until = HoldUntil::Done(running.clone().work(), TIME_MAX);
        Ok(self.hold(context, snapshot, until, HeldAt::Batch(running), outgoing))
    }
}
