//! Bodies of responses that a step reads and replaces: opened, and with the coding put back on that they came in.

use crate::base::coding::{Coding, OpenError, open};
use crate::data::exchange::Exchange;
use crate::data::refusal::{self, Refusal};
use crate::data::response_chain::{ResponseAction, ResponseHead};
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_engine::KeptBody;

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
}

/// The part of a response step that reads the whole body to replace it.
pub(crate) struct BodyReplacement {
    /// Identifier of the API, for the log.
    pub api: Arc<str>,
    reader: WholeBody,
}

impl WholeBody {
    /// Asks the upstream for the whole, since a part of a document cannot be read.
    pub(crate) fn new(exchange: &mut Exchange<'_>) -> Self {
        exchange.ask_for_whole();
        WholeBody { bytes_max: exchange.arrival.settings.response_bytes_max, is_head: exchange.is_head() }
    }

    /// The whole body without its coding.
    pub(crate) fn opened<'b>(&self, head: &ResponseHead<'_>, body: KeptBody<'b>) -> Result<Cow<'b, [u8]>, Unopened> {
        let body = match body {
            KeptBody::Whole(body) => body,
            KeptBody::Part(_) => return Err(Unopened::Refused(refusal::RESPONSE_TOO_LARGE)),
            KeptBody::NoRoom => return Err(Unopened::Refused(refusal::BODIES_FULL)),
        };
        match head.header("Content-Encoding").map(|codings| open(codings, body, self.bytes_max)) {
            None => Ok(Cow::Borrowed(body)),
            Some(Ok(opened)) => Ok(Cow::Owned(opened)),
            Some(Err(OpenError::TooLarge)) => Err(Unopened::Refused(refusal::RESPONSE_TOO_LARGE)),
            Some(Err(error)) => Err(Unopened::Unreadable(format!("{error:?} Content-Encoding"))),
        }
    }
}

impl BodyReplacement {
    /// Asks the upstream for the whole.
    pub(crate) fn new(exchange: &mut Exchange<'_>) -> Self {
        BodyReplacement { api: exchange.api.id.as_str().into(), reader: WholeBody::new(exchange) }
    }

    /// Largest body that is read.
    pub(crate) fn bytes_max(&self) -> usize {
        self.reader.bytes_max
    }

    /// Keeps the body, if there is one to replace.
    pub(crate) fn on_head(&self, head: &mut ResponseHead<'_>) -> ResponseAction {
        head.body_changes();
        if self.reader.is_head {
            head.remove_header("Content-Encoding");
        }
        let is_kept = !self.reader.is_head && head.can_have_body();
        if is_kept { ResponseAction::Keep(self.reader.bytes_max) } else { ResponseAction::Pass }
    }

    /// The whole body without its coding.
    pub(crate) fn opened<'b>(&self, head: &ResponseHead<'_>, body: KeptBody<'b>) -> Result<Cow<'b, [u8]>, Unopened> {
        self.reader.opened(head, body)
    }
}

/// The response goes on with another body, in the coding that it came in if there is one for it.
pub(crate) fn rewrite(head: &mut ResponseHead<'_>, made: Vec<u8>) -> ResponseAction {
    let codings = head.header("Content-Encoding").map(<[u8]>::to_vec);
    let closed = codings.as_deref().and_then(Coding::to_close).and_then(|coding| coding.close(&made));
    if closed.is_none() && codings.is_some() {
        head.remove_header("Content-Encoding");
    }
    ResponseAction::Rewrite(closed.unwrap_or(made))
}
