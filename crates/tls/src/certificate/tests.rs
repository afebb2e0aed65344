use super::*;

fn made(names: &[&str]) -> (String, String) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

#[test]
fn names_dates_and_fingerprint_are_read() {
    let (certificate, key) = made(&["One.test", "*.two.test"]);
    let read = Certificate::parse(certificate.as_bytes(), Some(key.as_bytes()), None).unwrap();
    assert_eq!(read.facts.names, ["one.test", "*.two.test"]);
    assert_eq!(read.facts.fingerprint.len(), 64);
    assert!(!read.facts.has_expired(1_700_000_000));
    assert!(read.own.is_some());
}

#[test]
fn key_and_certificate_may_stand_in_one_text_in_any_order() {
    let (certificate, key) = made(&["one.test"]);
    for text in [format!("{certificate}{key}"), format!("{key}\n{certificate}")] {
        assert!(Certificate::parse(text.as_bytes(), None, None).unwrap().own.is_some());
    }
    assert!(Certificate::parse(certificate.as_bytes(), None, None).unwrap().own.is_none());
}

#[test]
fn what_can_not_be_used_is_said() {
    let (certificate, key) = made(&["one.test"]);
    let (_, other_key) = made(&["one.test"]);
    let cut = &certificate[..certificate.len() / 2];
    for (chain, key, message) in [
        ("", Some(key.as_str()), "no certificate"),
        ("nonsense", Some(&key), "no certificate"),
        (&certificate, Some(""), "no usable private key"),
        (&certificate, Some(&certificate), "no usable private key"),
        (&certificate, Some(&other_key), "can't be used together"),
        (cut, Some(&key), "not PEM"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", Some(&key), "not a certificate"),
    ] {
        let error = Certificate::parse(chain.as_bytes(), key.map(str::as_bytes), None).unwrap_err();
        assert!(error.contains(message), "{error} is not about {message}");
    }
}
