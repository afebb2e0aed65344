//! What becomes of a request that does not simply pass, and in which form clients are told.

use super::QueryChecker;
use crate::exchange::Exchange;
use crate::refusal::{self, Refusal, RefusalMessage, RefusalText};
use tollgate_graphql::{GRAPHQL_RESPONSE, GraphqlError, RequestFault, errors_body};
use tollgate_model::api::GraphqlStatuses;
use tollgate_observe::GraphqlFacts;

/// What becomes of a request that does not pass now.
pub(super) enum GraphqlOutcome {
    /// It may take longer than a data thread may.
    Elsewhere,
    Refuse(Refusal),
    /// The gateway has the answer.
    Reply {
        content_type: &'static str,
        body: Vec<u8>,
        facts: Option<Box<GraphqlFacts>>,
    },
}

/// Where the query is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// In the URL.
    None,
    Json,
    /// The body is the document.
    Document,
}

/// The content type as earlier middlewares have left it.
pub(super) fn content_type_of<'e>(exchange: &'e Exchange<'_>) -> &'e [u8] {
    exchange.outgoing.edits.current(&exchange.request.headers, "Content-Type").unwrap_or_default()
}

/// How a body is read; `None` if its content type is one that any web page can make a browser send, with cookies and without asking (the
/// safelisted types of the Fetch standard, and none at all).
pub(super) fn body_kind(content_type: &[u8], simple_types: bool) -> Option<BodyKind> {
    let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(b"application/graphql") {
        return Some(BodyKind::Document);
    }
    let simple: [&[u8]; 4] = [b"", b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data"];
    let is_simple = simple.iter().any(|simple| essence.eq_ignore_ascii_case(simple));
    (simple_types || !is_simple).then_some(BodyKind::Json)
}

/// The content type of the response that the client wants.
pub(super) fn response_type(exchange: &Exchange<'_>) -> &'static str {
    let accept = exchange.received().get("accept").and_then(|value| std::str::from_utf8(value).ok());
    tollgate_graphql::response_type(accept.unwrap_or_default())
}

impl QueryChecker {
    /// Refuses a request that cannot be read.
    pub(super) fn unreadable(&self, response_type: &'static str, fault: RequestFault) -> GraphqlOutcome {
        match fault {
            RequestFault::Empty => GraphqlOutcome::Refuse(refusal::GRAPHQL_EMPTY),
            RequestFault::BatchTooLarge => GraphqlOutcome::Refuse(refusal::GRAPHQL_BATCH),
            // Tyk says it in its usual form, so only clients that ask for the new one get it.
            RequestFault::Malformed(why) if response_type == GRAPHQL_RESPONSE => {
                told(response_type, 400, "graphql_malformed", &[GraphqlError::new(why)])
            }
            RequestFault::Malformed(why) => GraphqlOutcome::Refuse(RefusalText::new(400, "graphql_malformed", why).into()),
        }
    }

    /// Refuses a query that was read and is not valid.
    pub(super) fn invalid(&self, response_type: &'static str, cause: &'static str, errors: &[GraphqlError]) -> GraphqlOutcome {
        let is_ok = self.rules.statuses == GraphqlStatuses::GraphqlOverHttp && response_type != GRAPHQL_RESPONSE;
        told(response_type, if is_ok { 200 } else { 400 }, cause, errors)
    }
}

/// A refusal that GraphQL clients understand.
pub(super) fn told(response_type: &'static str, status: u16, cause: &'static str, errors: &[GraphqlError]) -> GraphqlOutcome {
    let text = errors.first().map(|error| error.message.clone()).unwrap_or_default();
    let message = RefusalMessage::with_document(text, response_type, errors_body(errors));
    GraphqlOutcome::Refuse(RefusalText::new(status, cause, message).into())
}
