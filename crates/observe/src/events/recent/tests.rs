use super::{ENTRIES_MAX, RecentEntries, RecentSlots, SLOTS};
use std::time::{Duration, Instant};

#[test]
fn the_same_event_is_had_once_in_its_time() {
    let table = RecentSlots::new(Duration::from_secs(10));
    let event = 0x1234_5678_9abc_def0;
    for (second, had) in [(0, false), (0, true), (9, true), (10, false), (15, true), (21, false)] {
        assert_eq!(table.had_at(event, Duration::from_secs(second)), had, "second {second}");
    }
}

#[test]
fn different_events_are_not_the_same() {
    let table = RecentSlots::new(Duration::from_secs(10));
    let event = 0x1234_5678_9abc_def0_u64;
    assert!(!table.had_at(event, Duration::ZERO));
    // Another event in the same slot takes it.
    let other = event ^ 1 << 63;
    assert_eq!(event as usize % SLOTS, other as usize % SLOTS);
    assert!(!table.had_at(other, Duration::ZERO));
    assert!(table.had_at(other, Duration::ZERO));
    assert!(!table.had_at(event, Duration::ZERO));
}

#[test]
fn without_a_time_every_event_is_new() {
    let table = RecentSlots::new(Duration::ZERO);
    assert!((0..3).all(|_| !table.had_at(7, Duration::ZERO)));
}

#[test]
fn entries_end_and_never_fill_the_memory() {
    let mut table = RecentEntries::new(Duration::from_secs(5));
    let start = Instant::now();
    assert!(!table.had(0, start));
    assert!(table.had(0, start + Duration::from_secs(4)));
    assert!(!table.had(0, start + Duration::from_secs(5)));
    for entry in 0..2 * ENTRIES_MAX {
        table.had(entry, start);
    }
    assert!(table.ends.len() <= ENTRIES_MAX);
}
