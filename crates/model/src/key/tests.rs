use super::{KeyFunction, candidates, custom, digest, former_hash, function_of, generate, hash, org_of};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

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
        (KeyFunction::Plain, "ef13efcd"),
        (KeyFunction::Murmur32, "ef13efcd"),
        (KeyFunction::Murmur64, "cbd8a7b341bd9b02"),
        (KeyFunction::Murmur128, "cbd8a7b341bd9b025b1e906a48ae1d19"),
        (KeyFunction::Sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
    ] {
        assert_eq!(hash("hello", function), expect);
        assert_eq!(KeyFunction::from_name(function.name()), Some(function));
    }
    assert_eq!(hash("", KeyFunction::Plain), "00000000");
}

/// Recorded from Tyk 5.14.0.
#[test]
fn hashes_are_those_of_tyk() {
    let carrying = |function: KeyFunction| custom("default", "mykey", function);
    for (key, hash_of_key) in [
        ("default1f753e0e69154aae827b1afd6c80a8e6", "49cb96ec"),
        ("defaultmykey", "259d945d"),
        ("mykey", "6f0f18a9"),
        ("abcd", "86a7049e"),
        ("abc", "00000000"),
        (&carrying(KeyFunction::Murmur64), "20996d934a45f3af"),
    ] {
        assert_eq!(hash(key, KeyFunction::Plain), hash_of_key, "{key}");
    }
    assert_eq!(former_hash("hello").as_deref(), Some("248bfa47"));
    assert_eq!(former_hash(CARRYING), None, "the other functions have not changed");
}

#[test]
fn a_structured_key_is_read_as_tyk_reads_it() {
    let carrying = |text: &str| STANDARD.encode(text);
    for (content, org, function) in [
        (r#"{"org":"a","id":"b","h":"sha256"}"#, Some("a"), Some(KeyFunction::Sha256)),
        (r#"{"org":"a","org":"b","h":"sha256","h":"murmur64"}"#, Some("a"), Some(KeyFunction::Sha256)),
        (r#"{"org":"a","h":7}"#, Some("a"), None),
        (r#"{"org":null,"h":"md5"}"#, None, Some(KeyFunction::Murmur32)),
        (r#"{"org":"a","x":{"h":"murmur64"},"h":"sha256"} and more"#, Some("a"), Some(KeyFunction::Sha256)),
        (r#"{"org":"a","h":"sha256""#, Some("a"), Some(KeyFunction::Sha256)),
        (r#"{"a"}"#, None, None),
    ] {
        let token = carrying(content);
        assert_eq!((org_of(&token).as_deref(), function_of(&token)), (org, function), "{content}");
    }
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
    let with_org = "5e9d9544a1dcd60001d0ed20mykey";
    assert_eq!(candidates(with_org, "5e9d9544a1dcd60001d0ed20", &migrated), [with_org], "it is whole already");
    assert_eq!(candidates(with_org, "default", &plain).len(), 2);
}

#[test]
fn digests_tell_keys_apart() {
    assert_eq!(digest("a"), digest("a"));
    assert_ne!(digest("a"), digest("b"));
}
