//! Google's generateContent, of the Gemini API and of Vertex AI.

mod request;
mod response;

pub(crate) use request::write_request;
pub(crate) use response::{GeminiEvents, read_fault, read_reply};
