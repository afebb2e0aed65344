//! Amazon Bedrock's Converse, and ConverseStream with its binary frames.

mod frames;
mod request;
mod response;

pub(crate) use frames::FrameReader;
pub(crate) use request::write_request;
pub(crate) use response::{ConverseEvents, read_fault, read_reply};
