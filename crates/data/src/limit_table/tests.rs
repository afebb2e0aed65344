use super::*;
use std::time::Duration;
use tollgate_limit::Rate;

#[test]
fn each_value_has_a_counter_of_its_own_and_keeps_it() {
    let table = LimitTable::new("t".to_owned(), LimitAlgorithm::Gcra, None);
    let rate = Rate::new(2.0, 60.0).unwrap();
    let admits = |value: &str| table.counter(value.as_bytes()).admit(rate, Duration::from_secs(1)).is_ok();
    let admitted: Vec<bool> = ["a", "a", "b", "a", "b", "b"].into_iter().map(admits).collect();
    assert_eq!(admitted, [true, true, true, false, true, false]);
}

#[test]
fn values_that_nobody_uses_make_room() {
    let table = LimitTable::new("t".to_owned(), LimitAlgorithm::Gcra, None);
    let rate = Rate::new(1.0, 60.0).unwrap();
    let admits = |value: u64| table.counter(&value.to_le_bytes()).admit(rate, Duration::from_secs(1)).is_ok();
    assert!(admits(0) && !admits(0));
    // One that is used stays, however many others come.
    for value in 1..(3 * COUNTERS_MAX as u64) {
        admits(value);
        if value % 1000 == 0 {
            assert!(!admits(0), "{value}");
        }
    }
    assert!(admits(1), "the counter of a value that nobody used is still there");
}
