//! What every test stands on: a gateway process, a client that reads strictly, and upstreams that do as they are told.
//!
//! Nothing here knows how the gateway is built: it sees a program, a configuration and bytes on sockets.

pub mod certificates;
pub mod collector;
pub mod definition;
pub mod dns;
pub mod frames;
pub mod gateway;
pub mod http2;
pub mod jws;
pub mod upstream;
pub mod wire;

pub use definition::{Definition, api};
pub use gateway::{Gateway, Setup};
pub use upstream::{Seen, Upstream};
pub use wire::{Connection, Response};

use std::time::{Duration, Instant};

/// How long a test waits for something that must happen before it gives up. It only bounds a hang; no test measures speed with it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The gateway's error document for a client that did not ask for XML.
pub fn error_json(message: &str) -> String {
    format!("{{\n    \"error\": \"{message}\"\n}}")
}

/// A plain GET with a Host line, as the shortest well-formed request.
pub fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: gateway.test\r\n\r\n")
}

/// A request with extra header lines (each without its line end) and a body framed by its length when there is one.
pub fn request(method: &str, target: &str, lines: &[&str], body: &str) -> String {
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
pub fn reply(status: &str, lines: &[&str], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

/// The answer of an upstream whose answer does not matter.
pub fn ok() -> Vec<u8> {
    reply("200 OK", &["Content-Type: text/plain"], "ok")
}

/// Ends a test whose peer or tool is not on this machine: call it and return. The test fails, for `make test` installs what tests need.
/// With `TOLLGATE_TESTS_MAY_SKIP=1`, for systems that lack it, the test passes and prints the reason (`--nocapture` shows it).
#[track_caller]
pub fn skip(reason: &str) {
    assert!(
        std::env::var_os("TOLLGATE_TESTS_MAY_SKIP").is_some(),
        "this machine can't run the test (TOLLGATE_TESTS_MAY_SKIP=1 skips it): {reason}"
    );
    eprintln!("skipped: {reason}");
}

/// Asks again and again until the condition holds, for things that no event announces.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
