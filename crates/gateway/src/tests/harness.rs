//! A gateway inside a test.

mod exchange;
mod gateway;

pub(super) use gateway::{Client, Gateway, Setup, eventually, now, pass, settled, start_with};
pub(super) use tollgate_testing::{
    CONTROL_SECRET, Definition, Response, Seen, Upstream, api, cache_identity, caching, definition, error_json, failing, get,
    graph, jws, key_sets, keys, llm, llm_echo, mcp, oauth, oauth_app, ok, openapi, reply, request, scripts, shared_cache,
    signatures, tokens, transforms, users,
};

use serde_json::Value;

/// The process of scripts: one that is started with the name of this function runs nothing else.
#[test]
fn script_worker() {
    tollgate_javascript::serve_scripts_if_asked();
}

/// An API `a` that asks for keys, and its upstream.
pub(super) fn start_keyed(conf: Value) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(conf, [keys::keyed("a", &upstream)]);
    (upstream, gateway)
}
