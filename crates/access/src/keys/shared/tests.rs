use super::super::Digest;
use super::SharedKeys;
use std::sync::Arc;
use std::time::Duration;
use tollgate_cluster::Cluster;
use tollgate_model::config::{GatewayConfig, SharedStore};
use tollgate_model::key;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, Heard, Redis, RedisSettings};

/// Keys over a Redis that is not there: only what is in memory matters.
fn shared(sessions_max: usize) -> SharedKeys {
    let nowhere = RedisSettings { addresses: vec![("127.0.0.1".to_owned(), 1)], ..RedisSettings::default() };
    let redis = Arc::new(Redis::open(nowhere).unwrap());
    let cluster = Cluster::connect(redis, &GatewayConfig::default());
    SharedKeys::new(cluster, SharedStore { sessions_max, ..SharedStore::default() })
}

fn keep(shared: &SharedKeys, name: &str, epoch: u64) -> Digest {
    let (session, _) = Session::parse(b"{}").unwrap();
    let digest = key::digest(name);
    shared.keep(digest, &StoredSession { shown: name.to_owned(), session }, None).trust(epoch);
    digest
}

#[test]
fn only_what_was_read_since_changes_are_heard_of_is_trusted() {
    let shared = shared(10);
    let before = keep(&shared, "before", shared.epoch());
    assert!(shared.get(&before).is_none());
    shared.hear(Heard::Up);
    assert!(shared.get(&before).is_none(), "it may have changed meanwhile");
    let since = keep(&shared, "since", shared.epoch());
    assert!(shared.get(&since).is_some());
    shared.hear(Heard::Down(String::new()));
    assert!(shared.get(&since).is_none());
    assert!(shared.last_known(&since).is_some());
    shared.hear(Heard::Up);
    assert!(shared.get(&since).is_none(), "a change may have been missed");
}

#[test]
fn what_has_changed_is_not_used_again_not_even_in_need() {
    let shared = shared(10);
    shared.hear(Heard::Up);
    let [one, other, third] = ["one", "other", "third"].map(|name| keep(&shared, name, shared.epoch()));
    shared.hear(Heard::Changed(DocumentSpace::Session, "one".to_owned()));
    assert!(shared.get(&one).is_none());
    assert!(shared.last_known(&one).is_none());
    assert!(shared.get(&other).is_some());
    shared.hear(Heard::AllChanged);
    assert!(shared.last_known(&other).is_none());
    assert!(shared.last_known(&third).is_none());
    keep(&shared, "one", shared.epoch());
    assert!(shared.get(&one).is_some(), "read again");
}

#[test]
fn memory_holds_no_more_sessions_than_it_may_and_keeps_those_in_use() {
    let shared = shared(10);
    shared.hear(Heard::Up);
    let used = keep(&shared, "used", shared.epoch());
    for n in 0..100 {
        let other = keep(&shared, &n.to_string(), shared.epoch());
        assert!(shared.get(&used).is_some(), "after {n} others");
        assert!(shared.get(&other).is_some() || n > 0);
        assert!(shared.len() <= 10);
    }
}

#[test]
fn an_unknown_key_is_remembered_until_anything_changes() {
    let shared = shared(10);
    let asked = key::digest("guess");
    shared.remember_unknown(asked);
    assert!(!shared.is_unknown(&asked), "changes are not heard of");
    shared.hear(Heard::Up);
    shared.remember_unknown(asked);
    assert!(shared.is_unknown(&asked));
    shared.hear(Heard::Changed(DocumentSpace::Session, "other".to_owned()));
    assert!(!shared.is_unknown(&asked));
    shared.remember_unknown(asked);
    std::thread::sleep(super::UNKNOWN_FOR + Duration::from_millis(1));
    assert!(!shared.is_unknown(&asked));
}

#[test]
fn what_has_changed_between_reading_and_trusting_is_not_used() {
    let shared = shared(10);
    shared.hear(Heard::Up);
    let (session, _) = Session::parse(b"{}").unwrap();
    let digest = key::digest("one");
    let kept = shared.keep(digest, &StoredSession { shown: "one".to_owned(), session }, None);
    assert!(shared.get(&digest).is_none(), "nobody has said yet that it is good");
    shared.changed(&digest);
    kept.trust(shared.epoch());
    assert!(shared.get(&digest).is_none());
}

#[test]
fn sessions_that_come_and_go_are_in_line_once() {
    let shared = shared(10);
    shared.hear(Heard::Up);
    for round in 0..100 {
        for n in 0..20 {
            keep(&shared, &n.to_string(), shared.epoch());
        }
        let order = shared.order.lock().unwrap();
        let lengths = (order.turn.len(), order.ages.len(), shared.len());
        assert_eq!(lengths, (10, 10, 10), "round {round}");
    }
}
