//! Invariants of token parsing, for any text. The function panics when one is violated. The fuzzer calls it, and so do the tests, with the
//! same corpus.

use crate::jwt::JwtToken;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A text is a token in exactly one way: two dots, and parts that no other text decodes to.
pub(super) fn token(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(token) = JwtToken::parse(text) else { return };
    let parts: Vec<&str> = text.split('.').collect();
    assert_eq!(parts.len(), 3, "a token of {} parts", parts.len());
    assert_eq!(token.signed(), &text.as_bytes()[..text.len() - parts[2].len() - 1], "another text was signed");
    assert_eq!(URL_SAFE_NO_PAD.encode(token.signature()), parts[2], "the signature can be written in two ways");
    let header: serde_json::Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[0]).expect("decoded before")).expect("JSON");
    assert!(header.is_object() && header.get("crit").is_none());
    assert_eq!(token.algorithm(), header["alg"].as_str());
    assert_eq!(token.kid(), header["kid"].as_str());
    if let Some(claims) = token.claims() {
        let payload: serde_json::Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).expect("decoded before")).expect("JSON");
        let members = payload.as_object().expect("an object");
        assert!(members.iter().all(|(name, value)| claims.0.get(name) == Some(value)), "{payload}");
    }
}
