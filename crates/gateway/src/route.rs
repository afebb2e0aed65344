//! From host and path to an API.

mod host;
mod path;
mod router;

pub use path::{Path, clean, encode, raw_offset};
pub use router::{Found, Router, RouterBuilder, listen_path_weight};
