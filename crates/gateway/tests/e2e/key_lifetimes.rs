//! How long keys are kept: for ever where nobody says otherwise, also when they have expired; else by Tyk's rules, in the embedded store as in
//! a Redis that Tyk shares.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::basic_auth;
use crate::harness::{Definition, Gateway, Upstream, eventually, request};
use crate::keys::{call, create, keyed, session, session_for};
use crate::servers::Server;
use crate::shared_keys;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs() as i64
}

/// An API that keeps sessions for so many seconds.
fn keeping(id: &str, upstream: &Upstream, seconds: i64) -> Definition {
    keyed(id, upstream).set("session_lifetime", seconds)
}

fn shown(gateway: &Gateway, key: &str) -> u16 {
    gateway.control("GET", &format!("/tyk/keys/{key}"), "").status
}

fn put(gateway: &Gateway, key: &str, session: &Value) {
    let answer = gateway.control("PUT", &format!("/tyk/keys/{key}"), &session.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

#[test]
fn a_key_leaves_memory_and_store_at_the_end_of_its_lifetime() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().expect("a folder");
    let start =
        || Gateway::start(json!({"tollgate": {"data_dir": data.path()}}), [keeping("a", &upstream, 5), keyed("b", &upstream)]);
    let mut gateway = start();
    let quota = json!({"quota_max": 10, "quota_renewal_rate": 3600});
    let brief = create(&gateway, &session(quota.clone()));
    let kept = create(&gateway, &session_for(&["b"], quota.clone()));
    let lengthened = create(&gateway, &session(json!({})));
    put(&gateway, &lengthened, &session(json!({"session_lifetime": 3600})));
    assert_eq!((call(&gateway, "/a/", &brief).status, shown(&gateway, &brief)), (200, 200));
    eventually("the key is gone", || call(&gateway, "/a/", &brief).status == 403 && shown(&gateway, &brief) == 404);
    let listed = gateway.control("GET", "/tyk/keys", "").json()["keys"].as_array().map(Vec::len);
    assert_eq!(listed, Some(2));
    // A key of that name is a new one: nothing is left of what was used.
    const LIFETIME: Duration = Duration::from_secs(8);
    let named = json!({"session_lifetime": LIFETIME.as_secs(), "quota_max": 10, "quota_renewal_rate": 3600});
    let make = |gateway: &Gateway| gateway.control("POST", "/tyk/keys/named", &session(named.clone()).to_string()).status;
    assert_eq!(make(&gateway), 200);
    assert_eq!(call(&gateway, "/a/", "named").header("x-ratelimit-remaining"), Some("9"));
    std::thread::sleep(Duration::from_millis(1_100));
    eventually("it is gone too", || call(&gateway, "/a/", "named").status == 403);
    let gateway = loop {
        let made = Instant::now();
        assert_eq!(make(&gateway), 200);
        gateway.signal("TERM");
        assert!(gateway.wait_for_exit().success());
        gateway = start();
        let answer = call(&gateway, "/a/", "named");
        // A restart that outlasts the key says nothing.
        if made.elapsed() < LIFETIME {
            assert_eq!(answer.header("x-ratelimit-remaining"), Some("9"));
            break gateway;
        }
    };
    // What is read from the store ends as well.
    eventually("it is gone once more", || call(&gateway, "/a/", "named").status == 403);
    assert_eq!((call(&gateway, "/a/", &brief).status, call(&gateway, "/a/", &lengthened).status), (403, 200));
    assert_eq!(call(&gateway, "/b/", &kept).status, 200);
}

#[test]
fn an_expired_key_is_told_so_until_what_comes_after_its_expiry() {
    let upstream = Upstream::ok();
    let folder = tempfile::tempdir().expect("a folder");
    let rights = json!({"a": {"versions": ["Default"]}});
    let policies = json!({
        "trial": {"id": "trial", "org_id": "default", "access_rights": rights, "key_expires_in": 1, "post_expiry_action": "delete"},
        "plain": {"id": "plain", "org_id": "default", "access_rights": rights, "key_expires_in": 1},
    });
    let path = folder.path().join("policies.json");
    std::fs::write(&path, policies.to_string()).expect("policies");
    let conf = json!({"policies": {"policy_source": "file", "policy_record_name": path}});
    let gateway = Gateway::start(conf, [keyed("a", &upstream)]);
    let with = |policy: &str| create(&gateway, &json!({"org_id": "default", "apply_policies": [policy]}));
    let (trial, plain) = (with("trial"), with("plain"));
    let fields = json!({"expires": now() + 1, "post_expiry_action": "retain", "post_expiry_grace_period": 8});
    let graced = create(&gateway, &session(fields));
    eventually("it has expired", || call(&gateway, "/a/", &graced).status == 401);
    eventually("a trial is deleted with its end", || call(&gateway, "/a/", &trial).status == 403);
    eventually("a time of grace ends", || call(&gateway, "/a/", &graced).status == 403);
    assert_eq!((shown(&gateway, &trial), shown(&gateway, &graced)), (404, 404));
    assert_eq!((call(&gateway, "/a/", &plain).status, shown(&gateway, &plain)), (401, 200), "nobody says that it goes");
}

/// What Redis says of how long it keeps a new key with these fields under these settings.
fn ttl(conf: &Value, fields: Value) -> i64 {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut all = shared_keys::on(&server);
    all["hash_keys"] = json!(false);
    crate::harness::definition::merge(&mut all, conf);
    let respecting = keeping("c", &upstream, 500).set("session_lifetime_respects_key_expiration", true);
    let gateway = Gateway::start(all, [keyed("a", &upstream), keeping("b", &upstream, 1_000), respecting]);
    let key = create(&gateway, &fields);
    server.cli(&["TTL", &format!("apikey-{key}")]).trim().parse().expect("a number")
}

#[test]
fn redis_keeps_sessions_for_as_long_as_with_tyk() {
    let later = now() + 5_000;
    let forced = json!({"force_global_session_lifetime": true, "global_session_lifetime": 200});
    let respecting = json!({"session_lifetime_respects_key_expiration": true});
    for (conf, apis, fields, seconds) in [
        (json!({}), &["a"][..], json!({}), None),
        (json!({}), &["a"], json!({"expires": later}), None),
        (json!({}), &["a", "b"], json!({"expires": later}), Some(1_000)),
        (json!({}), &["a"], json!({"session_lifetime": 300}), Some(300)),
        (json!({}), &["b"], json!({"session_lifetime": 300}), Some(300)),
        (json!({}), &["c"], json!({"expires": later}), Some(5_000)),
        (respecting, &["b"], json!({"expires": later}), Some(5_000)),
        (forced, &["b"], json!({"expires": later, "post_expiry_action": "delete"}), Some(200)),
        (json!({}), &["b"], json!({"expires": later, "post_expiry_action": "delete"}), Some(5_000)),
        (
            json!({}),
            &["b"],
            json!({"expires": later, "post_expiry_action": "retain", "post_expiry_grace_period": 100}),
            Some(5_100),
        ),
        (json!({}), &["b"], json!({"expires": later, "post_expiry_action": "retain", "post_expiry_grace_period": -1}), None),
    ] {
        let left = ttl(&conf, session_for(apis, fields.clone()));
        match seconds {
            None => assert_eq!(left, -1, "{conf} {apis:?} {fields}"),
            Some(seconds) => assert!((seconds - 100..=seconds).contains(&left), "{conf} {apis:?} {fields}: {left}"),
        }
    }
}

#[test]
fn a_key_that_redis_forgets_is_refused() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = [(); 2].map(|()| Gateway::start(shared_keys::on(&server), [keeping("a", &upstream, 5)]));
    let key = create(&gateways[0], &session(json!({})));
    for gateway in &gateways {
        assert_eq!(call(gateway, "/a/", &key).status, 200);
    }
    for gateway in &gateways {
        eventually("the key is gone", || call(gateway, "/a/", &key).status == 403 && shown(gateway, &key) == 404);
    }
}

#[test]
fn a_write_leaves_a_quota_alone_where_all_apis_of_the_key_say_so() {
    let upstream = Upstream::ok();
    let keeping = |id: &str| keyed(id, &upstream).set("dont_set_quota_on_create", true);
    let gateway = Gateway::start(json!({}), [keeping("a"), keeping("b"), keyed("c", &upstream)]);
    let quota = json!({"quota_max": 10, "quota_renewal_rate": 3600});
    for (apis, left) in [(&["a", "b"][..], "8"), (&["a", "c"], "9"), (&["a", "unknown"], "9")] {
        let session = session_for(apis, quota.clone());
        let key = create(&gateway, &session);
        assert_eq!(call(&gateway, "/a/", &key).header("x-ratelimit-remaining"), Some("9"));
        put(&gateway, &key, &session);
        assert_eq!(call(&gateway, "/a/", &key).header("x-ratelimit-remaining"), Some(left), "{apis:?}");
    }
}

#[test]
fn keys_are_known_by_their_whole_text_alone_when_names_are_switched_off() {
    let server = Server::start(&[]);
    for conf in [json!({}), shared_keys::on(&server)] {
        let upstream = Upstream::ok();
        for (is_off, by_name) in [(false, [200, 200, 200, 200]), (true, [403, 404, 404, 404])] {
            let mut conf = conf.clone();
            conf["disable_key_actions_by_username"] = json!(is_off);
            let users = keyed("users", &upstream).set("use_basic_auth", true);
            let gateway = Gateway::start(conf, [keyed("a", &upstream), users]);
            let name = format!("alice{is_off}");
            let fields = json!({"basic_auth_data": {"password": "word"}});
            let session = session_for(&["a", "users"], fields);
            let made = gateway.control("POST", &format!("/tyk/keys/{name}"), &session.to_string());
            let key = made.json()["key"].as_str().expect("a key").to_owned();
            assert_eq!(key, format!("default{name}"));
            let calls = |id: &str| {
                let target = format!("/tyk/keys/{id}?org_id=default");
                [
                    call(&gateway, "/a/", id).status,
                    gateway.control("GET", &target, "").status,
                    gateway.control("PUT", &target, &session.to_string()).status,
                ]
            };
            // A user's name is no key, whatever is switched off; a password goes with it.
            let plain = session_for(&["a"], json!({}));
            let other = gateway.control("POST", &format!("/tyk/keys/bob{is_off}"), &plain.to_string()).json()["key"].clone();
            let other = other.as_str().expect("a key").to_owned();
            assert_eq!(call(&gateway, "/a/", &format!("bob{is_off}")).status, by_name[0], "by name, off: {is_off}");
            assert_eq!(call(&gateway, "/a/", &other).status, 200);
            assert_eq!(calls(&name)[1..], by_name[1..3], "by name, off: {is_off}");
            assert_eq!(calls(&key)[1..], [200, 200], "whole, off: {is_off}");
            let lines = [basic_auth::line(&name, "word")];
            let asked = gateway.send(request("GET", "/users/", &[&lines[0]], ""));
            assert_eq!(asked.status, 200, "who logs in is named by the gateway: {asked}");
            let delete = |id: &str| gateway.control("DELETE", &format!("/tyk/keys/{id}?org_id=default"), "").status;
            assert_eq!(delete(&name), by_name[3], "by name, off: {is_off}");
            assert_eq!(delete(&key), if is_off { 200 } else { 404 }, "whole, off: {is_off}");
        }
    }
}
