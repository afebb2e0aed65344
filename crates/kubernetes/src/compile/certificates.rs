//! Certificates and keys in secrets, and authorities in config maps: found, allowed, and fit for use.

use super::grants::{Referent, Referrer, is_granted};
use crate::cluster::Cluster;
use crate::conditions::Fault;
use crate::objects::{Key, ObjectRef, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

/// How faults of references are called where they stand.
pub(super) struct ReasonNames {
    pub invalid: &'static str,
    pub invalid_kind: &'static str,
}

/// A certificate with its key, in one text, from a secret.
///
/// # Errors
/// Why it can't be used; `names` says how that is called.
pub(super) fn key_pair(cluster: &Cluster, from: Referrer<'_>, to: &ObjectRef, names: &ReasonNames) -> Result<String, Fault> {
    let kind = to.kind_or("Secret");
    if !to.group.is_empty() || kind != "Secret" {
        return Err(Fault::new(names.invalid_kind, format!("{}/{kind} is not supported: refer to a Secret", to.group)));
    }
    let namespace = to.namespace_from(from.namespace);
    let key = Key::new(namespace, &to.name);
    if !is_granted(cluster, from, Referent { group: "", kind: "Secret", namespace, name: &to.name }) {
        return Err(Fault::new("RefNotPermitted", format!("No ReferenceGrant allows a reference to the Secret {key}")));
    }
    let invalid = |why: &str| Fault::new(names.invalid, format!("The Secret {key} {why}"));
    let secret = cluster.secrets.get(&key).filter(|secret| secret.spec.kind == "kubernetes.io/tls");
    let secret = secret.ok_or_else(|| invalid("does not exist, or is not of the type kubernetes.io/tls"))?;
    pair_of(&secret.spec).map_err(|why| invalid(&why))
}

/// A certificate with its key, in one text.
///
/// # Errors
/// What is wrong with the secret.
pub(super) fn pair_of(secret: &Secret) -> Result<String, String> {
    let (certificate, private_key) = (text_of(secret, "tls.crt")?, text_of(secret, "tls.key")?);
    check_pair(&certificate, &private_key)?;
    Ok(format!("{}\n{}", certificate.trim_end(), private_key.trim_start()))
}

/// An entry of a secret.
///
/// # Errors
/// It is not there, or is no text.
pub(super) fn text_of(secret: &Secret, name: &str) -> Result<String, String> {
    let written = secret.data.get(name).ok_or_else(|| format!("has no {name}"))?;
    let bytes = STANDARD.decode(written).map_err(|_| format!("has a {name} that is not in Base64"))?;
    String::from_utf8(bytes).map_err(|_| format!("has a {name} that is no text"))
}

/// The certificates of authorities in a secret.
///
/// # Errors
/// What is wrong with the secret.
pub(super) fn authorities_of(secret: &Secret) -> Result<String, String> {
    let text = text_of(secret, "ca.crt")?;
    match certificates(&text) {
        Some(list) if !list.is_empty() => Ok(text),
        _ => Err("has a ca.crt that is no list of certificates in PEM".to_owned()),
    }
}

/// The certificate in a secret of any type.
pub(super) struct SecretPem {
    /// The first one of the chain.
    pub leaf: CertificateDer<'static>,
    /// The chain, and the private key if there is one.
    pub text: String,
    pub has_key: bool,
}

/// `tls.crt` of a secret, with `tls.key` if it has one.
///
/// # Errors
/// Why it can't be used; begins with a verb.
pub(super) fn pem_in_secret(cluster: &Cluster, key: &Key) -> Result<SecretPem, String> {
    let secret = cluster.secrets.get(key).ok_or("does not exist")?;
    let decoded = |name: &str| -> Result<Option<String>, String> {
        let Some(written) = secret.spec.data.get(name) else { return Ok(None) };
        let bytes = STANDARD.decode(written).map_err(|_| format!("has a {name} that is not in Base64"))?;
        String::from_utf8(bytes).map(Some).map_err(|_| format!("has a {name} that is not in PEM"))
    };
    let chain = decoded("tls.crt")?.ok_or("has no tls.crt")?;
    let private_key = decoded("tls.key")?.filter(|key| !key.trim().is_empty());
    let leaf =
        certificates(&chain).and_then(|chain| chain.into_iter().next()).ok_or("has a tls.crt that is no certificate in PEM")?;
    let text = match &private_key {
        Some(private_key) => {
            check_pair(&chain, private_key)?;
            format!("{}\n{}", chain.trim_end(), private_key.trim_start())
        }
        None => chain,
    };
    Ok(SecretPem { leaf, text, has_key: private_key.is_some() })
}

/// The certificates of authorities in a config map.
///
/// # Errors
/// The same.
pub(super) fn authorities(cluster: &Cluster, from: Referrer<'_>, to: &ObjectRef, names: &ReasonNames) -> Result<String, Fault> {
    let kind = to.kind_or("ConfigMap");
    if !to.group.is_empty() || kind != "ConfigMap" {
        return Err(Fault::new(names.invalid_kind, format!("{}/{kind} is not supported: refer to a ConfigMap", to.group)));
    }
    let namespace = to.namespace_from(from.namespace);
    let key = Key::new(namespace, &to.name);
    if !is_granted(cluster, from, Referent { group: "", kind: "ConfigMap", namespace, name: &to.name }) {
        return Err(Fault::new("RefNotPermitted", format!("No ReferenceGrant allows a reference to the ConfigMap {key}")));
    }
    let invalid = |why: &str| Fault::new(names.invalid, format!("The ConfigMap {key} {why}"));
    let config_map = cluster.config_maps.get(&key).ok_or_else(|| invalid("does not exist"))?;
    let text = config_map.spec.data.ca.as_deref().ok_or_else(|| invalid("has no ca.crt"))?;
    if certificates(text).is_none_or(|certificates| certificates.is_empty()) {
        return Err(invalid("has a ca.crt that is no list of certificates in PEM"));
    }
    Ok(text.to_owned())
}

fn certificates(text: &str) -> Option<Vec<CertificateDer<'static>>> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<_, _>>().ok()?;
    let is_readable = |certificate: &CertificateDer<'_>| webpki::EndEntityCert::try_from(certificate).is_ok();
    found.iter().all(is_readable).then_some(found)
}

/// Whether a certificate can be read, and the key is its own.
fn check_pair(certificate: &str, key: &str) -> Result<(), String> {
    let chain = certificates(certificate).filter(|chain| !chain.is_empty());
    let chain = chain.ok_or("has a tls.crt that is no certificate in PEM")?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| "has a tls.key that is no private key in PEM")?;
    let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&key).map_err(|_| "has a key of a type that is not supported")?;
    match CertifiedKey::new(chain, key).keys_match() {
        Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)) => {
            Err("has a key that is not the certificate's".into())
        }
        _ => Ok(()),
    }
}
