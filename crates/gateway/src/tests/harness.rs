//! A gateway inside a test.

mod exchange;
mod gateway;

pub(super) use gateway::{Gateway, Setup, eventually, now, pass, start_with};
pub(super) use tollgate_testing::{
    Definition, Response, Seen, Upstream, api, caching, definition, error_json, failing, get, jws, keys, ok, reply, request,
    signatures, tokens, transforms,
};

use serde_json::Value;

/// An API `a` that asks for keys, and its upstream.
pub(super) fn start_keyed(conf: Value) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(conf, [keys::keyed("a", &upstream)]);
    (upstream, gateway)
}
