use super::{KeyFunction, candidates, custom, digest, function_of, generate, hash, org_of};

const RANDOM: [u8; 16] = [0x1f, 0x75, 0x3e, 0x0e, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff];
const RANDOM_TEXT: &str = "1f753e0e0405060708090a0b0c0d0eff";
/// `{"org":"default","id":"mykey","h":"murmur64"}`
const CARRYING: &str = "eyJvcmciOiJkZWZhdWx0IiwiaWQiOiJteWtleSIsImgiOiJtdXJtdXI2NCJ9";

#[test]
fn plain_keys_are_the_organisation_and_32_digits() {
    assert_eq!(generate("default", KeyFunction::Plain, RANDOM), format!("default{RANDOM_TEXT}"));
}

#[test]
fn other_keys_carry_organisation_and_function() {
    assert_eq!(custom("default", "mykey", KeyFunction::Murmur64), CARRYING);
    for function in [KeyFunction::Murmur32, KeyFunction::Murmur64, KeyFunction::Murmur128, KeyFunction::Sha256] {
        let token = generate("default", function, RANDOM);
        assert_eq!(org_of(&token).as_deref(), Some("default"));
        assert_eq!(function_of(&token), Some(function));
    }
}

#[test]
fn quotes_in_an_organisation_do_not_break_out_of_the_key() {
    let token = generate(r#"a","h":"x"#, KeyFunction::Sha256, RANDOM);
    assert_eq!(org_of(&token).as_deref(), Some(r#"a","h":"x"#));
    assert_eq!(function_of(&token), Some(KeyFunction::Sha256));
}

#[test]
fn a_custom_key_gets_its_organisation_once() {
    assert_eq!(custom("default", "mykey", KeyFunction::Plain), "defaultmykey");
    assert_eq!(custom("default", "defaultmykey", KeyFunction::Plain), "defaultmykey");
    assert_eq!(custom("default", "defaultmykey", KeyFunction::Murmur64), CARRYING);
    assert_eq!(custom("", "mykey", KeyFunction::Plain), "mykey");
}

#[test]
fn the_organisation_of_a_key_is_known_by_its_shape() {
    let database_org = "5e9d9544a1dcd60001d0ed20";
    for (token, expect) in [
        (format!("default{RANDOM_TEXT}"), Some("default")),
        (format!("{database_org}{RANDOM_TEXT}"), Some(database_org)),
        (format!("{database_org}my-key"), Some(database_org)),
        (CARRYING.to_owned(), Some("default")),
        (RANDOM_TEXT.to_owned(), Some("1f753e0e0405060708090a0b")),
        (database_org.to_owned(), None),
        ("mykey".to_owned(), None),
        ("eynot-base64".to_owned(), None),
        ("\u{fc}".repeat(30), None),
        (String::new(), None),
    ] {
        assert_eq!(org_of(&token).as_deref(), expect, "{token}");
    }
}

#[test]
fn hashes_have_the_length_of_their_function() {
    for (function, expect) in [
        (KeyFunction::Plain, "248bfa47"),
        (KeyFunction::Murmur32, "248bfa47"),
        (KeyFunction::Murmur64, "cbd8a7b341bd9b02"),
        (KeyFunction::Murmur128, "cbd8a7b341bd9b025b1e906a48ae1d19"),
        (KeyFunction::Sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
    ] {
        assert_eq!(hash("hello", function), expect);
        assert_eq!(KeyFunction::from_name(function.name()), Some(function));
    }
    assert_eq!(hash("", KeyFunction::Plain), "00000000");
}

#[test]
fn a_key_that_names_its_function_is_hashed_with_it() {
    assert_eq!(hash(CARRYING, KeyFunction::Plain), KeyFunction::Murmur64.hash(CARRYING));
    let unknown = "eyJvcmciOiJhIiwiaWQiOiJiIiwiaCI6Im1kNSJ9";
    assert_eq!(function_of(unknown), Some(KeyFunction::Murmur32));
    assert_eq!(hash(unknown, KeyFunction::Sha256).len(), 8);
}

#[test]
fn a_presented_key_is_looked_up_in_the_order_of_tyk() {
    let plain = [KeyFunction::Plain];
    let migrated = [KeyFunction::Murmur64, KeyFunction::Plain];
    for (token, functions, expect) in [
        ("mykey", &plain[..], vec!["defaultmykey", "mykey"]),
        ("defaultmykey", &plain, vec!["defaultmykey"]),
        ("mykey", &migrated, vec![CARRYING, "mykey", "defaultmykey"]),
        ("defaultmykey", &migrated, vec![CARRYING, "defaultmykey"]),
        (CARRYING, &migrated, vec![CARRYING]),
        ("mykey", &[], vec!["mykey"]),
    ] {
        assert_eq!(candidates(token, "default", functions), expect, "{token}");
    }
}

#[test]
fn digests_tell_keys_apart() {
    assert_eq!(digest("a"), digest("a"));
    assert_ne!(digest("a"), digest("b"));
}
