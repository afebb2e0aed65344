//! What every test stands on: a gateway process, a client that reads strictly, and upstreams that do as they are told.
//!
//! Nothing here knows how the gateway is built: it sees a program, a configuration and bytes on sockets.

pub(crate) mod browser;
pub(crate) mod certificates;
pub(crate) mod collector;
pub(crate) mod definition;
pub(crate) mod dns;
pub(crate) mod frames;
pub(crate) mod gateway;
pub(crate) mod http2;
pub(crate) mod jws;
pub(crate) mod neighbours;
pub(crate) mod nginx;
pub(crate) mod shared;
pub(crate) mod upstream;
pub(crate) mod wire;

pub(crate) use definition::{Definition, api};
pub(crate) use gateway::{Gateway, Setup};
pub(crate) use shared::Shared;
pub(crate) use upstream::{Seen, Upstream};
pub(crate) use wire::{Connection, Response};

use std::time::{Duration, Instant};

/// How long a test waits for something that must happen before it gives up. It only bounds a hang; no test measures speed with it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The gateway's error document for a client that did not ask for XML.
pub(crate) fn error_json(message: &str) -> String {
    format!("{{\n    \"error\": \"{message}\"\n}}")
}

/// A plain GET with a Host line, as the shortest well-formed request.
pub(crate) fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
}

/// A request with extra header lines (each without its line end) and a body framed by its length when there is one.
pub(crate) fn request(method: &str, target: &str, lines: &[&str], body: &str) -> String {
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: gateway.test\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    if !body.is_empty() {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text
}

/// An upstream's answer with a length.
pub(crate) fn reply(status: &str, lines: &[&str], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

/// The answer of an upstream whose answer does not matter.
pub(crate) fn ok() -> Vec<u8> {
    reply("200 OK", &["Content-Type: text/plain"], "ok")
}

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
