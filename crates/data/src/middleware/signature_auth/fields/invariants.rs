//! Invariants of signature parsing, for any text. The function panics when one is violated. The fuzzer calls it, and so do the tests, with
//! the same corpus.

use super::SignatureFields;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Parsed fields that are written and parsed again stay the same.
pub(super) fn signature_fields(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(fields) = SignatureFields::parse(text) else { return };
    assert!((1..=64).contains(&fields.headers.len()));
    assert!(fields.headers.iter().all(|name| !name.is_empty() && !name.contains(|letter: char| letter.is_ascii_whitespace())));
    assert!(fields.headers.iter().all(|name| *name == name.to_ascii_lowercase()));
    let SignatureFields { key_id, algorithm, headers, signature } = &fields;
    let headers = headers.join(" ");
    if [key_id, algorithm, &headers].iter().any(|value| value.contains('"')) {
        return;
    }
    let signature = STANDARD.encode(signature);
    let written = format!(r#"Signature keyId="{key_id}",algorithm="{algorithm}",headers="{headers}",signature="{signature}""#);
    assert_eq!(SignatureFields::parse(&written).as_ref(), Some(&fields), "{written}");
}
