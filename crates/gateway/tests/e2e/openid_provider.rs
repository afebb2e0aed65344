//! A provider that others use, oidc-provider, on loopback: discovery, key set, tokens by authorization code and by client credentials, new
//! keys, and outages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::harness::tokens::{policy, with_tokens};
use crate::harness::{Gateway, Setup, Upstream, error_json, eventually, skip};
use crate::keys::{call, keyed};
use crate::servers::free_port;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/openid_provider.mjs");

/// The clients that a user signs in at; each wants another algorithm.
const CLIENTS: [&str; 4] = ["shop", "till", "app", "kiosk"];

/// Where `scripts/test-deps.sh` has put the package; `None` where it could not, and has said why.
pub(crate) fn packages() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test");
    let target = program.ancestors().nth(3).expect("the target directory");
    let directory = target.join("test-npm");
    if let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) {
        skip(&reason);
        return None;
    }
    assert!(directory.join("node_modules").exists(), "{} is missing: run scripts/test-deps.sh tests", directory.display());
    Some(directory)
}

/// A running provider whose script is asked line by line.
pub(crate) struct AskedProvider {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl AskedProvider {
    /// Starts a script of these tests. `None` where its package could not be installed, which is said.
    pub(crate) fn start(script: &str, arguments: &[&str]) -> Option<AskedProvider> {
        let mut child = Command::new("node")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e").join(script))
            .arg(packages()?)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node runs");
        let input = child.stdin.take().expect("its input");
        let mut provider = AskedProvider { output: BufReader::new(child.stdout.take().expect("its output")), input, child };
        provider.line();
        Some(provider)
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub(crate) fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.input, "{question}").expect("a question");
        let answer = self.line();
        assert!(answer["failure"].is_null(), "{question}: {answer}");
        answer
    }
}

impl Drop for AskedProvider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running provider, with tokens that it gave.
struct Provider {
    child: Child,
    said: Value,
}

impl Provider {
    /// Starts one with new keys, beside those in a file.
    fn start(packages: &Path, port: u16, keys: &Path) -> Provider {
        let mut child = Command::new("node")
            .arg(SCRIPT)
            .args([packages, Path::new(&port.to_string()), keys])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let said = serde_json::from_str(&line).unwrap_or_else(|error| {
            let _ = child.kill();
            panic!("the provider does not start ({error}; {:?}): {line}", child.wait())
        });
        Provider { child, said }
    }

    fn token(&self, of: &str) -> String {
        self.said["tokens"][of].as_str().expect("a token").to_owned()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A gateway with two APIs: `a` for the provider's users, `b` for everybody with a token that its key set vouches for.
fn start(port: u16) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let issuer = format!("http://127.0.0.1:{port}");
    let clients: serde_json::Map<String, Value> =
        CLIENTS.iter().chain(&["urn:orders"]).map(|client| (STANDARD.encode(client), json!("basic"))).collect();
    let users = keyed("a", &upstream)
        .set("use_openid", true)
        .set("openid_options", json!({"providers": [{"issuer": issuer, "client_ids": clients}]}))
        .set("enable_context_vars", true)
        .list(
            "transform_headers",
            json!([{"path": "/", "method": "GET", "add_headers": {"X-User": "$tyk_context.jwt_claims_sub"}}]),
        );
    let tokens = with_tokens("b", &upstream).set("jwt_signing_method", "rsa").set("jwt_source", format!("{issuer}/jwks"));
    let rights = json!({"a": {"api_id": "a", "versions": ["Default"]}, "b": {"api_id": "b", "versions": ["Default"]}});
    let file = tempfile::NamedTempFile::new().expect("a file");
    let policies = json!({"basic": policy("basic", json!({"access_rights": rights}))});
    std::fs::write(file.path(), policies.to_string()).expect("policies");
    let conf = json!({"policies": {"policy_record_name": file.path()}, "jwks": {"cache": {"timeout": 1}}});
    (upstream, [users, tokens].into_iter().fold(Setup::new(conf), Setup::api).start())
}

#[test]
fn tokens_of_a_real_provider_are_let_in_also_after_it_changed_its_keys_and_while_it_is_down() {
    let Some(packages) = packages() else { return };
    let directory = tempfile::tempdir().expect("a folder");
    let keys = directory.path().join("keys.json");
    let port = free_port();
    let (upstream, gateway) = start(port);
    let status = |target: &str, token: &str| call(&gateway, target, &format!("Bearer {token}")).status;

    // Every algorithm, by authorization code and by client credentials.
    let first = Provider::start(&packages, port, &keys);
    for client in ["shop", "till", "kiosk"] {
        eventually("the provider is found", || status("/a/x", &first.token(client)) == 200);
        assert_eq!(upstream.last().header("x-user"), Some("joe"), "{client}");
    }
    assert_eq!(status("/a/x", &first.token("machine")), 200);
    assert_eq!(upstream.last().header("x-user"), Some("shop"), "a machine is its client");
    for (of, expect) in [("machine", 200), ("shop", 200), ("kiosk", 200), ("till", 403), ("app", 403)] {
        assert_eq!(status("/b/x", &first.token(of)), expect, "{of}: one API takes RSA alone");
    }
    let cut = first.token("shop");
    let refused = call(&gateway, "/a/x", &cut[..cut.len() - 4]);
    assert_eq!((refused.status, refused.text()), (401, error_json("Key not authorised")));

    // Down: what is known of its keys goes on, also for a token that is seen for the first time.
    let (remembered, unseen) = (first.token("shop"), first.token("app"));
    drop(first);
    assert_eq!((status("/a/x", &remembered), status("/a/x", &unseen)), (200, 200));

    // Back with new keys beside the old ones.
    let second = Provider::start(&packages, port, &keys);
    for (target, of) in [("/a/x", "app"), ("/a/x", "till"), ("/b/x", "machine")] {
        eventually("the new keys are known", || status(target, &second.token(of)) == 200);
        assert_eq!(status("/a/x", &remembered), 200, "the old ones are still good");
    }

    // The old keys are withdrawn.
    drop(second);
    std::fs::remove_file(&keys).expect("its keys");
    let third = Provider::start(&packages, port, &keys);
    eventually("the newest keys are known", || status("/a/x", &third.token("shop")) == 200);
    assert_eq!((status("/a/x", &remembered), status("/a/x", &unseen)), (401, 401), "remembered tokens end with their keys");
}

#[test]
fn without_its_provider_nobody_is_let_in_until_it_is_there() {
    let Some(packages) = packages() else { return };
    let directory = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let (upstream, gateway) = start(port);
    let keys = directory.path().join("keys.json");
    let token = Provider::start(&packages, port, &keys).token("shop");
    assert_eq!((call(&gateway, "/a/x", &token).status, call(&gateway, "/b/x", &token).status), (401, 403));
    assert_eq!(upstream.requests(), 0);
    // The keys in the file are still good: the same token is let in as soon as they can be fetched.
    let _provider = Provider::start(&packages, port, &keys);
    eventually("the provider is found", || call(&gateway, "/a/x", &token).status == 200);
    eventually("its keys are found", || call(&gateway, "/b/x", &token).status == 200);
}
