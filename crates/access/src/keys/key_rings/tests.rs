use super::*;
use crate::keys::KeyRules;
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Memory, clock};

fn ring(keys: &[(&str, &str)]) -> Vec<RingKey> {
    let key = |(text, name): &(&str, &str)| RingKey {
        digest: RingKey::digest_of(text),
        shown: format!("test/{name}"),
        alias: (*name).to_owned(),
        tags: vec!["partner".to_owned()],
        quota_max: 0,
        quota_renewal_s: 0,
    };
    keys.iter().map(key).collect()
}

fn set(keys: &Keys, rings: &[(&str, &[(&str, &str)])]) {
    keys.set_rings(rings.iter().map(|(name, keys)| ((*name).to_owned(), ring(keys))).collect());
}

fn alias(keys: &Keys, ring: &str, text: &str) -> Option<String> {
    keys.find_in_ring(ring, text).map(|key| key.session.alias.clone())
}

fn keys() -> Arc<Keys> {
    let store = Arc::new(Memory::new(clock::system()));
    Arc::new(Keys::load(KeyRules::new(&GatewayConfig::default(), Arc::default()), store).unwrap())
}

#[test]
fn a_key_is_found_in_its_ring_alone_and_as_long_as_it_is_there() {
    let keys = keys();
    assert_eq!(alias(&keys, "a", "k1"), None);
    set(&keys, &[("a", &[("k1", "alice"), ("k2", "bob")]), ("b", &[("k1", "others")])]);
    let cases =
        [("a", "k1", Some("alice")), ("a", "k2", Some("bob")), ("b", "k1", Some("others")), ("b", "k2", None), ("c", "k1", None)];
    for (ring, text, expected) in cases {
        assert_eq!(alias(&keys, ring, text).as_deref(), expected, "{ring} {text}");
    }
    assert!(keys.find("k1", "").is_none(), "a ring's key is found outside of it");
    set(&keys, &[("a", &[("k2", "bob")])]);
    assert_eq!((alias(&keys, "a", "k1"), alias(&keys, "b", "k1"), alias(&keys, "a", "k2").as_deref()), (None, None, Some("bob")));
}

#[test]
fn of_two_entries_for_one_key_the_first_counts() {
    let keys = keys();
    set(&keys, &[("a", &[("k", "first"), ("k", "second")])]);
    assert_eq!(alias(&keys, "a", "k").as_deref(), Some("first"));
}

#[test]
fn a_key_tells_its_name_and_may_call_everything_that_names_its_ring() {
    let keys = keys();
    set(&keys, &[("a", &[("k", "alice")])]);
    let key = keys.find_in_ring("a", "k").unwrap();
    assert_eq!((&*key.shown, key.session.tags.as_slice()), ("test/alice", ["partner".to_owned()].as_slice()));
    assert!(matches!(key.right("any"), crate::keys::Permission::Everything));
    assert!(!key.is_only_a_name());
}

#[test]
fn a_rehearsal_has_the_same_rings_and_knows_keys_by_their_listed_form() {
    let keys = keys();
    set(&keys, &[("a", &[("k", "alice")])]);
    let rehearsed = keys.rehearsal(crate::keys::Policies::default());
    let stand_in = crate::keys::stand_in("test/alice");
    assert_eq!(alias(&rehearsed, "a", "k").as_deref(), Some("alice"));
    assert_eq!(alias(&rehearsed, "a", &stand_in).as_deref(), Some("alice"));
    assert_eq!(alias(&keys, "a", &stand_in), None, "a listed form is a key");
}
