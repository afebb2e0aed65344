//! One request as the sinks get it. Records are used again and again, so that none is allocated while traffic is steady.

use crate::keys::Key;
use crate::trace::Trace;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tollgate_engine::Capture;

/// The texts of a record, in the order in which they are written: first those that the requests of a client have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    Method,
    /// Host that the client asked for.
    Authority,
    /// Host of the upstream.
    UpstreamHost,
    UserAgent,
    Version,
    /// Tags from request headers, a line each.
    Tags,
    /// Path as the client sent it, without the query.
    OriginalPath,
    /// Path as the upstream's side sees it: rewritten, without the listen path.
    Path,
    /// The pattern of a tracked endpoint.
    TrackedPath,
    /// The request's head, with secrets taken out, when all of it is recorded.
    RawHead,
    /// Address and port at the other end of the connection; for logged records.
    Peer,
    /// The identifier that the request was given.
    RequestId,
}

const TEXTS: usize = Text::RequestId as usize + 1;
/// The texts that the requests of a client have in common.
const COMMON_TEXTS: usize = Text::OriginalPath as usize;
/// A record that has grown beyond this gives its memory back.
const TEXT_BYTES_KEPT: usize = 4 * 1024;
/// Bytes of one text.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;

/// A middleware's part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTime {
    pub middleware: &'static str,
    /// When it began, since the request's beginning.
    pub after: Duration,
    pub took: Duration,
}

/// One request that is over.
pub struct Record {
    pub key: Option<Arc<Key>>,
    pub client_ip: IpAddr,
    pub peer: SocketAddr,
    pub request_id: u128,
    pub http10: bool,
    /// The client spoke HTTP/2.
    pub http2: bool,
    /// The client spoke TLS.
    pub secure: bool,
    /// Where the request belongs, when requests are traced.
    pub trace: Option<Trace>,
    /// For analytics.
    pub analytics: bool,
    /// For the access log.
    pub logged: bool,
    /// -1 when it is not known.
    pub content_length: i64,
    pub status: u16,
    /// Why the gateway turned it away, or what went wrong.
    pub cause: Option<&'static str>,
    pub total: Duration,
    pub upstream: Duration,
    /// When it was sent on, since its beginning, if it is traced.
    pub sent_after: Option<Duration>,
    /// What the upstream answered; 0 for nothing.
    pub upstream_status: u16,
    pub request_bytes: u64,
    pub response_bytes: u64,
    /// Bodies, when all of the request is recorded.
    pub capture: Option<Box<Capture>>,
    /// The middlewares in their order, where these are traced.
    pub steps: Vec<StepTime>,
    texts: Vec<u8>,
    /// Where each text ends that was written or left out.
    ends: [u32; TEXTS],
    ended: usize,
}

impl Default for Record {
    fn default() -> Self {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Record {
            key: None,
            client_ip: nowhere,
            peer: SocketAddr::new(nowhere, 0),
            request_id: 0,
            http10: false,
            http2: false,
            secure: false,
            trace: None,
            analytics: false,
            logged: false,
            content_length: -1,
            status: 0,
            cause: None,
            total: Duration::ZERO,
            upstream: Duration::ZERO,
            sent_after: None,
            upstream_status: 0,
            request_bytes: 0,
            response_bytes: 0,
            capture: None,
            steps: Vec::new(),
            texts: Vec::new(),
            ends: [0; TEXTS],
            ended: 0,
        }
    }
}

impl Record {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        let mut texts = std::mem::take(&mut self.texts);
        texts.clear();
        if texts.capacity() > TEXT_BYTES_KEPT {
            texts = Vec::new();
        }
        *self = Record { texts, ..Record::default() };
    }

    /// Writes the next text; they must come in order, and those left out are empty. What is too long is cut.
    #[inline]
    pub fn write(&mut self, text: Text, pieces: &[&[u8]]) {
        let start = self.texts.len();
        for piece in pieces {
            let room = TEXT_BYTES_MAX.saturating_sub(self.texts.len() - start);
            self.texts.extend_from_slice(piece.get(..room).unwrap_or(piece));
        }
        let text = text as usize;
        self.ends.get_mut(self.ended..text).into_iter().flatten().for_each(|end| *end = position(start));
        self.ended = text + 1;
        self.end_last();
    }

    /// Writes [`Text::Path`], with the slash in front that it may have left with the listen path.
    #[inline]
    pub fn write_path(&mut self, path: &str) {
        let root: &[u8] = if path.starts_with('/') { b"" } else { b"/" };
        self.write(Text::Path, &[root, path.as_bytes()]);
    }

    /// Adds to the text written last.
    pub fn append(&mut self, piece: &[u8]) {
        self.texts.extend_from_slice(piece.get(..TEXT_BYTES_MAX).unwrap_or(piece));
        self.end_last();
    }

    #[inline]
    fn end_last(&mut self) {
        if let Some(end) = self.ends.get_mut(self.ended.wrapping_sub(1)) {
            *end = position(self.texts.len());
        }
    }

    /// A text; empty when it was not written.
    #[inline]
    pub fn bytes(&self, text: Text) -> &[u8] {
        self.texts.get(self.place(text)).unwrap_or_default()
    }

    #[inline]
    fn place(&self, text: Text) -> Range<usize> {
        // What was not written is behind the last text, and empty.
        let end = |index: usize| self.ends.get(index.min(self.ended.wrapping_sub(1))).copied().unwrap_or_default() as usize;
        (text as usize).checked_sub(1).map_or(0, end)..end(text as usize)
    }

    /// The path as the client sent it, the path, and the tracked endpoint's pattern. They stand side by side, so that one look at their bytes
    /// tells that they are characters.
    #[inline]
    pub fn paths(&self) -> [Cow<'_, str>; 3] {
        let texts = [Text::OriginalPath, Text::Path, Text::TrackedPath];
        let places = texts.map(|text| self.place(text));
        let [Range { start, .. }, _, Range { end, .. }] = places.clone();
        match self.texts.get(start..end).map(std::str::from_utf8) {
            Some(Ok(all)) => places.map(|place| Cow::Borrowed(all.get(place.start - start..place.end - start).unwrap_or_default())),
            _ => texts.map(|text| self.text(text)),
        }
    }

    /// The texts that the requests of a client have in common, in one piece, and where each of them ends, up to the last one written.
    #[inline]
    pub fn common_texts(&self) -> (&[u8], &[u32]) {
        let ends = self.ends.get(..self.ended.min(COMMON_TEXTS)).unwrap_or_default();
        let end = ends.last().copied().unwrap_or_default() as usize;
        (self.texts.get(..end).unwrap_or_default(), ends)
    }

    /// What the client spoke, as Go names it.
    pub fn protocol(&self) -> &'static str {
        match (self.http2, self.http10) {
            (true, _) => "HTTP/2.0",
            (false, true) => "HTTP/1.0",
            (false, false) => "HTTP/1.1",
        }
    }

    /// The whole request is recorded.
    pub fn is_detailed(&self) -> bool {
        !self.bytes(Text::RawHead).is_empty()
    }

    /// A text as characters.
    pub fn text(&self, text: Text) -> Cow<'_, str> {
        let bytes = self.bytes(text);
        // Nearly all are ASCII, which this finds out much faster.
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
    }
}

/// A place in the texts.
#[inline]
fn position(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
