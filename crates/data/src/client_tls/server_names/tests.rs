use super::*;
use tollgate_tls::Certificate;

fn certificate() -> Arc<CertifiedKey> {
    let made = rcgen::generate_simple_self_signed(["any.test".to_owned()]).unwrap();
    let text = made.cert.pem() + &made.signing_key.serialize_pem();
    Certificate::parse(text.as_bytes(), None, None).unwrap().own.unwrap()
}

#[test]
fn a_host_is_found_exactly_then_by_wildcard_then_by_default() {
    let (first, exact, wildcard) = (certificate(), certificate(), certificate());
    let mut names = CertificateNames::default();
    names.add_fallback(&first);
    names.add("api.example.com", &exact);
    names.add("*.Example.com", &wildcard);
    for (host, expected) in [
        ("api.example.com", &exact),
        ("API.example.com", &exact),
        ("api.example.com.", &exact),
        ("other.example.com", &wildcard),
        ("a.b.example.com", &first),
        ("example.com", &first),
        ("", &first),
        (".", &first),
        ("elsewhere.test", &first),
    ] {
        assert!(Arc::ptr_eq(&names.find(host)[0], expected), "{host}");
    }
}

#[test]
fn a_star_alone_is_for_everybody() {
    let only = certificate();
    let mut names = CertificateNames::default();
    names.add("*", &only);
    assert!(Arc::ptr_eq(&names.find("whoever.test")[0], &only));
}
