use super::text;
use crate::scenario::KeySpace;
use std::collections::BTreeMap;

fn counts(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    text.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    counts
}

#[test]
fn popular_keys_follow_zipf_and_the_others_are_used_once() {
    let space = KeySpace { popular: 100, unique_percent: 10 };
    let text_of_one = text(space, 100_000, 1);
    let counts_of_one = counts(&text_of_one);
    let unique = counts_of_one.keys().filter(|key| key.starts_with('u')).count();
    assert!((9_500..10_500).contains(&unique), "{unique}");
    assert!(counts_of_one.iter().all(|(key, count)| key.starts_with('p') || *count == 1));
    // The harmonic number of 100 is 5.19: the first of 90,000 has 17,350, the second half as many.
    let popular = |rank: &str| counts_of_one[rank];
    assert!((16_500..18_200).contains(&popular("p0")), "{}", popular("p0"));
    assert!((8_000..9_400).contains(&popular("p1")), "{}", popular("p1"));
    assert!(popular("p99") < 400 && counts_of_one.keys().filter(|key| key.starts_with('p')).count() == 100);
    // Another file has the same popular keys, and none of the others.
    let other = text(space, 1_000, 2);
    assert!(other.lines().all(|key| key.starts_with('p') == counts_of_one.contains_key(key)));
}

#[test]
fn all_may_be_popular_or_none() {
    assert!(text(KeySpace { popular: 3, unique_percent: 0 }, 1_000, 0).lines().all(|key| ["p0", "p1", "p2"].contains(&key)));
    assert!(text(KeySpace { popular: 3, unique_percent: 100 }, 1_000, 0).lines().all(|key| key.starts_with("u0-")));
}
