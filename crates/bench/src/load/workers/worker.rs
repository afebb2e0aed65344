//! One worker: takes the next request when it is free, sends it when it is due, and records the result.

use super::context::ThreadContext;
use super::http1::Http1Sender;
use super::http2::Http2Sender;
use super::websocket::WebSocketSender;
use crate::load::measure::sample::RequestSample;
use crate::load::pace::schedule::Pacing;
use crate::load::wire::connection::TimedResponse;
use crate::load::wire::fault::{Cause, WireFault};
use std::rc::Rc;
use std::time::Duration;

/// Pause of a worker without a schedule after a refused connection, which grows with each failure: hammering a dead server would
/// only measure the load generator.
const REST_MIN: Duration = Duration::from_millis(5);
const REST_MAX: Duration = Duration::from_millis(500);

/// Runs the thread's worker `own` to the end of the schedule.
pub(crate) async fn run(context: Rc<ThreadContext>, own: usize) {
    let number = context.share.worker(own);
    let ends_ns = context.plan.ramp.and_then(|ramp| ramp.ends_ns(number));
    if let Some(begins_ns) = context.plan.ramp.map(|ramp| ramp.begins_ns(number)).filter(|begins| *begins > 0) {
        context.alarm.sleep_until(own, begins_ns).await;
    }
    let mut sender = if context.plan.websocket {
        ProtocolSender::WebSocket(WebSocketSender::new(&context))
    } else if context.plan.http2 {
        ProtocolSender::Http2(Http2Sender::new(&context, own))
    } else {
        ProtocolSender::Http1(Http1Sender::new(&context))
    };
    let mut rest = REST_MIN;
    let mut now = context.clock.now_ns();
    while ends_ns.is_none_or(|ends| now < ends) {
        let Some(due) = context.schedule.borrow_mut().take(own, now) else { break };
        let mut started = now;
        if due > now {
            set_due(&context, own, Some(due));
            context.alarm.sleep_until(own, due).await;
            set_due(&context, own, None);
            started = context.clock.now_ns();
            context.recorder.borrow_mut().lagged(started - due);
        }
        let request = context.next_number();
        let deadline = context.plan.timeout.map(|timeout| started + timeout.as_nanos() as u64);
        let Some(slot) = context.slots.get(own) else { return };
        context.under_way.set(context.under_way.get() + 1);
        let sent = slot.limited(deadline, sender.send(request)).await.unwrap_or_else(|| {
            sender.forget();
            Err(WireFault::timeout())
        });
        context.under_way.set(context.under_way.get() - 1);
        match sent {
            Ok(answer) => {
                now = answer.done_ns;
                let sample = RequestSample { due_ns: due, started_ns: started, connect_ns: sender.connect_ns(), answer: &answer };
                context.recorder.borrow_mut().answered(&sample);
                rest = REST_MIN;
            }
            Err(fault) => {
                now = context.clock.now_ns();
                let refused = matches!(fault.cause, Cause::Connect | Cause::Tls | Cause::Local);
                context.recorder.borrow_mut().failed(due, now, fault);
                if refused && context.plan.pacing == Pacing::Closed {
                    tokio::time::sleep(rest).await;
                    rest = (rest * 2).min(REST_MAX);
                    now = context.clock.now_ns();
                }
            }
        }
    }
}

fn set_due(context: &ThreadContext, own: usize, due: Option<u64>) {
    if let Some(cell) = context.due.get(own) {
        cell.set(due);
    }
}

/// Sends a worker's requests, by protocol.
enum ProtocolSender<'a> {
    Http1(Http1Sender<'a>),
    Http2(Http2Sender<'a>),
    WebSocket(WebSocketSender<'a>),
}

impl ProtocolSender<'_> {
    #[inline]
    async fn send(&mut self, number: u64) -> Result<TimedResponse, WireFault> {
        match self {
            ProtocolSender::Http1(sender) => sender.send(number).await,
            // Boxed, so that HTTP/1.1 does not pay for the size of its future.
            ProtocolSender::Http2(sender) => Box::pin(sender.send(number)).await,
            ProtocolSender::WebSocket(sender) => Box::pin(sender.send(number)).await,
        }
    }

    /// Cleans up after a request was abandoned.
    fn forget(&mut self) {
        match self {
            ProtocolSender::Http1(sender) => sender.forget(),
            // Dropping the stream has reset it.
            ProtocolSender::Http2(_) => {}
            // A message takes its socket with it.
            ProtocolSender::WebSocket(_) => {}
        }
    }

    /// Time to connect, if the request opened a connection.
    fn connect_ns(&self) -> Option<u64> {
        match self {
            ProtocolSender::Http1(sender) => sender.connect_ns,
            ProtocolSender::Http2(sender) => sender.connect_ns,
            ProtocolSender::WebSocket(sender) => sender.connect_ns,
        }
    }
}
