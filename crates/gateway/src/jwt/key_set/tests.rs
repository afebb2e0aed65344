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
    let rules = SetRules { tls: TlsRules::default(), age_max: Duration::from_secs(1) };
    assert!(KeySet::new("http://[::1", &rules, &LazyOutside::default()).is_err());
}
