//! Answers with sound, pictures or moderations, on their way to the client: as they are, piece by piece, whatever they are.

use crate::answer::{AnswerBody, Pieces};
use crate::attempt::Success;
use crate::failure::Failure;
use crate::figures::LlmOutcome;
use crate::mask::Mask;
use crate::tally::Tally;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response};
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use std::io;
use std::time::Duration;
use tokio::time::{timeout, timeout_at};
use tollgate_llm::{AnswerFormat, UsageReader};

/// An answer on its way.
struct MediaRelay {
    body: Incoming,
    mask: Mask,
    usage: Option<UsageReader>,
    tally: Tally,
    /// Longest time between two pieces.
    silence_max: Duration,
    /// What the client gets next.
    next: Option<Bytes>,
}

impl Success<'_> {
    /// An answer, from its first piece on.
    pub(crate) async fn media(mut self, headers: &HeaderMap) -> Result<Response<AnswerBody>, Failure> {
        let kind = headers.get(CONTENT_TYPE).cloned().unwrap_or(HeaderValue::from_static("application/octet-stream"));
        let name = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
        if name.contains("text/html") {
            self.tally.is_sent = false;
            return Err(self.broken("the provider answered a page"));
        }
        let (_, last) = self.deadlines;
        let first = match timeout_at(last, self.body.frame()).await {
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(None) => Bytes::new(),
            Ok(Some(Err(_))) => return Err(self.broken("the provider's answer broke off")),
            Err(_) => return Err(self.broken("the provider's answer took too long")),
        };
        let is_stream = name.contains("event-stream");
        let tells = is_stream || name.contains("json");
        let mut relay = MediaRelay {
            mask: Mask::new(self.provider),
            usage: tells.then(|| UsageReader::new(AnswerFormat::OpenAiResponses, is_stream)),
            silence_max: self.provider.time_max,
            body: self.body,
            tally: self.tally,
            next: None,
        };
        relay.read(&first);
        let mut response = Response::new(relay.into_body());
        response.headers_mut().insert(CONTENT_TYPE, kind);
        if is_stream {
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        }
        Ok(response)
    }
}

impl MediaRelay {
    fn read(&mut self, bytes: &Bytes) {
        if let Some(usage) = &mut self.usage {
            usage.push(bytes);
            self.tally.usage = usage.usage();
        }
        let bytes = self.mask.push(bytes.clone());
        self.next = Some(bytes).filter(|bytes| !bytes.is_empty());
    }
}

impl Pieces for MediaRelay {
    async fn next(mut self: Box<Self>) -> io::Result<Option<(Bytes, Box<Self>)>> {
        loop {
            if let Some(bytes) = self.next.take() {
                return Ok(Some((bytes, self)));
            }
            if matches!(self.tally.outcome, LlmOutcome::Ok) {
                return Ok(None);
            }
            match timeout(self.silence_max, self.body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    if let Some(bytes) = frame.data_ref() {
                        self.read(bytes);
                    }
                }
                Ok(None) => {
                    self.tally.outcome = LlmOutcome::Ok;
                    self.next = Some(self.mask.end()).filter(|bytes| !bytes.is_empty());
                }
                // The client must not take a part for the whole.
                Ok(Some(Err(_))) | Err(_) => {
                    self.tally.outcome = LlmOutcome::Broken;
                    return Err(io::Error::other("the provider's answer broke off"));
                }
            }
        }
    }
}
