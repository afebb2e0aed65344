//! Certificates as operators keep them in the gateway: added, listed, shown and deleted through the control API.

use std::io::Write;
use std::process::{Command, Stdio};

use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};
use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Response};
use crate::keys::{refused, told};
use crate::servers::Server;

/// A certificate for `name` that ends with the year, and its private key, as PEM.
pub(crate) fn made(name: &str, last_year: i32) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.distinguished_name.push(DnType::OrganizationName, "Tolls");
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(last_year, 12, 31));
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn add(gateway: &Gateway, query: &str, pem: &str) -> Response {
    gateway.control("POST", &format!("/tyk/certs{query}"), pem)
}

fn added(gateway: &Gateway, query: &str, pem: &str) -> String {
    let answer = add(gateway, query, pem);
    let id = answer.json()["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    assert_eq!(told(&answer), (200, format!("{{\"id\":\"{id}\",\"status\":\"ok\",\"message\":\"Certificate added\"}}\n")));
    id
}

#[test]
fn a_certificate_is_added_shown_listed_and_deleted() {
    let gateway = Gateway::start(json!({}), []);
    assert_eq!(told(&gateway.control("GET", "/tyk/certs", "")), (200, "{\"certs\":null}\n".to_owned()));
    let (certificate, key) = made("a.test", 2090);
    let id = added(&gateway, "?org_id=default", &format!("{certificate}{key}"));
    let fingerprint = id.strip_prefix("default").expect("the organisation first");
    assert!(fingerprint.len() == 64 && fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let bare = added(&gateway, "", &certificate);
    assert_eq!(bare, fingerprint, "the same certificate without an organisation");

    let shown = gateway.control("GET", &format!("/tyk/certs/{id}"), "").json();
    assert_eq!((&shown["id"], &shown["fingerprint"], &shown["has_private"]), (&json!(id), &json!(fingerprint), &json!(true)));
    assert_eq!((&shown["subject"]["CommonName"], &shown["issuer"]["Organization"]), (&json!("a.test"), &json!(["Tolls"])));
    assert_eq!((&shown["not_after"], &shown["dns_names"]), (&json!("2090-12-31T00:00:00Z"), &json!(["a.test"])));
    let text = shown.to_string();
    assert!(!text.contains("PRIVATE"), "{text}");

    let ids = |query: &str| gateway.control("GET", &format!("/tyk/certs{query}"), "").json()["certs"].clone();
    assert_eq!(ids("?org_id=default"), json!([id]));
    assert_eq!(ids("?org_id=other"), Value::Null);
    assert_eq!(ids("").as_array().map(Vec::len), Some(2));
    let detailed = ids("?org_id=default&mode=detailed");
    assert_eq!(
        (&detailed[0]["id"], &detailed[0]["subject_cn"], &detailed[0]["has_private"]),
        (&json!(id), &json!("a.test"), &json!(true))
    );

    let both = gateway.control("GET", &format!("/tyk/certs/{id},none,{bare}"), "").json();
    assert_eq!((&both[0]["id"], &both[1], &both[2]["has_private"]), (&json!(id), &Value::Null, &json!(false)));

    let removed = (200, "{\"status\":\"ok\",\"message\":\"removed\"}\n".to_owned());
    assert_eq!(told(&gateway.control("DELETE", &format!("/tyk/certs/{id}"), "")), removed);
    let missing = (404, refused("Certificate with given SHA256 fingerprint not found"));
    assert_eq!(told(&gateway.control("GET", &format!("/tyk/certs/{id}"), "")), missing);
    assert_eq!(told(&gateway.control("DELETE", &format!("/tyk/certs/{id}"), "")), removed, "as Tyk says of anything");
    assert_eq!(ids("?org_id=default"), Value::Null);
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    let gateway = Gateway::start(json!({}), []);
    let (certificate, key) = made("a.test", 2090);
    let (expired, _) = made("old.test", 2021);
    let (_, other_key) = made("b.test", 2090);
    for (pem, reason) in [
        ("", "Failed to decode certificate. It should be PEM encoded."),
        ("hello", "Failed to decode certificate. It should be PEM encoded."),
        (&key, "Failed to decode certificate. It should be PEM encoded."),
        (&expired, "certificate is expired"),
        (&format!("{certificate}{other_key}"), "tls: private key does not match public key"),
        (&format!("{certificate}{key}{other_key}"), "Found multiple private keys"),
    ] {
        assert_eq!(told(&add(&gateway, "?org_id=o", pem)), (403, refused(reason)), "{pem}");
    }
    let id = added(&gateway, "?org_id=o", &certificate);
    let again = refused(&format!("Certificate with {id} id already exists"));
    assert_eq!(told(&add(&gateway, "?org_id=o", &certificate)), (403, again));
    assert_eq!(add(&gateway, "?org_id=a%2Cb", &certificate).status, 403);
    assert_eq!(add(&gateway, "?org_id=o", &"x".repeat(2 << 20)).status, 403);
    assert_eq!(gateway.control("GET", "/tyk/certs", "").json(), json!({"certs": [id]}));
}

#[test]
fn certificates_outlive_the_process_also_when_it_is_killed() {
    let data = tempfile::tempdir().expect("a folder");
    let start = || Gateway::start(json!({"tollgate": {"data_dir": data.path()}}), []);
    let mut gateway = start();
    let (certificate, key) = made("a.test", 2090);
    let id = added(&gateway, "?org_id=default", &format!("{certificate}{key}"));
    let gone = added(&gateway, "", &certificate);
    gateway.control("DELETE", &format!("/tyk/certs/{gone}"), "");
    let before = gateway.control("GET", &format!("/tyk/certs/{id}"), "").json();
    gateway.signal("KILL");
    gateway.wait_for_exit();
    let gateway = start();
    assert_eq!(gateway.control("GET", &format!("/tyk/certs/{id}"), "").json(), before);
    assert_eq!(gateway.control("GET", "/tyk/certs", "").json(), json!({"certs": [id]}));
}

fn openssl(arguments: &[&str], input: &str) -> String {
    let mut program =
        Command::new("openssl").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    program.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    String::from_utf8(program.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn private_keys_are_encrypted_in_the_store_and_those_that_tyk_stored_are_read() {
    let redis = Server::start(&[]);
    let storage = json!({"type": "redis", "host": "127.0.0.1", "port": redis.port});
    let conf = crate::shared_keys::patient(
        json!({"storage": storage, "security": {"private_certificate_encoding_secret": "enc0ding-5ecret"}}),
    );
    let gateway = Gateway::start(conf.clone(), []);
    let (certificate, key) = made("a.test", 2090);
    let id = added(&gateway, "?org_id=default", &format!("{certificate}{key}"));
    let stored = redis.cli(&["get", &format!("cert-raw-{id}")]);
    assert!(stored.contains("BEGIN ENCRYPTED PRIVATE KEY") && !stored.contains("BEGIN PRIVATE KEY"), "{stored}");
    // OpenSSL opens it with the secret, and has the same key.
    let block = stored.split_once("-----BEGIN ENCRYPTED").map(|(_, block)| format!("-----BEGIN{block}")).unwrap();
    let opened = openssl(&["pkey", "-passin", "pass:enc0ding-5ecret"], &block.replace("END ENCRYPTED", "END"));
    assert_eq!(opened, openssl(&["pkey"], &key), "{block}");

    // What OpenSSL encrypts has the form of what Tyk stores; without a setting of its own, Tyk takes the gateway's secret.
    let (of_tyk, key) = made("b.test", 2090);
    let closed = openssl(&["ec", "-aes256", "-passout", &format!("pass:{SECRET}")], &key);
    let closed = closed.replace("EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    assert!(closed.contains("Proc-Type: 4,ENCRYPTED"), "{closed}");
    let bare = added(&gateway, "", &of_tyk);
    redis.cli(&["set", &format!("cert-raw-org{bare}"), &format!("{of_tyk}{closed}")]);
    let other = closed.replace("AES-256-CBC,", "AES-256-CBC,0");
    redis.cli(&["set", &format!("cert-raw-bad{bare}"), &format!("{of_tyk}{other}")]);
    drop(gateway);
    let gateway = Gateway::start(conf, []);
    for id in [id.clone(), format!("org{bare}")] {
        assert_eq!(gateway.control("GET", &format!("/tyk/certs/{id}"), "").json()["has_private"], true, "{id}: {}", gateway.log());
    }
    assert_eq!(gateway.control("GET", &format!("/tyk/certs/bad{bare}"), "").status, 404);
    let log = gateway.log();
    assert!(log.contains("a stored certificate can't be read") && !log.contains("enc0ding-5ecret"), "{log}");
    drop(gateway);
    let gateway = Gateway::start(json!({"storage": storage}), []);
    assert_eq!(gateway.control("GET", &format!("/tyk/certs/{id}"), "").status, 404);
    assert!(gateway.log().contains("encrypted with another secret"), "{}", gateway.log());
}
