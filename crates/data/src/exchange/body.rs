//! The request body as middlewares read and replace it: complete, without its content coding, limited by the settings.

use super::{Awaited, Exchange, GRACE, Step};
use crate::coding::{OpenError, open};
use crate::offload::{HERE_BYTES_MAX, OFFLOAD_TIME_MAX};
use crate::refusal;
use std::sync::Arc;
use tollgate_engine::{HoldUntil, NotKept};
use tollgate_http::{Body, KnownHeader};

/// A body without its content coding, or why there is none.
type OpenedBody = Result<Vec<u8>, OpenError>;

/// The body of one request. It is shared with threads that work on it: copying ten megabytes would take longer than a data thread may.
#[derive(Default)]
pub struct RequestBody {
    /// As it came, if it was asked for and has arrived, or why there is none.
    pub sent: Option<Result<Arc<Vec<u8>>, NotKept>>,
    /// The same without its content coding.
    opened: Option<Arc<Vec<u8>>>,
    /// Where it will be, while another thread opens it.
    opening: Option<Awaited<Option<OpenedBody>>>,
    /// What replaces it.
    pub new: Option<Arc<Vec<u8>>>,
}

impl RequestBody {
    /// The body as it came.
    fn whole(&self) -> Option<&Arc<Vec<u8>>> {
        self.sent.as_ref()?.as_ref().ok()
    }

    /// The client's own body without content coding.
    fn plain(&self) -> Option<&Arc<Vec<u8>>> {
        self.opened.as_ref().or_else(|| self.whole())
    }
}

impl Exchange<'_> {
    /// Ensures that [`Exchange::body`] is available; `Err` is the step that holds or refuses the request.
    pub fn read_body(&mut self) -> Result<(), Step> {
        self.read_body_up_to(self.arrival.settings.sizes.body_bytes_max)
    }

    /// Like [`Exchange::read_body`], for a body of at most `bytes_max`.
    pub fn read_body_up_to(&mut self, bytes_max: usize) -> Result<(), Step> {
        if self.body.new.is_some() {
            return Ok(());
        }
        self.keep_body(bytes_max)?;
        let opening = self.body.opening.take();
        let Some(raw) = self.body.whole().filter(|_| self.body.opened.is_none()) else { return Ok(()) };
        let Some(codings) = self.received().get("content-encoding") else { return Ok(()) };
        let opened = match opening {
            Some(opened) => opened.take().flatten().ok_or(Step::Refuse(refusal::BODY_WORK_BUSY))?,
            // A small body may be opened to a large one.
            None => match open(codings, raw, bytes_max.min(HERE_BYTES_MAX)) {
                Err(OpenError::TooLarge) if bytes_max > HERE_BYTES_MAX => return Err(self.open_elsewhere(codings, bytes_max)),
                opened => opened,
            },
        };
        match opened {
            Ok(opened) => {
                self.body.opened = Some(Arc::new(opened));
                Ok(())
            }
            Err(OpenError::TooLarge) => Err(Step::Refuse(refusal::REQUEST_TOO_LARGE)),
            Err(OpenError::Unknown) => Err(Step::Refuse(refusal::CODING_UNKNOWN)),
            Err(OpenError::Malformed) => Err(Step::Refuse(refusal::CODING_MALFORMED)),
        }
    }

    /// Holds the request while another thread opens its body.
    fn open_elsewhere(&mut self, codings: &[u8], bytes_max: usize) -> Step {
        let Some(threads) = self.arrival.body_threads.get() else { return Step::Refuse(refusal::BODY_WORK_BUSY) };
        let (codings, raw) = (codings.to_vec(), self.body.whole().cloned().unwrap_or_default());
        let (work, opened) = Awaited::new(threads.run(self.arrival.body_sender(), move || open(&codings, &raw, bytes_max)));
        self.body.opening = Some(opened);
        Step::again(HoldUntil::Done(work, OFFLOAD_TIME_MAX + GRACE))
    }

    /// The body that [`Exchange::read_body`] has read, without content coding and with the changes of earlier middlewares.
    pub fn body(&self) -> &[u8] {
        self.body.new.as_ref().or_else(|| self.body.plain()).map(|body| body.as_slice()).unwrap_or_default()
    }

    /// The same for another thread.
    pub fn shared_body(&self) -> Arc<Vec<u8>> {
        self.body.new.as_ref().or_else(|| self.body.plain()).cloned().unwrap_or_default()
    }

    /// Ensures that [`Exchange::body_in_coding`] is available; `Err` is the step that holds or refuses the request.
    pub fn keep_body(&self, bytes_max: usize) -> Result<(), Step> {
        match &self.body.sent {
            Some(Ok(_)) => Ok(()),
            Some(Err(NotKept::TooLarge)) => Err(Step::Refuse(refusal::REQUEST_TOO_LARGE)),
            Some(Err(NotKept::NoRoom)) => Err(Step::Refuse(refusal::BODIES_FULL)),
            None if self.body.new.is_some() || self.request.body == Body::None => Ok(()),
            None => Err(Step::again(HoldUntil::Body(bytes_max))),
        }
    }

    /// The body that [`Exchange::keep_body`] has read, in the content coding of the request, with the changes of earlier middlewares.
    pub fn body_in_coding(&self) -> &[u8] {
        self.body.new.as_ref().or_else(|| self.body.whole()).map(|body| body.as_slice()).unwrap_or_default()
    }

    /// The form that the client sent, if its body has been read and is a form.
    pub fn form(&self) -> Option<&str> {
        let body = self.body.plain().filter(|_| self.announces_form())?;
        std::str::from_utf8(body).ok()
    }

    /// Whether the head declares the body as a form.
    pub fn announces_form(&self) -> bool {
        let kind = self.received().known(KnownHeader::ContentType).unwrap_or_default();
        let essence = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        essence.eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
    }

    /// Whether the response has no content because either side uses HEAD.
    pub fn is_head(&self) -> bool {
        self.method == "HEAD" || self.request.method == "HEAD"
    }

    /// Asks the upstream for its complete answer, because the gateway must see all of it.
    pub fn ask_for_whole(&mut self) {
        for name in ["Range", "If-Range"] {
            self.outgoing.edits.remove(&self.request.headers, name);
        }
    }

    /// Replaces the request's body, which has been read.
    pub fn replace_body(&mut self, body: Vec<u8>) {
        self.body.new = Some(Arc::new(body));
    }
}
