//! Hedging: a request whose upstream is slow to answer is also sent to another one, and the client gets the response that begins first. Only whole
//! idempotent requests are hedged, once, and only before the first byte of a response.

use super::Connection;
use super::retarget::retarget_head;
use crate::core::{Buffers, Core};
use crate::dial::redial;
use crate::fault::{Fault, FaultKind};
use crate::outbox::Outbox;
use crate::pool::PooledConnection;
use crate::service::{HedgeEnd, Retarget};
use crate::target::Target;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// Most bytes of the response that are read before the exchange takes it over.
const FIRST_BYTES_MAX: usize = 16 * 1024;

/// The hedge of an exchange.
pub(super) enum Hedge {
    /// Before the second sending.
    Waiting(Pin<Box<Sleep>>),
    /// Until its upstream answers.
    Trying(Pin<Box<dyn Future<Output = Result<Answered, Fault>>>>),
}

/// A connection with the first bytes of its response.
pub(super) struct Answered {
    upstream: PooledConnection,
    bytes: Vec<u8>,
}

impl Hedge {
    pub(super) fn after(time: Duration) -> Box<Self> {
        Box::new(Hedge::Waiting(Box::pin(sleep(time))))
    }
}

impl Connection {
    /// Moves the hedge on. True if the exchange took its response over.
    #[cold]
    pub(super) fn poll_hedge(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<bool, Fault> {
        let exchange = &self.exchange;
        if exchange.upstream.is_heard || exchange.response.body.is_some() || !self.can_resend() {
            self.end_hedge(HedgeEnd::Lost);
            return Ok(false);
        }
        if let Some(Hedge::Waiting(time)) = self.exchange.upstream.hedge.as_deref_mut() {
            if time.as_mut().poll(cx).is_pending() {
                return Ok(false);
            }
            self.begin_hedge();
        }
        let Some(Hedge::Trying(trying)) = self.exchange.upstream.hedge.as_deref_mut() else { return Ok(false) };
        match trying.as_mut().poll(cx) {
            Poll::Pending => Ok(false),
            Poll::Ready(Err(fault)) => {
                self.end_hedge(HedgeEnd::Failed(fault.kind));
                Ok(false)
            }
            Poll::Ready(Ok(answered)) => {
                self.end_hedge(HedgeEnd::Won);
                self.take_over(cx, answered, buffers)?;
                Ok(true)
            }
        }
    }

    /// Sends the request to another upstream, if the handler has one. Otherwise the hedge is over.
    fn begin_hedge(&mut self) {
        self.exchange.upstream.hedge = None;
        // Part of the body may still be on its way from the client.
        if !self.exchange.request.body.is_done() {
            return;
        }
        let mut retarget = Retarget::default();
        let Some(target) = self.handler.on_hedge(&mut retarget) else { return };
        let Some(kept) = &self.exchange.request.kept else { return };
        let mut bytes = kept.bytes().to_vec();
        retarget_head(&mut bytes, &retarget);
        let trying = send(self.core.clone(), target, bytes, kept.connect_time());
        self.exchange.upstream.hedge = Some(Box::new(Hedge::Trying(Box::pin(trying))));
    }

    /// Ends the hedge, and says how if the request was sent.
    pub(super) fn end_hedge(&mut self, end: HedgeEnd) {
        if let Some(hedge) = self.exchange.upstream.hedge.take()
            && matches!(*hedge, Hedge::Trying(_))
        {
            self.handler.on_hedge_ended(end);
        }
    }

    /// Continues the exchange with the response that came first; the connection to the slow upstream closes.
    fn take_over(&mut self, cx: &mut Context<'_>, answered: Answered, buffers: &mut Buffers) -> Result<(), Fault> {
        let exchange = &mut self.exchange;
        exchange.upstream.connection = Some(answered.upstream);
        exchange.upstream.outbox = Outbox::default();
        exchange.request.is_unwanted = false;
        exchange.upstream.is_heard = true;
        exchange.response.input = Vec::new();
        self.since_ms = self.core.deadlines.now_ms();
        let Buffers { out, outgoing, lines, .. } = buffers;
        out.clear();
        self.relay_head(cx, &answered.bytes, out, outgoing, lines)?;
        self.finish_if_done();
        Ok(())
    }
}

/// Sends a request to an upstream and waits for the first bytes of the response.
async fn send(core: Rc<Core>, target: Arc<Target>, request: Vec<u8>, connect: Option<Duration>) -> Result<Answered, Fault> {
    let mut upstream = redial(core, target, Duration::ZERO, connect, false).await?;
    let mut outbox = Outbox::default();
    outbox.put(&request);
    let closed = |error| Fault::with(FaultKind::UpstreamClosed, error);
    poll_fn(|cx| outbox.poll_flush(cx, &mut upstream.stream)).await.map_err(closed)?;
    let mut bytes = vec![0; FIRST_BYTES_MAX];
    let read = poll_fn(|cx| upstream.stream.poll_read(cx, &mut bytes)).await.map_err(closed)?;
    if read == 0 {
        return Err(Fault::new(FaultKind::UpstreamClosed));
    }
    bytes.truncate(read);
    Ok(Answered { upstream, bytes })
}
