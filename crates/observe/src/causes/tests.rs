use super::*;

#[test]
fn each_cause_has_a_counter_of_its_own() {
    let counts = CauseCounts::default();
    assert_eq!(counts.iter().count(), 0);
    for cause in ["a", "b", "a", "c", "a"] {
        counts.add(cause);
    }
    assert_eq!(counts.iter().collect::<Vec<_>>(), [("a", 3), ("b", 1), ("c", 1)]);
}

#[test]
fn causes_beyond_the_places_are_counted_together() {
    let counts = CauseCounts::default();
    let names: Vec<&'static str> = (0..CAUSES_MAX + 20).map(|number| &*format!("cause-{number}").leak()).collect();
    names.iter().for_each(|name| counts.add(name));
    assert_eq!(counts.iter().count(), CAUSES_MAX);
    assert_eq!(counts.iter().last(), Some(("other", 21)));
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), names.len() as u64);
}
