//! Authentication by key. Reads `auth` and `auth_configs.authToken`. The client sees 401 `Authorization field missing` without a key and
//! 403 `Access to this API has been disallowed` with an unknown one. Keys are looked up in memory, then in the shared store if there is
//! one; when it does not answer, the client sees 503 `Sessions cannot be read at the moment`. A key that requires a password, a signature
//! or a token is not sufficient alone. With `use_certificate` a client certificate replaces the key or must accompany it: 401 `Client
//! certificate required`, 403 `Certificate has expired`. With `validate_signature` a signature must accompany it: see `key_signature`.
//! `tollgate.key_ring` names keys that are in no store.

mod key_signature;

use super::{Middleware, MiddlewareSource};
use crate::credentials::CredentialPlaces;
use crate::exchange::{Exchange, Step};
use crate::refusal::{self, Refusal};
use crate::template::uses_token;
use key_signature::KeySignature;
use tollgate_access::keys::{HeldKey, Key};
use tollgate_model::api::{AuthMethod, KeyRing};

pub(super) struct TokenAuth {
    places: CredentialPlaces,
    org_id: String,
    /// Where keys are looked for before the store, or in its place.
    ring: Option<KeyRing>,
    /// Whether this is the only authentication method.
    alone: bool,
    /// Whether a client certificate can replace a key, and must accompany one.
    use_certificate: bool,
    /// The signature that must accompany the key.
    signature: Option<KeySignature>,
    /// Whether the key provides the session.
    gives_session: bool,
    /// Whether a variable uses the key.
    keeps_token: bool,
}

impl TokenAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let applies = definition.uses(AuthMethod::Token);
        applies.then(|| {
            Box::new(TokenAuth {
                places: CredentialPlaces::new(definition.places(AuthMethod::Token)),
                org_id: definition.org_id.clone(),
                ring: definition.tollgate.key_ring.clone(),
                alone: definition.auth_methods().count() == 1,
                signature: KeySignature::compile(definition.places(AuthMethod::Token), source.variable_scope()),
                use_certificate: definition.places(AuthMethod::Token).use_certificate,
                gives_session: definition.takes_session_of(AuthMethod::Token),
                keeps_token: uses_token(definition),
            }) as Box<dyn Middleware>
        })
    }
}

impl TokenAuth {
    /// Finds the key of a client certificate when the request has no key.
    fn key_of_certificate(&self, exchange: &mut Exchange<'_>) -> Result<HeldKey, Step> {
        let certificate = exchange.arrival.tls.and_then(|tls| tls.certificate.as_ref()).filter(|_| self.use_certificate);
        let Some(certificate) = certificate else { return Err(Step::Refuse(refusal::AUTH_MISSING)) };
        if certificate.facts.has_expired(exchange.arrival.unix_s) {
            return Err(Step::Refuse(refusal::KEY_CERTIFICATE_EXPIRED));
        }
        let text = exchange.arrival.keys.rules.text_of(&certificate.facts.fingerprint, &self.org_id);
        let key = exchange.key_or_ask(&text, &self.org_id)?;
        let bound = key.filter(|key| key.is_bound_to(&certificate.facts.fingerprint));
        let key = bound.ok_or(Step::Refuse(refusal::KEY_CERTIFICATE_UNKNOWN))?;
        if let Some(signature) = &self.signature {
            signature.check(exchange, &certificate.facts.fingerprint, &key).map_err(Step::Refuse)?;
        }
        self.keep(&certificate.facts.fingerprint, exchange);
        Ok(key)
    }

    fn keep(&self, token: &str, exchange: &mut Exchange<'_>) {
        if self.keeps_token && self.gives_session {
            exchange.caller.token = Some(exchange.arrival.keys.written(token, &self.org_id).into());
        }
    }

    /// Checks the certificates that a key is bound to, even if the API asks for none: the name of such a key is derived from the
    /// certificate and is not secret.
    fn check_binding(&self, key: &Key, exchange: &Exchange<'_>) -> Result<(), Refusal> {
        let Some(certificate) = exchange.arrival.tls.and_then(|tls| tls.certificate.as_ref()) else {
            let is_good_alone = exchange.arrival.settings.callers.keys_without_certificate;
            return if is_good_alone { Ok(()) } else { Err(refusal::KEY_CERTIFICATE_MISSING) };
        };
        match key.is_bound_to(&certificate.facts.fingerprint) {
            true if certificate.facts.has_expired(exchange.arrival.unix_s) => Err(refusal::KEY_CERTIFICATE_EXPIRED),
            true => Ok(()),
            false => Err(refusal::KEY_CERTIFICATE_MISMATCH),
        }
    }

    fn key(&self, exchange: &mut Exchange<'_>) -> Result<HeldKey, Step> {
        let Some(token) = self.places.find(exchange) else { return self.key_of_certificate(exchange) };
        let known = match &self.ring {
            None => exchange.key_or_ask(&token, &self.org_id)?,
            Some(ring) => match exchange.arrival.keys.find_in_ring(&ring.name, &token) {
                None if ring.stored_keys => exchange.key_or_ask(&token, &self.org_id)?,
                known => known,
            },
        };
        let key = known.filter(|key| !self.alone || !key.is_only_a_name()).ok_or(Step::Refuse(refusal::KEY_DISALLOWED))?;
        if key.is_bound() || self.use_certificate {
            self.check_binding(&key, exchange).map_err(Step::Refuse)?;
        }
        if let Some(signature) = &self.signature {
            signature.check(exchange, &token, &key).map_err(Step::Refuse)?;
        }
        self.keep(&token, exchange);
        Ok(key)
    }
}

impl Middleware for TokenAuth {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        match self.key(exchange) {
            Ok(key) => {
                if self.gives_session {
                    exchange.caller.key = Some(key);
                }
                Step::Next
            }
            Err(step) => step,
        }
    }
}
