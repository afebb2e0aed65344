//! Processing of a response by middlewares. A middleware takes part while it handles the request: it adds a [`ResponseStep`], which holds
//! all data that it needs, to the exchange's [`ResponseChain`]. Without steps, a response costs one check for an empty list.
//!
//! Steps run in the order of their middlewares. Each sees the upstream's head with the changes of earlier steps. Changes that a version
//! makes to every response come after all steps, so that cached responses hold nothing that belongs to one request.

use crate::refusal::Refusal;
use std::time::Duration;
use tollgate_engine::{BodySink, BodySource, FaultKind, KeptBody, Outgoing, ResponseVerdict, SourcedBody, Work};
use tollgate_http::{Body, HeaderEdits, Headers, KnownHeader, Response};
use tollgate_model::is_framing_header;

/// A middleware's part in one response.
pub trait ResponseStep {
    /// Called when the head has arrived.
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction;

    /// Called with the body that [`ResponseAction::Keep`] asked for, and the head again.
    fn on_body(&mut self, _: &mut ResponseHead<'_>, _: KeptBody<'_>) -> ResponseAction {
        ResponseAction::Pass
    }

    /// Called with the next body bytes for the client, after [`ResponseAction::Watch`]. If the end never comes, the response was truncated.
    fn on_bytes(&mut self, _: &[u8], _is_end: bool) {}

    /// Called when an earlier step has the body read, before that has begun.
    fn on_read(&mut self, _: &Response<'_>) {}

    /// Whether it is only for responses of upstreams, not for those that the gateway makes in their place.
    fn is_for_upstreams(&self) -> bool {
        false
    }

    /// Called when no response arrives. Returns true when the reply in the outgoing message replaces the refusal.
    fn on_fault(&mut self, _: FaultKind, _: &mut Outgoing) -> bool {
        false
    }
}

/// A step's decision about a response.
pub enum ResponseAction {
    /// Continues with the next step.
    Pass,
    /// Continues with the next step, and shows this step the body for the client.
    Watch,
    /// Buffers the body, of at most this many bytes, and calls the step again.
    Keep(usize),
    /// Replaces the body and continues with the next step.
    Rewrite(Vec<u8>),
    /// Holds the response until the work is done, at most this long, and calls [`ResponseStep::on_body`] again. Only as its answer.
    Await(Work, Duration),
    /// Replaces the response by [`ResponseHead::reply`]. Later steps are skipped.
    Reply,
    /// As `Reply`, and the sink receives the body, even if the client leaves. Not if [`ResponseHead::is_held`].
    Detach(Box<dyn BodySink>),
    /// Sends the request again, without its conditions; the steps see the new response.
    Again,
    /// Replaces the response by a refusal. Later steps are skipped.
    Refuse(Refusal),
}

/// The head of a response that the steps process.
pub struct ResponseHead<'a> {
    /// The response from the upstream.
    pub upstream: &'a Response<'a>,
    /// Whether an earlier step asked for the body, so that it no longer comes from the upstream.
    pub is_held: bool,
    /// Whether that is so, or an earlier step watches the body.
    pub is_watched: bool,
    outgoing: &'a mut Outgoing,
    overridden: &'a mut Option<LastHeaders>,
}

/// The headers that a rule for errors sets. Changes that the version makes to every response do not override them.
type LastHeaders = Vec<(String, Vec<u8>)>;

impl ResponseHead<'_> {
    /// The current status.
    pub fn status(&self) -> u16 {
        if self.outgoing.status == 0 { self.upstream.status } else { self.outgoing.status }
    }

    /// The current value of a header; of several lines, the first.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.outgoing.edits.current(&self.upstream.headers, name)
    }

    /// Replaces the status. If the response has a body, the new status must allow one.
    pub fn set_status(&mut self, status: u16) {
        self.outgoing.status = status;
    }

    /// Replaces all headers with this name. The caller has checked both arguments with `is_token` and `is_value`.
    pub fn set_header(&mut self, name: &str, value: &[u8]) {
        self.outgoing.edits.set(&self.upstream.headers, name, value);
    }

    /// Marks the response as the gateway's own in place of the upstream's error, and sets its headers last.
    pub fn override_error<'h>(&mut self, headers: impl Iterator<Item = (&'h str, &'h [u8])>) {
        let headers: LastHeaders = headers.map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
        headers.iter().for_each(|(name, value)| self.set_header(name, value));
        *self.overridden = Some(headers);
    }

    /// The headers of [`ResponseHead::override_error`]; `None` for the upstream's own response.
    pub fn overridden(&self) -> Option<&[(String, Vec<u8>)]> {
        self.overridden.as_deref()
    }

    pub fn remove_header(&mut self, name: &str) {
        self.outgoing.edits.remove(&self.upstream.headers, name);
    }

    /// The upstream's header lines, and the steps' changes to them.
    pub fn lines(&self) -> (&Headers<'_>, &HeaderEdits) {
        (&self.upstream.headers, &self.outgoing.edits)
    }

    /// Adds whole lines; `write` appends them.
    pub fn add_lines(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.outgoing.edits.add_line(write);
    }

    /// The length of its body, if known.
    pub fn body_len(&self) -> Option<u64> {
        match self.upstream.body {
            _ if !self.can_have_body() => Some(0),
            // A step that replaces the body removes the line.
            _ if self.header("Content-Length").is_none() => None,
            Body::None => Some(0),
            Body::Length(bytes) => Some(bytes),
            Body::Chunked | Body::UntilClose => None,
        }
    }

    /// The empty message to fill before [`ResponseAction::Reply`].
    pub fn reply(&mut self) -> &mut Outgoing {
        self.outgoing.edits.clear();
        self.outgoing.body.clear();
        (self.outgoing.is_dated, self.outgoing.lacks_length, self.outgoing.close) = (false, false, false);
        self.outgoing
    }

    /// Fills the reply with this response, and an event stream in the place of its body. Not if the body is held or watched.
    pub fn reply_from(&mut self, source: Box<dyn BodySource>) {
        let status = self.status();
        let mut lines = Vec::new();
        self.outgoing.edits.each_line(&self.upstream.headers, &mut |name, value| {
            lines.push((name.to_owned(), value.to_vec()));
        });
        let reply = self.reply();
        reply.status = status;
        for (name, value) in lines.iter().filter(|(name, _)| !is_framing_header(name)) {
            reply.edits.add(name, value);
        }
        reply.is_dated = lines.iter().any(|(name, _)| name.eq_ignore_ascii_case("date"));
        reply.sourced = Some(SourcedBody { source, len: None, is_event_stream: true, detached: None });
    }

    /// Whether the status allows a body.
    pub fn can_have_body(&self) -> bool {
        !matches!(self.status(), 100..=199 | 204 | 304)
    }

    /// Prepares for a new body: removes headers that describe the upstream's body.
    pub fn body_changes(&mut self) {
        forget_body(&self.upstream.headers, &mut self.outgoing.edits);
    }
}

/// Removes headers that describe a body, because there will be another one. The entity tag stays, but weak, for conditional requests
/// that compare weakly (RFC 9110 §8.8.3.2), because the new body follows from the old one.
pub(crate) fn forget_body(headers: &Headers<'_>, edits: &mut HeaderEdits) {
    BODY_DIGESTS.iter().chain(&["Accept-Ranges", "Content-Range"]).for_each(|name| edits.remove(headers, name));
    weaken_tag(headers, edits);
    edits.remove_named(headers, KnownHeader::ContentLength, "Content-Length");
}

/// Fields with digests of a body, in headers and trailers.
pub(crate) const BODY_DIGESTS: [&str; 4] = ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest"];

/// Makes the entity tag a weak one.
pub(crate) fn weaken_tag(headers: &Headers<'_>, edits: &mut HeaderEdits) {
    let strong = edits.current(headers, "ETag").filter(|tag| tag.starts_with(b"\"")).map(<[u8]>::to_vec);
    if let Some(tag) = strong {
        edits.set(headers, "ETag", &[b"W/", tag.as_slice()].concat());
    }
}

/// The steps of one response.
#[derive(Default)]
pub struct ResponseChain {
    steps: Vec<ResponseChainEntry>,
    /// Index of the step that waits for the body.
    at: usize,
    /// The edits before the response was held.
    edits: HeaderEdits,
    status: u16,
    /// The body that earlier steps made of a response that waits for work.
    rewritten: Option<Vec<u8>>,
    refusal: Option<Refusal>,
    /// Set when a rule for errors has replaced the response.
    overridden: Option<LastHeaders>,
}

struct ResponseChainEntry {
    step: Box<dyn ResponseStep>,
    watches: bool,
}

impl ResponseChain {
    /// Appends a step.
    pub fn push(&mut self, step: impl ResponseStep + 'static) {
        self.steps.push(ResponseChainEntry { step: Box::new(step), watches: false });
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Removes all steps.
    #[inline]
    pub fn clear(&mut self) {
        if !self.steps.is_empty() {
            *self = ResponseChain::default();
        }
    }

    /// Takes the refusal that replaces the response.
    pub fn take_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }

    /// Sets the headers that no other change overrides.
    pub fn set_last_headers(&self, headers: &Headers<'_>, edits: &mut HeaderEdits) {
        self.overridden.iter().flatten().for_each(|(name, value)| edits.set(headers, name, value));
    }

    /// Processes the head. A verdict of `Reply` without a refusal has filled `outgoing`.
    pub fn on_head(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        outgoing.status = 0;
        outgoing.body.clear();
        self.run(0, response, None, false, outgoing)
    }

    /// Processes a response whose body is all there, made in the upstream's place. The verdict is never `Keep`.
    pub fn on_whole(&mut self, response: &Response<'_>, body: &[u8], outgoing: &mut Outgoing) -> ResponseVerdict {
        self.steps.retain(|entry| !entry.step.is_for_upstreams());
        outgoing.status = 0;
        outgoing.body.clear();
        self.run(0, response, Some(KeptBody::Whole(body)), false, outgoing)
    }

    /// Processes the body that a step asked for.
    pub fn on_body(&mut self, response: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        outgoing.edits = std::mem::take(&mut self.edits);
        outgoing.status = self.status;
        outgoing.body.clear();
        self.run(self.at, response, Some(body), true, outgoing)
    }

    pub fn on_bytes(&mut self, bytes: &[u8], is_end: bool) {
        for entry in self.steps.iter_mut().filter(|entry| entry.watches) {
            entry.step.on_bytes(bytes, is_end);
        }
    }

    pub fn on_fault(&mut self, kind: FaultKind, outgoing: &mut Outgoing) -> bool {
        self.steps.iter_mut().any(|entry| entry.step.on_fault(kind, outgoing))
    }

    /// Runs the steps from `at` on. With `has_asked`, the first of them asked for the buffered body.
    fn run(
        &mut self,
        mut at: usize,
        response: &Response<'_>,
        kept: Option<KeptBody<'_>>,
        mut has_asked: bool,
        outgoing: &mut Outgoing,
    ) -> ResponseVerdict {
        let mut rewritten = self.rewritten.take();
        // Size limit of the step that is called.
        let mut bytes_max = usize::MAX;
        let mut watches = self.steps.iter().any(|entry| entry.watches);
        while let Some(entry) = self.steps.get_mut(at) {
            let body = rewritten.as_deref().map(KeptBody::Whole).or(kept);
            let overridden = &mut self.overridden;
            let is_held = body.is_some();
            let mut head = ResponseHead { upstream: response, is_held, is_watched: is_held || watches, outgoing, overridden };
            let action = match body.filter(|_| std::mem::take(&mut has_asked)) {
                Some(body) => entry.step.on_body(&mut head, bounded(body, bytes_max)),
                None => entry.step.on_head(&mut head),
            };
            match action {
                ResponseAction::Pass => at += 1,
                ResponseAction::Watch => {
                    (entry.watches, watches) = (true, true);
                    at += 1;
                }
                ResponseAction::Rewrite(body) => {
                    rewritten = Some(body);
                    at += 1;
                }
                ResponseAction::Await(work, time_max) => {
                    (self.at, self.rewritten) = (at, rewritten);
                    self.edits = std::mem::take(&mut outgoing.edits);
                    self.status = outgoing.status;
                    outgoing.work = Some((work, time_max));
                    return ResponseVerdict::Await;
                }
                ResponseAction::Keep(wanted) => match body {
                    Some(KeptBody::Whole(_) | KeptBody::NoRoom) => (has_asked, bytes_max) = (true, wanted),
                    _ => {
                        self.at = at;
                        self.edits = std::mem::take(&mut outgoing.edits);
                        self.status = outgoing.status;
                        self.tell_of_reading(response);
                        return ResponseVerdict::Keep(wanted);
                    }
                },
                ResponseAction::Reply => return ResponseVerdict::Reply,
                ResponseAction::Detach(sink) => {
                    outgoing.sink = Some(sink);
                    self.at = at;
                    self.tell_of_reading(response);
                    return ResponseVerdict::Detach;
                }
                ResponseAction::Again => return ResponseVerdict::Again,
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
        if outgoing.status != 0 || watches { ResponseVerdict::Watch } else { ResponseVerdict::Pass }
    }
}

impl ResponseChain {
    /// Tells the steps behind the present one that it has the body read.
    fn tell_of_reading(&mut self, response: &Response<'_>) {
        self.steps.iter_mut().skip(self.at + 1).for_each(|entry| entry.step.on_read(response));
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
