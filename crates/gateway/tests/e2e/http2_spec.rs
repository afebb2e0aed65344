//! h2spec, a public conformance suite for HTTP/2 and HPACK, against the gateway.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::harness::certificates::Authority;
use crate::harness::{Definition, Gateway, Upstream, api, ok, skip};

/// Where `scripts/test-deps.sh` has put it; `None` where it could not, and has said why.
fn h2spec() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-go");
    if let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) {
        skip(&reason);
        return None;
    }
    let program = directory.join("h2spec");
    assert!(program.exists(), "{} is missing: run scripts/test-deps.sh tests", program.display());
    Some(program)
}

/// Runs all of its cases, also those of what should be; the titles of those that fail.
fn failures(program: &PathBuf, arguments: &[&str], port: u16) -> Vec<String> {
    let output = Command::new(program)
        .args(["--strict", "--timeout", "10", "--host", "127.0.0.1", "--path", "/a/", "--port", &port.to_string()])
        .args(arguments)
        .output()
        .expect("h2spec runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(" tests, "), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let list = said.split("Failures:").nth(1).unwrap_or_default();
    list.lines().filter_map(|line| line.trim().strip_prefix("\u{d7} ")).map(str::to_owned).collect()
}

fn definition(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
}

#[test]
fn every_case_holds_over_tls() {
    let Some(program) = h2spec() else { return };
    let upstream = Upstream::start(|_| ok());
    let directory = tempfile::tempdir().unwrap();
    let own = Authority::new("h2spec").issue(&["localhost"]).write(directory.path(), "own.pem");
    let options = json!({"use_ssl": true, "enable_http2": true, "certificates": [{"cert_file": own}]});
    let gateway = Gateway::start(json!({"http_server_options": options}), [definition(&upstream)]);
    assert_eq!(failures(&program, &["--tls", "--insecure"], gateway.port), Vec::<String>::new());
}

#[test]
fn without_tls_what_is_no_preface_is_http_1_1() {
    let Some(program) = h2spec() else { return };
    let upstream = Upstream::start(|_| ok());
    let gateway = Gateway::start(json!({}), [definition(&upstream)]);
    // The port speaks HTTP/1.1 too: it answers in that, and closes.
    let found = failures(&program, &[], gateway.port);
    assert_eq!(found, ["2: Sends invalid connection preface"]);
}
