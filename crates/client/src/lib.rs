//! The commands that start no gateway: those that talk to a running one, `tollgate top`, and the mock upstream.
#![forbid(unsafe_code)]
// Without the live view, some code that only it uses remains.
#![cfg_attr(not(feature = "screen"), allow(dead_code))]

mod ask;
mod mock;
mod top;
mod visible;

pub use ask::{CliRequest, TlsOf, ask};
pub use mock::{MockOptions, serve as serve_mock};
pub use top::{TopOptions, top};
