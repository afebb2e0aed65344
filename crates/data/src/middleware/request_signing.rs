//! Signs requests for the upstream, after an early draft of HTTP signatures (draft-cavage-http-signatures). Reads `request_signing` and
//! `hmac_allowed_algorithms`. The signature replaces what the client sent in its header. As in Tyk, the signed path is the one behind the listen
//! path, or that of a rewritten URL. If the certificate of an RSA key is missing, the client sees 500 `Certificate not found`.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Redirect, Step};
use crate::header_names::HeaderNames;
use crate::refusal::SIGNING_CERTIFICATE;
use crate::upstream::write_target;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rustls::SignatureScheme;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tollgate_model::api::RequestSigning as SigningRules;
use tollgate_tls::CertificateSlot;

/// HMAC algorithms by name.
static HMACS: [(&str, &hmac::Algorithm); 4] = [
    ("hmac-sha1", &hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
    ("hmac-sha256", &hmac::HMAC_SHA256),
    ("hmac-sha384", &hmac::HMAC_SHA384),
    ("hmac-sha512", &hmac::HMAC_SHA512),
];

/// The algorithm with a certificate: PKCS #1 v1.5 with SHA-256.
const RSA: &str = "rsa-sha256";

/// Header lines that the engine writes or removes on the way: they can't be signed here.
const UNSIGNED: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
];

/// Sets the header with the signature.
pub(super) struct SignRequest {
    key: RequestSigningKey,
    key_id: String,
    algorithm: String,
    /// Names of the header lines to sign in lower case; empty for all.
    names: Vec<String>,
    header: String,
}

enum RequestSigningKey {
    Hmac(Box<hmac::Key>),
    Certificate(Arc<CertificateSlot>),
}

impl SignRequest {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let rules = &source.definition.request_signing;
        if !rules.is_enabled {
            return None;
        }
        match signing(rules, source) {
            Ok(signing) => Some(Box::new(signing)),
            Err((field, message)) => {
                source.context.error(format!("$.request_signing.{field}"), message);
                None
            }
        }
    }
}

fn signing(rules: &SigningRules, source: &MiddlewareSource<'_, '_>) -> Result<SignRequest, (&'static str, String)> {
    let allowed = &source.definition.hmac_allowed_algorithms;
    if rules.key_id.is_empty() {
        return Err(("key_id", "must not be empty".to_owned()));
    }
    if !allowed.is_empty() && !allowed.contains(&rules.algorithm) {
        return Err(("algorithm", "is not in hmac_allowed_algorithms".to_owned()));
    }
    let key = match HMACS.iter().find(|(name, _)| *name == rules.algorithm) {
        Some(_) if rules.secret.is_empty() => return Err(("secret", "must not be empty".to_owned())),
        Some((_, function)) => RequestSigningKey::Hmac(Box::new(hmac::Key::new(**function, rules.secret.as_bytes()))),
        None if rules.algorithm != RSA => {
            let known: Vec<&str> = HMACS.iter().map(|(name, _)| *name).collect();
            return Err(("algorithm", format!("must be one of {}, {RSA}", known.join(", "))));
        }
        None if rules.certificate_id.is_empty() => return Err(("certificate_id", "must not be empty".to_owned())),
        None => RequestSigningKey::Certificate(source.context.registry.certificates.named(&rules.certificate_id)),
    };
    Ok(SignRequest {
        key,
        key_id: rules.key_id.clone(),
        algorithm: rules.algorithm.clone(),
        names: rules.header_list.iter().map(|name| name.trim().to_ascii_lowercase()).collect(),
        header: if rules.signature_header.is_empty() { "Authorization".to_owned() } else { rules.signature_header.clone() },
    })
}

impl SignRequest {
    /// The names to sign, in order. Adds a date if one is needed, as in Tyk.
    fn signed_names(&self, exchange: &mut Exchange<'_>) -> Vec<String> {
        let (request, edits) = (exchange.request, &mut exchange.outgoing.edits);
        let mut names: Vec<String> = Vec::new();
        if self.names.is_empty() {
            names.push("(request-target)".to_owned());
            edits.each_line(&request.headers, &mut |name, _| {
                let name = name.to_ascii_lowercase();
                let is_left_out =
                    UNSIGNED.contains(&name.as_str()) || name.eq_ignore_ascii_case(&self.header) || names.contains(&name);
                if !is_left_out {
                    names.push(name);
                }
            });
        } else {
            let is_there = |name: &String| {
                let value = edits.current(&request.headers, name);
                name == "(request-target)" || (!UNSIGNED.contains(&name.as_str()) && value.is_some_and(|value| !value.is_empty()))
            };
            names.extend(self.names.iter().filter(|name| is_there(name)).cloned());
        }
        let needs_date = self.names.is_empty() || names.is_empty();
        if names.is_empty() {
            names.push("(request-target)".to_owned());
        }
        if needs_date && !names.iter().any(|name| name == "date") {
            if edits.current(&request.headers, "Date").is_none() {
                let now = UNIX_EPOCH + Duration::from_secs(exchange.arrival.unix_s);
                edits.set(&request.headers, "Date", httpdate::fmt_http_date(now).as_bytes());
            }
            names.push("date".to_owned());
        }
        names
    }

    /// The text to sign: one line for each name.
    fn text(&self, names: &[String], exchange: &Exchange<'_>) -> Vec<u8> {
        let (headers, edits) = (&exchange.request.headers, &exchange.outgoing.edits);
        let mut text = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                text.push(b'\n');
            }
            if name == "(request-target)" {
                text.extend_from_slice(format!("{name}: {} ", exchange.method.to_ascii_lowercase()).as_bytes());
                signed_target(exchange, &mut text);
                continue;
            }
            // Clients that can't set `Date` send another header, which counts in its place.
            let aux = edits.current(headers, "x-aux-date").filter(|value| name == "date" && !value.is_empty());
            let shown = if aux.is_some() { "x-aux-date" } else { name };
            text.extend_from_slice(shown.as_bytes());
            text.extend_from_slice(b": ");
            let mut is_first = true;
            edits.each_line(headers, &mut |line, value| {
                if line.eq_ignore_ascii_case(shown) {
                    if !std::mem::replace(&mut is_first, false) {
                        text.extend_from_slice(b", ");
                    }
                    text.extend_from_slice(value.trim_ascii());
                }
            });
        }
        text
    }

    /// The signature in its encoding; `None` if there is no key.
    fn signature(&self, text: &[u8]) -> Option<String> {
        match &self.key {
            // As in Tyk, escaped as in a form.
            RequestSigningKey::Hmac(key) => {
                let encoded = STANDARD.encode(hmac::sign(key, text));
                Some(utf8_percent_encode(&encoded, NON_ALPHANUMERIC).to_string())
            }
            RequestSigningKey::Certificate(slot) => {
                let certificate = slot.get()?;
                let signer = certificate.own.as_ref()?.key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256])?;
                Some(STANDARD.encode(signer.sign(text).ok()?))
            }
        }
    }
}

/// Path and query as they are signed.
fn signed_target(exchange: &Exchange<'_>, text: &mut Vec<u8>) {
    let (path, query) = match &exchange.decisions.redirected {
        Some(Redirect::Upstream(upstream)) => (upstream.path.as_str(), upstream.query.as_str()),
        Some(Redirect::Loop(_)) | None => ("", ""),
    };
    write_target(exchange.api, &exchange.url, path, query, text);
}

impl Middleware for SignRequest {
    fn header_names(&self, names: &mut HeaderNames) {
        if self.names.is_empty() {
            return names.add_all();
        }
        self.names.iter().map(String::as_str).chain([self.header.as_str(), "Date", "X-Aux-Date"]).for_each(|name| names.add(name));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let names = self.signed_names(exchange);
        let text = self.text(&names, exchange);
        let Some(signature) = self.signature(&text) else { return Step::Refuse(SIGNING_CERTIFICATE) };
        let value = format!(
            "Signature keyId=\"{}\",algorithm=\"{}\",headers=\"{}\",signature=\"{signature}\"",
            self.key_id,
            self.algorithm,
            names.join(" ")
        );
        exchange.outgoing.edits.set(&exchange.request.headers, &self.header, value.as_bytes());
        Step::Next
    }
}
