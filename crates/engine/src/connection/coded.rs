//! Bodies of responses that are coded (compressed) on their way to the client: in slices, as many as the core's turns allow, and no further than
//! the client takes them. What was coded reaches the client when the upstream pauses.

use super::Connection;
use super::relay::RelayStep;
use crate::core::{Buffers, Core};
use crate::fault::{Fault, FaultKind};
use crate::service::{BodyCoder, BodyCut, BodySource, CoderStep};
use bytes::Bytes;
use std::rc::Rc;
use std::task::{Context, Poll};
use tollgate_http::{Malformed, append_trailers, write_chunk};

/// From so many bytes on, what was coded is sent at each pause of the upstream: a block of the coding is then worth its frame. Smaller pieces are
/// sent when the pause is longer, but for event streams.
const FLUSH_BYTES_MIN: usize = 4 * 1024;
/// How long a pause is then.
pub(super) const FLUSH_AFTER_MS: u64 = 100;
/// A whole body of so many bytes needs no turn: that is as much work as other small requests make.
pub(super) const SMALL_BYTES: usize = 4 * 1024;
/// Memory for content beyond this is freed when the content is coded.
const CONTENT_BYTES_KEPT: usize = 32 * 1024;

/// A body from the upstream that is coded.
pub(super) struct CodedBody {
    coder: Box<dyn BodyCoder>,
    /// What has come, decoded, and what of it is coded.
    content: Vec<u8>,
    coded_bytes: usize,
    /// The lines of the trailer section that pass.
    trailers: Vec<u8>,
    /// Bytes coded since the client last got all.
    unflushed: usize,
    is_begun: bool,
    is_ended: bool,
}

impl CodedBody {
    pub(super) fn new(coder: Box<dyn BodyCoder>) -> Box<Self> {
        let (content, trailers) = (Vec::new(), Vec::new());
        Box::new(CodedBody { coder, content, coded_bytes: 0, trailers, unflushed: 0, is_begun: false, is_ended: false })
    }

    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Takes a body that is in the place of the upstream's.
    pub(super) fn take_content(&mut self, content: &mut Vec<u8>) {
        self.content.append(content);
    }

    /// Whether something is left to code. `is_read`: all of the body has come.
    fn has_work(&self, is_read: bool) -> bool {
        self.coded_bytes < self.content.len() || (is_read && !self.is_ended)
    }

    /// Whether the body is all there and small.
    fn is_small(&self, is_read: bool) -> bool {
        is_read && !self.is_begun && self.content.len() <= self.coder.slice_bytes().min(SMALL_BYTES)
    }

    /// Codes the next slice into a chunk; behind the last one comes the end of the body.
    fn code_slice(&mut self, is_read: bool, core: &Core, out: &mut Vec<u8>) -> Result<(), BodyCut> {
        let left = self.content.get(self.coded_bytes..).unwrap_or_default();
        let slice = left.get(..self.coder.slice_bytes()).unwrap_or(left);
        let is_last = is_read && slice.len() == left.len();
        let step = if is_last { CoderStep::End } else { CoderStep::More };
        self.coded_bytes += slice.len();
        self.unflushed += slice.len();
        self.is_begun = true;
        code_into_chunk(self.coder.as_mut(), slice, step, core, out)?;
        if is_last {
            self.is_ended = true;
            out.extend_from_slice(b"0\r\n");
            out.append(&mut self.trailers);
            out.extend_from_slice(b"\r\n");
        }
        if self.coded_bytes == self.content.len() {
            self.coded_bytes = 0;
            self.content.clear();
            self.content.shrink_to(CONTENT_BYTES_KEPT);
        }
        Ok(())
    }
}

/// Codes bytes, and appends what comes of them as one chunk.
fn code_into_chunk(
    coder: &mut dyn BodyCoder,
    bytes: &[u8],
    step: CoderStep,
    core: &Core,
    out: &mut Vec<u8>,
) -> Result<(), BodyCut> {
    let mut coded = core.spare();
    let done = coder.code(bytes, step, &mut coded);
    write_chunk(&coded, out);
    core.give_back(coded);
    done
}

fn cut(_: BodyCut) -> Fault {
    Fault::with(FaultKind::UpstreamClosed, "its body could not be coded")
}

impl Connection {
    /// Decodes the part of `bytes` that belongs to the body, and sends `out` with what can be coded at once.
    #[cold]
    pub(super) fn relay_coded(&mut self, cx: &mut Context<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let response = &mut self.exchange.response;
        let (Some(coded), Some(reader)) = (&mut response.coded, &mut response.body) else { return Ok(()) };
        let malformed = |malformed: Malformed| Fault::new(FaultKind::UpstreamMalformed(malformed));
        let used = reader.decode_with_trailers(bytes, &mut coded.content, &mut response.trailers).map_err(malformed)?;
        let is_read = reader.is_done();
        if is_read && !response.trailers.is_empty() {
            let handler = &self.handler;
            append_trailers(
                &std::mem::take(&mut response.trailers),
                |name| handler.passes_response_trailer(name),
                &mut coded.trailers,
            );
        }
        // Unexpected bytes after a response: the upstream connection is not reused.
        self.exchange.upstream.keep_alive &= used == bytes.len();
        self.send_coded(cx, is_read, out)
    }

    /// Sends `out`, and the next slice if it may be coded at once.
    pub(super) fn send_coded(&mut self, cx: &mut Context<'_>, is_read: bool, out: &mut Vec<u8>) -> Result<(), Fault> {
        let turns = &self.core.coding_turns;
        if let Some(coded) = &mut self.exchange.response.coded
            && coded.has_work(is_read)
            && (coded.is_small(is_read) || turns.take())
        {
            coded.code_slice(is_read, &self.core, out).map_err(cut)?;
        }
        self.send_to_client(cx, out, &[])
    }

    /// Codes the next slice of what has come. `None` if there is nothing to code.
    #[cold]
    pub(super) fn poll_coded(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Result<Option<RelayStep>, Fault> {
        let is_read = self.exchange.response.body.is_some_and(|body| body.is_done());
        let Some(coded) = self.exchange.response.coded.as_mut().filter(|coded| coded.has_work(is_read)) else { return Ok(None) };
        if self.turn.poll_slice(cx, &self.core.coding_turns).is_pending() {
            return Ok(Some(RelayStep::Nothing));
        }
        let out = &mut buffers.out;
        out.clear();
        coded.code_slice(is_read, &self.core, out).map_err(cut)?;
        self.send_to_client(cx, out, &[])?;
        Ok(Some(RelayStep::Something))
    }

    /// The upstream pauses: sends what the coder holds back, if that is much or more will not come soon. Returns whether it sent something.
    #[cold]
    pub(super) fn flush_coded(&mut self, cx: &mut Context<'_>, is_long: bool, out: &mut Vec<u8>) -> Result<bool, Fault> {
        let bytes_min = if is_long || self.exchange.response.is_event_stream { 1 } else { FLUSH_BYTES_MIN };
        let Some(coded) = self.exchange.response.coded.as_mut().filter(|coded| coded.unflushed >= bytes_min) else {
            return Ok(false);
        };
        out.clear();
        coded.unflushed = 0;
        code_into_chunk(coded.coder.as_mut(), &[], CoderStep::Flush, &self.core, out).map_err(cut)?;
        self.send_to_client(cx, out, &[])?;
        Ok(true)
    }

    /// Whether the coder holds back something that waits for a longer pause.
    #[inline]
    pub(super) fn holds_coded(&self) -> bool {
        self.exchange.response.coded.as_ref().is_some_and(|coded| coded.unflushed > 0 && !coded.is_ended)
    }

    /// How much to read from the upstream at once.
    #[inline]
    pub(super) fn coded_read_max(&self) -> usize {
        self.exchange.response.coded.as_ref().map_or(usize::MAX, |coded| coded.coder.slice_bytes())
    }
}

/// The chunks of a reply that is coded. Each poll codes one slice at most, and may bring an empty piece.
pub(super) struct CodedChunks {
    source: Box<dyn BodySource>,
    coder: Box<dyn BodyCoder>,
    core: Rc<Core>,
    /// What the source has given and is not coded.
    piece: Bytes,
    is_unflushed: bool,
    is_over: bool,
}

impl CodedChunks {
    pub(super) fn new(source: Box<dyn BodySource>, coder: Box<dyn BodyCoder>, core: Rc<Core>) -> Self {
        CodedChunks { source, coder, core, piece: Bytes::new(), is_unflushed: false, is_over: false }
    }

    fn code(&mut self, bytes: &[u8], step: CoderStep) -> Poll<Result<Option<Bytes>, BodyCut>> {
        let mut out = Vec::new();
        let done = code_into_chunk(self.coder.as_mut(), bytes, step, &self.core, &mut out);
        self.is_unflushed = step == CoderStep::More;
        if step == CoderStep::End {
            self.is_over = true;
            out.extend_from_slice(tollgate_http::LAST_CHUNK);
        }
        Poll::Ready(done.map(|()| Some(out.into())))
    }
}

impl BodySource for CodedChunks {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        if self.is_over {
            return Poll::Ready(Ok(None));
        }
        if self.piece.is_empty() {
            match self.source.poll_next(cx) {
                Poll::Ready(Ok(Some(piece))) => self.piece = piece,
                Poll::Ready(Ok(None)) => return self.code(&[], CoderStep::End),
                // The source repeats its answer at the next poll.
                Poll::Pending if self.is_unflushed => return self.code(&[], CoderStep::Flush),
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(cut)) => return Poll::Ready(Err(cut)),
            }
        }
        let slice = self.piece.split_to(self.piece.len().min(self.coder.slice_bytes()));
        self.code(&slice, CoderStep::More)
    }
}
