//! `request_signing`: the gateway signs requests for the upstream.

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token};
use schemars::JsonSchema;
use serde::Deserialize;

/// `request_signing`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestSigning {
    /// Whether requests are signed.
    pub is_enabled: bool,
    /// The shared secret of an HMAC.
    pub secret: String,
    /// Names the key to the upstream.
    pub key_id: String,
    /// `hmac-sha1`, `hmac-sha256`, `hmac-sha384`, `hmac-sha512` or `rsa-sha256`.
    pub algorithm: String,
    /// The headers to sign, and `(request-target)`; all if there are none.
    pub header_list: Vec<String>,
    /// The certificate with the key for `rsa-sha256`, as identifier or file name.
    pub certificate_id: String,
    /// The header for the signature; `Authorization` if empty.
    pub signature_header: String,
}

/// Adds the problems of `rules` to `findings`.
pub(super) fn check(rules: &RequestSigning, findings: &mut Findings) {
    if !rules.is_enabled {
        return;
    }
    let at = JsonPath::of("request_signing");
    if !rules.signature_header.is_empty() && !is_token(&rules.signature_header) {
        findings.error(&at.key("signature_header"), "is not a header name");
    }
    if !is_header_value(&rules.key_id) || rules.key_id.contains(['"', '\\']) {
        findings.error(&at.key("key_id"), "must not contain quotes, backslashes or control characters");
    }
    for (index, name) in rules.header_list.iter().enumerate() {
        if name.trim() != "(request-target)" && !is_token(name.trim()) {
            findings.error(&at.key("header_list").index(index), "is not a header name");
        }
    }
}
