//! The compact form of a token, parsed. Nothing in it is trusted before its signature is verified.

use super::Claims;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use tollgate_model::members::Members;

/// Longest token, in bytes; a longer one is rejected before it is decoded. By default a request's head is no longer than this.
const TOKEN_BYTES_MAX: usize = 32 << 10;

/// A parsed token.
pub struct JwtToken<'t> {
    /// Header: `alg`, `kid` and other fields.
    header: Members,
    /// Signed bytes: header and payload as they were sent.
    signed: &'t [u8],
    payload: &'t str,
    signature: Vec<u8>,
}

impl<'t> JwtToken<'t> {
    /// Parses a text; `None` when it is not a token in compact form, or requires an extension (RFC 7515, 4.1.11).
    pub fn parse(text: &'t str) -> Option<Self> {
        if text.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let (header, rest) = text.split_once('.')?;
        // Another dot would not be valid Base64.
        let (payload, signature) = rest.split_once('.')?;
        let signed = text.as_bytes().get(..header.len() + 1 + payload.len())?;
        // Decodes both parts in turn into one buffer.
        let mut decoded = Vec::with_capacity(text.len());
        URL_SAFE_NO_PAD.decode_vec(header, &mut decoded).ok()?;
        let header = Members::parse(&decoded)?;
        if header.get("crit").is_some() {
            return None;
        }
        decoded.clear();
        URL_SAFE_NO_PAD.decode_vec(signature, &mut decoded).ok()?;
        Some(JwtToken { header, signed, payload, signature: decoded })
    }

    /// The algorithm that the token claims (`alg`).
    pub fn algorithm(&self) -> Option<&str> {
        self.header.get("alg")?.as_str()
    }

    /// A header field.
    pub fn header(&self, name: &str) -> Option<&Value> {
        self.header.get(name)
    }

    /// Name of the key.
    pub fn kid(&self) -> Option<&str> {
        self.header.get("kid")?.as_str()
    }

    /// The signed bytes.
    pub fn signed(&self) -> &[u8] {
        self.signed
    }

    /// The signature.
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// All claims; `None` when the payload is not a JSON object.
    pub fn claims(&self) -> Option<Claims> {
        self.some_claims(|_| true)
    }

    /// Only the claims with wanted names; cheaper than parsing all.
    pub fn some_claims(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Claims> {
        Members::parse_some(&URL_SAFE_NO_PAD.decode(self.payload).ok()?, is_wanted).map(Claims)
    }
}
