//! A batch whose requests are on their way.

use crate::data::batch::{Batch, BatchReply, BatchedRequest, write_replies};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use tollgate_engine::{ClientInfo, Outgoing, OwnFault, OwnRequests, OwnResponse, Work};

/// A batch on its way.
pub(super) struct RunningBatch {
    pub batch: Batch,
    pub replies: RefCell<Vec<Option<OwnResponse>>>,
    /// Bytes that bodies of replies may still have, all together.
    pub bytes_left: Cell<usize>,
    pub listen_path: String,
    pub host: Vec<u8>,
    pub address_header: String,
    pub own_requests: Rc<dyn OwnRequests>,
    pub client: ClientInfo,
}

fn shown(response: &OwnResponse) -> BatchReply<'_> {
    BatchReply { status: response.status, headers: &response.headers, body: &response.body }
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
    pub(super) fn answer(&self, outgoing: &mut Outgoing) {
        let replies = self.replies.borrow();
        let replies = replies.iter().map(|reply| reply.as_ref().map(shown));
        let body = write_replies(self.batch.requests.iter().zip(replies));
        reply(outgoing, 200, body);
    }

    /// Sends the requests, at once or in turn.
    pub(super) fn work(self: Rc<Self>) -> Work {
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
