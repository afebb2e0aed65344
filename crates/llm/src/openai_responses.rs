//! OpenAI's Responses, as clients speak them. Answers are not kept, so that requests that continue a kept one are refused.

mod answer;
mod client_request;
mod passed;
mod reply;
mod stream;

pub(crate) use answer::{read_answer, read_last_event};
pub(crate) use client_request::read_request;
pub(crate) use passed::PassedResponses;
pub(crate) use reply::{read_usage, write_reply};
pub(crate) use stream::ResponsesStream;

use crate::form::Stop;

/// The reason to stop that the status of a response means; `None` while it goes on.
pub(crate) fn stop_of(status: &str) -> Option<Stop> {
    match status {
        "completed" => Some(Stop::End),
        "incomplete" => Some(Stop::OutputLimit),
        _ => None,
    }
}
