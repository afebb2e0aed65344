//! Sessions of operators: on all gateways that share a store, over a restart, and until they end everywhere at once.

use serde_json::{Value, json};

use crate::console::{PASSWORD, Signed, sign_in, try_sign_in, with_secret};
use crate::harness::{Gateway, Response, eventually};
use crate::servers::{Cluster, Server};
use crate::shared_keys::{on, patient};

fn add_ann(gateway: &Gateway) {
    let ann = json!({"name": "ann", "role": "admin", "password": PASSWORD});
    let answer = gateway.control("POST", "/tyk/users", &ann.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

fn ann(gateway: &Gateway) -> Signed<'_> {
    sign_in(gateway, &json!({"user": "ann", "password": PASSWORD}))
}

/// The answer to the holder of a session.
fn look(signed: &Signed<'_>) -> Response {
    signed.call("GET", "/apis", "")
}

#[test]
fn a_session_of_one_gateway_is_good_at_all_until_it_ends_at_all() {
    let server = Server::start(&[]);
    act_as_one(&on(&server));
}

#[test]
fn on_a_cluster_of_redis_too_a_session_is_good_at_all_until_it_ends_at_all() {
    let cluster = Cluster::start();
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port);
    act_as_one(&patient(json!({"storage": {"type": "redis", "enable_cluster": true, "addrs": [node]}})));
}

/// What a proxy in front of two gateways does: each call may come to the other one.
fn act_as_one(conf: &Value) {
    let (first, second) = (Gateway::start(conf.clone(), []), Gateway::start(conf.clone(), []));
    add_ann(&first);
    let [by_name, by_secret] = [ann(&first), with_secret(&first)];
    for signed in [&by_name, &by_secret] {
        assert_eq!((look(signed).status, look(&signed.at(&second)).status), (200, 200));
    }
    // Signed out at the other one; whoever else is signed in goes on.
    let other = ann(&second);
    assert_eq!(by_name.at(&second).call("DELETE", "/session", "").status, 200);
    assert_eq!((look(&by_name).status, look(&by_name.at(&second)).status), (401, 401));
    assert_eq!((look(&other.at(&first)).status, look(&by_secret).status), (200, 200));

    // Each of these at one gateway ends sessions at the other one with the next call.
    let left = |change: &dyn Fn(&Gateway) -> Response| {
        let signed = ann(&first);
        assert_eq!(look(&signed).status, 200);
        let changed = change(&second);
        assert_eq!(changed.status, 200, "{changed}");
        look(&signed).status
    };
    let set = |member: &str, value: &Value| json!({member: value}).to_string();
    assert_eq!(left(&|gateway| gateway.control("PUT", "/tyk/users/ann", &set("role", &json!("viewer")))), 401);
    assert_eq!(left(&|gateway| gateway.control("POST", "/tyk/users/ann/password", &set("new", &json!(PASSWORD)))), 401);
    assert_eq!(left(&|gateway| gateway.control("DELETE", "/tyk/users/ann", "")), 401);
    // Somebody else with the same name and password has their own.
    let before = other;
    add_ann(&second);
    assert_eq!(look(&before).status, 401);
    // Their own new password leaves one session, wherever it is used.
    let [kept, ended] = [ann(&first), ann(&second)];
    let change = json!({"old": PASSWORD, "new": "another long password"}).to_string();
    assert_eq!(kept.call("POST", "/users/ann/password", &change).status, 200);
    assert_eq!((look(&kept.at(&second)).status, look(&ended).status), (200, 401));
}

#[test]
fn a_session_outlives_a_restart() {
    let data = tempfile::tempdir().expect("a folder");
    let conf = json!({"tollgate": {"data_dir": data.path()}});
    let mut gateway = Gateway::start(conf.clone(), []);
    add_ann(&gateway);
    let (by_name, by_secret) = (ann(&gateway).cookie, with_secret(&gateway).cookie);
    gateway.restart();
    for cookie in [&by_name, &by_secret] {
        assert_eq!(look(&Signed { gateway: &gateway, cookie: cookie.clone() }).status, 200);
    }
    drop(gateway);
    let again = Gateway::start(conf.clone(), []);
    for cookie in [&by_name, &by_secret] {
        assert_eq!(look(&Signed { gateway: &again, cookie: cookie.clone() }).status, 200);
    }
    drop(again);
    // Sessions of those who knew the control secret end with it.
    let mut other = conf;
    other["secret"] = json!("another secret");
    let other = Gateway::start(other, []);
    let status = |cookie: &String| look(&Signed { gateway: &other, cookie: cookie.clone() }).status;
    assert_eq!((status(&by_name), status(&by_secret)), (200, 401));
}

#[test]
fn without_the_store_nobody_gets_in_and_the_answer_says_why() {
    let mut server = Server::start(&[]);
    let gateway = Gateway::start(on(&server), []);
    add_ann(&gateway);
    let signed = ann(&gateway);
    server.kill();
    for answer in [look(&signed), signed.call("GET", "/session", ""), signed.call("DELETE", "/session", "")] {
        assert_eq!((answer.status, &answer.json()["cause"]), (503, &json!("store")), "{answer}");
        assert!(answer.text().contains("The store with the sessions does not answer"), "{answer}");
    }
    for body in [json!({"user": "ann", "password": PASSWORD}), json!({"secret": crate::harness::gateway::SECRET})] {
        let answer = try_sign_in(&gateway, &body, &[]);
        assert!(answer.status == 503 && answer.header("set-cookie").is_none(), "{answer}");
    }
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 200, "the control secret works");
    server.restart();
    // It has kept nothing.
    let bob = json!({"name": "bob", "role": "viewer", "password": PASSWORD}).to_string();
    eventually("the store is back", || [200, 409].contains(&gateway.control("POST", "/tyk/users", &bob).status));
    let bob = sign_in(&gateway, &json!({"user": "bob", "password": PASSWORD}));
    assert_eq!((look(&bob).status, look(&signed).status), (200, 401));
}
