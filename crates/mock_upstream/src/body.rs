//! Response bodies. The most frequent ones are slices of static memory.

use http::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use serde_json::Value;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, Sleep, interval, sleep};

/// A body of letters is sent in pieces of this many bytes from one block, whatever its length.
const FILLER_BYTES: usize = 64 * 1024;

/// Maximum events of one response.
pub(crate) const EVENTS_MAX: u64 = 1_000_000;

/// Letters without a pattern, so that compression on the way has little effect.
static FILLER: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(letters(FILLER_BYTES, 1)));

/// Kinds of response bodies.
pub(crate) enum AnswerBody {
    /// Sent with a Content-Length.
    Whole(Bytes),
    /// Sent in chunks, without a length.
    Chunked(Bytes),
    /// Number of letters still to send.
    Letters(u64),
    /// The request's own body.
    Echo(Incoming),
    /// Starts only after the delay; the head is sent at once.
    Late(Pin<Box<Sleep>>, Bytes),
    /// Server-sent events.
    Events(Box<Events>),
}

/// A number of events.
pub(crate) struct Events {
    next: u64,
    count: u64,
    /// Those that keep a distance to each other, and how long that is.
    paced: Range<u64>,
    interval: Option<Interval>,
    text: Box<dyn Fn(u64) -> String + Send>,
}

impl AnswerBody {
    pub(crate) fn late(delay: Duration, body: Bytes) -> AnswerBody {
        AnswerBody::Late(Box::pin(sleep(delay)), body)
    }

    /// `count` events, of which `paced` come `every` so often; `text` gives each by its number.
    pub(crate) fn events(
        count: u64,
        (paced, every): (Range<u64>, Duration),
        text: impl Fn(u64) -> String + Send + 'static,
    ) -> AnswerBody {
        let interval = (!every.is_zero()).then(|| {
            let mut interval = interval(every);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        AnswerBody::Events(Box::new(Events { next: 0, count, paced, interval, text: Box::new(text) }))
    }
}

/// `count` letters derived from the seed.
pub(crate) fn letters(count: usize, seed: u64) -> String {
    const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut letter = || {
        // xorshift64: any sequence without a visible pattern is sufficient.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        LETTERS.get((state % 52) as usize).map_or('x', |byte| char::from(*byte))
    };
    (0..count).map(|_| letter()).collect()
}

fn piece(bytes: Bytes) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
    Poll::Ready(Some(Ok(Frame::data(bytes))))
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            AnswerBody::Whole(bytes) | AnswerBody::Chunked(bytes) if bytes.is_empty() => Poll::Ready(None),
            AnswerBody::Whole(bytes) | AnswerBody::Chunked(bytes) => piece(std::mem::take(bytes)),
            AnswerBody::Letters(0) => Poll::Ready(None),
            AnswerBody::Letters(left) => {
                let count = usize::try_from(*left).unwrap_or(FILLER_BYTES).min(FILLER_BYTES);
                *left -= count as u64;
                piece(FILLER.slice(..count))
            }
            AnswerBody::Echo(body) => Poll::Ready(ready!(Pin::new(body).poll_frame(cx))),
            AnswerBody::Late(_, bytes) if bytes.is_empty() => Poll::Ready(None),
            AnswerBody::Late(sleep, bytes) => {
                ready!(sleep.as_mut().poll(cx));
                piece(std::mem::take(bytes))
            }
            AnswerBody::Events(events) if events.next == events.count => Poll::Ready(None),
            AnswerBody::Events(events) => {
                if let Some(interval) = &mut events.interval
                    && events.paced.contains(&events.next)
                {
                    ready!(interval.poll_tick(cx));
                }
                let event = (events.text)(events.next);
                events.next += 1;
                piece(Bytes::from(event))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            AnswerBody::Whole(bytes) => bytes.is_empty(),
            AnswerBody::Letters(left) => *left == 0,
            AnswerBody::Echo(body) => body.is_end_stream(),
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            AnswerBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            AnswerBody::Letters(left) => SizeHint::with_exact(*left),
            AnswerBody::Echo(body) => body.size_hint(),
            AnswerBody::Chunked(_) | AnswerBody::Late(..) | AnswerBody::Events(_) => SizeHint::default(),
        }
    }
}

/// A response with this body and type.
pub(crate) fn typed(content_type: &'static str, body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// JSON with a line end, for terminals.
pub(crate) fn json(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}
