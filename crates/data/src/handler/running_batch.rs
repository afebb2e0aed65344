//! A batch whose requests are on their way.

use crate::batch::{Batch, BatchReply, BatchedRequest, write_replies};
use crate::offload::{BodySender, BodyThreads, HERE_BYTES_MAX};
use crate::refusal::{self, Refusal};
use std::cell::{Cell, RefCell};
use std::mem::take;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use tollgate_engine::{ClientInfo, Outgoing, OwnFault, OwnRequests, OwnResponse, Work};
use tollgate_offload::StartedOnce;

/// A batch on its way.
pub(super) struct RunningBatch {
    pub batch: Arc<Batch>,
    pub replies: RefCell<Vec<Option<OwnResponse>>>,
    /// Bytes that bodies of replies may still have, all together.
    pub bytes_left: Cell<usize>,
    pub listen_path: String,
    pub host: Vec<u8>,
    pub address_header: String,
    pub own_requests: Rc<dyn OwnRequests>,
    pub client: ClientInfo,
    /// Write answers that are large.
    pub threads: Arc<StartedOnce<BodyThreads>>,
    pub answer: RefCell<BatchAnswer>,
}

/// The answer to a batch.
pub(super) enum BatchAnswer {
    /// Its replies make it.
    Replies,
    /// It is written.
    Written(Vec<u8>),
    /// No thread has written it.
    Busy,
}

fn shown(response: &OwnResponse) -> BatchReply<'_> {
    BatchReply { status: response.status, headers: &response.headers, body: &response.body }
}

/// The body of the answer.
fn written<'r>(batch: &'r Batch, replies: impl Iterator<Item = Option<BatchReply<'r>>>) -> Vec<u8> {
    write_replies(batch.requests.iter().zip(replies))
}

/// Answers a request for a batch.
pub(super) fn reply(outgoing: &mut Outgoing, status: u16, body: Vec<u8>) {
    outgoing.edits.clear();
    outgoing.edits.add_lines(b"Content-Type: application/json\r\n");
    outgoing.status = status;
    outgoing.body = body;
}

impl RunningBatch {
    /// Answers with the responses that have come.
    pub(super) fn answer(&self, outgoing: &mut Outgoing) -> Result<(), Refusal> {
        let body = match self.answer.replace(BatchAnswer::Replies) {
            BatchAnswer::Written(body) => body,
            BatchAnswer::Busy => return Err(refusal::BODY_WORK_BUSY),
            BatchAnswer::Replies => written(&self.batch, self.replies.borrow().iter().map(|reply| reply.as_ref().map(shown))),
        };
        reply(outgoing, 200, body);
        Ok(())
    }

    /// Sends the requests, at once or in turn, and has a large answer written.
    pub(super) fn work(self: Rc<Self>) -> Work {
        Box::pin(async move {
            if self.batch.in_turn {
                for index in 0..self.batch.requests.len() {
                    self.send(index).await;
                }
            } else {
                self.send_all().await;
            }
            self.write().await;
        })
    }

    async fn send_all(&self) {
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
    }

    /// Has the answer written by another thread, if it is large.
    async fn write(&self) {
        let head = |reply: &OwnResponse| reply.headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        let bytes: usize = self.replies.borrow().iter().flatten().map(|reply| head(reply) + reply.body.len()).sum();
        if bytes <= HERE_BYTES_MAX {
            return;
        }
        let batch = self.batch.clone();
        // What counts the bodies stays here until the request has its answer.
        let taken = |reply: &mut OwnResponse| (reply.status, take(&mut reply.headers), take(&mut reply.body));
        let replies: Vec<_> = self.replies.borrow_mut().iter_mut().map(|reply| reply.as_mut().map(taken)).collect();
        let write = move || {
            let replies = replies.iter().map(Option::as_ref);
            let shown = replies.map(|reply| reply.map(|(status, headers, body)| BatchReply { status: *status, headers, body }));
            written(&batch, shown)
        };
        let made = match self.threads.get() {
            Some(threads) => threads.run(BodySender::at(self.client.address.ip()), write).await,
            None => None,
        };
        self.answer.replace(made.map_or(BatchAnswer::Busy, BatchAnswer::Written));
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
