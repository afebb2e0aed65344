//! Compresses responses at last, when nothing changes them any more.

use super::GatewayHandler;
use crate::compression::{CompressibleHead, with_no_headers};
use tollgate_engine::{Outgoing, ResponseVerdict};
use tollgate_http::{Body, Response};

impl GatewayHandler {
    /// Compresses the response that the client gets by this verdict.
    #[inline]
    pub(super) fn compress(&mut self, verdict: ResponseVerdict, response: &Response<'_>, outgoing: &mut Outgoing) {
        if self.state.response.compression.is_none() {
            return;
        }
        match verdict {
            ResponseVerdict::Keep(_) | ResponseVerdict::Await | ResponseVerdict::Again => {}
            ResponseVerdict::Reply | ResponseVerdict::Detach => self.compress_reply(outgoing),
            ResponseVerdict::Pass | ResponseVerdict::Watch | ResponseVerdict::Rewrite => {
                let is_rewritten = verdict == ResponseVerdict::Rewrite;
                self.compress_response(is_rewritten, response, outgoing);
            }
        }
    }

    #[cold]
    fn compress_response(&mut self, is_rewritten: bool, response: &Response<'_>, outgoing: &mut Outgoing) {
        let Some(wanted) = &mut self.state.response.compression else { return };
        let body_len = match response.body {
            _ if is_rewritten => Some(outgoing.body.len() as u64),
            Body::Length(bytes) => Some(bytes),
            // A response to HEAD has the length of the one to GET.
            Body::None => response.headers.get("Content-Length").map(|text| length(text).unwrap_or(0)),
            Body::Chunked | Body::UntilClose => None,
        };
        let status = if outgoing.status == 0 { response.status } else { outgoing.status };
        let head = CompressibleHead { status, headers: &response.headers, edits: &mut outgoing.edits, body_len };
        outgoing.coder = wanted.apply(head, &self.core.coder_memory);
    }

    /// The same for a reply.
    #[inline]
    pub(super) fn compress_reply(&mut self, outgoing: &mut Outgoing) {
        if self.state.response.compression.is_some() && self.core.rehearsal.is_none() {
            self.compress_own(outgoing);
        }
    }

    #[cold]
    fn compress_own(&mut self, outgoing: &mut Outgoing) {
        let Some(wanted) = &mut self.state.response.compression else { return };
        let body_len = outgoing.sourced.as_ref().map_or(Some(outgoing.body.len() as u64), |sourced| sourced.len);
        let memory = &self.core.coder_memory;
        let (status, edits) = (outgoing.status, &mut outgoing.edits);
        let coder = with_no_headers(|headers| wanted.apply(CompressibleHead { status, headers, edits, body_len }, memory));
        outgoing.coder = coder.flatten();
        outgoing.lacks_length |= wanted.is_applied;
    }
}

fn length(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
