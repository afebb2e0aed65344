//! What every test stands on: a gateway process, a client that reads strictly, and upstreams that do as they are told.
//!
//! Nothing here knows how the gateway is built: it sees a program, a configuration and bytes on sockets.

pub(crate) mod browser;
pub(crate) mod certificates;
pub(crate) mod child;
pub(crate) mod collector;
pub(crate) mod dns;
pub(crate) mod frames;
pub(crate) mod gateway;
pub(crate) mod http2;
pub(crate) mod neighbours;
pub(crate) mod nginx;
pub(crate) mod shared;

pub(crate) use child::ChildProcess;
pub(crate) use gateway::{Gateway, Setup, start_with};
pub(crate) use shared::Shared;
pub(crate) use tollgate_testing::{
    Connection, Definition, PATIENCE, Response, Seen, Upstream, api, cache_identity, caching, definition, error_json, failing, get,
    graph, jws, key_sets, keys, llm, llm_echo, mcp, oauth, oauth_app, ok, openapi, reply, request, scripts, shared_cache,
    signatures, tokens, transforms, upstream, users, wire,
};

use std::time::{Duration, Instant};

/// Ends a test whose peer or tool is not on this machine: call it and return. The test fails, for `make test` installs what tests need.
/// With `TOLLGATE_TESTS_MAY_SKIP=1`, for systems that lack it, the test passes and prints the reason (`--nocapture` shows it).
#[track_caller]
pub(crate) fn skip(reason: &str) {
    assert!(
        std::env::var_os("TOLLGATE_TESTS_MAY_SKIP").is_some(),
        "this machine can't run the test (TOLLGATE_TESTS_MAY_SKIP=1 skips it): {reason}"
    );
    eprintln!("skipped: {reason}");
}

/// Asks again and again until the condition holds, for things that no event announces.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
