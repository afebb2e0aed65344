use super::*;
use tollgate_store::RedisSettings;

/// Limits over an unreachable Redis.
fn limits() -> Arc<SharedLimits> {
    let nowhere = RedisSettings { addresses: vec![("127.0.0.1".to_owned(), 1)], ..RedisSettings::default() };
    let redis = Arc::new(Redis::open(nowhere).unwrap());
    // Nothing detects that the store is unreachable during the test, because there is nothing to ask about.
    SharedLimits::start(redis, SharedStore::default())
}

fn open(limits: &SharedLimits) -> usize {
    limits.open_quotas.len()
}

#[test]
fn one_turn_settles_so_many_and_the_end_settles_all() {
    let limits = limits();
    let quotas: Vec<_> = (0..3 * SETTLED_AT_ONCE).map(|number| limits.quota(number.to_string())).collect();
    let settle = |everything| tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(limits.settle(everything));
    quotas.iter().for_each(|quota| limits.open_quotas.remember(quota));
    settle(false);
    assert!(open(&limits) >= 3 * SETTLED_AT_ONCE - 2 * SETTLED_AT_ONCE, "{}", open(&limits));
    settle(true);
    assert_eq!(open(&limits), 0);
}

#[test]
fn fewer_gateways_are_believed_after_a_while_and_more_at_once() {
    let limits = limits();
    let note = |gateways, rank| {
        limits.note_gateways(gateways, rank);
        limits.store.gateways()
    };
    assert_eq!((note(0, 0), note(3, 2), note(5, 4)), (1, 3, 5));
    assert_eq!([3; 4].map(|fewer| note(fewer, 0)), [5; 4]);
    assert_eq!((note(5, 4), note(3, 0)), (5, 5), "it begins anew");
    assert_eq!([3; 4].map(|fewer| note(fewer, 0)), [5, 5, 5, 3]);
}
