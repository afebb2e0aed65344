use super::{SpaceSaving, Summary, TopCount};
use proptest::prelude::*;
use std::collections::HashMap;

const COUNTERS: usize = 16;

fn count(values: &[u16]) -> (Summary, HashMap<String, u64>) {
    let (mut counters, mut exact) = (SpaceSaving::new(COUNTERS), HashMap::new());
    for value in values {
        counters.add(value.to_string().as_bytes(), &TopCount::default());
        *exact.entry(value.to_string()).or_default() += 1;
    }
    (counters.take(), exact)
}

/// Every count is right within its error, and nothing that is missing has more than the floor.
fn check(summary: &Summary, exact: &HashMap<String, u64>, total: usize) {
    let rows: HashMap<String, TopCount> =
        summary.top(usize::MAX).into_iter().map(|(value, count)| (String::from_utf8(value.to_vec()).unwrap(), count)).collect();
    assert!(rows.len() <= COUNTERS);
    assert!(summary.floor() <= (total / COUNTERS) as u64, "floor {} of {total}", summary.floor());
    for (value, count) in exact {
        match rows.get(value) {
            Some(row) => assert!(row.requests >= *count && row.requests - row.error <= *count, "{value}: {row:?}, really {count}"),
            None => assert!(*count <= summary.floor(), "{value} has {count} and is missing"),
        }
    }
}

proptest! {
    #[test]
    fn counts_are_within_their_error(values in prop::collection::vec(0_u16..60, 0..800)) {
        let (summary, exact) = count(&values);
        check(&summary, &exact, values.len());
    }

    #[test]
    fn merged_counts_are_within_their_error(parts in prop::collection::vec(prop::collection::vec(0_u16..60, 0..300), 1..6)) {
        let mut sum = Summary::new(COUNTERS);
        let mut exact: HashMap<String, u64> = HashMap::new();
        for part in &parts {
            let (summary, counts) = count(part);
            sum.merge(&summary);
            counts.into_iter().for_each(|(value, count)| *exact.entry(value).or_default() += count);
        }
        check(&sum, &exact, parts.iter().map(Vec::len).sum());
    }
}

#[test]
fn a_frequent_value_is_found_among_thousands_of_rare_ones() {
    let mut counters = SpaceSaving::new(COUNTERS);
    for rare in 0..10_000 {
        counters.add(format!("/rare/{rare}").as_bytes(), &TopCount::default());
        if rare % 4 == 0 {
            counters.add(b"/busy", &TopCount { server_errors: 1, ..TopCount::default() });
        }
    }
    let (value, count) = counters.take().top(1).remove(0);
    assert_eq!(&*value, b"/busy");
    assert!(count.requests >= 2_500 && count.requests - count.error <= 2_500, "{count:?}");
    assert!(counters.is_empty());
}

#[test]
fn long_values_are_cut() {
    let mut counters = SpaceSaving::new(COUNTERS);
    counters.add(&[b'x'; 5_000], &TopCount::default());
    counters.add(&[b'x'; 6_000], &TopCount::default());
    let rows = counters.take().top(9);
    assert_eq!((rows.len(), rows[0].0.len(), rows[0].1.requests), (1, 128, 2));
}
