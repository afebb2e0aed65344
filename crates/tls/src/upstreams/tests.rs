use super::*;

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(host, value)| ((*host).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_closest_entry_for_a_host_counts() {
    let certificates =
        map(&[("*", "all"), ("*.example.com", "domain"), ("a.example.com", "exact"), ("none.test", ""), ("*.Mixed.Test", "mixed")]);
    for (host, expected) in [
        ("a.example.com", Some("exact")),
        ("b.example.com", Some("domain")),
        ("A.Example.COM", Some("exact")),
        ("a.example.com.", Some("exact")),
        ("a.mixed.test", Some("mixed")),
        ("a.b.example.com", Some("all")),
        ("example.com", Some("all")),
        ("127.0.0.1", Some("all")),
        ("none.test", None),
    ] {
        assert_eq!(best(&certificates, host).map(String::as_str), expected, "{host}");
    }
}

#[test]
fn an_api_has_the_last_word_about_the_hosts_it_names() {
    let gateway = map(&[("a.example.com", "1"), ("*.other.test", "2"), ("*", "3")]);
    let both = layered(&gateway, &map(&[("*.example.com", "own")]));
    assert_eq!(best(&both, "a.example.com").map(String::as_str), Some("own"));
    assert_eq!(best(&both, "x.other.test").map(String::as_str), Some("2"));
    assert_eq!(best(&both, "elsewhere.test").map(String::as_str), Some("3"));
}

#[test]
fn pins_are_fingerprints_with_or_without_an_organisation() {
    let digits = "AB".repeat(32);
    let settings = TlsSettings { pins: map(&[("*", &format!("org{digits}, {digits},"))]), ..TlsSettings::default() };
    let expected = digits.to_ascii_lowercase();
    assert_eq!(settings.for_host("h").pins, [expected.clone(), expected]);
}

#[test]
fn ciphers_and_versions_that_leave_nothing_are_refused() {
    let library = Library::default();
    let with = |ciphers: &[&str], min_version, max_version| {
        let ciphers = ciphers.iter().map(|name| (*name).to_owned()).collect();
        client_config(&TlsRules { ciphers, min_version, max_version, insecure: true, ..TlsRules::default() }, &library)
    };
    assert!(with(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"], 771, 772).is_ok());
    assert!(with(&["TLS_RSA_WITH_RC4_128_SHA"], 0, 0).unwrap_err().contains("TLS_RSA_WITH_RC4_128_SHA"));
    assert!(with(&[], 769, 770).unwrap_err().contains("1.2 and 1.3"));
    assert!(with(&[], 769, 0).is_ok());
}
