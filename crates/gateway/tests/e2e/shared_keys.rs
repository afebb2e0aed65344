//! Several gateways on one Redis: a key that one of them makes, changes or deletes is what the others see, at once and whatever happens
//! to Redis.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::definition::merge;
use crate::harness::jws::hs256;
use crate::harness::signatures;
use crate::harness::{Definition, Gateway, Setup, Upstream, eventually, request};
use crate::keys::{call, create, keyed, session, session_for, with_key};
use crate::servers::{Cluster, Sentinel, Server};
use crate::{basic_auth, certs};

/// Settings for a gateway on this Redis.
pub(crate) fn on(server: &Server) -> Value {
    patient(json!({"hash_keys": true, "enable_hashed_keys_listing": true, "storage": {"host": "127.0.0.1", "port": server.port}}))
}

/// With time for Redis's answers: with the 50 ms of the default, whatever else a machine does could make it an outage for one request, at a
/// moment that no test knows.
pub(crate) fn patient(mut conf: Value) -> Value {
    merge(&mut conf, &json!({"tollgate": {"shared_store": {"answer_ms_max": 3_000}}}));
    conf
}

pub(crate) fn gateway(conf: &Value, upstream: &Upstream) -> Gateway {
    Gateway::start(conf.clone(), [keyed("a", upstream)])
}

#[test]
fn what_one_gateway_does_to_a_key_all_of_them_see() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways: Vec<Gateway> = (0..3).map(|_| gateway(&on(&server), &upstream)).collect();
    let key = create(&gateways[0], &session(json!({"alias": "one"})));
    for gateway in &gateways {
        assert_eq!(call(gateway, "/a/", &key).status, 200);
        assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["alias"], "one");
    }
    let inactive = session(json!({"is_inactive": true}));
    assert_eq!(gateways[1].control("PUT", &format!("/tyk/keys/{key}"), &inactive.to_string()).status, 200);
    for gateway in &gateways {
        eventually("the key is inactive everywhere", || call(gateway, "/a/", &key).status == 403);
    }
    let active = session(json!({"alias": "two"}));
    assert_eq!(gateways[2].control("PUT", &format!("/tyk/keys/{key}"), &active.to_string()).status, 200);
    for gateway in &gateways {
        eventually("the key is active everywhere", || call(gateway, "/a/", &key).status == 200);
    }
    assert_eq!(gateways[0].control("GET", "/tyk/keys", "").json()["keys"].as_array().map(Vec::len), Some(1));
    let told = Instant::now();
    assert_eq!(gateways[0].control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
    for gateway in &gateways {
        eventually("the key is refused everywhere", || call(gateway, "/a/", &key).status == 403);
    }
    // Without a message, a session is believed for a minute.
    assert!(told.elapsed() < Duration::from_secs(50), "{:?}", told.elapsed());
    for gateway in &gateways {
        assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").status, 404);
        assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{key}"), "").status, 404);
    }
}

#[test]
fn keys_are_stored_as_tyk_stores_them() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateway = gateway(&on(&server), &upstream);
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({"alias": "stored"})).to_string()).json();
    let (key, hash) = (answer["key"].as_str().unwrap(), answer["key_hash"].as_str().unwrap());
    let stored: Value = serde_json::from_str(&server.cli(&["GET", &format!("apikey-{hash}")])).unwrap();
    assert_eq!((&stored["alias"], &stored["org_id"]), (&json!("stored"), &json!("default")));
    assert_eq!(call(&gateway, "/a/", key).status, 200);
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{hash}?hashed=true"), "").json()["alias"], "stored");
    // What another program writes is noticed as well: the server tells.
    server.cli(&["DEL", &format!("apikey-{hash}")]);
    eventually("the deletion is noticed", || call(&gateway, "/a/", key).status == 403);
    server.cli(&["SET", &format!("apikey-{hash}"), &stored.to_string()]);
    eventually("the return is noticed", || call(&gateway, "/a/", key).status == 200);
    let answer = gateway.control("DELETE", &format!("/tyk/keys/{hash}?hashed=true"), "");
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(call(&gateway, "/a/", key).status, 403);
    assert_eq!(server.cli(&["KEYS", "apikey-*"]), "");
}

#[test]
fn keys_that_are_not_hashed_are_their_own_names() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let conf = patient(json!({"storage": {"addrs": [format!("127.0.0.1:{}", server.port)]}}));
    let gateway = gateway(&conf, &upstream);
    let made = gateway.control("POST", "/tyk/keys/my-key", &session(json!({})).to_string());
    assert_eq!(made.json()["key"], "defaultmy-key", "{made}");
    assert_eq!(server.cli(&["KEYS", "apikey-*"]), "apikey-defaultmy-key");
    for key in ["my-key", "defaultmy-key"] {
        assert_eq!(call(&gateway, "/a/", key).status, 200, "{key}");
    }
    assert_eq!(call(&gateway, "/a/", "other").status, 403);
}

#[test]
fn keys_survive_all_gateways() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let key = create(&gateway(&on(&server), &upstream), &session(json!({})));
    assert_eq!(call(&gateway(&on(&server), &upstream), "/a/", &key).status, 200);
}

#[test]
fn a_cluster_and_a_sentinel_serve_as_one_server_does() {
    let upstream = Upstream::ok();
    let cluster = Cluster::start();
    let sentinel = Sentinel::start(1);
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port);
    let watcher = format!("127.0.0.1:{}", sentinel.sentinels[0].port);
    for storage in [
        json!({"type": "redis", "enable_cluster": true, "addrs": [node]}),
        json!({"type": "redis", "master_name": "mymaster", "addrs": [watcher]}),
    ] {
        let gateways = [(); 2].map(|()| gateway(&patient(json!({"hash_keys": true, "storage": storage})), &upstream));
        for _ in 0..10 {
            let key = create(&gateways[0], &session(json!({})));
            assert_eq!(call(&gateways[1], "/a/", &key).status, 200);
            assert_eq!(gateways[0].control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
            eventually("the key is refused", || call(&gateways[1], "/a/", &key).status == 403);
        }
    }
}

#[test]
fn without_redis_a_gateway_starts_says_so_and_heals() {
    let upstream = Upstream::ok();
    let port = crate::servers::free_port();
    let conf = patient(json!({"hash_keys": true, "storage": {"port": port, "host": "127.0.0.1"}}));
    let open = crate::harness::api("open", "/open/", &upstream.url());
    let gateway = Setup::new(conf).api(keyed("a", &upstream)).api(open).start();
    let ready = gateway.get("/ready");
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["message"], "Redis connection not available");
    assert!(ready.json()["details"]["redis"]["output"].as_str().is_some_and(|why| why.contains(&port.to_string())), "{ready}");
    let hello = gateway.get("/hello");
    assert_eq!((hello.status, &hello.json()["details"]["redis"]["status"]), (200, &json!("fail")));
    assert_eq!(gateway.get("/open/").status, 200);
    assert_eq!(call(&gateway, "/a/", "some-key").status, 503);
    let answer = gateway.control("POST", "/tyk/keys/create", &session(json!({})).to_string());
    assert_eq!(answer.status, 500, "{answer}");
    let _server = Server::start_at(port, &[]);
    eventually("the gateway heals", || gateway.get("/ready").status == 200);
    let key = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    assert_eq!(call(&gateway, "/a/", "some-key").status, 403);
    assert_eq!(gateway.get("/hello").json()["details"]["redis"]["status"], "pass");
}

#[test]
fn known_keys_go_on_while_redis_hangs_or_is_gone() {
    let (mut server, upstream) = (Server::start(&["--appendonly", "yes"]), Upstream::ok());
    let gateway = gateway(&on(&server), &upstream);
    let key = create(&gateway, &session(json!({})));
    let other = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    server.signal("STOP");
    // Some ask while nobody knows yet that the server hangs, others afterwards: nobody waits for long.
    let mut client = gateway.connect();
    for _ in 0..50 {
        assert_eq!(client.ask(with_key("/a/", &key)).status, 200);
    }
    assert_eq!(client.ask(with_key("/a/", &other)).status, 503, "not read yet");
    eventually("the hang is noticed", || gateway.get("/ready").status == 503);
    for _ in 0..50 {
        assert_eq!(client.ask(with_key("/a/", &key)).status, 200);
    }
    server.signal("CONT");
    eventually("it is back", || gateway.get("/ready").status == 200);
    eventually("the other key is read", || call(&gateway, "/a/", &other).status == 200);
    server.restart();
    eventually("keys serve again", || call(&gateway, "/a/", &key).status == 200);
    server.kill();
    eventually("the end is noticed", || gateway.get("/ready").status == 503);
    for key in [&key, &other] {
        assert_eq!(call(&gateway, "/a/", key).status, 200);
    }
    let lost = gateway.log().matches("the connection to Redis is lost").count();
    assert!(lost <= 3, "one line for each change, not {lost}");
}

#[test]
fn a_key_that_was_revoked_while_nothing_was_heard_is_refused_when_the_store_is_back() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateway = gateway(&on(&server), &upstream);
    let key = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    // All connections are cut while the key is deleted: nothing tells of it.
    server.cli(&["EVAL", "redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes') return 1", "0"]);
    server.cli(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    server.cli(&["FLUSHALL"]);
    eventually("the key is refused", || call(&gateway, "/a/", &key).status == 403);
}

#[test]
fn who_wants_certainty_is_refused_while_the_store_is_silent() {
    let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = on(&server);
    conf["tollgate"]["shared_store"]["on_failure"] = json!("deny");
    let gateway = gateway(&conf, &upstream);
    let key = create(&gateway, &session(json!({})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    server.kill();
    eventually("the key is refused", || call(&gateway, "/a/", &key).status == 503);
}

#[test]
fn a_reload_of_all_reaches_all() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = [(); 2].map(|()| gateway(&on(&server), &upstream));
    for gateway in &gateways {
        gateway.write_api(&crate::harness::api("new", "/new/", &upstream.url()));
    }
    eventually("the bus is heard", || {
        assert_eq!(gateways[0].control("GET", "/tyk/reload/group", "").status, 200);
        gateways.iter().all(|gateway| gateway.get("/new/").status == 200)
    });
}

#[test]
fn wrong_keys_do_not_ask_the_store_again_and_again() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateway = gateway(&on(&server), &upstream);
    let commands = || -> u64 {
        let stats = server.cli(&["INFO", "commandstats"]);
        let line = stats.lines().find(|line| line.starts_with("cmdstat_get:")).unwrap_or_default().to_owned();
        line.split("calls=").nth(1).and_then(|rest| rest.split(',').next()?.parse().ok()).unwrap_or_default()
    };
    eventually("changes are heard of", || gateway.log().contains("changes of keys are received"));
    let before = commands();
    let mut client = gateway.connect();
    for _ in 0..200 {
        assert_eq!(client.ask(request("GET", "/a/", &["Authorization: wrong"], "")).status, 403);
    }
    let asked = commands() - before;
    assert!(asked < 100, "{asked} questions for 200 requests");
}

#[test]
fn users_signers_and_issuers_of_tokens_are_looked_up_as_keys_are() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let apis = || {
        let api = |id: &str| keyed(id, &upstream);
        let tokens = api("tokens").set("enable_jwt", true).set("jwt_signing_method", "hmac").set("jwt_source", "");
        let users: Definition = api("users").set("use_basic_auth", true);
        [users, api("signers").set("enable_signature_checking", true), tokens]
    };
    let gateways = [(); 2].map(|()| Gateway::start(on(&server), apis()));
    let rights = |fields: Value| session_for(&["users", "signers", "tokens"], fields);
    let user = rights(json!({"basic_auth_data": {"password": "p"}})).to_string();
    assert_eq!(gateways[0].control("POST", "/tyk/keys/alice", &user).status, 200);
    let basic = |password: &str| basic_auth::line("alice", password);
    assert_eq!(gateways[1].send(request("GET", "/users/", &[&basic("wrong")], "")).status, 401);
    assert_eq!(gateways[1].send(request("GET", "/users/", &[&basic("p")], "")).status, 200);

    let signer = create(&gateways[0], &rights(json!({"hmac_enabled": true, "hmac_string": "the shared secret"})));
    let date = signatures::date(0);
    let signed = signatures::signature(aws_lc_rs::hmac::HMAC_SHA256, &format!("date: {date}"));
    let line = format!("Authorization: Signature keyId=\"{signer}\",algorithm=\"hmac-sha256\",signature=\"{signed}\"");
    let lines = [format!("Date: {date}"), line];
    assert_eq!(gateways[1].send(request("GET", "/signers/", &[&lines[0], &lines[1]], "")).status, 200);

    let issuer = create(&gateways[0], &rights(json!({"jwt_data": {"secret": "its own"}})));
    let token = |secret: &[u8]| hs256(secret, &json!({"sub": issuer, "exp": 4_000_000_000_i64}));
    let ask = |secret: &[u8]| gateways[1].send(with_key("/tokens/", &token(secret))).status;
    assert_eq!((ask(b"another"), ask(b"its own"), ask(b"its own")), (403, 200, 200));
}

#[test]
fn keys_are_listed_by_the_apis_that_they_may_call() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let conf = patient(json!({"storage": {"host": "127.0.0.1", "port": server.port}}));
    let gateways = [(); 2].map(|()| Gateway::start(conf.clone(), [keyed("a", &upstream), keyed("b", &upstream)]));
    let (one, both) =
        (create(&gateways[0], &session_for(&["a"], json!({}))), create(&gateways[0], &session_for(&["a", "b"], json!({}))));
    let listed = |query: &str| {
        let mut keys = gateways[1].control("GET", &format!("/tyk/keys{query}"), "").json()["keys"].clone();
        keys.as_array_mut().unwrap().sort_by_key(Value::to_string);
        keys
    };
    let mut all = [&one, &both];
    all.sort();
    assert_eq!(listed(""), json!(all));
    assert_eq!(listed("?api_id=a"), json!(all));
    assert_eq!(listed("?api_id=b"), json!([both]));
    assert_eq!(listed("?api_id=c"), json!([]));
    assert_eq!(listed(&format!("?api_id=a&filter={one}")), json!([one]));
}

#[test]
fn certificates_are_kept_in_redis_and_read_when_it_comes() {
    let mut server = Server::start(&["--appendonly", "yes"]);
    let start = || Gateway::start(on(&server), []);
    let pem = certs::made("a.test", 2090).0;
    let id = start().control("POST", "/tyk/certs?org_id=default", &pem).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(server.cli(&["KEYS", "cert-raw-*"]), format!("cert-raw-{id}"));
    let listed = |gateway: &Gateway| gateway.control("GET", "/tyk/certs", "").json()["certs"].clone();
    assert_eq!(listed(&start()), json!([id]));
    server.kill();
    let gateway = Gateway::start(on(&server), []);
    assert_eq!(listed(&gateway), Value::Null);
    assert!(gateway.log().contains("stored certificates can't be read yet"), "{}", gateway.log());
    server.restart();
    eventually("the certificate is read", || listed(&gateway) == json!([id]));
}

#[test]
fn a_key_that_is_stored_anew_has_its_quota_again() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateway = gateway(&on(&server), &upstream);
    let limited = session(json!({"quota_max": 1, "quota_renewal_rate": 3600}));
    let key = create(&gateway, &limited);
    let ask = || call(&gateway, "/a/", &key).status;
    assert_eq!((ask(), ask()), (200, 403));
    let put = |query: &str| gateway.control("PUT", &format!("/tyk/keys/{key}{query}"), &limited.to_string()).status;
    assert_eq!((put("?suppress_reset=1"), ask()), (200, 403));
    assert_eq!((put(""), ask(), ask()), (200, 200, 403));
}
