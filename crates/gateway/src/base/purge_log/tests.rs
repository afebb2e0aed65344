use super::{CachePurge, DELETE_API_CACHE, PRESENCE, PURGE, PurgeLog, PurgeTarget};
use crate::base::bus::Signer;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Heard, Redis, RedisSettings};

#[derive(Default)]
struct Purged(Mutex<Vec<String>>);

impl PurgeTarget for Purged {
    fn purge(&self, purge: &CachePurge) {
        self.0.lock().unwrap().push(format!("{:?}", purge.api));
    }

    fn purge_with_redis(&self, api: &str) {
        self.0.lock().unwrap().push(format!("{api} with Redis"));
    }

    fn settle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

fn config(secret: &str) -> GatewayConfig {
    GatewayConfig { node_secret: secret.to_owned(), ..GatewayConfig::default() }
}

/// A log over a Redis that is not there: only what is heard matters.
fn log() -> (Arc<PurgeLog>, Arc<Purged>) {
    let nowhere = RedisSettings { addresses: vec![("127.0.0.1".to_owned(), 1)], ..RedisSettings::default() };
    let purged = Arc::new(Purged::default());
    let redis = Arc::new(Redis::open(nowhere).unwrap());
    (PurgeLog::start(redis, &config("right"), "one".to_owned(), purged.clone()), purged)
}

fn hear(log: &PurgeLog, message: String) {
    log.hear(Heard::Message(message.into_bytes()));
}

#[test]
fn tyks_message_empties_the_cache_of_an_api_if_it_is_signed_and_not_our_own() {
    let (log, purged) = log();
    let (right, wrong) = (Signer::new(&config("right")), Signer::new(&config("wrong")));
    hear(&log, wrong.message(DELETE_API_CACHE, "a"));
    hear(&log, right.message_from("two", DELETE_API_CACHE, "a"));
    hear(&log, format!("{DELETE_API_CACHE} is no JSON"));
    hear(&log, right.message("GroupReload", "a"));
    assert!(purged.0.lock().unwrap().is_empty());
    hear(&log, right.message(DELETE_API_CACHE, "a"));
    assert_eq!(*purged.0.lock().unwrap(), ["a with Redis"]);
}

#[test]
fn other_gateways_are_known_by_what_they_say() {
    let (log, _) = log();
    let (right, wrong) = (Signer::new(&config("right")), Signer::new(&config("wrong")));
    let presence = |name: &str, state: &str| format!(r#"{{"gateway":"{name}","applied":"1-0","state":"{state}"}}"#);
    assert!(log.gateways().is_empty(), "it does not follow the log yet");
    *log.applied.lock().unwrap() = Some("1-0".parse().unwrap());
    hear(&log, wrong.message(PRESENCE, &presence("two", "up")));
    hear(&log, right.message(PRESENCE, &presence("one", "up")));
    hear(&log, right.message(PRESENCE, "{}"));
    assert_eq!(log.gateways(), ["one"]);
    hear(&log, right.message(PRESENCE, &presence("two", "new")));
    assert_eq!(log.gateways(), ["one", "two"]);
    hear(&log, right.message(PRESENCE, &presence("two", "gone")));
    assert_eq!(log.gateways(), ["one"]);
}

#[test]
fn a_signed_message_about_purges_makes_the_log_be_read() {
    let (log, _) = log();
    log.is_behind.store(false, Ordering::SeqCst);
    log.hear(Heard::Message(Signer::new(&config("wrong")).message(PURGE, "").into_bytes()));
    assert!(!log.is_behind.load(Ordering::SeqCst));
    log.hear(Heard::Message(Signer::new(&config("right")).message(PURGE, "").into_bytes()));
    // The task that reads may have taken it already, and puts it back when Redis is not there.
    assert!((0..6_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        log.is_behind.load(Ordering::SeqCst)
    }));
}
