//! The fields of a signature: `Signature keyId="…",algorithm="…",headers="…",signature="…"`.

use crate::credentials::without_scheme;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tollgate_http::form::decode_form;

/// Most signed headers; more would only make the gateway copy data.
const HEADERS_MAX: usize = 64;

/// The parsed fields of a signature.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SignatureFields {
    pub key_id: String,
    /// Empty when the signature names no algorithm.
    pub algorithm: String,
    /// Names of the signed headers, in lower case; `date` when none are named.
    pub headers: Vec<String>,
    pub signature: Vec<u8>,
}

impl SignatureFields {
    /// Parses a header's value; `None` when it is not a signature.
    pub(super) fn parse(value: &str) -> Option<Self> {
        let text = std::str::from_utf8(without_scheme(value.as_bytes(), b"signature ")).ok()?;
        let (mut key_id, mut algorithm, mut headers, mut signature) = (None, String::new(), Vec::new(), None);
        for (name, value) in pairs(text)? {
            match name.to_ascii_lowercase().as_str() {
                "keyid" => key_id = Some(value.to_owned()),
                "algorithm" => algorithm = value.to_owned(),
                "headers" => headers = value.split_ascii_whitespace().map(str::to_ascii_lowercase).collect(),
                "signature" => signature = Some(decoded(value)?),
                _ => return None,
            }
        }
        if headers.is_empty() {
            headers.push("date".to_owned());
        }
        let fields = SignatureFields { key_id: key_id?, algorithm, headers, signature: signature? };
        (fields.headers.len() <= HEADERS_MAX).then_some(fields)
    }
}

/// Parses `a="x",b="y"`; an unquoted value ends at the comma.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at_checked(after.find(',').unwrap_or(after.len()))?,
        };
        pairs.push((name.trim(), value.trim()));
        rest = after.trim_start();
        if !rest.is_empty() {
            rest = rest.strip_prefix(',')?.trim_start();
        }
    }
    Some(pairs)
}

/// Decodes Base64 that is URL-escaped in either letter case, or not at all.
fn decoded(value: &str) -> Option<Vec<u8>> {
    let plain = if value.contains('%') { decode_form(&value.replace('+', "%2B"))? } else { value.to_owned() };
    STANDARD.decode(plain).ok()
}

#[cfg(test)]
mod tests;
