use super::pem::Material;
use super::*;
use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

const NOW: u64 = 1_790_000_000;

/// A certificate for `name` that ends with the year, and its private key, as PEM.
fn made(name: &str, last_year: i32) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned(), "other.test".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.distinguished_name.push(DnType::OrganizationName, "Tolls");
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(last_year, 12, 31));
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn refused(text: &str) -> String {
    let checked =
        UploadedCertificate::parse(text.as_bytes(), &KeyEncoding::default()).and_then(|certificate| certificate.check(NOW));
    checked.expect_err(text)
}

#[test]
fn a_chain_a_chain_with_its_key_and_a_public_key_are_taken() {
    let (certificate, key) = made("a.test", 2090);
    let (signer, _) = made("ca.test", 2090);
    let public = KeyPair::generate().unwrap().public_key_pem();
    let texts = [
        (certificate.clone(), false),
        (format!("{certificate}{signer}"), false),
        (format!("{key}\n# a note\n{certificate}\n{signer}"), true),
        (public, false),
    ];
    for (text, has_key) in texts {
        let parsed = UploadedCertificate::parse(text.as_bytes(), &KeyEncoding::default()).unwrap();
        parsed.check(NOW).unwrap();
        assert_eq!(parsed.has_private_key(), has_key, "{text}");
        let again = UploadedCertificate::parse(parsed.to_pem().as_bytes(), &KeyEncoding::default()).unwrap();
        assert_eq!((again.fingerprint, again.material.blocks()), (parsed.fingerprint.clone(), parsed.material.blocks()));
    }
}

impl Material {
    /// All blocks, for comparison.
    fn blocks(&self) -> Vec<Vec<u8>> {
        match self {
            Material::PublicKey(der) => vec![der.to_vec()],
            Material::Chain { chain, key } => {
                let key = key.iter().map(|key| key.secret_der().to_vec());
                chain.iter().map(|der| der.to_vec()).chain(key).collect()
            }
        }
    }
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    let (certificate, key) = made("a.test", 2090);
    let (expired, _) = made("old.test", 2021);
    let (_, other_key) = made("b.test", 2090);
    let public = KeyPair::generate().unwrap().public_key_pem();
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    for (text, reason) in [
        (String::new(), "Failed to decode certificate. It should be PEM encoded."),
        ("not PEM".to_owned(), "Failed to decode certificate. It should be PEM encoded."),
        (key.clone(), "Failed to decode certificate. It should be PEM encoded."),
        ("-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n".to_owned(), "Failed to decode certificate."),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned(), "not a certificate"),
        (expired.clone(), "certificate is expired"),
        (format!("{certificate}{expired}"), "certificate is expired"),
        (format!("{certificate}{key}{other_key}"), "Found multiple private keys"),
        (format!("{certificate}{other_key}"), "tls: private key does not match public key"),
        (format!("{certificate}{public}"), "Public keys can't be combined with certificates"),
        (format!("{public}{key}"), "a private key needs its certificate"),
        (format!("{certificate}{encrypted}"), "private keys that are encrypted as PKCS #8 are not supported"),
    ] {
        assert!(refused(&text).starts_with(reason), "{reason}: {}", refused(&text));
    }
}

#[test]
fn the_details_are_those_of_the_certificate() {
    let (text, _) = made("a.test", 2090);
    let certificate = UploadedCertificate::parse(text.as_bytes(), &KeyEncoding::default()).unwrap();
    let shown = serde_json::to_value(details("id", &certificate)).unwrap();
    assert_eq!(shown["subject"]["CommonName"], "a.test");
    assert_eq!(shown["subject"]["Organization"], serde_json::json!(["Tolls"]));
    assert_eq!(shown["subject"]["Country"], serde_json::Value::Null);
    assert_eq!(shown["dns_names"], serde_json::json!(["a.test", "other.test"]));
    assert_eq!((&shown["not_before"], &shown["not_after"]), (&"2020-01-01T00:00:00Z".into(), &"2090-12-31T00:00:00Z".into()));
    assert_eq!((&shown["has_private"], &shown["is_ca"]), (&false.into(), &false.into()));
    let line = serde_json::to_value(summary("id", &certificate)).unwrap();
    assert_eq!((&line["subject_cn"], &line["issuer_cn"]), (&"a.test".into(), &"a.test".into()));
}

#[test]
fn an_organisation_sees_its_own_ids() {
    let digits = "0".repeat(FINGERPRINT_DIGITS);
    for (id, org) in [(digits.clone(), ""), (format!("default{digits}"), "default"), ("short".to_owned(), "")] {
        assert_eq!(org_of(&id), org);
    }
}

#[test]
fn a_stored_key_is_encrypted_and_only_the_secret_opens_it() {
    let (certificate, key) = made("a.test", 2090);
    let clear = UploadedCertificate::parse(format!("{certificate}{key}").as_bytes(), &KeyEncoding::default()).unwrap();
    let encoding = |encrypts: &str, decrypts: &[&str]| KeyEncoding {
        encrypts: encrypts.to_owned(),
        decrypts: decrypts.iter().map(|secret| (*secret).to_owned()).collect(),
    };
    let stored = clear.to_stored_pem(&encoding("s3cret", &[])).unwrap();
    assert!(stored.contains("BEGIN ENCRYPTED PRIVATE KEY") && !stored.contains("BEGIN PRIVATE KEY"), "{stored}");
    assert_ne!(stored, clear.to_stored_pem(&encoding("s3cret", &[])).unwrap(), "each has its own vector");
    let read = |secrets: &[&str]| UploadedCertificate::parse(stored.as_bytes(), &encoding("", secrets));
    for secrets in [&["s3cret"] as &[&str], &["other", "s3cret"]] {
        assert_eq!(read(secrets).unwrap().material.blocks(), clear.material.blocks());
    }
    for secrets in [&[] as &[&str], &["", "other"]] {
        assert!(read(secrets).err().unwrap().contains("encrypted with another secret"));
    }
    for (from, to, wanted) in [
        ("AES-256-CBC", "DES-CBC", "encrypted with DES-CBC"),
        ("DEK-Info: AES-256-CBC,", "DEK-Info: AES-256-CBC,zz", "can't be decoded"),
        ("DEK-Info", "Info", "no DEK-Info"),
        ("DEK-Info: AES-256-CBC,", "DEK-Info: AES-256-CBC,0\n", "can't be decoded"),
    ] {
        let broken = UploadedCertificate::parse(stored.replace(from, to).as_bytes(), &encoding("", &["s3cret"]));
        let error = broken.err().unwrap();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
}

#[test]
fn certificates_of_others_are_in_no_store() {
    let certificates =
        Certificates::new(Arc::new(tollgate_store::Memory::new(tollgate_store::clock::system())), None, KeyEncoding::default());
    let texts = |names: &[(&str, &str)]| names.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect();
    let [first, second] = ["a.test", "b.test"].map(|name| {
        let (certificate, key) = made(name, 2090);
        format!("{certificate}{key}")
    });
    assert!(certificates.set_external(&texts(&[("a", &first), ("b", "no certificate")])));
    assert!(certificates.get("a").is_some() && certificates.is_external("a"));
    assert!(certificates.get("b").is_none());
    assert_eq!(certificates.ids(""), ["a"]);
    // The same texts change nothing, others under the same id do.
    assert!(!certificates.set_external(&texts(&[("a", &first)])));
    assert!(certificates.set_external(&texts(&[("a", &second)])));
    assert_ne!(
        certificates.get("a").unwrap().fingerprint,
        UploadedCertificate::parse(first.as_bytes(), &KeyEncoding::default()).unwrap().fingerprint
    );
    assert!(certificates.set_external(&texts(&[])));
    assert!(certificates.get("a").is_none());
    let mut stored = 0;
    certificates.store.for_each(DocumentSpace::Certificate, &mut |_, _| stored += 1).unwrap();
    assert_eq!(stored, 0);
}
