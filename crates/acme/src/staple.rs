//! What an issuer says about whether a certificate is revoked (OCSP, RFC 6960): handshakes hand it out with the certificate. Few issuers still
//! offer it: a certificate that names no responder has none.

use http::Request;
use http::header::CONTENT_TYPE;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use sha1::{Digest, Sha1};
use std::time::Duration;
use tollgate_outbound::{HttpClient, HttpClientSettings, ProxyChooser};
use tollgate_tls::{Library, TlsRules, client_config};
use x509_cert::Certificate;
use x509_cert::der::asn1::{AnyRef, Null, ObjectIdentifier, OctetString};
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{AuthorityInfoAccessSyntax, ExtendedKeyUsage};
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_ocsp::{BasicOcspResponse, CertId, CertStatus, OcspRequest, OcspResponse, OcspResponseStatus, TbsRequest};

const RESPONDER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1");
const OCSP_SIGNING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.9");
const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
const BASIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.1");
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How far the clocks of issuers may be ahead.
const CLOCK_S_MAX: u64 = 300;
/// A responder is not asked more often, and not less often.
const ASK_S_LEAST: u64 = 60;
pub(crate) const ASK_S_MOST: u64 = 24 * 3600;

/// An answer that handshakes may hand out.
#[derive(Debug, PartialEq)]
pub(crate) struct GoodAnswer {
    /// The response in DER.
    pub response: Vec<u8>,
    /// When it ends, in seconds since 1970.
    pub ends_unix_s: u64,
    /// When a newer one is asked for.
    pub again_unix_s: u64,
}

/// Why there is no such answer.
#[derive(Debug, PartialEq)]
pub(crate) enum NoAnswer {
    /// The issuer has revoked the certificate.
    Revoked,
    /// Nobody knows.
    Failed(String),
}

/// A question about one certificate.
pub(crate) struct StatusQuestion {
    url: String,
    about: CertId,
    issuer: Certificate,
}

impl StatusQuestion {
    /// The question about the first certificate of a chain, which the second one has issued; `None` if it names no responder.
    pub(crate) fn new(chain: &[CertificateDer<'_>]) -> Result<Option<Self>, String> {
        let [leaf, issuer, ..] = chain else { return Ok(None) };
        let [leaf, issuer] = [leaf, issuer].map(|der| Certificate::from_der(der).map_err(|error| error.to_string()));
        let (leaf, issuer) = (leaf?.tbs_certificate, issuer?);
        let access = leaf.get::<AuthorityInfoAccessSyntax>().map_err(|error| error.to_string())?;
        let responder = access.into_iter().flat_map(|(_, access)| access.0).find_map(|one| match one.access_location {
            GeneralName::UniformResourceIdentifier(url) if one.access_method == RESPONDER => Some(url.to_string()),
            _ => None,
        });
        let Some(url) = responder else { return Ok(None) };
        let of = |bytes: &[u8]| OctetString::new(Sha1::digest(bytes).to_vec()).map_err(|error| error.to_string());
        let named = &issuer.tbs_certificate;
        // Responders look for certificates by this digest, which protects nothing here.
        let about = CertId {
            hash_algorithm: AlgorithmIdentifierOwned { oid: SHA1, parameters: Some(Null.into()) },
            issuer_name_hash: of(&named.subject.to_der().map_err(|error| error.to_string())?)?,
            issuer_key_hash: of(named.subject_public_key_info.subject_public_key.raw_bytes())?,
            serial_number: leaf.serial_number,
        };
        Ok(Some(StatusQuestion { url, about, issuer }))
    }

    /// Asks the responder.
    pub(crate) async fn ask(&self, proxies: Option<&ProxyChooser>, now_unix_s: u64) -> Result<GoodAnswer, NoAnswer> {
        self.judge(&self.answer(proxies).await.map_err(NoAnswer::Failed)?, now_unix_s)
    }

    async fn answer(&self, proxies: Option<&ProxyChooser>) -> Result<Vec<u8>, String> {
        let asked = x509_ocsp::Request { req_cert: self.about.clone(), single_request_extensions: None };
        let asked = TbsRequest { request_list: vec![asked], ..TbsRequest::default() };
        let asked = OcspRequest { tbs_request: asked, optional_signature: None }.to_der().map_err(|error| error.to_string())?;
        let request = Request::post(&self.url).header(CONTENT_TYPE, "application/ocsp-request").body(asked.into());
        let request = request.map_err(|error| format!("{}: {error}", self.url))?;
        let tls = client_config(&TlsRules::default(), &Library::default())?;
        let settings = HttpClientSettings { http2: false, idle_max: Duration::ZERO, connect_time_max: None };
        let client = HttpClient::through(tls, settings, proxies.cloned());
        let answer = tokio::time::timeout(ANSWER_TIME_MAX, client.send(request, ANSWER_BYTES_MAX)).await;
        let answer = answer.map_err(|_| format!("{}: no answer in time", self.url))?;
        let answer = answer.map_err(|fault| format!("{}: {fault}", self.url))?;
        if answer.status == 200 { Ok(answer.body.to_vec()) } else { Err(format!("{}: status {}", self.url, answer.status)) }
    }

    /// What a responder has said, if it is about this certificate, by its issuer, and of now.
    fn judge(&self, response: &[u8], now: u64) -> Result<GoodAnswer, NoAnswer> {
        let failed = |why: &str| NoAnswer::Failed(format!("{}: {why}", self.url));
        let unreadable = |error: x509_cert::der::Error| failed(&format!("not an answer: {error}"));
        let whole = OcspResponse::from_der(response).map_err(unreadable)?;
        if whole.response_status != OcspResponseStatus::Successful {
            return Err(failed(&format!("the answer is {:?}", whole.response_status)));
        }
        let basic = whole.response_bytes.filter(|bytes| bytes.response_type == BASIC);
        let basic = basic.ok_or_else(|| failed("the answer has another form"))?;
        let basic = BasicOcspResponse::from_der(basic.response.as_bytes()).map_err(unreadable)?;
        if !self.is_signed(&basic, now) {
            return Err(failed("the answer is not signed by the issuer"));
        }
        let is_about = |id: &CertId| {
            let (CertId { hash_algorithm, issuer_name_hash, issuer_key_hash, serial_number }, about) = (id, &self.about);
            hash_algorithm.oid == SHA1
                && (issuer_name_hash, issuer_key_hash, serial_number)
                    == (&about.issuer_name_hash, &about.issuer_key_hash, &about.serial_number)
        };
        let single = basic.tbs_response_data.responses.iter().find(|single| is_about(&single.cert_id));
        let single = single.ok_or_else(|| failed("the answer is about another certificate"))?;
        match single.cert_status {
            CertStatus::Good(_) => {}
            CertStatus::Revoked(_) => return Err(NoAnswer::Revoked),
            CertStatus::Unknown(_) => return Err(failed("the certificate is unknown there")),
        }
        let since = single.this_update.0.to_unix_duration().as_secs();
        let ends = single.next_update.map_or(since + ASK_S_MOST, |next| next.0.to_unix_duration().as_secs());
        if since > now + CLOCK_S_MAX || ends <= now {
            return Err(failed("the answer is not of now"));
        }
        let half = since + (ends - since) / 2;
        Ok(GoodAnswer {
            response: response.to_vec(),
            ends_unix_s: ends,
            again_unix_s: half.clamp(now + ASK_S_LEAST, now + ASK_S_MOST),
        })
    }

    /// Whether the issuer has signed, or somebody whom it lets sign.
    fn is_signed(&self, basic: &BasicOcspResponse, now: u64) -> bool {
        let Ok(said) = basic.tbs_response_data.to_der() else { return false };
        let signature = basic.signature.raw_bytes();
        let by = |key: &SubjectPublicKeyInfoOwned| verifies(key, &basic.signature_algorithm, &said, signature);
        let issuer = &self.issuer.tbs_certificate.subject_public_key_info;
        by(issuer)
            || basic.certs.iter().flatten().any(|one| self.lets_sign(one, now) && by(&one.tbs_certificate.subject_public_key_info))
    }

    fn lets_sign(&self, other: &Certificate, now: u64) -> bool {
        let named = &other.tbs_certificate;
        let purposes = named.get::<ExtendedKeyUsage>().ok().flatten();
        let time = &named.validity;
        let (since, ends) = (time.not_before.to_unix_duration().as_secs(), time.not_after.to_unix_duration().as_secs());
        let Ok(said) = named.to_der() else { return false };
        purposes.is_some_and(|(_, purposes)| purposes.0.contains(&OCSP_SIGNING))
            && (since..=ends).contains(&now)
            && named.issuer == self.issuer.tbs_certificate.subject
            && verifies(
                &self.issuer.tbs_certificate.subject_public_key_info,
                &other.signature_algorithm,
                &said,
                other.signature.raw_bytes(),
            )
    }
}

fn verifies(key: &SubjectPublicKeyInfoOwned, algorithm: &AlgorithmIdentifierOwned, said: &[u8], signature: &[u8]) -> bool {
    let content = |identifier: &AlgorithmIdentifierOwned| {
        let whole = identifier.to_der().ok()?;
        AnyRef::from_der(&whole).ok().map(|any| any.value().to_vec())
    };
    let (Some(of_key), Some(of_signature)) = (content(&key.algorithm), content(algorithm)) else { return false };
    let known = aws_lc_rs::default_provider().signature_verification_algorithms.all;
    known.iter().any(|known| {
        known.public_key_alg_id().as_ref() == of_key
            && known.signature_alg_id().as_ref() == of_signature
            && known.verify_signature(key.subject_public_key.raw_bytes(), said, signature).is_ok()
    })
}

#[cfg(test)]
mod tests;
