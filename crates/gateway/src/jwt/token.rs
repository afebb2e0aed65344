//! The compact form of a token, taken apart. Nothing in it is believed before its signature is checked.

use super::Claims;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use tollgate_model::members::Members;

/// A longer token is refused before it is decoded. A request's head is not longer by default.
const TOKEN_BYTES_MAX: usize = 32 << 10;

/// A token.
pub struct Token<'t> {
    /// `alg`, `kid` and what else the header says.
    header: Members,
    /// What was signed: header and payload as they were sent.
    signed: &'t [u8],
    payload: &'t str,
    signature: Vec<u8>,
}

impl<'t> Token<'t> {
    /// Takes a text apart; `None` when it is no token in compact form, or asks for an extension (RFC 7515, 4.1.11).
    pub fn parse(text: &'t str) -> Option<Self> {
        if text.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        if payload.contains('.') {
            return None;
        }
        let header = Members::parse(&URL_SAFE_NO_PAD.decode(header).ok()?)?;
        if header.get("crit").is_some() {
            return None;
        }
        Some(Token { header, signed: signed.as_bytes(), payload, signature: URL_SAFE_NO_PAD.decode(signature).ok()? })
    }

    /// The algorithm that it says it is signed with.
    pub fn algorithm(&self) -> Option<&str> {
        self.header.get("alg")?.as_str()
    }

    /// What its header says under a name.
    pub fn header(&self, name: &str) -> Option<&Value> {
        self.header.get(name)
    }

    /// The name of the key.
    pub fn kid(&self) -> Option<&str> {
        self.header.get("kid")?.as_str()
    }

    /// What was signed.
    pub fn signed(&self) -> &[u8] {
        self.signed
    }

    /// The signature.
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The claims; `None` when the payload is no JSON object.
    pub fn claims(&self) -> Option<Claims> {
        Members::parse(&URL_SAFE_NO_PAD.decode(self.payload).ok()?).map(Claims)
    }
}
