//! The compact form of a token, taken apart. Nothing in it is believed before its signature is checked.

use super::Claims;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use tollgate_model::members::Members;

/// A longer token is refused before it is decoded. A request's head is not longer by default.
const TOKEN_BYTES_MAX: usize = 32 << 10;

/// A token.
pub(crate) struct JwtToken<'t> {
    /// `alg`, `kid` and what else the header says.
    header: Members,
    /// What was signed: header and payload as they were sent.
    signed: &'t [u8],
    payload: &'t str,
    signature: Vec<u8>,
}

impl<'t> JwtToken<'t> {
    /// Takes a text apart; `None` when it is no token in compact form, or asks for an extension (RFC 7515, 4.1.11).
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        if text.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let (header, rest) = text.split_once('.')?;
        // One more dot would be no Base64.
        let (payload, signature) = rest.split_once('.')?;
        let signed = text.as_bytes().get(..header.len() + 1 + payload.len())?;
        // Two parts in turn, and no more memory than for one.
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

    /// The algorithm that it says it is signed with.
    pub(crate) fn algorithm(&self) -> Option<&str> {
        self.header.get("alg")?.as_str()
    }

    /// What its header says under a name.
    pub(crate) fn header(&self, name: &str) -> Option<&Value> {
        self.header.get(name)
    }

    /// The name of the key.
    pub(crate) fn kid(&self) -> Option<&str> {
        self.header.get("kid")?.as_str()
    }

    /// What was signed.
    pub(crate) fn signed(&self) -> &[u8] {
        self.signed
    }

    /// The signature.
    pub(crate) fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The claims; `None` when the payload is no JSON object.
    pub(crate) fn claims(&self) -> Option<Claims> {
        self.some_claims(|_| true)
    }

    /// The claims of some names, which cost less than all.
    pub(crate) fn some_claims(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Claims> {
        Members::parse_some(&URL_SAFE_NO_PAD.decode(self.payload).ok()?, is_wanted).map(Claims)
    }
}
