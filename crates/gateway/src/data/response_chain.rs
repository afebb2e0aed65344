//! What middlewares do with a response. A middleware that wants to take part in a response says so while it sees the request: it adds a
//! [`ResponseStep`] to the exchange's [`ResponseChain`], with all that the step needs to know. An exchange without steps has an empty list,
//! which is asked once whether it is empty.
//!
//! Steps run in the order of their middlewares. Each sees the head as the upstream sent it with what steps before it have changed, and what
//! the version does to every response comes last: stored responses hold nothing that belongs to one request.

use crate::data::refusal::Refusal;
use tollgate_engine::{FaultKind, KeptBody, Outgoing, ResponseVerdict};
use tollgate_http::{HeaderEdits, Headers, KnownHeader, Response};

/// The part that a middleware takes in one response.
pub(crate) trait ResponseStep {
    /// The head has come.
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction;

    /// The body that [`ResponseAction::Keep`] asked for, with the head once more.
    fn on_body(&mut self, _: &mut ResponseHead<'_>, _: KeptBody<'_>) -> ResponseAction {
        ResponseAction::Pass
    }

    /// The next bytes of the body that goes to the client, after [`ResponseAction::Watch`]. Without an end the response was cut.
    fn on_bytes(&mut self, _: &[u8], _is_end: bool) {}

    /// No response came. True when the reply in the outgoing message takes the place of the refusal.
    fn on_fault(&mut self, _: FaultKind, _: &mut Outgoing) -> bool {
        false
    }
}

/// What a step wants to become of a response.
pub(crate) enum ResponseAction {
    /// It goes on to the next step.
    Pass,
    /// The same, and the step sees the body that goes to the client.
    Watch,
    /// Its body is kept, of at most so many bytes, and the step is asked again.
    Keep(usize),
    /// It gets this body, and goes on to the next step.
    Rewrite(Vec<u8>),
    /// [`ResponseHead::reply`] takes its place. No other step is asked.
    #[allow(dead_code)] // for what stores responses
    Reply,
    /// The client gets a refusal. No other step is asked.
    Refuse(Refusal),
}

/// The head of a response on its way through the steps.
pub(crate) struct ResponseHead<'a> {
    /// As the upstream sent it.
    pub upstream: &'a Response<'a>,
    outgoing: &'a mut Outgoing,
}

impl ResponseHead<'_> {
    /// The status so far.
    pub(crate) fn status(&self) -> u16 {
        if self.outgoing.status == 0 { self.upstream.status } else { self.outgoing.status }
    }

    /// The value of a header so far; the first one's, if there are several.
    pub(crate) fn header(&self, name: &str) -> Option<&[u8]> {
        self.outgoing.edits.current(&self.upstream.headers, name)
    }

    /// Puts a header in place of every one of its name. The caller has checked both with `is_token` and `is_value`.
    pub(crate) fn set_header(&mut self, name: &str, value: &[u8]) {
        self.outgoing.edits.set(&self.upstream.headers, name, value);
    }

    pub(crate) fn remove_header(&mut self, name: &str) {
        self.outgoing.edits.remove(&self.upstream.headers, name);
    }

    /// The header lines of the upstream and what steps have changed of them.
    pub(crate) fn lines(&self) -> (&Headers<'_>, &HeaderEdits) {
        (&self.upstream.headers, &self.outgoing.edits)
    }

    /// The message to fill before [`ResponseAction::Reply`], without anything in it.
    #[allow(dead_code)] // for what stores responses
    pub(crate) fn reply(&mut self) -> &mut Outgoing {
        self.outgoing.edits.clear();
        self.outgoing.body.clear();
        self.outgoing
    }

    /// Its status allows a body.
    pub(crate) fn can_have_body(&self) -> bool {
        !matches!(self.status(), 100..=199 | 204 | 304)
    }

    /// The body will be another one: what describes the upstream's own goes. Its entity tag stays for conditional requests that compare weakly
    /// (RFC 9110 §8.8.3.2), as the other body follows from the upstream's.
    pub(crate) fn body_changes(&mut self) {
        for name in ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges", "Content-Range"] {
            self.remove_header(name);
        }
        let strong = self.header("ETag").filter(|tag| tag.starts_with(b"\"")).map(<[u8]>::to_vec);
        if let Some(tag) = strong {
            self.set_header("ETag", &[b"W/", tag.as_slice()].concat());
        }
        let headers = &self.upstream.headers;
        self.outgoing.edits.remove_known(headers, KnownHeader::ContentLength);
    }
}

/// The steps of one response.
#[derive(Default)]
pub(crate) struct ResponseChain {
    steps: Vec<ResponseChainEntry>,
    /// The step that waits for the body.
    at: usize,
    /// What was changed before the response was held.
    edits: HeaderEdits,
    status: u16,
    refusal: Option<Refusal>,
}

struct ResponseChainEntry {
    step: Box<dyn ResponseStep>,
    watches: bool,
}

impl ResponseChain {
    /// Adds a step behind those that are there.
    pub(crate) fn push(&mut self, step: impl ResponseStep + 'static) {
        self.steps.push(ResponseChainEntry { step: Box::new(step), watches: false });
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Forgets all steps.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.steps.is_empty() {
            *self = ResponseChain::default();
        }
    }

    /// The refusal that takes the place of the response.
    pub(crate) fn take_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }

    /// The head has come. A verdict of `Reply` without a refusal has filled `outgoing`.
    pub(crate) fn on_head(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        outgoing.status = 0;
        outgoing.body.clear();
        self.run(0, response, None, outgoing)
    }

    /// The body has come that a step asked for.
    pub(crate) fn on_body(&mut self, response: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        outgoing.edits = std::mem::take(&mut self.edits);
        outgoing.status = self.status;
        outgoing.body.clear();
        self.run(self.at, response, Some(body), outgoing)
    }

    pub(crate) fn on_bytes(&mut self, bytes: &[u8], is_end: bool) {
        for entry in self.steps.iter_mut().filter(|entry| entry.watches) {
            entry.step.on_bytes(bytes, is_end);
        }
    }

    pub(crate) fn on_fault(&mut self, kind: FaultKind, outgoing: &mut Outgoing) -> bool {
        self.steps.iter_mut().any(|entry| entry.step.on_fault(kind, outgoing))
    }

    /// Asks the steps from `at` on. The first one has asked for the body, if there is one.
    fn run(
        &mut self,
        mut at: usize,
        response: &Response<'_>,
        kept: Option<KeptBody<'_>>,
        outgoing: &mut Outgoing,
    ) -> ResponseVerdict {
        let mut rewritten: Option<Vec<u8>> = None;
        let mut has_asked = kept.is_some();
        // As large as the step that is asked wants it.
        let mut bytes_max = usize::MAX;
        while let Some(entry) = self.steps.get_mut(at) {
            let mut head = ResponseHead { upstream: response, outgoing };
            let body = rewritten.as_deref().map(KeptBody::Whole).or(kept);
            let action = match body.filter(|_| std::mem::take(&mut has_asked)) {
                Some(body) => entry.step.on_body(&mut head, bounded(body, bytes_max)),
                None => entry.step.on_head(&mut head),
            };
            match action {
                ResponseAction::Pass => at += 1,
                ResponseAction::Watch => {
                    entry.watches = true;
                    at += 1;
                }
                ResponseAction::Rewrite(body) => {
                    rewritten = Some(body);
                    at += 1;
                }
                ResponseAction::Keep(wanted) => match body {
                    Some(KeptBody::Whole(_) | KeptBody::NoRoom) => (has_asked, bytes_max) = (true, wanted),
                    _ => {
                        self.at = at;
                        self.edits = std::mem::take(&mut outgoing.edits);
                        self.status = outgoing.status;
                        return ResponseVerdict::Keep(wanted);
                    }
                },
                ResponseAction::Reply => return ResponseVerdict::Reply,
                ResponseAction::Refuse(refusal) => {
                    self.refusal = Some(refusal);
                    return ResponseVerdict::Reply;
                }
            }
        }
        if let Some(body) = rewritten {
            self.on_bytes(&body, true);
            outgoing.body = body;
            return ResponseVerdict::Rewrite;
        }
        if self.steps.iter().any(|entry| entry.watches) { ResponseVerdict::Watch } else { ResponseVerdict::Pass }
    }
}

fn bounded(body: KeptBody<'_>, bytes_max: usize) -> KeptBody<'_> {
    match body {
        KeptBody::Whole(bytes) if bytes.len() > bytes_max => KeptBody::Part(bytes.get(..bytes_max).unwrap_or_default()),
        body => body,
    }
}

#[cfg(test)]
mod tests;
