//! Anthropic's Messages, as clients speak it and as Anthropic answers it.

mod client_request;
mod events;
mod fault;
mod provider_request;
mod reply;
mod stream;

pub(crate) use client_request::{read_count, read_request};
pub(crate) use events::MessagesEvents;
pub(crate) use fault::{read_fault, write_fault};
pub(crate) use provider_request::write_request;
pub(crate) use reply::{UsageState, read_reply, write_reply};
pub(crate) use stream::MessagesStream;

use crate::form::Stop;

/// The name of a reason to stop.
fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::OutputLimit => "max_tokens",
        Stop::Sequence => "stop_sequence",
        Stop::ToolCalls => "tool_use",
        Stop::Filtered => "refusal",
    }
}

/// The reason that a name means.
pub(crate) fn stop_of(name: &str) -> Stop {
    match name {
        "max_tokens" | "model_context_window_exceeded" => Stop::OutputLimit,
        "stop_sequence" => Stop::Sequence,
        "tool_use" => Stop::ToolCalls,
        "refusal" => Stop::Filtered,
        _ => Stop::End,
    }
}
