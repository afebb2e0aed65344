//! Certificate details in the control API's answers. They have the shape of Tyk's answers, which are Go's: names by their parts, absent
//! lists as null.

use super::pem::UploadedCertificate;
use serde::Serialize;
use tollgate_model::calendar;
use utoipa::ToSchema;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{X509Certificate, X509Name};

/// Parts of a name: object identifiers below 2.5.4.
const COMMON_NAME: u64 = 3;
const SERIAL_NUMBER: u64 = 5;
const COUNTRY: u64 = 6;
const LOCALITY: u64 = 7;
const PROVINCE: u64 = 8;
const STREET_ADDRESS: u64 = 9;
const ORGANIZATION: u64 = 10;
const ORGANIZATIONAL_UNIT: u64 = 11;
const POSTAL_CODE: u64 = 17;

/// First second that RFC 3339 cannot express.
const YEAR_10000_UNIX_S: u64 = 253_402_300_800;

/// One line of a detailed list.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CertificateLine)]
pub struct CertificateSummary {
    id: String,
    issuer_cn: String,
    /// Common name of the subject; for a public key, its fingerprint.
    subject_cn: String,
    /// Host names that the certificate is valid for.
    #[schema(required)]
    dns_names: Option<Vec<String>>,
    /// Whether the private key is stored as well.
    has_private: bool,
    #[schema(format = DateTime)]
    not_before: String,
    #[schema(format = DateTime)]
    not_after: String,
    /// Whether the certificate may sign others.
    is_ca: bool,
}

/// Details of one certificate.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Certificate)]
pub struct CertificateInfo {
    id: String,
    /// SHA-256, hexadecimal.
    fingerprint: String,
    /// Whether the private key is stored as well.
    has_private: bool,
    issuer: CertificateName,
    subject: CertificateName,
    /// Host names that the certificate is valid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dns_names: Option<Vec<String>>,
    #[schema(format = DateTime)]
    not_before: String,
    #[schema(format = DateTime)]
    not_after: String,
    /// Whether the certificate may sign others.
    is_ca: bool,
}

/// Subject or issuer of a certificate.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct CertificateName {
    country: Option<Vec<String>>,
    organization: Option<Vec<String>>,
    organizational_unit: Option<Vec<String>>,
    locality: Option<Vec<String>>,
    province: Option<Vec<String>>,
    street_address: Option<Vec<String>>,
    postal_code: Option<Vec<String>>,
    #[schema(required = false)]
    serial_number: String,
    common_name: String,
    /// All parts, by object identifier.
    names: Option<Vec<NamePart>>,
    /// Always null.
    extra_names: Option<Vec<NamePart>>,
}

/// One part of a name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct NamePart {
    /// Object identifier.
    r#type: Vec<u64>,
    value: String,
}

/// Validity period of a certificate, and whether it is a CA.
struct ValidityPeriod {
    not_before: String,
    not_after: String,
    is_ca: bool,
}

/// Makes one line of a detailed list.
pub fn summary(id: &str, certificate: &UploadedCertificate) -> CertificateSummary {
    let leaf = certificate.leaf();
    let ValidityPeriod { not_before, not_after, is_ca } = ValidityPeriod::of(leaf.as_ref());
    CertificateSummary {
        id: id.to_owned(),
        issuer_cn: leaf.as_ref().map(|leaf| common_name(leaf.issuer())).unwrap_or_default(),
        subject_cn: leaf.as_ref().map_or_else(|| public_key_name(certificate), |leaf| common_name(leaf.subject())),
        dns_names: dns_names(leaf.as_ref()),
        has_private: certificate.has_private_key(),
        not_before,
        not_after,
        is_ca,
    }
}

/// Makes the details of one certificate.
pub fn details(id: &str, certificate: &UploadedCertificate) -> CertificateInfo {
    let leaf = certificate.leaf();
    let ValidityPeriod { not_before, not_after, is_ca } = ValidityPeriod::of(leaf.as_ref());
    let (issuer, subject) = match &leaf {
        Some(leaf) => (full_name(leaf.issuer()), full_name(leaf.subject())),
        None => {
            let subject = CertificateName { common_name: public_key_name(certificate), ..CertificateName::default() };
            (CertificateName::default(), subject)
        }
    };
    CertificateInfo {
        id: id.to_owned(),
        fingerprint: certificate.fingerprint.clone(),
        has_private: certificate.has_private_key(),
        issuer,
        subject,
        dns_names: dns_names(leaf.as_ref()),
        not_before,
        not_after,
        is_ca,
    }
}

impl ValidityPeriod {
    fn of(leaf: Option<&X509Certificate<'_>>) -> Self {
        let validity = leaf.map(|leaf| leaf.validity());
        ValidityPeriod {
            not_before: date(validity.map(|validity| validity.not_before.timestamp())),
            not_after: date(validity.map(|validity| validity.not_after.timestamp())),
            is_ca: leaf.is_some_and(|leaf| leaf.is_ca()),
        }
    }
}

/// Formats a time as RFC 3339; Go's zero time when there is none.
fn date(unix_s: Option<i64>) -> String {
    match unix_s.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds < YEAR_10000_UNIX_S) {
        Some(seconds) => calendar::rfc3339(seconds),
        None => "0001-01-01T00:00:00Z".to_owned(),
    }
}

fn public_key_name(certificate: &UploadedCertificate) -> String {
    format!("Public Key: {}", certificate.fingerprint)
}

fn dns_names(leaf: Option<&X509Certificate<'_>>) -> Option<Vec<String>> {
    let names =
        leaf.and_then(|leaf| leaf.subject_alternative_name().ok().flatten()).map(|extension| &extension.value.general_names);
    let names: Vec<String> = names
        .into_iter()
        .flatten()
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            _ => None,
        })
        .collect();
    Some(names).filter(|names| !names.is_empty())
}

fn common_name(name: &X509Name<'_>) -> String {
    name.iter_common_name().filter_map(|part| part.as_str().ok()).last().unwrap_or_default().to_owned()
}

fn full_name(name: &X509Name<'_>) -> CertificateName {
    let parts: Vec<(Vec<u64>, &str)> = name
        .iter_attributes()
        .filter_map(|part| Some((part.attr_type().iter()?.collect(), part.as_str().unwrap_or_default())))
        .collect();
    let values = |wanted: u64| -> Vec<String> {
        parts.iter().filter(|(oid, _)| oid.as_slice() == [2, 5, 4, wanted]).map(|(_, value)| (*value).to_owned()).collect()
    };
    let list = |wanted: u64| Some(values(wanted)).filter(|values| !values.is_empty());
    CertificateName {
        country: list(COUNTRY),
        organization: list(ORGANIZATION),
        organizational_unit: list(ORGANIZATIONAL_UNIT),
        locality: list(LOCALITY),
        province: list(PROVINCE),
        street_address: list(STREET_ADDRESS),
        postal_code: list(POSTAL_CODE),
        serial_number: values(SERIAL_NUMBER).pop().unwrap_or_default(),
        common_name: values(COMMON_NAME).pop().unwrap_or_default(),
        names: Some(parts.iter().map(|(oid, value)| NamePart { r#type: oid.clone(), value: (*value).to_owned() }).collect()),
        extra_names: None,
    }
}
