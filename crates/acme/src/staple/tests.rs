use super::{NoAnswer, StatusQuestion};
use rcgen::{BasicConstraints, CertificateParams, CustomExtension, IsCa, Issuer, KeyPair};
use rustls::pki_types::CertificateDer;

/// A chain whose first certificate names this responder.
fn chain(responder: Option<&str>) -> Vec<CertificateDer<'static>> {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let root = authority.self_signed(&key).unwrap();
    let mut leaf = CertificateParams::new(vec!["a.example.com".to_owned()]).unwrap();
    if let Some(url) = responder {
        let (length, of_access) = (url.len() as u8, [6, 8, 0x2b, 6, 1, 5, 5, 7, 0x30, 1]);
        let mut access = vec![0x30, length + 14, 0x30, length + 12];
        access.extend(of_access);
        access.extend([0x86, length]);
        access.extend(url.as_bytes());
        leaf.custom_extensions.push(CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], access));
    }
    let leaf = leaf.signed_by(&KeyPair::generate().unwrap(), &Issuer::new(authority, key)).unwrap();
    vec![leaf.der().clone(), root.der().clone()]
}

#[test]
fn only_a_certificate_that_names_a_responder_is_asked_about() {
    assert!(StatusQuestion::new(&chain(None)).unwrap().is_none());
    let with = chain(Some("http://responder/"));
    assert_eq!(StatusQuestion::new(&with).unwrap().unwrap().url, "http://responder/");
    // Nobody knows who has issued the first one of one.
    assert!(StatusQuestion::new(&with[..1]).unwrap().is_none());
    assert!(StatusQuestion::new(&[]).unwrap().is_none());
    assert!(StatusQuestion::new(&[CertificateDer::from(vec![0x30, 0x80]), with[1].clone()]).is_err());
}

#[test]
fn what_is_no_answer_is_refused_whatever_it_is() {
    let question = StatusQuestion::new(&chain(Some("http://responder/"))).unwrap().unwrap();
    // Refused by the responder: `OCSPResponse { tryLater }`.
    let texts: [&[u8]; 6] = [
        b"",
        b"<html>",
        &[0x30, 0x03, 0x0a, 0x01, 0x03],
        &[0x30, 0x03, 0x0a, 0x01, 0x00],
        &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        &[0x30; 4096],
    ];
    for text in texts {
        assert!(matches!(question.judge(text, 1_800_000_000), Err(NoAnswer::Failed(_))), "{text:?}");
    }
}
