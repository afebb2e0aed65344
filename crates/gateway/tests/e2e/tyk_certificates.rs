//! Certificates in a Redis that a Tyk and several Tollgates share: each finds what another one has added while it ran. The entries of Tyk are
//! recorded from Tyk 5.14.0.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use serde_json::{Value, json};

use crate::harness::certificates::{Authority, Made, client, connect};
use crate::harness::{Definition, Gateway, Setup, Upstream, api, eventually, get, ok};
use crate::servers::Server;
use crate::shared_keys::on;

/// What Tyk encrypts private keys with.
const ENCRYPTS: &str = "abc";

/// Id and text of a certificate that was added with Tyk's `POST /tyk/certs?org_id=default`, and the entry in Tyk's list.
fn recorded() -> (String, String, String) {
    let all: Value = serde_json::from_str(include_str!("tyk_redis.json")).expect("recorded entries");
    let entries = all["entries"].as_array().expect("a list");
    let text =
        entries.iter().find(|entry| entry[1].as_str().is_some_and(|name| name.starts_with("cert-raw-"))).expect("a certificate");
    let list = entries.iter().find(|entry| entry[1] == "cert-default-index").expect("the list");
    let id = text[1].as_str().expect("a name").trim_start_matches("cert-raw-").to_owned();
    (id, text[2].as_str().expect("a text").to_owned(), list[2][0].as_str().expect("an entry").to_owned())
}

/// The certificate with its key as its owner has it.
fn opened(text: &str) -> Made {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("both.pem");
    fs::write(&file, text).expect("a file");
    let arguments = ["pkey", "-passin", &format!("pass:{ENCRYPTS}"), "-in"].map(str::to_owned);
    let output = Command::new("openssl").args(arguments).arg(&file).output().expect("openssl runs");
    assert!(output.status.success(), "{output:?}");
    let end = "-----END CERTIFICATE-----\n";
    let certificate = text.split_inclusive(end).next().expect("a certificate").to_owned();
    Made { certificate, key: String::from_utf8(output.stdout).expect("PEM") }
}

fn sharing(redis: &Server, apis: Vec<Definition>, more: Value, roots: &Authority) -> (Gateway, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("roots.pem"), roots.pem()).expect("a file");
    let mut conf = on(redis);
    conf["security"] = json!({"private_certificate_encoding_secret": ENCRYPTS});
    conf.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let setup = apis.into_iter().fold(Setup::new(conf), Setup::api);
    (setup.env("SSL_CERT_FILE", dir.path().join("roots.pem").to_str().unwrap()).start(), dir)
}

fn listed(gateway: &Gateway) -> Value {
    gateway.control("GET", "/tyk/certs?org_id=default", "").json()["certs"].clone()
}

#[test]
fn a_certificate_that_tyk_adds_or_removes_later_counts_for_clients() {
    let (redis, upstream, authority) = (Server::start(&[]), Upstream::ok(), Authority::new("servers"));
    let (id, text, _) = recorded();
    let files = tempfile::tempdir().expect("a folder");
    let own = authority.issue(&["api.test"]).write(files.path(), "own.pem");
    let mutual = api("a", "/a/", &upstream.url()).set("use_mutual_tls_auth", true).set("client_certificates", json!([id]));
    let tls = json!({"http_server_options": {"use_ssl": true, "certificates": [{"cert_file": own}]}});
    let (gateway, _dir) = sharing(&redis, vec![mutual], tls, &authority);
    let owner = opened(&text);
    let call = || connect(&Arc::new(client(&authority, Some(&owner))), gateway.port, "api.test").ask(get("/a/")).status;
    assert_eq!(call(), 403, "nobody has added it");
    redis.cli(&["SET", &format!("cert-raw-{id}"), &text]);
    eventually("the certificate is found", || call() == 200);
    redis.cli(&["DEL", &format!("cert-raw-{id}")]);
    eventually("it is gone", || call() == 403);
}

#[test]
fn a_certificate_that_tyk_adds_later_is_listed_and_shown_at_once() {
    let (redis, authority) = (Server::start(&[]), Authority::new("servers"));
    let (id, text, _) = recorded();
    let (gateway, _dir) = sharing(&redis, vec![], json!({}), &authority);
    assert_eq!(listed(&gateway), Value::Null);
    let show = || gateway.control("GET", &format!("/tyk/certs/{id}"), "");
    assert_eq!(show().status, 404);
    redis.cli(&["SET", &format!("cert-raw-{id}"), &text]);
    let shown = show().json();
    assert_eq!((&shown["subject"]["CommonName"], &shown["has_private"]), (&json!("x.test"), &json!(true)), "{shown}");
    redis.cli(&["DEL", &format!("cert-raw-{id}")]);
    assert_eq!((show().status, listed(&gateway)), (404, Value::Null));
    redis.cli(&["SET", &format!("cert-raw-{id}"), &text]);
    assert_eq!(listed(&gateway), json!([id]));
    redis.cli(&["DEL", &format!("cert-raw-{id}")]);
    assert_eq!(listed(&gateway), Value::Null);
}

#[test]
fn what_one_gateway_adds_another_shows_to_upstreams() {
    let redis = Server::start(&[]);
    let (servers, clients) = (Authority::new("servers"), Authority::new("clients"));
    let own =
        clients.issue_with(&["gateway"], |params| params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth]);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(clients.roots()), provider.clone()).build().unwrap();
    let made = servers.issue(&["localhost"]);
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_client_cert_verifier(verifier).with_single_cert(vec![made.der()], made.private_key()).unwrap();
    let upstream = Upstream::tls(Arc::new(config), |_| ok());
    let id = format!("default{}", own.fingerprint());
    let target = format!("https://localhost:{}", upstream.port());
    let using = || vec![api("u", "/u/", &target).set("upstream_certificates", json!({"*": id}))];
    let (adds, _a) = sharing(&redis, vec![], json!({}), &servers);
    let (uses, _b) = sharing(&redis, using(), json!({}), &servers);
    assert_eq!(uses.get("/u/").status, 500, "nobody has added it");
    let answer = adds.control("POST", "/tyk/certs?org_id=default", &format!("{}{}", own.certificate, own.key));
    assert_eq!(answer.json()["id"], id.as_str(), "{answer}");
    assert_eq!(listed(&uses), json!([id]));
    eventually("the other gateway shows it", || uses.get("/u/").status == 200);
    assert!(!redis.cli(&["GET", &format!("cert-raw-{id}")]).contains("BEGIN PRIVATE KEY"), "the key is encrypted");
}

#[test]
fn tyks_list_of_certificates_is_kept() {
    let (redis, authority) = (Server::start(&[]), Authority::new("servers"));
    let (gateway, _dir) = sharing(&redis, vec![], json!({}), &authority);
    let add = |made: &Made, org: &str| {
        let answer = gateway.control("POST", &format!("/tyk/certs{org}"), &made.certificate);
        answer.json()["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let list = || {
        let mut lines: Vec<String> = redis.cli(&["LRANGE", "cert-default-index", "0", "-1"]).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (first, second) =
        (add(&authority.issue(&["a.test"]), "?org_id=default"), add(&authority.issue(&["b.test"]), "?org_id=default"));
    // Tyk's entry has the same form.
    let (id, _, entry) = recorded();
    assert_eq!(entry, format!("raw-{id}"));
    let both = |ids: [&String; 2]| {
        let mut both = ids.map(|id| format!("raw-{id}"));
        both.sort();
        both
    };
    assert_eq!(list(), both([&first, &second]));
    // Without an organisation there is no list.
    add(&authority.issue(&["c.test"]), "");
    assert_eq!(redis.cli(&["KEYS", "cert-*index*"]), "cert-default-index");
    // One that exists is complete for Tyk: it begins with all that are there.
    redis.cli(&["DEL", "cert-default-index"]);
    gateway.control("DELETE", &format!("/tyk/certs/{first}"), "");
    let third = add(&authority.issue(&["d.test"]), "?org_id=default");
    assert_eq!(list(), both([&second, &third]));
    gateway.control("DELETE", &format!("/tyk/certs/{second}"), "");
    assert_eq!(list(), [format!("raw-{third}")]);
}
