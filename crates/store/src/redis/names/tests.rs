use super::{counter, counter_name, counter_patterns, document, literal};
use crate::question::DocumentSpace;

#[test]
fn documents_have_tyks_names() {
    assert_eq!(document(DocumentSpace::Session, "5b8e"), "apikey-5b8e");
    assert_eq!(document(DocumentSpace::OrgSession, "default"), "orgkey.default");
    assert_eq!(document(DocumentSpace::Certificate, "default0a"), "cert-raw-default0a");
}

#[test]
fn a_counters_name_can_be_told_from_its_key() {
    for name in ["quota-5b8e", "quota-scope-5b8e", "quota-", "quota", "a", ""] {
        assert_eq!(counter_name(&counter(name)), Some(name));
    }
    assert_eq!(counter("quota-5b8e"), "quota-5b8e");
    assert_eq!(counter_name("apikey-5b8e"), None);
}

#[test]
fn every_counter_under_a_prefix_fits_one_of_the_patterns() {
    assert_eq!(counter_patterns("quota-5"), ["quota\\-5*"]);
    assert_eq!(counter_patterns("x*"), ["tollgate.counter.x\\**"]);
    for prefix in ["", "q", "quota-"] {
        assert!(counter_patterns(prefix).contains(&"quota-*".to_owned()) || prefix == "quota-", "{prefix}");
    }
    assert_eq!(counter_patterns("quotb").len(), 1);
}

#[test]
fn patterns_take_texts_literally() {
    assert_eq!(literal("a*b?[c]\\"), "a\\*b\\?\\[c\\]\\\\");
}
