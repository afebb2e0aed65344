use super::judge_round;
use super::{counts, judge, said};
use crate::scenario::{Case, Scenario};
use std::collections::BTreeMap;

fn case(expect: &str) -> Case {
    let text = format!(
        "title = \"\"\nsource = \"\"\nsuite = \"scaling\"\n[[load]]\nname = \"full\"\nconnections = 1\n[[case]]\nname = \"c\"\n\
         request = {{ path = \"/\" }}\nexpect = {{ {expect} }}"
    );
    Scenario::parse("s", &text).expect("a scenario").case.remove(0)
}

#[test]
fn statuses_must_be_exactly_what_was_expected() {
    for (expect, status, is_good) in [
        ("200 = \"all\"", &[(200, 5)][..], true),
        ("200 = \"all\"", &[(200, 5), (500, 1)], false),
        ("200 = \"all\"", &[], false),
        ("200 = 1, 429 = \"rest\"", &[(200, 1), (429, 9)], true),
        ("200 = 1, 429 = \"rest\"", &[(200, 2), (429, 8)], false),
        ("200 = 1, 429 = \"rest\"", &[(429, 10)], false),
        ("200 = 1, 429 = \"rest\"", &[(200, 1), (429, 8), (502, 1)], false),
        ("\"401|403\" = \"all\"", &[(401, 4), (403, 1)], true),
    ] {
        let status: BTreeMap<u16, u64> = status.iter().copied().collect();
        assert_eq!(judge(&case(expect), &status, |counted, expected| counted == expected).is_ok(), is_good, "{expect} {status:?}");
    }
}

#[test]
fn a_round_may_find_a_limit_used_up_but_never_exceeded() {
    let strict = case("200 = 1, 429 = \"rest\"");
    for (status, is_good) in [(&[(429, 10)][..], true), (&[(200, 1), (429, 9)], true), (&[(200, 2), (429, 8)], false)] {
        assert_eq!(judge_round(&strict, &status.iter().copied().collect()).is_ok(), is_good, "{status:?}");
    }
}

#[test]
fn a_judgement_says_what_was_expected_and_what_came() {
    assert_eq!(said(&case("429 = \"rest\", 200 = 1")), "1 x 200, the rest 429");
    assert_eq!(counts(&BTreeMap::from([(200, 1), (429, 1999)])), "1 x 200, 1999 x 429");
    assert_eq!(counts(&BTreeMap::new()), "no answer");
}
