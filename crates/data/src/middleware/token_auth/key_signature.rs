//! The signature that must accompany a key, as Mashery's clients make it. Reads `validate_signature` and `signature`. The client sees 401
//! `Request signature verification failed`, or the status and message of the definition.

use crate::exchange::Exchange;
use crate::refusal::{self, Refusal, RefusalText};
use crate::template::{META, ValueTemplate, VariableScope};
use md5::Md5;
use serde_json::Value;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tollgate_access::keys::Key;
use tollgate_http::form::parameter;
use tollgate_model::api::{AuthConfig, SignatureAlgorithm};
use tollgate_model::key as key_format;

/// Rules for signatures in a definition.
pub(super) struct KeySignature {
    /// `None` for an unknown algorithm, which admits nobody.
    algorithm: Option<SignatureAlgorithm>,
    header: String,
    parameter: Option<String>,
    secret: SignatureSecret,
    skew_s: Option<u64>,
    refusal: Refusal,
}

enum SignatureSecret {
    /// Each key has its own secret, in its metadata.
    OfKey(String),
    Shared(ValueTemplate),
}

impl KeySignature {
    /// Compiles the rules; `None` when keys need no signature.
    pub(super) fn compile(places: &AuthConfig, scope: VariableScope<'_>) -> Option<Self> {
        let written = &places.signature;
        let mut refusal = RefusalText { status: written.status(), ..(*refusal::KEY_SIGNATURE).clone() };
        if !written.error_message.is_empty() {
            refusal.message = written.error_message.clone().into();
        }
        let secret = match written.secret.strip_prefix(META) {
            Some(name) => SignatureSecret::OfKey(name.to_owned()),
            None => SignatureSecret::Shared(ValueTemplate::new(&written.secret, scope)),
        };
        places.validate_signature.then(|| KeySignature {
            algorithm: written.algorithm(),
            header: written.header.clone(),
            parameter: written.param().map(str::to_owned),
            secret,
            skew_s: written.skew_s(),
            refusal: refusal.into(),
        })
    }

    /// Checks the signature that accompanies a key, which was sent as `token`.
    ///
    /// # Errors
    /// The refusal for the client.
    pub(super) fn check(&self, exchange: &Exchange<'_>, token: &str, key: &Key) -> Result<(), Refusal> {
        let algorithm = self.algorithm.ok_or(refusal::KEY_SIGNATURE_ALGORITHM)?;
        let in_query = || parameter(exchange.query()?, self.parameter.as_deref()?).filter(|found| !found.is_empty());
        let in_header = || {
            let value = exchange.received().get(&self.header).filter(|_| !self.header.is_empty())?;
            std::str::from_utf8(value).ok().map(str::to_owned)
        };
        let shown = in_query().or_else(in_header).ok_or_else(|| self.refusal.clone())?.to_ascii_lowercase();
        let secret = self.secret.of(exchange, key);
        let is_right =
            !secret.is_empty() && self.is(algorithm, &shown, token, &key.session.org_id, &secret, exchange.arrival.unix_s);
        if is_right { Ok(()) } else { Err(self.refusal.clone()) }
    }

    /// Whether it is the signature of a key, in any form in which clients know the key.
    fn is(&self, algorithm: SignatureAlgorithm, shown: &str, token: &str, org: &str, secret: &str, now_unix_s: u64) -> bool {
        let Some(skew_s) = self.skew_s else { return false };
        let without_org = token.strip_prefix(org).filter(|rest| !org.is_empty() && !rest.is_empty());
        let inner = key_format::id_of(token);
        let forms = [Some(token), without_org, inner.as_deref()];
        let from = now_unix_s.saturating_sub(skew_s);
        let mut times = from..=now_unix_s.saturating_add(skew_s);
        times.any(|unix_s| {
            let time = unix_s.to_string();
            forms.iter().flatten().any(|key| made(algorithm, [key, secret, &time]).as_bytes().ct_eq(shown.as_bytes()).into())
        })
    }
}

impl SignatureSecret {
    fn of(&self, exchange: &Exchange<'_>, key: &Key) -> String {
        match self {
            SignatureSecret::OfKey(name) => key.session.meta_data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned(),
            SignatureSecret::Shared(template) => template.render(exchange),
        }
    }
}

/// Makes a signature, in hexadecimal digits.
fn made(algorithm: SignatureAlgorithm, parts: [&str; 3]) -> String {
    fn over<D: Digest>(parts: [&str; 3]) -> String {
        let mut hasher = D::new();
        parts.iter().for_each(|part| hasher.update(part));
        tollgate_model::hexadecimal(&hasher.finalize())
    }
    match algorithm {
        SignatureAlgorithm::MasheryMd5 => over::<Md5>(parts),
        SignatureAlgorithm::MasherySha256 => over::<Sha256>(parts),
    }
}

#[cfg(test)]
mod tests;
