use super::{Pool, REFUSED_MS, Readiness};
use crate::rooms::{Need, Ticket};
use crate::terms::ProviderTerms;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tollgate_llm::{Flavour, Provider, ProviderApi, ProviderCredential, RateLimits};

fn pool(keys: usize) -> Pool {
    let key = |number: usize| ProviderCredential::Key(format!("key-{number}"));
    let provider = Provider { api: ProviderApi::OpenAi(Flavour::OpenAi), base_path: None, credential: key(1) };
    let terms = ProviderTerms {
        name: "p".to_owned(),
        provider,
        more_credentials: (2..=keys).map(key).collect(),
        origin: String::new(),
        aws: None,
        time_max: Duration::ZERO,
        patterns: Vec::new(),
    };
    Pool::new(&terms, |_| Arc::default())
}

fn busy_for(pool: &Pool, index: usize, ms: u64) {
    let limits = RateLimits { retry_after_ms: Some(ms), ..RateLimits::default() };
    pool.key(index).expect("a key").rooms.learn("m", Ticket::default(), &limits, true, 0);
}

#[test]
fn a_conversation_keeps_its_key_while_that_has_room() {
    let pool = pool(4);
    let key = |conversation| pool.choose("m", Need::default(), conversation, &[], 0).expect("a key");
    let before: Vec<usize> = (0..100).map(key).collect();
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), 4, "all are used");
    busy_for(&pool, 2, 1_000);
    for (conversation, before) in before.iter().enumerate() {
        let now = key(conversation as u64);
        assert!(now != 2 && (*before == 2 || now == *before));
        let next = pool.choose("m", Need::default(), conversation as u64, &[now], 0).expect("another key");
        assert!(next != now && next != 2);
    }
    assert_eq!(pool.choose("m", Need::default(), 7, &[0, 1, 3], 0), None);
    assert!(pool.choose("other", Need::default(), 7, &[0, 1, 3], 0).is_some(), "another model has its own limits");
}

#[test]
fn a_provider_is_busy_when_all_its_keys_are_and_down_when_it_knows_none() {
    let pool = pool(2);
    let state = |now_ms| pool.readiness("m", Need::default(), now_ms);
    busy_for(&pool, 0, 3_000);
    assert_eq!(state(0), Readiness::Ready);
    busy_for(&pool, 1, 2_000);
    assert_eq!((state(0), state(1_500), state(2_000)), (Readiness::Busy(2_000), Readiness::Busy(500), Readiness::Ready));
    (0..2).for_each(|index| pool.key(index).expect("a key").refuse(5_000));
    assert_eq!((state(5_000), state(5_000 + REFUSED_MS)), (Readiness::Down, Readiness::Ready));
    assert!(pool.any(1).is_some());
    pool.key(0).expect("a key").accept();
    assert_eq!(state(5_000), Readiness::Ready);
    assert_eq!(pool.choose("m", Need::default(), 1, &[], 5_000), Some(0));
}
