use super::*;
use serde_json::json;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tollgate_store::fault::StoreFaultKind;
use tollgate_store::{Memory, Reply, clock};

/// A store that can be switched off.
struct Switched {
    store: Memory,
    is_off: AtomicBool,
}

impl Store for Switched {
    fn ask(&self, question: Question) -> Reply {
        if self.is_off.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Err(StoreFault::new(StoreFaultKind::Unavailable, "switched off"))));
        }
        self.store.ask(question)
    }

    fn for_each(&self, kind: Kind, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        self.store.for_each(kind, see)
    }

    fn for_each_counter(&self, see: &mut dyn FnMut(Counter)) -> Result<(), StoreFault> {
        self.store.for_each_counter(see)
    }
}

/// The outcome of what never has to wait.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("it waits"),
    }
}

/// Keys on a store, with a key `k` that has a quota.
struct Stage {
    store: Arc<Switched>,
    keys: Keys,
}

impl Stage {
    fn new() -> Stage {
        let store = Arc::new(Switched { store: Memory::new(clock::system()), is_off: AtomicBool::new(false) });
        let keys = Keys::load(KeyRules::new(&GatewayConfig::default()), store.clone()).unwrap();
        let stage = Stage { store, keys };
        stage.put(false);
        stage
    }

    fn put(&self, keep_counters: bool) {
        let session = json!({"quota_max": 9, "quota_renewal_rate": 3600, "access_rights": {"a": {"api_id": "a"}}});
        let (session, _) = Session::from_value(&session).unwrap();
        at_once(self.keys.put("k-1", session, keep_counters)).unwrap();
    }

    fn use_key(key: &Key) {
        let checks = Checks::ALL;
        key.limits("a").admit(Duration::ZERO, crate::clock::unix_s(), checks, key.dry_run, crate::limit::Patience::Waits).unwrap();
    }

    fn key(&self) -> HeldKey {
        self.keys.find("k-1", "").expect("the key")
    }

    /// The values that a process that starts now would find.
    fn stored(&self) -> Vec<i64> {
        let mut values = Vec::new();
        self.store.for_each_counter(&mut |counter| values.push(counter.value)).unwrap();
        values
    }
}

#[test]
fn quotas_that_could_not_be_stored_are_stored_later() {
    let stage = Stage::new();
    Stage::use_key(&stage.key());
    stage.store.is_off.store(true, Ordering::Relaxed);
    assert!(at_once(stage.keys.save_quotas()).is_err());
    stage.store.is_off.store(false, Ordering::Relaxed);
    assert!(stage.stored().is_empty());
    at_once(stage.keys.save_quotas()).unwrap();
    assert_eq!(stage.stored(), [1]);
}

#[test]
fn a_deleted_keys_quota_does_not_come_back_with_a_late_write() {
    let stage = Stage::new();
    let held = stage.key();
    Stage::use_key(&held);
    assert!(at_once(stage.keys.remove(&key_format::digest("k-1"))).unwrap());
    Stage::use_key(&held);
    at_once(stage.keys.save_quotas()).unwrap();
    assert!(stage.stored().is_empty());
}

#[test]
fn a_reset_quota_begins_anew_also_for_the_next_process() {
    let stage = Stage::new();
    let held = stage.key();
    Stage::use_key(&held);
    at_once(stage.keys.save_quotas()).unwrap();
    assert_eq!(stage.stored(), [1]);
    stage.put(false);
    assert!(stage.stored().is_empty());
    Stage::use_key(&held);
    at_once(stage.keys.save_quotas()).unwrap();
    assert!(stage.stored().is_empty());
    Stage::use_key(&stage.key());
    at_once(stage.keys.save_quotas()).unwrap();
    assert_eq!(stage.stored(), [1]);
}

#[test]
fn counters_that_are_kept_go_on() {
    let stage = Stage::new();
    Stage::use_key(&stage.key());
    stage.put(true);
    Stage::use_key(&stage.key());
    at_once(stage.keys.save_quotas()).unwrap();
    assert_eq!(stage.stored(), [2]);
}

#[test]
fn tokens_of_clients_are_forgotten_some_time_after_they_end_and_keys_are_not() {
    let stage = Stage::new();
    let put = |token: &str, expires: i64, client: &str| {
        let session = Session { expires, oauth_client_id: client.to_owned(), ..Session::default() };
        at_once(stage.keys.put(token, session, false)).unwrap();
    };
    put("token-1", 1_000, "shop");
    put("token-2", 1_000, "shop");
    put("token-3", 0, "shop");
    put("key-1", 1_000, "");
    // It is given more time.
    put("token-2", 2_000, "shop");
    let known = |token: &str| stage.keys.digest_of(token).is_some();
    stage.keys.forget_ended(1_599);
    assert!(known("token-1"));
    stage.keys.forget_ended(1_600);
    assert_eq!(["token-1", "token-2", "token-3", "key-1"].map(known), [false, true, true, true]);
    stage.keys.forget_ended(2_600);
    assert_eq!(["token-2", "token-3", "key-1"].map(known), [false, true, true]);
}
