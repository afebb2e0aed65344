use super::{Marker, Partition, Stored, TableEntry};
use crate::body::StoredBody;
use crate::figures::ApiCounters;
use crate::head::{Head, RequestTerms};
use crate::key::{CacheKey, KeyHasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const NOW_MS: u64 = 1_800_000_000_000;

fn key(number: u32) -> CacheKey {
    let mut hasher = KeyHasher::new("test");
    hasher.add(&number.to_le_bytes());
    hasher.finish()
}

/// Makes a response of `len` bytes; `None` when there is no memory for it.
fn response(partition: &Partition, counters: &Arc<ApiCounters>, number: u32, len: usize) -> Option<Arc<Stored>> {
    let lines = [("Cache-Control", "max-age=60")];
    let head = Head::read(200, &lines, RequestTerms { sent_ms: NOW_MS, ..RequestTerms::default() }, NOW_MS).unwrap();
    let charge = partition.charge(StoredBody::bytes_max(len as u64))?;
    let body = StoredBody::new(Some(len as u64), charge);
    body.push(&vec![7; len], u64::MAX).unwrap();
    assert!(body.finish());
    let fixed = partition.charge(Stored::fixed_bytes(&head, 0))?;
    Some(Arc::new(Stored::new(key(number), head, Arc::new(body), (Arc::from([]), 0), counters, fixed)))
}

fn has(partition: &Partition, number: u32) -> bool {
    partition.get(&key(number)).is_some()
}

#[test]
fn the_bound_holds_whatever_comes() {
    for len in [10, 1_000, 50_000] {
        let partition = Partition::new(4 << 20, 1 << 20);
        let counters = Arc::default();
        let mut stored = 0;
        for number in 0..20_000_000 / (len as u32 + 700) {
            if let Some(response) = response(&partition, &counters, number, len) {
                partition.insert(response);
                stored += 1;
            }
            assert!(partition.bytes_used() <= 4 << 20, "{} bytes are used", partition.bytes_used());
        }
        let figures = counters.read();
        assert_eq!(figures.stored, stored);
        assert_eq!(figures.evicted, figures.stored - figures.entries, "{len}");
        assert!(figures.evicted > 0);
        assert_eq!(figures.bytes, partition.bytes_used(), "{len}");
        assert!(figures.bytes > 3 << 20, "the memory is used: {}", figures.bytes);
        drop(partition);
        assert_eq!(counters.read().entries, 0);
        assert_eq!(counters.read().bytes, 0);
    }
}

/// A charge below the actual size would break the limit; one far above it would waste memory.
#[test]
fn small_responses_are_charged_for_more_than_their_bytes() {
    let lines = 30;
    let fixed = size_of::<Stored>() + size_of::<StoredBody>() + lines;
    let partition = Partition::new(4 << 20, 1 << 20);
    let counters = Arc::default();
    let response = response(&partition, &counters, 1, 10).unwrap();
    assert!(response.weight() as usize > fixed + 10);
    assert!((response.weight() as usize) < 2 * fixed + 300, "{}", response.weight());
}

#[test]
fn a_scan_does_not_empty_the_cache() {
    let partition = Partition::new(4 << 20, 64 << 10);
    let counters = Arc::default();
    let put = |number| {
        if let Some(response) = response(&partition, &counters, number, 4_000) {
            partition.insert(response);
        }
    };
    // Some responses are requested repeatedly ...
    for number in 0..300 {
        put(number);
    }
    for _ in 0..5 {
        (0..300).for_each(|number| assert!(has(&partition, number)));
    }
    // ... and very many only once.
    for number in 1_000..20_000 {
        put(number);
        if number % 50 == 0 {
            let _ = has(&partition, number % 300);
        }
    }
    let kept = (0..300).filter(|number| has(&partition, *number)).count();
    assert!(kept > 270, "{kept} of 300 are left");
}

/// Evicted responses count until clients have read them: the limit is on memory, not on the table.
#[test]
fn what_clients_still_read_counts() {
    let partition = Partition::new(4 << 20, 1 << 20);
    let counters = Arc::default();
    let held: Vec<_> = (0..1_000)
        .map_while(|number| {
            let response = response(&partition, &counters, number, 50_000)?;
            partition.insert(Arc::clone(&response));
            Some(response)
        })
        .collect();
    assert!(held.len() < 84, "{} responses of 50 kB fit into 4 MiB", held.len());
    assert!(partition.bytes_used() <= 4 << 20);
    drop(held);
    assert!(response(&partition, &counters, 5_000, 50_000).is_some(), "there is room again");
}

#[test]
fn markers_are_charged_too() {
    let partition = Partition::new(1 << 20, 64 << 10);
    for number in 0..100_000 {
        partition.mark(key(number), Marker::HitForMiss { until_ms: 0 });
        assert!(partition.bytes_used() <= 1 << 20);
    }
    assert!(matches!(partition.get(&key(99_999)), Some(TableEntry::Marker(_))));
}

#[test]
fn an_api_can_have_memory_of_its_own() {
    let shared = Arc::new(Partition::new(8 << 20, 64 << 10));
    assert!(shared.split_off(5 << 20, 64 << 10).is_none(), "not more than half");
    let own = Arc::new(shared.split_off(2 << 20, 64 << 10).unwrap());
    let counters = Arc::default();
    for number in 0..2_000 {
        for partition in [&shared, &own] {
            if let Some(response) = response(partition, &counters, number, 4_000) {
                partition.insert(response);
            }
        }
    }
    assert!(own.bytes_used() <= 2 << 20 && own.bytes_used() > 1 << 20);
    assert!(shared.bytes_used() <= 6 << 20 && shared.bytes_used() > 4 << 20);
    drop(own);
    assert_eq!(shared.bytes.load(Ordering::SeqCst), 8 << 20, "it goes back");
}
