//! A gateway inside a test.

mod exchange;
mod gateway;

pub(super) use gateway::Gateway;
pub(super) use tollgate_testing::{Definition, Response, Upstream, api, definition, error_json, get, keys, reply, request};
