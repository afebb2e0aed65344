//! Cohere's chat, version 2.

mod request;
mod response;

pub(crate) use request::write_request;
pub(crate) use response::{CohereEvents, read_fault, read_reply};
