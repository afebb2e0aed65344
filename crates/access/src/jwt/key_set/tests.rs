use super::*;

#[test]
fn what_is_no_key_set_is_told_apart() {
    let many = format!("{{\"keys\":[{}]}}", vec!["{}"; KEYS_MAX + 1].join(","));
    for (body, expect) in [
        ("", "is not JSON"),
        ("<html>", "is not JSON"),
        ("[]", "has no list"),
        ("{}", "has no list"),
        (r#"{"keys":{}}"#, "has no list"),
        (many.as_str(), "at most 256"),
    ] {
        let why = keys_of(body.as_bytes()).expect_err("no key set");
        assert!(why.contains(expect), "{why}");
    }
    assert_eq!(keys_of(br#"{"keys":[{},1]}"#).map(|keys| keys.len()), Ok(2));
}

#[test]
fn a_url_that_is_none_is_refused() {
    let rules = SetRules { tls: TlsRules::default(), age_max: Duration::from_secs(1), discovered: false };
    assert!(KeySet::new("http://[::1", &rules, &LazyCallClient::default()).is_err());
}

#[test]
fn a_discovery_document_must_be_its_issuers_own() {
    let at: Uri = "https://id.test/a/.well-known/openid-configuration".parse().unwrap();
    let set = |text: &str| set_of(text.as_bytes(), &at).map(|uri| uri.to_string());
    let good = r#"{"issuer": "https://id.test/a", "jwks_uri": "https://keys.test/x"}"#;
    assert_eq!(set(good).as_deref(), Ok("https://keys.test/x"));
    for broken in [
        "",
        "[]",
        "{}",
        r#"{"issuer": "https://other.test/a", "jwks_uri": "https://keys.test/x"}"#,
        r#"{"issuer": "https://id.test/a"}"#,
        r#"{"issuer": "https://id.test/a", "jwks_uri": "/relative"}"#,
        r#"{"issuer": "https://id.test/a", "jwks_uri": "file:///etc/passwd"}"#,
        r#"{"issuer": "https://id.test/a", "jwks_uri": 7}"#,
    ] {
        assert!(set(broken).is_err(), "{broken}");
    }
}
