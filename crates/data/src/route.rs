//! Routing from host and path to an API.

mod host;
mod router;
mod template;

pub use host::{check_host, normal_domain};
pub use router::{Found, Router, RouterBuilder, check_listen_path, listen_path_weight};
