//! Tokens made by a library that others use, PyJWT: every algorithm, with a fixed key and with a key set.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::harness::key_sets::issuer;
use crate::harness::start_with;
use crate::harness::tokens::{policy, with_tokens};
use crate::harness::{Upstream, error_json, skip};
use crate::keys::call;

/// For each algorithm a token, the key to check it with as `jwt_source` wants it, and the same as a member of a key set.
const MAKER: &str = r#"
import base64, json, time, jwt
from jwt.algorithms import RSAAlgorithm, ECAlgorithm, OKPAlgorithm, HMACAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa, ec, ed25519
from cryptography.hazmat.primitives import serialization as s

def pem(key):
    return key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)

claims = {"sub": "joe", "iat": int(time.time()), "nbf": int(time.time()), "exp": int(time.time()) + 600}
secret = b"s" * 64
rsa_key = rsa.generate_private_key(65537, 2048)
keys = {name: (secret, secret, HMACAlgorithm.to_jwk(secret), "hmac") for name in ["HS256", "HS384", "HS512"]}
for name in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]:
    keys[name] = (rsa_key, pem(rsa_key), RSAAlgorithm.to_jwk(rsa_key.public_key()), "rsa")
for name, curve in [("ES256", ec.SECP256R1), ("ES384", ec.SECP384R1), ("ES512", ec.SECP521R1), ("ES256K", ec.SECP256K1)]:
    key = ec.generate_private_key(curve())
    keys[name] = (key, pem(key), ECAlgorithm.to_jwk(key.public_key()), "ecdsa")
key = ed25519.Ed25519PrivateKey.generate()
keys["EdDSA"] = (key, pem(key), OKPAlgorithm.to_jwk(key.public_key()), "eddsa")
print(json.dumps([{
    "alg": name, "method": method, "token": jwt.encode(claims, key, algorithm=name, headers={"kid": name}),
    "source": base64.b64encode(public).decode(), "jwk": {**json.loads(jwk), "kid": name},
} for name, (key, public, jwk, method) in keys.items()]))
"#;

/// What the script prints; `None` where `scripts/test-deps.sh` could not install the library and has said why.
pub(crate) fn python(script: &str) -> Option<Value> {
    let program = std::env::current_exe().expect("this test");
    let target: PathBuf = program.ancestors().nth(3).expect("the target directory").to_owned();
    let venv = target.join("test-venv");
    if let Ok(reason) = std::fs::read_to_string(venv.join("unavailable")) {
        skip(&reason);
        return None;
    }
    let python = venv.join("bin/python");
    assert!(python.exists(), "{} is missing: run scripts/test-deps.sh tests", python.display());
    let output = Command::new(python).arg("-c").arg(script).output().expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn every_algorithm_of_another_library_is_understood() {
    let Some(tokens) = python(MAKER) else { return };
    let tokens = tokens.as_array().expect("a list");
    assert_eq!(tokens.len(), 14);
    let keys: Vec<Value> = tokens.iter().map(|token| token["jwk"].clone()).collect();
    let issuer = issuer(Arc::new(Mutex::new(keys)));
    let upstream = Upstream::ok();
    let mut definitions = Vec::new();
    let mut ids = serde_json::Map::new();
    for (number, token) in tokens.iter().enumerate() {
        for (place, source) in [("fixed", token["source"].clone()), ("set", json!(STANDARD.encode(issuer.url())))] {
            let id = format!("{place}{number}");
            let definition =
                with_tokens(&id, &upstream).set("jwt_signing_method", token["method"].clone()).set("jwt_source", source);
            definitions.push(definition);
            ids.insert(id.clone(), json!({"api_id": id, "versions": ["Default"]}));
        }
    }
    let gateway = start_with(definitions, &[policy("basic", json!({"access_rights": ids}))]);
    for (number, token) in tokens.iter().enumerate() {
        let text = token["token"].as_str().expect("a token");
        for place in ["fixed", "set"] {
            let target = format!("/{place}{number}/x");
            let response = call(&gateway, &target, text);
            assert_eq!(response.status, 200, "{} {place}: {response}", token["alg"]);
            // Where another kind of key is asked for, and with its end cut off.
            let others = tokens.iter().enumerate().filter(|(_, other)| other["method"] != token["method"]);
            for (other, _) in others {
                let response = call(&gateway, &format!("/{place}{other}/x"), text);
                assert_eq!(response.status, 403, "{} at {other}: {response}", token["alg"]);
            }
            let response = call(&gateway, &target, &text[..text.len() - 8]);
            assert_eq!((response.status, response.text()), (403, error_json("Key not authorized")), "{}", token["alg"]);
        }
    }
}
