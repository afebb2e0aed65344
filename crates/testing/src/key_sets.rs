//! Issuers that show their keys, and APIs that take tokens signed with them.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use crate::jws::{Signer, now};
use crate::tokens::with_tokens;
use crate::{Definition, Upstream, reply};

/// An issuer whose keys can be changed.
pub fn issuer(keys: Arc<Mutex<Vec<Value>>>) -> Upstream {
    Upstream::start(move |_| {
        let body = json!({"keys": keys.lock().unwrap().clone()}).to_string();
        reply("200 OK", &["Content-Type: application/json"], &body)
    })
}

pub fn with_key_set(upstream: &Upstream, url: &str) -> Definition {
    with_tokens("a", upstream).set("jwt_signing_method", "ecdsa").set("jwt_source", url)
}

/// A token of `joe` that is good for ten minutes.
pub fn token(signer: &Signer) -> String {
    signer.token(&json!({"sub": "joe", "exp": now() + 600}))
}
