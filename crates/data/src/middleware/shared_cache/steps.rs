//! Processes responses: those that the cache has requested, and those that may invalidate stored ones.

use super::key::RequestKey;
use super::overflow::storing_with_overflow;
use crate::caching::{self, ResponseLines};
use crate::refusal;
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use std::sync::Arc;
use tollgate_cache::{ApiCache, BodyWriter, CacheStatus, CachedResponse, Fill, Filled, HeaderLines, LineBlock, MethodClass};
use tollgate_engine::{BodySink, FaultKind, KeptBody, Outgoing};

/// Stands for a failed name lookup, which has its own refusal, in [`Fill::failed`]. It is no status code.
pub(super) const LOOKUP_FAILED: u16 = 0;

/// Stores the response to a request that the cache has sent.
pub(super) struct FetchedResponse {
    fill: Option<Fill>,
    writer: Option<BodyWriter>,
    /// The client's answer, if it differs from the response.
    answer: Option<CachedResponse>,
    body_bytes_max: usize,
}

impl FetchedResponse {
    pub(super) fn new(fill: Fill, body_bytes_max: usize) -> Self {
        FetchedResponse { fill: Some(fill), writer: None, answer: None, body_bytes_max }
    }

    /// Stores the response as it passes, or replies from the entry that is being stored.
    fn store(&mut self, head: &mut ResponseHead<'_>, writer: BodyWriter, answer: CachedResponse) -> ResponseAction {
        match head.body_len() {
            // No body bytes follow that could complete the entry.
            Some(0) => {
                writer.finish();
                if answer.is_whole() {
                    head.add_lines(|out| answer.cache_status.write(out));
                    return ResponseAction::Pass;
                }
                caching::serve(head.reply(), &answer);
                ResponseAction::Reply
            }
            // A client that is slow or leaves does not affect those that wait.
            Some(_) if !head.is_held => {
                caching::serve(head.reply(), &answer);
                ResponseAction::Detach(Box::new(Storing(writer)))
            }
            None if !head.is_held && answer.is_whole() => {
                let (sink, source) = storing_with_overflow(writer, answer.body());
                caching::serve_from(head.reply(), &answer, source);
                ResponseAction::Detach(sink)
            }
            _ if answer.is_whole() => {
                head.add_lines(|out| answer.cache_status.write(out));
                self.writer = Some(writer);
                ResponseAction::Watch
            }
            _ => {
                (self.writer, self.answer) = (Some(writer), Some(answer));
                ResponseAction::Keep(self.body_bytes_max)
            }
        }
    }
}

impl ResponseStep for FetchedResponse {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        let Some(fill) = self.fill.take() else { return ResponseAction::Pass };
        let (status, body_len) = (head.status(), head.body_len());
        let fill = caching::marked(fill, head);
        let (headers, edits) = head.lines();
        match fill.head(status, &ResponseLines { headers, edits }, body_len, tollgate_clock::unix_ms()) {
            Filled::Store(writer, answer) => self.store(head, writer, answer),
            Filled::Pass(status) => {
                head.add_lines(|out| status.write(out));
                ResponseAction::Pass
            }
            Filled::Serve(answer) => {
                caching::serve(head.reply(), &answer);
                ResponseAction::Reply
            }
            Filled::Again(fill) => {
                self.fill = Some(fill);
                ResponseAction::Again
            }
        }
    }

    fn on_body(&mut self, head: &mut ResponseHead<'_>, body: KeptBody<'_>) -> ResponseAction {
        let (Some(mut writer), Some(answer)) = (self.writer.take(), self.answer.take()) else { return ResponseAction::Pass };
        // A body that is too large passes unchanged; clients must accept the whole in place of a range or a 304.
        let KeptBody::Whole(bytes) = body else { return ResponseAction::Pass };
        writer.push(bytes);
        writer.finish();
        caching::serve(head.reply(), &answer);
        ResponseAction::Reply
    }

    fn on_bytes(&mut self, bytes: &[u8], is_end: bool) {
        if let Some(writer) = &mut self.writer {
            writer.push(bytes);
        }
        if let Some(writer) = self.writer.take_if(|_| is_end) {
            writer.finish();
        }
    }

    fn on_fault(&mut self, fault: FaultKind, outgoing: &mut Outgoing) -> bool {
        // If the client left, those that wait start over.
        let (Some(fill), Some(refusal)) = (self.fill.take(), refusal::of_upstream(fault)) else { return false };
        let status = if refusal == refusal::UPSTREAM_LOOKUP { LOOKUP_FAILED } else { refusal.status };
        let Some(answer) = fill.failed(status, tollgate_clock::unix_ms()) else { return false };
        caching::serve(outgoing, &answer);
        true
    }
}

/// Stores a body. A truncated one is dropped together with this sink.
struct Storing(BodyWriter);

impl BodySink for Storing {
    fn push(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }

    fn finish(self: Box<Self>) {
        self.0.finish();
    }
}

/// Observes the response to a request that bypasses the cache.
pub(super) struct Bypassed {
    status: CacheStatus,
    /// Data to invalidate stored responses with.
    observed: Option<Box<Observed>>,
}

struct Observed {
    cache: Arc<ApiCache>,
    origin: String,
    key: RequestKey,
    method: String,
    lines: LineBlock,
}

impl Bypassed {
    pub(super) fn new(
        cache: &Arc<ApiCache>,
        origin: &str,
        key: RequestKey,
        method: &str,
        lines: &dyn HeaderLines,
        status: CacheStatus,
    ) -> Self {
        let lines = match MethodClass::read(method) {
            MethodClass::Unsafe => Some(LineBlock::default()),
            MethodClass::Head => Some(LineBlock::copy(lines)),
            MethodClass::Get | MethodClass::OtherSafe => None,
        };
        let observed = lines.map(|lines| {
            Box::new(Observed { cache: cache.clone(), origin: origin.to_owned(), key, method: method.to_owned(), lines })
        });
        Bypassed { status, observed }
    }
}

impl ResponseStep for Bypassed {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        if let Some(observed) = self.observed.take() {
            let Observed { cache, origin, key, method, lines } = &*observed;
            // A rule for errors does not make a request succeed.
            let (status, (headers, edits)) = (head.upstream.status, head.lines());
            key.with_request(origin, method, lines, |request| match MethodClass::read(method) {
                MethodClass::Head => {
                    cache.after_head(request, status, &ResponseLines { headers, edits }, tollgate_clock::unix_ms())
                }
                _ => cache.after_unsafe(request, status),
            });
        }
        head.add_lines(|out| self.status.write(out));
        ResponseAction::Pass
    }
}
