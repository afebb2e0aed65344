//! Signed requests, after an early draft of HTTP signatures (draft-cavage-http-signatures). Reads `enable_signature_checking`,
//! `hmac_allowed_algorithms`, `hmac_allowed_clock_skew` and `auth_configs.hmac`; the key of `keyId` must have `hmac_enabled` and
//! `hmac_string`, or for RSA `enable_http_signature_validation` and `rsa_certificate_id`. The client sees 400 `Authorization field missing,
//! malformed or invalid` for every error. With a clock skew set, the date must be within it and must be signed.

mod fields;
mod public_keys;

use super::{Middleware, MiddlewareSource};
use crate::credentials::CredentialPlaces;
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::refusal;
use crate::template::uses_token;
use aws_lc_rs::hmac;
use fields::SignatureFields;
use public_keys::PublicKeys;
use std::time::{Duration, UNIX_EPOCH};
use tollgate_access::keys::{HeldKey, Key};
use tollgate_model::api::AuthMethod;

/// How a signature is made.
#[derive(Clone, Copy)]
enum SigningMethod {
    /// HMAC with a shared secret.
    Hmac(&'static hmac::Algorithm),
    /// PKCS #1 v1.5 with SHA-256.
    Rsa,
}

/// Algorithms by name.
static ALGORITHMS: [(&str, SigningMethod); 5] = [
    ("hmac-sha1", SigningMethod::Hmac(&hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY)),
    ("hmac-sha256", SigningMethod::Hmac(&hmac::HMAC_SHA256)),
    ("hmac-sha384", SigningMethod::Hmac(&hmac::HMAC_SHA384)),
    ("hmac-sha512", SigningMethod::Hmac(&hmac::HMAC_SHA512)),
    ("rsa-sha256", SigningMethod::Rsa),
];

pub(super) struct SignatureAuth {
    places: CredentialPlaces,
    org_id: String,
    /// Allowed algorithms; empty for all.
    algorithms: Vec<String>,
    /// Allowed clock skew; `None` accepts any date.
    skew: Option<Duration>,
    public_keys: PublicKeys,
    gives_session: bool,
    /// Whether a variable uses the key.
    keeps_token: bool,
}

impl SignatureAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        if !definition.uses(AuthMethod::Hmac) {
            return None;
        }
        let skew_ms = definition.hmac_allowed_clock_skew;
        Some(Box::new(SignatureAuth {
            places: CredentialPlaces::new(definition.places(AuthMethod::Hmac)),
            org_id: definition.org_id.clone(),
            algorithms: definition.hmac_allowed_algorithms.clone(),
            skew: (skew_ms > 0.0).then(|| Duration::from_secs_f64((skew_ms / 1000.0).min(1e12))),
            public_keys: PublicKeys::new(source.context.registry.certificates.clone()),
            gives_session: definition.takes_session_of(AuthMethod::Hmac),
            keeps_token: uses_token(definition),
        }))
    }

    /// The request's signature fields, if they are valid.
    fn signature(&self, exchange: &Exchange<'_>) -> Option<(SignatureFields, SigningMethod)> {
        let fields = SignatureFields::parse(&self.places.find(exchange)?)?;
        let algorithm = self.algorithm(&fields.algorithm)?;
        self.date_is_good(exchange, &fields).then_some((fields, algorithm))
    }

    /// Finds the key that signed the request.
    fn signer(&self, exchange: &mut Exchange<'_>) -> Result<HeldKey, Step> {
        const REFUSED: Step = Step::Refuse(refusal::SIGNATURE_REFUSED);
        let (fields, algorithm) = self.signature(exchange).ok_or(REFUSED)?;
        let key = exchange.key_or_ask(&fields.key_id, &self.org_id)?;
        let key = key.filter(|key| self.has_signed(exchange, key, &fields, algorithm)).ok_or(REFUSED)?;
        if self.keeps_token && self.gives_session {
            exchange.caller.token = Some(fields.key_id.as_str().into());
        }
        Ok(key)
    }

    /// Whether the holder of a key signed the request.
    fn has_signed(&self, exchange: &Exchange<'_>, key: &Key, fields: &SignatureFields, algorithm: SigningMethod) -> bool {
        let session = &key.session;
        // Tyk signs only the path, the draft path and query.
        let tyks = exchange.arrival.full_path;
        let drafts = Some(exchange.request.target).filter(|target| *target != tyks);
        let targets = std::iter::once(tyks).chain(drafts);
        let mut messages = targets.filter_map(|target| signed_text(exchange, &fields.headers, target));
        match algorithm {
            SigningMethod::Hmac(function) => {
                let secret = Some(&session.hmac_string).filter(|secret| session.hmac_enabled && !secret.is_empty());
                let Some(secret) = secret.map(|secret| hmac::Key::new(*function, secret.as_bytes())) else { return false };
                messages.any(|message| hmac::verify(&secret, message.as_bytes(), &fields.signature).is_ok())
            }
            SigningMethod::Rsa => {
                let id = Some(&session.rsa_certificate_id).filter(|_| session.enable_http_signature_validation);
                let Some(public) = id.and_then(|id| self.public_keys.get(id, exchange.arrival.unix_s)) else { return false };
                messages.any(|message| public.has_signed(message.as_bytes(), &fields.signature))
            }
        }
    }

    fn algorithm(&self, name: &str) -> Option<SigningMethod> {
        if !self.algorithms.is_empty() && !self.algorithms.iter().any(|allowed| allowed == name) {
            return None;
        }
        let name = if name.is_empty() { "hmac-sha1" } else { name };
        ALGORITHMS.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    /// Whether the request's date is valid, within the skew, and signed.
    fn date_is_good(&self, exchange: &Exchange<'_>, fields: &SignatureFields) -> bool {
        let Some(skew) = self.skew else { return true };
        let Some((name, date)) = date(exchange) else { return false };
        let is_signed = fields.headers.iter().any(|header| header == "date" || header == name);
        let Some(date) = parse_date(date) else { return false };
        let now = UNIX_EPOCH + Duration::from_secs(exchange.arrival.unix_s);
        let apart = now.duration_since(date).or_else(|_| date.duration_since(now)).unwrap_or(Duration::MAX);
        is_signed && apart <= skew
    }
}

/// Name and value of the date header: clients that can't set `Date` send another.
fn date<'e>(exchange: &'e Exchange<'_>) -> Option<(&'static str, &'e str)> {
    ["x-aux-date", "date"].into_iter().find_map(|name| {
        let value = std::str::from_utf8(exchange.received().get(name)?).ok()?.trim();
        (!value.is_empty()).then_some((name, value))
    })
}

/// Parses a date in RFC 1123's form, also with a numeric zone of zero in place of a name.
fn parse_date(text: &str) -> Option<std::time::SystemTime> {
    let utc = ["UTC", "+0000", "+00", "Z"].iter().find_map(|zone| text.strip_suffix(zone));
    let text = utc.map_or_else(|| text.to_owned(), |start| format!("{}GMT", start));
    httpdate::parse_http_date(&text).ok()
}

/// The signed text: one line per name. `None` when it cannot be determined.
fn signed_text(exchange: &Exchange<'_>, names: &[String], target: &str) -> Option<String> {
    let mut lines = Vec::with_capacity(names.len());
    for name in names {
        lines.push(match name.as_str() {
            "(request-target)" => format!("(request-target): {} {target}", exchange.request.method.to_ascii_lowercase()),
            "date" => {
                let (name, value) = date(exchange).unwrap_or_default();
                format!("{name}: {value}")
            }
            "host" => format!("host: {}", std::str::from_utf8(exchange.request.authority).ok()?),
            // Every line with the name is signed: otherwise anyone could add one.
            name => {
                let lines = exchange.received().iter().filter(|(line, _)| line.eq_ignore_ascii_case(name));
                let values = lines.map(|(_, value)| std::str::from_utf8(value).map(str::trim)).collect::<Result<Vec<_>, _>>();
                format!("{name}: {}", values.ok()?.join(", "))
            }
        });
    }
    Some(lines.join("\n"))
}

impl Middleware for SignatureAuth {
    /// Adds all names: the client chooses which headers its signature covers.
    fn header_names(&self, names: &mut HeaderNames) {
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        let key = match self.signer(exchange) {
            Ok(key) => key,
            Err(step) => return step,
        };
        if self.gives_session {
            exchange.caller.key = Some(key);
        }
        Step::Next
    }
}
