//! HTTP/1.1 between bytes and messages, without I/O. It parses heads strictly to prevent request smuggling, follows bodies to their
//! end, and writes edited heads with as few copies as possible.
//!
//! It deliberately knows nothing about sockets, routes or time. Every function takes bytes and returns facts, so the same code can
//! be driven by epoll, by io_uring, or by a test that cuts its input at every byte.
#![forbid(unsafe_code)]

mod append;
mod body;
mod copy;
mod edits;
pub mod form;
mod head_view;
mod headers;
mod malformed;
#[cfg(test)]
#[path = "../tests/corpus/mutation.rs"]
mod mutation;
pub mod path;
mod repair;
mod request;
mod request_target;
mod response;
mod scan;
mod trailer;
mod write;

pub use body::{Body, BodyReader};
pub use copy::{COPY_BYTES, append_long};
pub use edits::HeaderEdits;
pub use head_view::HeadView;
pub use headers::{HEADER_LINES_MAX, HeaderStorage, Headers, KnownHeader, is_token, is_value};
pub use malformed::Malformed;
pub use repair::{RepairedHead, repair_head};
pub use request::{Request, Version};
pub use response::Response;
pub use trailer::{append_trailers, may_be_trailer};
pub use write::{
    ClientBody, LAST_CHUNK, ReplyBody, RequestHead, each_forwarded_line, reason, write_chunk, write_reply, write_reply_head,
    write_request, write_response, write_rewritten,
};
