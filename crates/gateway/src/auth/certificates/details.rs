//! What the control API tells of a certificate, in the shape of Tyk's answers, which are Go's: names by their parts, absent lists as null.

use super::pem::Certificate;
use serde_json::{Map, Value, json};
use std::time::{Duration, UNIX_EPOCH};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{X509Certificate, X509Name};

/// Parts of a name with their object identifiers below 2.5.4; those that may come more than once first.
const LISTS: [(&str, u64); 7] = [
    ("Country", 6),
    ("Organization", 10),
    ("OrganizationalUnit", 11),
    ("Locality", 7),
    ("Province", 8),
    ("StreetAddress", 9),
    ("PostalCode", 17),
];
const COMMON_NAME: u64 = 3;
const SERIAL_NUMBER: u64 = 5;

/// From here on a date cannot be written.
const YEAR_10000_UNIX_S: u64 = 253_402_300_800;

/// One line of a detailed list.
pub fn basics(id: &str, certificate: &Certificate) -> Value {
    let leaf = certificate.leaf();
    let name = |pick: fn(&X509Certificate<'_>) -> String| leaf.as_ref().map(pick).unwrap_or_default();
    let subject = match &leaf {
        Some(leaf) => common_name(leaf.subject()),
        None => public_key_name(certificate),
    };
    let mut shown = json!({
        "id": id,
        "issuer_cn": name(|leaf| common_name(leaf.issuer())),
        "subject_cn": subject,
        "dns_names": dns_names(leaf.as_ref()),
        "has_private": certificate.has_private_key(),
    });
    add_validity(&mut shown, leaf.as_ref());
    shown
}

/// Everything that is told of one certificate.
pub fn details(id: &str, certificate: &Certificate) -> Value {
    let leaf = certificate.leaf();
    let (issuer, subject) = match &leaf {
        Some(leaf) => (full_name(leaf.issuer()), full_name(leaf.subject())),
        None => (empty_name(String::new()), empty_name(public_key_name(certificate))),
    };
    let mut shown = json!({
        "id": id,
        "fingerprint": certificate.fingerprint,
        "has_private": certificate.has_private_key(),
        "issuer": issuer,
        "subject": subject,
    });
    if let (names @ Value::Array(_), Value::Object(fields)) = (dns_names(leaf.as_ref()), &mut shown) {
        fields.insert("dns_names".to_owned(), names);
    }
    add_validity(&mut shown, leaf.as_ref());
    shown
}

fn add_validity(shown: &mut Value, leaf: Option<&X509Certificate<'_>>) {
    let Value::Object(fields) = shown else { return };
    let validity = leaf.map(|leaf| leaf.validity());
    fields.insert("not_before".to_owned(), date(validity.map(|validity| validity.not_before.timestamp())).into());
    fields.insert("not_after".to_owned(), date(validity.map(|validity| validity.not_after.timestamp())).into());
    fields.insert("is_ca".to_owned(), leaf.is_some_and(|leaf| leaf.is_ca()).into());
}

/// RFC 3339; Go's zero time for what has none.
fn date(unix_s: Option<i64>) -> String {
    let since = unix_s.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds < YEAR_10000_UNIX_S);
    let since = since.map(Duration::from_secs);
    match since.and_then(|since| UNIX_EPOCH.checked_add(since)) {
        Some(time) => humantime::format_rfc3339_seconds(time).to_string(),
        None => "0001-01-01T00:00:00Z".to_owned(),
    }
}

fn public_key_name(certificate: &Certificate) -> String {
    format!("Public Key: {}", certificate.fingerprint)
}

fn dns_names(leaf: Option<&X509Certificate<'_>>) -> Value {
    let names =
        leaf.and_then(|leaf| leaf.subject_alternative_name().ok().flatten()).map(|extension| &extension.value.general_names);
    let names: Vec<&str> = names
        .into_iter()
        .flatten()
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some(*name),
            _ => None,
        })
        .collect();
    if names.is_empty() { Value::Null } else { json!(names) }
}

fn common_name(name: &X509Name<'_>) -> String {
    name.iter_common_name().filter_map(|part| part.as_str().ok()).last().unwrap_or_default().to_owned()
}

fn empty_name(common_name: String) -> Value {
    let mut shown: Map<String, Value> = LISTS.iter().map(|(part, _)| ((*part).to_owned(), Value::Null)).collect();
    shown.insert("SerialNumber".to_owned(), "".into());
    shown.insert("CommonName".to_owned(), common_name.into());
    shown.insert("Names".to_owned(), Value::Null);
    shown.insert("ExtraNames".to_owned(), Value::Null);
    shown.into()
}

fn full_name(name: &X509Name<'_>) -> Value {
    let parts: Vec<(Vec<u64>, &str)> = name
        .iter_attributes()
        .filter_map(|part| Some((part.attr_type().iter()?.collect(), part.as_str().unwrap_or_default())))
        .collect();
    let values = |wanted: u64| -> Vec<&str> {
        parts.iter().filter(|(oid, _)| oid.as_slice() == [2, 5, 4, wanted]).map(|(_, value)| *value).collect()
    };
    let mut shown = empty_name(values(COMMON_NAME).last().copied().unwrap_or_default().to_owned());
    let Value::Object(fields) = &mut shown else { return shown };
    for (part, number) in LISTS {
        let values = values(number);
        if !values.is_empty() {
            fields.insert(part.to_owned(), json!(values));
        }
    }
    fields.insert("SerialNumber".to_owned(), values(SERIAL_NUMBER).last().copied().unwrap_or_default().into());
    let names: Vec<Value> = parts.iter().map(|(oid, value)| json!({ "Type": oid, "Value": value })).collect();
    fields.insert("Names".to_owned(), names.into());
    shown
}
