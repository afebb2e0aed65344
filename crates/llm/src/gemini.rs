//! Google's generateContent, as clients speak it and as the Gemini API and Vertex AI answer it.

mod client_request;
mod in_path;
mod media;
mod proof;
mod provider_request;
mod reply;
mod response;
mod schema;
mod stream;

pub(crate) use client_request::read_request;
pub use in_path::GeminiPath;
pub(crate) use in_path::{count_body, is_named, passed_body, passed_count_body};
pub(crate) use provider_request::write_request;
pub(crate) use reply::{write_fault, write_reply};
pub(crate) use response::{GeminiEvents, read_fault, read_reply, read_usage, stop_of};
pub(crate) use schema::json_schema;
pub(crate) use stream::GeminiStream;
