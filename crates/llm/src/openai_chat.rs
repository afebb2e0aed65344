//! OpenAI's Chat Completions, as clients speak it and as OpenAI and many others answer it.

mod client_request;
mod events;
mod fault;
mod provider_request;
mod reply;
mod stream;

pub(crate) use client_request::read_request;
pub(crate) use events::ChatEvents;
pub(crate) use fault::{read_fault, write_fault};
pub(crate) use provider_request::{ChatDialect, write_request};
pub(crate) use reply::{read_reply, read_usage, settled_stop, write_reply};
pub(crate) use stream::ChatStream;

use crate::form::Stop;

/// The name of a reason to stop.
fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Sequence => "stop",
        Stop::OutputLimit => "length",
        Stop::ToolCalls => "tool_calls",
        Stop::Filtered => "content_filter",
    }
}

/// The reason that a name means. Some providers have more names; an unknown one ends the answer all the same.
pub(crate) fn stop_of(name: &str) -> Stop {
    match name {
        "length" | "model_length" | "max_tokens" => Stop::OutputLimit,
        "tool_calls" | "function_call" => Stop::ToolCalls,
        "content_filter" => Stop::Filtered,
        _ => Stop::End,
    }
}
