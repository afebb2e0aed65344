use super::*;
use serde_json::json;
use std::future::Future;
use std::thread;
use tokio::sync::Semaphore;
use tollgate_store::fault::StoreFaultKind;
use tollgate_store::{Memory, PendingAnswer, Question, clock};

/// A store that can be switched off and can hold its answers back.
struct Switched {
    store: Memory,
    is_off: AtomicBool,
    /// Each answer needs one permit.
    answers: Arc<Semaphore>,
}

impl Store for Switched {
    fn ask(&self, question: Question) -> PendingAnswer {
        if self.is_off.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Err(StoreFault::new(StoreFaultKind::Unavailable, "switched off"))));
        }
        let (answer, answers) = (self.store.ask(question), self.answers.clone());
        Box::pin(async move {
            let _permit = answers.acquire().await.unwrap();
            answer.await
        })
    }

    fn for_each(&self, kind: DocumentSpace, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        self.store.for_each(kind, see)
    }

    fn for_each_counter(&self, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault> {
        self.store.for_each_counter(see)
    }
}

/// Runs a future that hardly has to wait.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Keys on such a store, with a key `k` that has a quota.
struct Stage {
    store: Arc<Switched>,
    keys: Arc<Keys>,
}

impl Stage {
    fn new() -> Stage {
        let store = Arc::new(Switched {
            store: Memory::new(clock::system()),
            is_off: AtomicBool::new(false),
            answers: Arc::new(Semaphore::new(100)),
        });
        let keys = Arc::new(Keys::load(KeyRules::new(&GatewayConfig::default(), Arc::default()), store.clone()).unwrap());
        let stage = Stage { store, keys };
        stage.put(false);
        stage
    }

    fn put(&self, keep_counters: bool) {
        let session = json!({"quota_max": 9, "quota_renewal_rate": 3600, "access_rights": {"a": {"api_id": "a"}}});
        let (session, _) = Session::from_value(&session).unwrap();
        at_once(self.keys.put(self.keys.new_name("k-1"), session, keep_counters)).unwrap();
    }

    fn use_key(key: &Key) {
        let checks = Checks::ALL;
        key.limits("a")
            .admit(Duration::ZERO, tollgate_clock::unix_s(), checks, key.dry_run, tollgate_limit::WaitPolicy::Waits)
            .unwrap();
    }

    fn key(&self) -> HeldKey {
        self.keys.find("k-1", "").expect("the key")
    }

    /// The counter values that a newly started process would find.
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
    assert!(at_once(stage.keys.remove(stage.keys.new_name("k-1"))).unwrap());
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
        at_once(stage.keys.put(stage.keys.new_name(token), session, false)).unwrap();
    };
    put("token-1", 1_000, "shop");
    put("token-2", 1_000, "shop");
    put("token-3", 0, "shop");
    put("key-1", 1_000, "");
    // Its lifetime is extended.
    put("token-2", 2_000, "shop");
    let known = |token: &str| stage.keys.find(token, "").is_some();
    at_once(stage.keys.forget_ended(1_599)).unwrap();
    assert!(known("token-1"));
    at_once(stage.keys.forget_ended(1_600)).unwrap();
    assert_eq!(["token-1", "token-2", "token-3", "key-1"].map(known), [false, true, true, true]);
    at_once(stage.keys.forget_ended(2_600)).unwrap();
    assert_eq!(["token-2", "token-3", "key-1"].map(known), [false, true, true]);
}

#[test]
fn a_caller_who_hangs_up_in_the_middle_of_a_write_leaves_memory_and_store_the_same() {
    let stage = Stage::new();
    at_once(async {
        let all = stage.store.answers.clone().acquire_many_owned(100).await.unwrap();
        let session = Session { alias: "new".to_owned(), ..Session::default() };
        let write = stage.keys.put(stage.keys.new_name("k-1"), session, true);
        assert!(tokio::time::timeout(Duration::ZERO, write).await.is_err(), "the store has not answered");
        drop(all);
        // The next writer has to wait for it.
        let seen = Arc::new(Mutex::new(String::new()));
        let see = seen.clone();
        let look = move |old: Option<Session>| {
            *see.lock().unwrap() = old.unwrap().alias;
            None
        };
        assert!(!stage.keys.rewrite(stage.keys.new_name("k-1"), true, look).await.unwrap());
        assert_eq!(*seen.lock().unwrap(), "new");
    });
    assert_eq!(stage.key().session.alias, "new");
}

#[test]
fn what_an_operator_says_of_an_identity_outlives_its_tokens() {
    let stage = Stage::new();
    let digest = identity_digest("somebody");
    let make = || Session::default();
    let name = KeyName { digest, shown: "somebody".to_owned() };
    for round in 0..200 {
        at_once(stage.keys.put(name.clone(), Session::default(), true)).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..20 {
                    stage.keys.identity(&digest, "somebody", &[format!("policy-{}", number % 2)], 0, &make);
                }
            });
            let inactive = Session { is_inactive: true, ..Session::default() };
            at_once(stage.keys.put(name.clone(), inactive, true)).unwrap();
        });
        assert!(stage.keys.session(&digest).unwrap().is_inactive, "round {round}");
    }
}
