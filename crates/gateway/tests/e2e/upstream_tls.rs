//! TLS to upstreams beyond trust in the system's roots: the gateway's own certificates, pinned keys, common names.

use std::fs;
use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::harness::certificates::{Authority, Made, server};
use crate::harness::{Definition, Gateway, Setup, Upstream, api, eventually, ok};

/// A gateway whose only root is `authority`.
fn gateway(authority: &Authority, conf: serde_json::Value, apis: Vec<Definition>) -> (Gateway, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let roots = dir.path().join("roots.pem");
    fs::write(&roots, authority.pem()).unwrap();
    let setup = apis.into_iter().fold(Setup::new(conf), Setup::api);
    (setup.env("SSL_CERT_FILE", roots.to_str().unwrap()).start(), dir)
}

fn at(upstream: &Upstream) -> String {
    format!("https://localhost:{}", upstream.port())
}

/// SHA-256 of the public key as `openssl` makes it, which is what an operator has.
fn public_key(made: &Made) -> String {
    let dir = tempfile::tempdir().unwrap();
    let key = dir.path().join("key.pem");
    fs::write(&key, &made.key).unwrap();
    let output = std::process::Command::new("openssl")
        .args(["pkey", "-pubout", "-outform", "DER", "-in"])
        .arg(&key)
        .output()
        .expect("openssl runs");
    Sha256::digest(output.stdout).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn an_upstream_is_shown_the_certificate_for_its_host() {
    let (servers, clients) = (Authority::new("servers"), Authority::new("clients"));
    let own =
        clients.issue_with(&["gateway"], |params| params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth]);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(clients.roots()), provider.clone()).build().unwrap();
    let made = servers.issue(&["localhost"]);
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_client_cert_verifier(verifier).with_single_cert(vec![made.der()], made.private_key()).unwrap();
    let upstream = Upstream::tls(Arc::new(config), |_| ok());

    let files = tempfile::tempdir().unwrap();
    let file = own.write(files.path(), "own.pem");
    let stranger = Authority::new("others").issue(&["gateway"]).write(files.path(), "stranger.pem");
    let with = |id: &str, certificates: serde_json::Value| {
        api(id, &format!("/{id}/"), &at(&upstream)).set("upstream_certificates", certificates)
    };
    let (gateway, _dir) = gateway(
        &servers,
        json!({"security": {"certificates": {"upstream": {"*": stranger}}}}),
        vec![
            with("exact", json!({"localhost": file})),
            with("all", json!({"*": file})),
            with("text", json!({"*": format!("{}{}", own.certificate, own.key)})),
            with("one-line", json!({"*": format!("{}{}", own.certificate, own.key).replace('\n', "\\n")})),
            with("other", json!({"*.example.com": file})),
            with("disabled", json!({"*": file})).set("upstream_certificates_disabled", true),
        ],
    );
    let statuses = ["/exact/", "/all/", "/text/", "/one-line/", "/other/", "/disabled/"].map(|path| gateway.get(path).status);
    assert_eq!(statuses, [200, 200, 200, 200, 500, 500]);
    expect_no_key(&gateway.log(), &own);

    // A renewed file is shown from the next connection on.
    own.write(files.path(), "stranger.pem");
    eventually("the new certificate is shown", || gateway.get("/other/").status == 200);
}

#[test]
fn a_pinned_key_is_the_upstreams_or_nobody_is_asked() {
    let (servers, others) = (Authority::new("servers"), Authority::new("others"));
    let (made, unknown) = (servers.issue(&["localhost"]), others.issue(&["elsewhere.test"]));
    let known = Upstream::tls(Arc::new(server(&made)), |_| ok());
    let unrooted = Upstream::tls(Arc::new(server(&unknown)), |_| ok());
    let with = |id: &str, upstream: &Upstream, pins: serde_json::Value| {
        api(id, &format!("/{id}/"), &at(upstream)).set("pinned_public_keys", pins)
    };
    let wrong = "0".repeat(64);
    let (gateway, _dir) = gateway(
        &servers,
        json!({}),
        vec![
            with("right", &known, json!({"localhost": public_key(&made)})),
            with("one-of", &known, json!({"*": format!("{wrong},{}", public_key(&made).to_uppercase())})),
            with("wrong", &known, json!({"*": wrong})),
            with("elsewhere", &known, json!({"other.test": wrong})),
            with("disabled", &known, json!({"*": wrong})).set("certificate_pinning_disabled", true),
            // A pin is stronger than any authority and any name.
            with("unrooted", &unrooted, json!({"*": public_key(&unknown)})),
            with("insecure", &unrooted, json!({"*": wrong})).set("proxy/transport/ssl_insecure_skip_verify", true),
        ],
    );
    let statuses = ["/right/", "/one-of/", "/wrong/", "/elsewhere/", "/disabled/", "/unrooted/", "/insecure/"];
    assert_eq!(statuses.map(|path| gateway.get(path).status), [200, 200, 500, 200, 200, 200, 500]);
}

#[test]
fn a_pinned_certificate_beside_the_upstreams_own_proves_nothing() {
    let (servers, attackers) = (Authority::new("servers"), Authority::new("attackers"));
    let (pinned, attacker) = (servers.issue(&["localhost"]), attackers.issue(&["localhost"]));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let chain = vec![attacker.der(), pinned.der()];
    let config = config.with_no_client_auth().with_single_cert(chain, attacker.private_key()).unwrap();
    let upstream = Upstream::tls(Arc::new(config), |_| ok());
    let pins = json!({"*": public_key(&pinned)});
    let (gateway, _dir) = gateway(&servers, json!({}), vec![api("a", "/a/", &at(&upstream)).set("pinned_public_keys", pins)]);
    assert_eq!(gateway.get("/a/").status, 500);
}

#[test]
fn the_common_name_can_be_asked_for() {
    let servers = Authority::new("servers");
    // Common name "localhost" and no alternative name; and the other way round.
    let named = servers.issue_with(&[], |params| params.distinguished_name.push(rcgen::DnType::CommonName, "localhost"));
    let alternative =
        servers.issue_with(&["localhost"], |params| params.distinguished_name.push(rcgen::DnType::CommonName, "other"));
    let stranger = Authority::new("others").issue(&["localhost"]);
    let upstreams = [&named, &alternative, &stranger].map(|made| Upstream::tls(Arc::new(server(made)), |_| ok()));
    let mut apis = Vec::new();
    for (index, upstream) in upstreams.iter().enumerate() {
        apis.push(api(&format!("plain{index}"), &format!("/plain{index}/"), &at(upstream)));
        let checked = api(&format!("cn{index}"), &format!("/cn{index}/"), &at(upstream));
        apis.push(checked.set("proxy/transport/ssl_force_common_name_check", true));
    }
    let (gateway, _dir) = gateway(&servers, json!({}), apis);
    let statuses = ["/plain0/", "/cn0/", "/plain1/", "/cn1/", "/plain2/", "/cn2/"].map(|path| gateway.get(path).status);
    assert_eq!(statuses, [500, 200, 200, 500, 500, 500]);
}

#[test]
fn expired_certificates_of_upstreams_are_refused() {
    let servers = Authority::new("servers");
    let upstream = Upstream::tls(Arc::new(server(&servers.issue_expired(&["localhost"]))), |_| ok());
    let lenient = api("b", "/b/", &at(&upstream)).set("proxy/transport/ssl_insecure_skip_verify", true);
    let (gateway, _dir) = gateway(&servers, json!({}), vec![api("a", "/a/", &at(&upstream)), lenient]);
    assert_eq!((gateway.get("/a/").status, gateway.get("/b/").status), (500, 200));
}

#[test]
fn versions_hold_for_upstreams_too() {
    let servers = Authority::new("servers");
    let made = servers.issue(&["localhost"]);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let old = rustls::ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS12]).unwrap();
    let old = old.with_no_client_auth().with_single_cert(vec![made.der()], made.private_key()).unwrap();
    let upstream = Upstream::tls(Arc::new(old), |_| ok());
    let lenient = api("b", "/b/", &at(&upstream)).set("proxy/transport/ssl_min_version", 771);
    let (gateway, _dir) = gateway(&servers, json!({"proxy_ssl_min_version": 772}), vec![api("a", "/a/", &at(&upstream)), lenient]);
    assert_eq!((gateway.get("/a/").status, gateway.get("/b/").status), (500, 200));
}

/// No line of a private key stands in a text.
fn expect_no_key(text: &str, made: &crate::harness::certificates::Made) {
    let secret = made.key.lines().find(|line| !line.starts_with('-')).unwrap();
    assert!(!text.contains(secret) && !text.contains("PRIVATE KEY"), "{text}");
}

#[test]
fn a_broken_certificate_in_a_definition_is_named_without_its_text() {
    let upstream = Upstream::ok();
    let made = Authority::new("clients").issue(&["gateway"]);
    let half = made.key.len() / 2;
    let broken = format!("{}{}", made.certificate, &made.key[..half]);
    for (field, value, place) in [
        ("upstream_certificates", json!({"*": broken}), "$.upstream_certificates.*"),
        (
            "client_certificates",
            json!(["-----BEGIN CERTIFICATE-----\nno base64 ***\n-----END CERTIFICATE-----\n"]),
            "$.client_certificates[0]",
        ),
        ("certificates", json!([broken]), "$.certificates[0]"),
    ] {
        let gateway = crate::harness::Gateway::start(json!({}), []);
        let definition = api("a", "/a/", &upstream.url()).set(field, value);
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert!(answer.status == 400 && answer.text().contains(place), "{field}: {answer}");
        expect_no_key(&answer.text(), &made);
        expect_no_key(&gateway.log(), &made);
    }
}
