//! Bodies of responses that a step reads and replaces: opened, and with the coding put back on that they came in.

use crate::base::coding::{Coding, OpenError, open};
use crate::data::refusal::{self, Refusal};
use crate::data::response_chain::{ResponseAction, ResponseHead};
use std::borrow::Cow;
use tollgate_engine::KeptBody;

/// Why there is no body to read.
pub(crate) enum Unopened {
    /// The client gets a refusal.
    Refused(Refusal),
    /// Its coding is unknown, or the body does not fit it.
    Unreadable(String),
}

/// The whole body without its coding.
pub(crate) fn opened<'b>(head: &ResponseHead<'_>, body: KeptBody<'b>, bytes_max: usize) -> Result<Cow<'b, [u8]>, Unopened> {
    let body = match body {
        KeptBody::Whole(body) => body,
        KeptBody::Part(_) => return Err(Unopened::Refused(refusal::RESPONSE_TOO_LARGE)),
        KeptBody::NoRoom => return Err(Unopened::Refused(refusal::BODIES_FULL)),
    };
    match head.header("Content-Encoding").map(|codings| open(codings, body, bytes_max)) {
        None => Ok(Cow::Borrowed(body)),
        Some(Ok(opened)) => Ok(Cow::Owned(opened)),
        Some(Err(OpenError::TooLarge)) => Err(Unopened::Refused(refusal::RESPONSE_TOO_LARGE)),
        Some(Err(error)) => Err(Unopened::Unreadable(format!("{error:?} Content-Encoding"))),
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
