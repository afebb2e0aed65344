use super::{Cluster, ClusterHost, DELETE_API_CACHE, MAIL, PRESENCE, PURGE};
use crate::message::Signer;
use crate::node::{NodeEvent, NodeState};
use crate::purge_log::{CachePurge, PurgeTarget};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Heard, Redis, RedisSettings};

/// What this gateway was asked to do.
#[derive(Default)]
struct Host {
    purged: Mutex<Vec<String>>,
    events: Mutex<Vec<NodeEvent>>,
    mail: Mutex<Vec<Value>>,
}

impl PurgeTarget for Host {
    fn purge(&self, purge: &CachePurge) {
        self.purged.lock().unwrap().push(format!("{:?}", purge.api));
    }

    fn purge_with_redis(&self, api: &str) {
        self.purged.lock().unwrap().push(format!("{api} with Redis"));
    }

    fn settle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

impl ClusterHost for Host {
    fn state(&self) -> NodeState {
        NodeState { node: "one".to_owned(), ..NodeState::default() }
    }

    fn answer(&self, _: &Value) -> Option<Value> {
        None
    }

    fn receive(&self, mail: Value) {
        self.mail.lock().unwrap().push(mail);
    }

    fn note(&self, event: NodeEvent) {
        self.events.lock().unwrap().push(event);
    }
}

fn signer(secret: &str) -> Signer {
    Signer::new(&config(secret))
}

fn config(secret: &str) -> GatewayConfig {
    GatewayConfig { node_secret: secret.to_owned(), ..GatewayConfig::default() }
}

/// The gateway `one` over a Redis that is not there: only what is heard matters.
fn cluster() -> (Arc<Cluster>, Arc<Host>) {
    let nowhere = RedisSettings { addresses: vec![("127.0.0.1".to_owned(), 1)], ..RedisSettings::default() };
    let host = Arc::new(Host::default());
    let cluster = Cluster::connect(Arc::new(Redis::open(nowhere).unwrap()), &config("right"));
    cluster.join("one", host.clone(), host.clone());
    (cluster, host)
}

fn hear(cluster: &Arc<Cluster>, message: String) {
    cluster.hear(Heard::Message(message.into_bytes()));
}

#[test]
fn tyks_message_empties_the_cache_of_an_api_if_it_is_signed_and_not_our_own() {
    let (cluster, host) = cluster();
    let (right, wrong) = (signer("right"), signer("wrong"));
    hear(&cluster, wrong.message(DELETE_API_CACHE, "a"));
    hear(&cluster, right.message_from("two", DELETE_API_CACHE, "a"));
    hear(&cluster, format!("{DELETE_API_CACHE} is no JSON"));
    hear(&cluster, right.message("GroupReload", "a"));
    assert!(host.purged.lock().unwrap().is_empty());
    hear(&cluster, right.message(DELETE_API_CACHE, "a"));
    assert_eq!(*host.purged.lock().unwrap(), ["a with Redis"]);
}

#[test]
fn other_gateways_are_known_by_what_they_say() {
    let (cluster, host) = cluster();
    let (right, wrong) = (signer("right"), signer("wrong"));
    let presence = |id: &str, node: &str, number: u64, state: &str| {
        let said = json!({
            "id": id, "process": format!("{node} (process 7)"), "node": node, "state": state, "number": number, "applied": "1-0", "runs": null
        });
        said.to_string()
    };
    let names = || cluster.nodes().into_iter().filter(|node| node.is_alive).map(|node| node.state.node).collect::<Vec<_>>();
    hear(&cluster, wrong.message(PRESENCE, &presence("a", "two", 1, "up")));
    hear(&cluster, right.message(PRESENCE, &presence(&cluster.id, "one", 1, "up")));
    hear(&cluster, right.message(PRESENCE, "{}"));
    assert_eq!((names(), cluster.followers()), (vec!["one".to_owned()], Vec::new()), "it does not follow the log of purges yet");
    hear(&cluster, right.message(PRESENCE, &presence("a", "two", 2, "new")));
    // The process that this one takes over from, or gives way to, is the same gateway.
    hear(&cluster, right.message(PRESENCE, &presence("b", "one", 2, "up")));
    assert_eq!((names(), cluster.followers().len()), (vec!["one".to_owned(), "two".to_owned()], 2));
    hear(&cluster, right.message(PRESENCE, &presence("a", "two", 3, "gone")));
    hear(&cluster, right.message(PRESENCE, &presence("b", "one", 3, "gone")));
    assert_eq!((names(), cluster.followers()), (vec!["one".to_owned()], Vec::new()));
    let two = || "two".to_owned();
    assert_eq!(*host.events.lock().unwrap(), [NodeEvent::Joined(two()), NodeEvent::Left(two())]);
}

#[test]
fn a_message_about_purges_is_heard_if_it_is_signed() {
    let (cluster, _) = cluster();
    let own = cluster.own.get().unwrap();
    assert!(cluster.hear_message(own, signer("wrong").message(PURGE, "").as_bytes()).is_err());
    assert_eq!(cluster.hear_message(own, signer("right").message(PURGE, "").as_bytes()), Ok(()));
    // The task that reads may have taken it already, and puts it back when Redis is not there.
    assert!((0..6_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        own.purges.is_behind.load(Ordering::SeqCst)
    }));
}

#[test]
fn mail_is_taken_by_the_process_that_it_is_for() {
    let (cluster, host) = cluster();
    let mail = |secret: &str, to: &str, content: u64| {
        let message = json!({"question": to, "process": "a", "from": "two", "content": content});
        signer(secret).message(MAIL, &message.to_string())
    };
    hear(&cluster, mail("wrong", cluster.process_id(), 1));
    hear(&cluster, mail("right", "another", 2));
    hear(&cluster, mail("right", cluster.process_id(), 3));
    hear(&cluster, mail("right", "", 4));
    assert_eq!(*host.mail.lock().unwrap(), [json!(3), json!(4)]);
}
