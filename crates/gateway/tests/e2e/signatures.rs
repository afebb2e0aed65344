//! Requests signed with a shared secret.

use serde_json::json;

use crate::harness::{Definition, Gateway, Response, Upstream, error_json, eventually, request};
use crate::jwt_issuers::python;
use crate::keys::{create, keyed, session};

const REFUSED: &str = "Authorization field missing, malformed or invalid";

fn start(change: impl Fn(Definition) -> Definition) -> (Upstream, Gateway, String) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [change(keyed("a", &upstream).set("enable_signature_checking", true))]);
    let key = create(&gateway, &session(json!({"hmac_enabled": true, "hmac_string": "the shared secret"})));
    (upstream, gateway, key)
}

fn escaped(signature: &str) -> String {
    signature.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

fn refused(response: &Response) {
    assert_eq!((response.status, response.text()), (400, error_json(REFUSED)), "{response}");
}

/// Signs with another library: the text of `(request-target) date host x-test` with RSA and with each HMAC.
const SIGNER: &str = r#"
import base64, datetime, email.utils, hashlib, hmac, json
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization as s
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

one, other, weak = (rsa.generate_private_key(65537, bits) for bits in (2048, 2048, 1024))
now = datetime.datetime.now(datetime.timezone.utc)
date = email.utils.format_datetime(now, usegmt=True)
text = f"(request-target): post /a/x?b=1\ndate: {date}\nhost: gateway.test\nx-test: one, two".encode()

def pem(key):
    return key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo).decode()

def certificate(key, seconds):
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "signer")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(7).not_valid_before(now - datetime.timedelta(days=1))
    made = made.not_valid_after(now + datetime.timedelta(seconds=seconds)).sign(key, hashes.SHA256())
    return made.public_bytes(s.Encoding.PEM).decode()

def sign(key, hash=hashes.SHA256()):
    return base64.b64encode(key.sign(text, padding.PKCS1v15(), hash)).decode()

secret = b"the shared secret"
print(json.dumps({
    "date": date,
    "public": pem(one), "certificate": certificate(one, 600), "short": certificate(one, 8), "weak": pem(weak),
    "curve": pem(ec.generate_private_key(ec.SECP256R1())),
    "good": sign(one), "of another": sign(other), "of the weak": sign(weak), "sha1": sign(one, hashes.SHA1()), "sha512": sign(one, hashes.SHA512()),
    "pss": base64.b64encode(one.sign(text, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())).decode(),
    "hmac": {f"hmac-{name}": base64.b64encode(hmac.new(secret, text, name).digest()).decode() for name in ("sha1", "sha256", "sha384", "sha512")},
}))
"#;

#[test]
fn requests_signed_by_another_library_are_let_in() {
    let Some(made) = python(SIGNER) else { return };
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    let (upstream, gateway, key) = start(|definition| definition.set("hmac_allowed_clock_skew", 300_000));
    let ask = |key: &str, algorithm: &str, signature: &str, more: &[&str]| {
        let fields = format!(
            "keyId=\"{key}\",algorithm=\"{algorithm}\",headers=\"(request-target) date host x-test\",signature=\"{signature}\""
        );
        let (date, line) = (format!("Date: {}", text("date")), format!("Authorization: Signature {fields}"));
        let mut lines = vec![date.as_str(), "X-Test: one", "X-Test:  two ", line.as_str()];
        lines.extend(more);
        gateway.send(request("POST", "/a/x?b=1", &lines, "a body"))
    };
    for (algorithm, signature) in made["hmac"].as_object().expect("signatures") {
        let signature = signature.as_str().unwrap();
        assert_eq!(ask(&key, algorithm, signature, &[]).status, 200, "{algorithm}");
        refused(&ask(&key, algorithm, signature, &["X-Test: three"]));
    }
    let upload = |name: &str| {
        let answer = gateway.control("POST", "/tyk/certs?org_id=default", &text(name));
        assert_eq!(answer.status, 200, "{answer}");
        answer.json()["id"].as_str().expect("an id").to_owned()
    };
    let signer = |id: &str| create(&gateway, &session(json!({"enable_http_signature_validation": true, "rsa_certificate_id": id})));
    let public = upload("public");
    let by_public = signer(&public);
    for signature in [text("good"), escaped(&text("good"))] {
        assert_eq!(ask(&by_public, "rsa-sha256", &signature, &[]).status, 200);
    }
    assert_eq!(ask(&signer(&upload("certificate")), "rsa-sha256", &text("good"), &[]).status, 200);
    let let_in = upstream.requests();
    for wrong in ["of another", "of the weak", "sha1", "sha512", "pss"] {
        refused(&ask(&by_public, "rsa-sha256", &text(wrong), &[]));
    }
    let hmac = made["hmac"]["hmac-sha256"].as_str().unwrap();
    refused(&ask(&by_public, "hmac-sha256", hmac, &[]));
    refused(&ask(&key, "rsa-sha256", &text("good"), &[]));
    refused(&ask(&by_public, "rsa-sha512", &text("sha512"), &[]));
    refused(&ask(&signer(&upload("weak")), "rsa-sha256", &text("of the weak"), &[]));
    refused(&ask(&signer(&upload("curve")), "rsa-sha256", &text("good"), &[]));
    for id in ["", "nowhere", "default", &"0".repeat(64), "/etc/ssl/certs/ca-certificates.crt"] {
        refused(&ask(&signer(id), "rsa-sha256", &text("good"), &[]));
    }
    let without_flag = create(&gateway, &session(json!({"rsa_certificate_id": public})));
    refused(&ask(&without_flag, "rsa-sha256", &text("good"), &[]));
    assert_eq!(gateway.control("DELETE", &format!("/tyk/certs/{public}"), "").status, 200);
    refused(&ask(&by_public, "rsa-sha256", &text("good"), &[]));
    assert_eq!(upstream.requests(), let_in);
}

#[test]
fn an_expired_certificate_signs_nothing() {
    // The gateway first: the certificate is good for a few seconds.
    let (_upstream, gateway, _) = start(|definition| definition.set("hmac_allowed_algorithms", json!(["rsa-sha256"])));
    let Some(made) = python(SIGNER) else { return };
    let answer = gateway.control("POST", "/tyk/certs?org_id=default", made["short"].as_str().unwrap());
    assert_eq!(answer.status, 200, "{answer}");
    let key =
        create(&gateway, &session(json!({"enable_http_signature_validation": true, "rsa_certificate_id": answer.json()["id"]})));
    let fields = format!(
        "keyId=\"{key}\",algorithm=\"rsa-sha256\",headers=\"(request-target) date host x-test\",signature=\"{}\"",
        made["good"].as_str().unwrap()
    );
    let (date, line) = (format!("Date: {}", made["date"].as_str().unwrap()), format!("Authorization: Signature {fields}"));
    let ask = || gateway.send(request("POST", "/a/x?b=1", &[&date, "X-Test: one, two", &line], ""));
    assert_eq!(ask().status, 200);
    eventually("the certificate expires", || ask().status == 400);
    refused(&ask());
}
