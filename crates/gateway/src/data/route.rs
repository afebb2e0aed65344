//! Routing from host and path to an API.

mod host;
mod router;
mod template;

pub(crate) use host::normal_domain;
pub(crate) use router::{Found, Router, RouterBuilder, listen_path_weight};
