use super::*;
use tollgate_model::api::SignatureConfig;
use tollgate_model::reference::SecretSources;

/// Time of the signatures below, made with the key `key-of-alice` and the secret `shared secret`.
const MADE_AT: u64 = 1_700_000_000;
const MD5: &str = "b9c76a1c38637764112ce9241e366ed7";
const SHA256: &str = "0c80e282197b58980094b06c0bcdd18fc809419dfe7ae256bc38927f3d12e945";

fn signature(skew_s: i64) -> KeySignature {
    let signature = SignatureConfig { allowed_clock_skew: skew_s, ..SignatureConfig::default() };
    let places = AuthConfig { validate_signature: true, signature, ..AuthConfig::default() };
    KeySignature::compile(&places, VariableScope { context: false, secrets: &SecretSources::default() }).unwrap()
}

fn is(algorithm: SignatureAlgorithm, shown: &str, token: &str, skew_s: i64, now_unix_s: u64) -> bool {
    signature(skew_s).is(algorithm, shown, token, "org", "shared secret", now_unix_s)
}

#[test]
fn signatures_of_another_implementation_are_right() {
    for (algorithm, shown) in [(SignatureAlgorithm::MasheryMd5, MD5), (SignatureAlgorithm::MasherySha256, SHA256)] {
        assert!(is(algorithm, shown, "key-of-alice", 0, MADE_AT));
        assert!(is(algorithm, shown, "orgkey-of-alice", 0, MADE_AT), "a key is signed without its organisation");
        assert!(!is(algorithm, shown, "key-of-bob", 0, MADE_AT));
        assert!(!is(algorithm, &shown.replace('b', "c"), "key-of-alice", 0, MADE_AT));
        assert!(!is(algorithm, "", "key-of-alice", 0, MADE_AT));
    }
    assert!(!is(SignatureAlgorithm::MasheryMd5, SHA256, "key-of-alice", 0, MADE_AT));
    let carrier = key_format::custom("org", "key-of-alice", key_format::KeyFunction::Murmur64);
    assert!(is(SignatureAlgorithm::MasherySha256, SHA256, &carrier, 0, MADE_AT), "the id within a key is what is signed");
}

#[test]
fn clocks_may_differ_by_so_many_seconds_and_no_more() {
    let at = |skew_s, now_unix_s| is(SignatureAlgorithm::MasherySha256, SHA256, "key-of-alice", skew_s, now_unix_s);
    for (skew_s, differs_s, expect) in [(0, 0, true), (0, 1, false), (5, 5, true), (5, 6, false), (-1, 0, false)] {
        assert_eq!(at(skew_s, MADE_AT + differs_s), expect, "{skew_s} {differs_s} later");
        assert_eq!(at(skew_s, MADE_AT - differs_s), expect, "{skew_s} {differs_s} sooner");
    }
    let most = SignatureConfig::SKEW_S_MAX.unsigned_abs();
    assert!(at(i64::MAX, MADE_AT + most) && !at(i64::MAX, MADE_AT + most + 1));
    assert!(!at(5, 0), "a clock at its beginning");
}
