//! Bodies of answers that servers within the process have begun and that the core of the client may go on with, so that no second thread is
//! between. A server offers a body by a number in the head of its answer. The core takes it, or leaves it to the server.

use http::{HeaderValue, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The line of an answer whose body is offered. It has the offer's number, and never reaches a client.
pub const OFFER_LINE: &str = "x-tollgate-offered-body";

/// A body that any thread may go on with.
pub type LocalBody = UnsyncBoxBody<Bytes, io::Error>;

/// The bodies that are offered.
#[derive(Debug, Default)]
pub struct OfferedBodies {
    offers: Mutex<HashMap<u64, Offer>>,
    next: AtomicU64,
}

/// What has become of a body.
#[derive(Debug)]
enum Offer {
    /// It waits, and so does its server.
    Open(LocalBody, Option<Waker>),
    /// The core has it.
    Taken,
    /// Its server goes on with it.
    Left(LocalBody),
}

impl OfferedBodies {
    /// An answer whose body the core of the client may go on with. What the body does when it is polled must be brief.
    pub fn offered(self: &Arc<Self>, answer: Response<LocalBody>) -> Response<LocalBody> {
        let (mut head, body) = answer.into_parts();
        let (number, body) = self.offer(body);
        head.headers.insert(OFFER_LINE, HeaderValue::from(number));
        Response::from_parts(head, body)
    }

    /// Offers a body. The server answers with the returned one, which is empty if the core takes the first.
    fn offer(self: &Arc<Self>, body: LocalBody) -> (u64, LocalBody) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.offers().insert(number, Offer::Open(body, None));
        (number, LocalBody::new(OfferedBody { offers: self.clone(), number, left: None }))
    }

    /// Takes a body; `None` if its server has gone, or if it is taken already.
    pub fn take(&self, number: u64) -> Option<LocalBody> {
        self.settle(number, |body| (Some(body), Offer::Taken)).flatten()
    }

    /// Leaves a body to its server.
    pub fn leave(&self, number: u64) {
        self.settle(number, |body| ((), Offer::Left(body)));
    }

    fn settle<T>(&self, number: u64, end: impl FnOnce(LocalBody) -> (T, Offer)) -> Option<T> {
        let mut offers = self.offers();
        let offer = offers.get_mut(&number).filter(|offer| matches!(offer, Offer::Open(..)))?;
        let Offer::Open(body, server) = std::mem::replace(offer, Offer::Taken) else { return None };
        let (result, end) = end(body);
        *offer = end;
        server.into_iter().for_each(Waker::wake);
        Some(result)
    }

    fn offers(&self) -> MutexGuard<'_, HashMap<u64, Offer>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a server answers with while its body is offered.
struct OfferedBody {
    offers: Arc<OfferedBodies>,
    number: u64,
    left: Option<LocalBody>,
}

impl Body for OfferedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        if this.left.is_none() {
            let mut offers = this.offers.offers();
            match offers.remove(&this.number) {
                None | Some(Offer::Taken) => return Poll::Ready(None),
                Some(Offer::Open(body, _)) => {
                    offers.insert(this.number, Offer::Open(body, Some(cx.waker().clone())));
                    return Poll::Pending;
                }
                Some(Offer::Left(body)) => this.left = Some(body),
            }
        }
        this.left.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn size_hint(&self) -> SizeHint {
        self.left.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for OfferedBody {
    fn drop(&mut self) {
        // What is dropped may take a while, which others should not wait for.
        let dropped = self.offers.offers().remove(&self.number);
        drop(dropped);
    }
}

#[cfg(test)]
mod tests;
