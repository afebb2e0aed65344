//! From host and path to an API.

mod host;
mod router;
mod template;

pub use router::{Found, Router, RouterBuilder, listen_path_weight};
