//! Secrets in Vault and Consul. The servers of these tests speak the documented HTTP protocols: the key-value engines of Vault
//! (<https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2>, version 1 and 2) and Consul's `GET /v1/kv/:key?raw`
//! (<https://developer.hashicorp.com/consul/api-docs/kv>).

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::{Gateway, Setup, Upstream, api, eventually, reply};

const TOKEN: &str = "hvs.t0ken-of-the-gateway";
const FIRST: &str = "f1rst-5ecret-value";
const SECOND: &str = "s3cond-5ecret-value";

/// A server of Vault: secrets by path as the engine has them, such as `secret/data/db`.
struct FakeVault {
    server: Upstream,
    secrets: Arc<Mutex<BTreeMap<String, Value>>>,
    is_sealed: Arc<AtomicBool>,
}

impl FakeVault {
    fn start() -> FakeVault {
        let secrets: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
        let is_sealed = Arc::new(AtomicBool::new(false));
        let (kept, sealed) = (secrets.clone(), is_sealed.clone());
        let server = Upstream::start(move |seen| {
            if sealed.load(Ordering::SeqCst) {
                return reply("503 Service Unavailable", &[], r#"{"errors":["Vault is sealed"]}"#);
            }
            if seen.header("x-vault-token") != Some(TOKEN) {
                return reply("403 Forbidden", &[], r#"{"errors":["permission denied"]}"#);
            }
            let path = seen.target.strip_prefix("/v1/").unwrap_or_default();
            match kept.lock().unwrap().get(path) {
                Some(data) => {
                    let is_version_2 = path.contains("/data/");
                    let data = if is_version_2 { json!({"data": data, "metadata": {"version": 3}}) } else { data.clone() };
                    let body = json!({"request_id": "r", "lease_id": "", "renewable": false, "lease_duration": 0, "data": data});
                    reply("200 OK", &["Content-Type: application/json"], &body.to_string())
                }
                None => reply("404 Not Found", &[], r#"{"errors":[]}"#),
            }
        });
        FakeVault { server, secrets, is_sealed }
    }

    fn put(&self, path: &str, data: Value) {
        self.secrets.lock().unwrap().insert(path.to_owned(), data);
    }

    fn conf(&self) -> Value {
        json!({"address": self.server.url(), "token": TOKEN})
    }
}

/// A server of Consul: values by key.
fn consul(values: &'static [(&'static str, &'static str)]) -> Upstream {
    Upstream::start(move |seen| {
        let key = seen.target.strip_prefix("/v1/kv/").and_then(|target| target.strip_suffix("?raw&dc=dc+1"));
        let is_known = seen.header("x-consul-token") == Some(TOKEN);
        match values.iter().find(|(known, _)| is_known && key == Some(*known)) {
            Some((_, value)) => reply("200 OK", &["Content-Type: text/plain"], value),
            None => reply("404 Not Found", &[], ""),
        }
    })
}

fn header_of(upstream: &Upstream, gateway: &Gateway, path: &str, name: &str) -> String {
    assert_eq!(gateway.get(path).status, 200, "{}", gateway.log());
    upstream.last().header(name).unwrap_or_default().to_owned()
}

#[test]
fn definitions_refer_to_secrets_in_all_forms_of_tyk() {
    let upstream = Upstream::ok();
    let vault = FakeVault::start();
    vault.put("secret/data/db/main", json!({"password": "of-a-path", "port": 5432}));
    vault.put("secret/data/tyk-apis", json!({"token": "of-all-definitions", "target": upstream.url()}));
    vault.put("old/db", json!({"password": "of-version-1"}));
    let consul = consul(&[("tyk-apis/name", "of-definitions"), ("some/key", "of-a-key"), ("object", "{\"a\": \"of-a-field\"}")]);
    let conf = json!({"kv": {
        "vault": vault.conf(),
        "consul": {"address": consul.address.to_string(), "datacenter": "dc 1", "token": TOKEN},
        "stores": {"old": {"type": "vault", "config": {"address": vault.server.url(), "token": TOKEN, "kv_version": 1}}},
    }});
    let references = [
        ("X-A", "vault://token", "of-all-definitions"),
        ("X-B", "vault://secret/db/main.password", "of-a-path"),
        ("X-C", "kv://vault/secret/db/main#port", "5432"),
        ("X-D", "consul://name", "of-definitions"),
        ("X-E", "consul://some/key", "of-a-key"),
        ("X-F", "kv://consul/object#a", "of-a-field"),
        ("X-G", "kv://old/old/db#password", "of-version-1"),
        ("X-H", "Bearer $secret_vault.secret/db/main.password", "Bearer of-a-path"),
        ("X-I", "$secret_consul.some/key!", "of-a-key!"),
    ];
    let headers: Value = references.iter().map(|(name, reference, _)| ((*name).to_owned(), json!(reference))).collect();
    let gateway = Gateway::start(conf, [api("a", "/a/", "vault://target").version("global_headers", headers)]);
    for (name, reference, wanted) in references {
        assert_eq!(header_of(&upstream, &gateway, "/a/", name), wanted, "{reference}: {}", gateway.log());
    }
    let asked = vault.server.last();
    assert_eq!((asked.method.as_str(), asked.header("x-vault-request")), ("GET", Some("true")));
}

#[test]
fn a_secret_that_changes_is_used_and_a_store_that_is_gone_changes_nothing() {
    let upstream = Upstream::ok();
    let vault = FakeVault::start();
    vault.put("secret/data/db", json!({"password": FIRST}));
    let conf = json!({"kv": {"vault": vault.conf()}, "tollgate": {"secrets": {"renew_s": 1}}, "log_level": "debug"});
    let definition = api("a", "/a/", &upstream.url())
        .version("global_headers", json!({"X-Token": "vault://secret/db.password", "X-Again": "$secret_vault.secret/db.password"}));
    let gateway = Gateway::start(conf, [definition.clone()]);
    assert_eq!(header_of(&upstream, &gateway, "/a/", "x-token"), FIRST);
    vault.put("secret/data/db", json!({"password": SECOND}));
    eventually("the new value is used", || header_of(&upstream, &gateway, "/a/", "x-token") == SECOND);
    assert_eq!(upstream.last().header("x-again"), Some(SECOND));

    vault.is_sealed.store(true, Ordering::SeqCst);
    eventually("the outage is noticed", || gateway.log().contains("last good values stay"));
    gateway.write_api(&definition.set("name", "changed"));
    gateway.reload();
    assert_eq!(header_of(&upstream, &gateway, "/a/", "x-token"), SECOND, "{}", gateway.log());
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(metrics.contains("tollgate_secret_store_up{store=\"vault\"} 0"), "{metrics}");

    vault.put("secret/data/db", json!({"password": FIRST}));
    vault.is_sealed.store(false, Ordering::SeqCst);
    eventually("it is asked again", || header_of(&upstream, &gateway, "/a/", "x-token") == FIRST);
    assert_eq!(gateway.log().matches("last good values stay").count(), 1, "told once for each outage");
    for secret in [TOKEN, FIRST, SECOND] {
        assert!(!gateway.log().contains(secret), "{secret} is in the log");
    }
}

#[test]
fn an_error_names_the_reference_and_the_api_is_served_as_soon_as_the_store_answers() {
    let upstream = Upstream::ok();
    let vault = FakeVault::start();
    vault.put("secret/data/db", json!({"password": FIRST}));
    vault.is_sealed.store(true, Ordering::SeqCst);
    let conf = json!({"kv": {"vault": vault.conf()}, "tollgate": {"secrets": {"renew_s": 1}}});
    let definition = |reference: &str| api("a", "/a/", &upstream.url()).version("global_headers", json!({"X-Token": reference}));
    let gateway = Gateway::start(conf, [definition("vault://secret/db.password")]);
    assert_eq!(gateway.get("/a/").status, 404);
    let log = gateway.log();
    assert!(log.contains("vault://secret/db.password can't be read: the store answered with status 503"), "{log}");
    vault.is_sealed.store(false, Ordering::SeqCst);
    eventually("it is served", || gateway.get("/a/").status == 200);
    assert_eq!(upstream.last().header("x-token"), Some(FIRST));
    for (reference, wanted) in [
        ("vault://secret/db.nothing", "vault://secret/db.nothing has no value"),
        ("vault://nowhere", "vault://nowhere"),
        ("consul://a", "consul://a can't be read: no store \"consul\" is configured"),
        ("kv://mine/a#b", "kv://mine/a#b can't be read: no store \"mine\" is configured"),
    ] {
        gateway.write_api(&definition(reference));
        gateway.reload();
        assert!(gateway.log().contains(wanted), "{wanted}: {}", gateway.log());
        assert_eq!(gateway.get("/a/").status, 200, "the last good version stays");
    }
}

#[test]
fn the_configuration_itself_has_secrets_in_stores() {
    let upstream = Upstream::ok();
    let vault = FakeVault::start();
    vault.put("secret/data/gateway", json!({"node": "n0de-5ecret", "hook": FIRST}));
    let conf = json!({
        "kv": {"vault": {"address": vault.server.url(), "token": "env://VAULT"}},
        "node_secret": "vault://secret/gateway.node",
        "secrets": {"hook": "vault://secret/gateway.hook"},
    });
    let definition = api("a", "/a/", &upstream.url()).version("global_headers", json!({"X-Token": "secrets://hook"}));
    let gateway = Setup::new(conf).env("TYK_SECRET_VAULT", TOKEN).api(definition).start();
    assert_eq!(header_of(&upstream, &gateway, "/a/", "x-token"), FIRST);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tyk.conf");
    for (conf, wanted) in [
        (
            json!({"kv": {"vault": {"address": vault.server.url(), "token": "wrong-t0ken"}}, "secret": "vault://secret/gateway.node"}),
            "status 403",
        ),
        (
            json!({"kv": {"vault": {"address": "http://127.0.0.1:1", "token": TOKEN}}, "secret": "vault://secret/gateway.node"}),
            "can't be read",
        ),
        (json!({"secret": "vault://secret/gateway.node"}), "no store \"vault\" is configured"),
        (json!({"kv": {"stores": {"x": {"type": "aws", "config": {}}}}}), "$.kv.stores.x.type"),
        (json!({"kv": {"vault": {"address": "vault.test"}}}), "$.kv.vault.address"),
    ] {
        std::fs::write(&file, conf.to_string()).unwrap();
        for command in ["run", "check"] {
            let output = Command::new(env!("CARGO_BIN_EXE_tollgate"))
                .args([command].into_iter().chain((command == "run").then_some("--conf")))
                .arg(&file)
                .current_dir(dir.path())
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(!output.status.success() && told.contains(wanted), "{command} {conf}: {told}");
            assert!(!told.contains("wrong-t0ken") && !told.contains(TOKEN), "{told}");
        }
    }
}
