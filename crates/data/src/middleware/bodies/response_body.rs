//! Bodies of responses that a step reads and replaces: opened, and with the coding put back on that they came in. What may take more than a
//! millisecond runs on the threads for bodies, while the response is held.

use crate::coding::{Coding, OpenError, open};
use crate::exchange::{Awaited, Exchange, GRACE};
use crate::offload::{BodySender, BodyThreads, HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal::{self, Refusal};
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_engine::KeptBody;
use tollgate_offload::StartedOnce;

/// Why there is no body to read.
pub(crate) enum Unopened {
    /// The client gets a refusal.
    Refused(Refusal),
    /// Its coding is unknown, or the body does not fit it.
    Unreadable(String),
}

/// The part of a response step that reads the whole body.
pub(crate) struct WholeBody {
    pub bytes_max: usize,
    /// Whether the response has only a head.
    pub is_head: bool,
    /// In whose turn another thread works on it.
    pub asker: BodySender,
}

impl WholeBody {
    /// Asks the upstream for the whole, since a part of a document cannot be read.
    pub(crate) fn new(exchange: &mut Exchange<'_>) -> Self {
        exchange.ask_for_whole();
        WholeBody {
            bytes_max: exchange.arrival.settings.sizes.response_bytes_max,
            is_head: exchange.is_head(),
            asker: exchange.arrival.body_sender(),
        }
    }

    /// The whole body without its coding.
    pub(crate) fn opened<'b>(&self, head: &ResponseHead<'_>, body: KeptBody<'b>) -> Result<Cow<'b, [u8]>, Unopened> {
        let body = match body {
            KeptBody::Whole(body) => body,
            KeptBody::Part(_) => return Err(Unopened::Refused(refusal::RESPONSE_TOO_LARGE)),
            KeptBody::NoRoom => return Err(Unopened::Refused(refusal::BODIES_FULL)),
        };
        opened(head.header("Content-Encoding"), body, self.bytes_max)
    }
}

/// A body without these codings.
pub(crate) fn opened<'b>(codings: Option<&[u8]>, body: &'b [u8], bytes_max: usize) -> Result<Cow<'b, [u8]>, Unopened> {
    match codings.map(|codings| open(codings, body, bytes_max)) {
        None => Ok(Cow::Borrowed(body)),
        Some(Ok(opened)) => Ok(Cow::Owned(opened)),
        Some(Err(OpenError::TooLarge)) => Err(Unopened::Refused(refusal::RESPONSE_TOO_LARGE)),
        Some(Err(error)) => Err(Unopened::Unreadable(format!("{error:?} Content-Encoding"))),
    }
}

/// Makes another body of a response.
pub(crate) trait BodyMaker: Send + Sync + 'static {
    /// Whether the response's body is to be replaced.
    fn applies(&self, _head: &ResponseHead<'_>) -> bool {
        true
    }

    /// Takes what it needs of the head.
    fn see(&mut self, _head: &ResponseHead<'_>) {}

    /// The new body; `None` if the response goes on as it is. `body` is an error if it could not be opened. `is_brief`: within about a
    /// millisecond, and an error is no verdict.
    ///
    /// # Errors
    /// Why there is none, for the log.
    fn make(&self, body: Result<&[u8], String>, is_brief: bool) -> Result<Option<MadeResponseBody>, String>;
}

/// A new body.
pub(crate) struct MadeResponseBody {
    pub body: Vec<u8>,
    /// Headers to set, which may stand in a message.
    pub headers: Vec<(String, Vec<u8>)>,
}

/// A response step that replaces the body.
pub(crate) struct BodyReplacement<M> {
    /// Identifier of the API, for the log.
    api: Arc<str>,
    reader: WholeBody,
    maker: Option<M>,
    threads: Arc<StartedOnce<BodyThreads>>,
    /// What the threads make, while the response is held.
    made: Option<Awaited<Option<Replaced>>>,
}

/// What has become of a body: the new one if there is one, and the same in the coding that it came in, if there is one for it.
type Replaced = Result<Option<(MadeResponseBody, Option<Vec<u8>>)>, NotReplaced>;

/// Why a body was not replaced.
enum NotReplaced {
    Refused(Refusal),
    Failed(String),
}

/// The body as it came, and what is to be made of it.
struct ReplaceJob<M> {
    maker: M,
    codings: Option<Vec<u8>>,
    bytes_max: usize,
}

impl<M: BodyMaker> ReplaceJob<M> {
    fn replaced(&self, body: &[u8], is_brief: bool) -> Replaced {
        // A small body may be opened to a large one.
        let bytes_max = if is_brief { self.bytes_max.min(HERE_BYTES_MAX) } else { self.bytes_max };
        let body = match opened(self.codings.as_deref(), body, bytes_max) {
            Ok(body) => Ok(body),
            Err(Unopened::Refused(refusal)) => return Err(NotReplaced::Refused(refusal)),
            Err(Unopened::Unreadable(why)) => Err(why),
        };
        let body = body.as_ref().map(|body| &**body).map_err(String::clone);
        let Some(made) = self.maker.make(body, is_brief).map_err(NotReplaced::Failed)? else { return Ok(None) };
        let closed = self.codings.as_deref().and_then(Coding::to_close).and_then(|coding| coding.close(&made.body));
        Ok(Some((made, closed)))
    }
}

impl<M: BodyMaker> BodyReplacement<M> {
    /// Asks the upstream for the whole.
    pub(crate) fn new(exchange: &mut Exchange<'_>, threads: &Arc<StartedOnce<BodyThreads>>, maker: M) -> Self {
        BodyReplacement {
            api: exchange.api.id.as_str().into(),
            reader: WholeBody::new(exchange),
            maker: Some(maker),
            threads: threads.clone(),
            made: None,
        }
    }

    fn end(&self, head: &mut ResponseHead<'_>, replaced: Replaced) -> ResponseAction {
        let (made, closed) = match replaced {
            Ok(Some(replaced)) => replaced,
            Ok(None) => return ResponseAction::Pass,
            Err(NotReplaced::Refused(refusal)) => return ResponseAction::Refuse(refusal),
            Err(NotReplaced::Failed(error)) => {
                tracing::warn!(api = &*self.api, error, "a response's body was not transformed");
                return ResponseAction::Refuse(refusal::RESPONSE_NOT_TRANSFORMED);
            }
        };
        head.body_changes();
        for (name, value) in &made.headers {
            head.set_header(name, value);
        }
        if closed.is_none() {
            head.remove_header("Content-Encoding");
        }
        ResponseAction::Rewrite(closed.unwrap_or(made.body))
    }
}

impl<M: BodyMaker> ResponseStep for BodyReplacement<M> {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        if !self.maker.as_ref().is_some_and(|maker| maker.applies(head)) {
            return ResponseAction::Pass;
        }
        if !self.reader.is_head && head.can_have_body() {
            return ResponseAction::Keep(self.reader.bytes_max);
        }
        head.body_changes();
        if self.reader.is_head {
            head.remove_header("Content-Encoding");
        }
        ResponseAction::Pass
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        let busy = || Err(NotReplaced::Refused(refusal::BODY_WORK_BUSY));
        if let Some(made) = self.made.take() {
            return self.end(head, made.take().flatten().unwrap_or_else(busy));
        }
        let body = match body {
            KeptBody::Whole(body) => body,
            KeptBody::Part(_) => return ResponseAction::Refuse(refusal::RESPONSE_TOO_LARGE),
            KeptBody::NoRoom => return ResponseAction::Refuse(refusal::BODIES_FULL),
        };
        let Some(mut maker) = self.maker.take() else { return ResponseAction::Pass };
        maker.see(head);
        let codings = head.header("Content-Encoding").map(<[u8]>::to_vec);
        let job = ReplaceJob { maker, codings, bytes_max: self.reader.bytes_max };
        if body.len() <= HERE_BYTES_MAX
            && let Ok(made) = job.replaced(body, true)
        {
            return self.end(head, Ok(made));
        }
        let Some(threads) = self.threads.get() else { return self.end(head, busy()) };
        let body = body.to_vec();
        let (work, made) = Awaited::new(threads.run(self.reader.asker, move || job.replaced(&body, false)));
        self.made = Some(made);
        ResponseAction::Await(work, OFFLOAD_TIME_MAX + GRACE)
    }
}
