//! Requests that the gateway signs for upstreams: verified by another gateway, and by openssl.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Seen, Upstream, api, get, request};
use crate::keys::{create, keyed, session};

const SECRET: &str = "the shared secret";

fn signing(target: &str, rules: Value) -> Definition {
    let mut all = json!({"is_enabled": true, "key_id": "me", "algorithm": "hmac-sha256", "secret": SECRET});
    crate::harness::definition::merge(&mut all, &rules);
    api("s", "/s/", target).set("request_signing", all)
}

/// What openssl makes of some bytes.
fn openssl(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new("openssl").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("openssl is installed");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "openssl {arguments:?}");
    output.stdout
}

/// A field of a signature header.
fn field<'h>(header: &'h str, name: &str) -> &'h str {
    let start = header.find(&format!("{name}=\"")).unwrap_or_else(|| panic!("{name} in {header}")) + name.len() + 2;
    header[start..].split('"').next().unwrap()
}

/// The text that a signature of this request is about.
fn signed_text(seen: &Seen, header: &str) -> String {
    let line = |name: &str| match name {
        "(request-target)" => format!("(request-target): {} {}", seen.method.to_lowercase(), seen.target),
        name => format!("{name}: {}", seen.head.all(name).join(", ")),
    };
    field(header, "headers").split(' ').map(line).collect::<Vec<_>>().join("\n")
}

fn unescaped(text: &str) -> Vec<u8> {
    STANDARD.decode(text.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=")).unwrap()
}

#[test]
fn openssl_makes_the_same_hmac() {
    let upstream = Upstream::ok();
    for (algorithm, digest) in
        [("hmac-sha1", "-sha1"), ("hmac-sha256", "-sha256"), ("hmac-sha384", "-sha384"), ("hmac-sha512", "-sha512")]
    {
        let gateway = Gateway::start(json!({}), [signing(&upstream.url(), json!({"algorithm": algorithm}))]);
        let lines = ["X-One: 1", "X-Two: 2", "Authorization: of the client", "Connection: keep-alive"];
        assert_eq!(gateway.send(request("POST", "/s/deep/x?a=b&c", &lines, "body")).status, 200);
        let seen = upstream.last();
        let header = seen.header("authorization").unwrap().to_owned();
        assert_eq!(seen.head.all("authorization").len(), 1, "the client's is replaced");
        assert!(header.starts_with("Signature keyId=\"me\","), "{header}");
        assert_eq!((field(&header, "algorithm"), seen.target.as_str()), (algorithm, "/deep/x?a=b&c"));
        let names: Vec<&str> = field(&header, "headers").split(' ').collect();
        for name in ["(request-target)", "x-one", "x-two", "date"] {
            assert_eq!(names.iter().filter(|own| **own == name).count(), 1, "{name} in {names:?}");
        }
        assert!(
            !names.iter().any(|name| ["host", "connection", "authorization", "content-length", "x-forwarded-for"].contains(name))
        );
        let made = openssl(&["dgst", digest, "-hmac", SECRET, "-binary"], signed_text(&seen, &header).as_bytes());
        assert_eq!(unescaped(field(&header, "signature")), made, "{algorithm}");
    }
}

#[test]
fn a_list_names_what_is_signed_and_the_header_may_be_another() {
    let upstream = Upstream::ok();
    // As in `TestHMACRequestSigning` of gateway/mw_request_signing_test.go, Tyk v5.14; only it leaves `(request-target)` out of a list.
    for (list, lines, expected) in [
        (json!(["foo", "date"]), vec!["foo: bar", "Date: Mon, 02 Jan 2006 15:04:05 GMT"], "foo date"),
        (json!(["foo", "gone"]), vec!["foo: bar"], "foo"),
        (json!(["Foo"]), vec!["foo: bar", "foo: baz"], "foo"),
        (json!(["gone"]), vec![], "(request-target) date"),
        (json!(["(request-target)", "foo"]), vec!["foo: bar"], "(request-target) foo"),
        // Header lines of the gateway's own are signed as the upstream gets them.
        (json!(["x-added"]), vec!["X-Added: of the client"], "x-added"),
    ] {
        let definition = signing(&upstream.url(), json!({"header_list": list, "signature_header": "X-Signature"}))
            .version("global_headers", json!({"X-Added": "own"}));
        let gateway = Gateway::start(json!({}), [definition]);
        let lines: Vec<&str> = lines.into_iter().chain(["Authorization: of the client"]).collect();
        assert_eq!(gateway.send(request("GET", "/s/x", &lines, "")).status, 200);
        let seen = upstream.last();
        assert_eq!(seen.header("authorization"), Some("of the client"));
        let header = seen.header("x-signature").unwrap().to_owned();
        assert_eq!(field(&header, "headers"), expected);
        let made = openssl(&["dgst", "-sha256", "-hmac", SECRET, "-binary"], signed_text(&seen, &header).as_bytes());
        assert_eq!(unescaped(field(&header, "signature")), made, "{expected}");
    }
}

#[test]
fn another_gateway_lets_signed_requests_in_and_no_others() {
    let upstream = Upstream::ok();
    let verifying = keyed("a", &upstream).set("enable_signature_checking", true).set("hmac_allowed_clock_skew", 60_000);
    let verifier = Gateway::start(json!({}), [verifying]);
    let key = create(&verifier, &session(json!({"hmac_enabled": true, "hmac_string": SECRET})));
    let asked = |rules: Value| {
        let mut definition = signing(&format!("http://127.0.0.1:{}", verifier.port), rules);
        // The other gateway sees the path that was signed.
        definition = definition.set("proxy/listen_path", "/a/").set("proxy/strip_listen_path", false);
        let gateway = Gateway::start(json!({}), [definition]);
        ["/a/x", "/a/x?q=1&r", "/a/"].map(|target| gateway.send(request("GET", target, &["X-Some: value"], "")).status)
    };
    assert_eq!(asked(json!({"key_id": key})), [200; 3]);
    assert_eq!(
        asked(json!({"key_id": key, "algorithm": "hmac-sha512", "header_list": ["(request-target)", "x-some"]})),
        [400; 3],
        "no date"
    );
    assert_eq!(asked(json!({"key_id": key, "secret": "another"})), [400; 3]);
    assert_eq!(asked(json!({"key_id": "nobody"})), [400; 3]);
    assert_eq!(upstream.requests(), 3);
}

/// An RSA key with its certificate in one file, and its public key in another.
fn rsa(dir: &Path) -> (String, String) {
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (key, certificate, public) = (path("key.pem"), path("certificate.pem"), path("public.pem"));
    let subject = ["-subj", "/CN=signer", "-days", "2"];
    openssl(
        &[&["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", &key, "-out", &certificate][..], &subject].concat(),
        b"",
    );
    openssl(&["x509", "-in", &certificate, "-pubkey", "-noout", "-out", &public], b"");
    let both = path("both.pem");
    std::fs::write(&both, [std::fs::read(&certificate).unwrap(), std::fs::read(&key).unwrap()].concat()).unwrap();
    (both, public)
}

#[test]
fn openssl_and_another_gateway_accept_an_rsa_signature() {
    let dir = tempfile::tempdir().unwrap();
    let (both, public) = rsa(dir.path());
    let upstream = Upstream::ok();
    let rules = |key_id: &str| json!({"algorithm": "rsa-sha256", "certificate_id": both, "secret": "", "key_id": key_id});
    let gateway = Gateway::start(json!({}), [signing(&upstream.url(), rules("me"))]);
    assert_eq!(gateway.send(request("GET", "/s/x?y", &["X-One: 1"], "")).status, 200);
    let seen = upstream.last();
    let header = seen.header("authorization").unwrap().to_owned();
    let signature = dir.path().join("signature");
    std::fs::write(&signature, STANDARD.decode(field(&header, "signature")).unwrap()).unwrap();
    let verify = ["dgst", "-sha256", "-verify", &public, "-signature", signature.to_str().unwrap()];
    assert_eq!(openssl(&verify, signed_text(&seen, &header).as_bytes()), b"Verified OK\n");

    let verifier = Gateway::start(json!({}), [keyed("a", &upstream).set("enable_signature_checking", true)]);
    let uploaded = verifier.control("POST", "/tyk/certs?org_id=default", &std::fs::read_to_string(&public).unwrap());
    assert_eq!(uploaded.status, 200, "{uploaded}");
    let key =
        create(&verifier, &session(json!({"enable_http_signature_validation": true, "rsa_certificate_id": uploaded.json()["id"]})));
    let to_verifier = signing(&format!("http://127.0.0.1:{}", verifier.port), rules(&key));
    let definition = to_verifier.set("proxy/listen_path", "/a/").set("proxy/strip_listen_path", false);
    assert_eq!(Gateway::start(json!({}), [definition]).get("/a/x").status, 200);
}

#[test]
fn what_cannot_sign_is_an_error_and_a_missing_certificate_refuses() {
    let upstream = Upstream::ok();
    for (rules, field, message) in [
        (json!({"key_id": ""}), "$.request_signing.key_id", "must not be empty"),
        (json!({"key_id": "a\"b"}), "$.request_signing.key_id", "must not contain quotes"),
        (json!({"secret": ""}), "$.request_signing.secret", "must not be empty"),
        (json!({"algorithm": "md5"}), "$.request_signing.algorithm", "must be one of hmac-sha1"),
        (json!({"algorithm": "rsa-sha256"}), "$.request_signing.certificate_id", "must not be empty"),
        (json!({"signature_header": "a b"}), "$.request_signing.signature_header", "is not a header name"),
        (json!({"header_list": ["ok", "not ok"]}), "$.request_signing.header_list[1]", "is not a header name"),
    ] {
        let gateway = Gateway::start(json!({}), [signing(&upstream.url(), rules)]);
        assert_eq!(gateway.get("/s/").status, 404);
        let log = gateway.log();
        assert!(
            log.lines().any(|line| line.contains("ERROR") && line.contains(field) && line.contains(message)),
            "{field} in\n{log}"
        );
    }
    let rules = json!({"algorithm": "rsa-sha256", "certificate_id": "/nowhere.pem"});
    let gateway = Gateway::start(json!({}), [signing(&upstream.url(), rules)]);
    let answer = gateway.send(get("/s/"));
    assert_eq!((answer.status, answer.text().contains("Certificate not found")), (500, true), "{answer}");
    assert_eq!(upstream.requests(), 0);
}
