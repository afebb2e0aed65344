//! Limits that several gateways count together: three processes on one Redis let pass what one would, exactly when it is little.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Gateway, PATIENCE, Upstream, eventually};
use crate::keys::{call, create, keyed, session, start, with_key};
use crate::servers::{Cluster, Server};
use crate::shared_keys::{gateway, on};

/// Settings for a gateway on this cluster.
pub(crate) fn on_cluster(cluster: &Cluster) -> Value {
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port);
    json!({"hash_keys": true, "storage": {"type": "redis", "enable_cluster": true, "addrs": [node]}})
}

/// The same with time for answers on a machine that does ten other things at once: a limit is exact for whom Redis answers.
fn patient(mut conf: Value) -> Value {
    conf["tollgate"] = json!({"shared_store": {"answer_ms_max": 5_000}});
    conf
}

pub(crate) fn three(conf: &Value, upstream: &Upstream) -> Vec<Gateway> {
    let gateways: Vec<Gateway> = (0..3).map(|_| gateway(conf, upstream)).collect();
    // All know of each other before anything is counted.
    std::thread::sleep(Duration::from_millis(1_500));
    gateways
}

/// Sends requests to the gateways in turn; returns how many got each status.
pub(crate) fn in_turn(gateways: &[Gateway], key: &str, requests: usize) -> Vec<(u16, usize)> {
    let mut clients: Vec<_> = gateways.iter().map(Gateway::connect).collect();
    let mut counts = std::collections::BTreeMap::new();
    for request in 0..requests {
        let index = request % clients.len();
        *counts.entry(clients[index].ask(with_key("/a/", key)).status).or_default() += 1;
    }
    counts.into_iter().collect()
}

pub(crate) fn passed(counts: &[(u16, usize)]) -> usize {
    counts.iter().find(|(status, _)| *status == 200).map_or(0, |(_, count)| *count)
}

/// Whether requests are served just before and just after the end of a window that began with the first of them.
fn served_around_the_end(conf: Value) -> (usize, usize) {
    const WINDOW: Duration = Duration::from_secs(4);
    let (_upstream, gateway) = start(conf);
    let key = create(&gateway, &session(json!({"rate": 4, "per": WINDOW.as_secs()})));
    let mut client = gateway.connect();
    let mut ask = |count: usize| (0..count).filter(|_| client.ask(with_key("/a/", &key)).status == 200).count();
    let begun = Instant::now();
    assert_eq!(ask(1), 1, "the first request begins the window");
    let sleep_until = |moment: Duration| thread::sleep(moment.saturating_sub(begun.elapsed()));
    sleep_until(WINDOW - Duration::from_millis(600));
    let before = ask(6);
    assert!(begun.elapsed() < WINDOW, "the machine is too slow for this test");
    sleep_until(WINDOW + Duration::from_millis(300));
    (before, ask(6))
}

#[test]
fn a_small_rate_is_exact_over_three_gateways() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&patient(on(&server)), &upstream);
    for rate in [1, 7, 50] {
        let key = create(&gateways[0], &session(json!({"rate": rate, "per": 600})));
        assert_eq!(in_turn(&gateways, &key, rate * 3 + 20), [(200, rate), (429, rate * 2 + 20)]);
    }
}

#[test]
fn a_large_rate_takes_few_questions_and_is_never_exceeded() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&patient(on(&server)), &upstream);
    let key = create(&gateways[0], &session(json!({"rate": 3_000, "per": 600})));
    let questions = || -> usize {
        let stats = server.cli(&["INFO", "commandstats"]);
        let calls = |name: &str| -> usize {
            let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{name}:"))).unwrap_or_default();
            line.split("calls=").nth(1).and_then(|rest| rest.split(',').next()?.parse().ok()).unwrap_or_default()
        };
        calls("evalsha") + calls("eval")
    };
    let before = questions();
    let counts = in_turn(&gateways, &key, 4_000);
    let asked = questions() - before;
    assert!((2_700..=3_000).contains(&passed(&counts)), "{counts:?}");
    assert!(counts.iter().all(|(status, _)| [200, 429].contains(status)), "{counts:?}");
    // With the gateways' own signs of life, once a second each.
    assert!(asked <= 400, "{asked} questions for 4000 requests");
}

#[test]
fn the_algorithms_that_tyks_flags_select_are_exact_over_three_gateways() {
    let upstream = Upstream::ok();
    for (flag, after_the_end) in
        [("enable_redis_rolling_limiter", 1), ("enable_sentinel_rate_limiter", 1), ("enable_fixed_window_rate_limiter", 4)]
    {
        let server = Server::start(&[]);
        let mut conf = patient(on(&server));
        conf[flag] = json!(true);
        let gateways = three(&conf, &upstream);
        for rate in [3, 400] {
            let key = create(&gateways[0], &session(json!({"rate": rate, "per": 600})));
            assert_eq!(in_turn(&gateways, &key, rate + 20), [(200, rate), (429, 20)], "{flag}");
        }
        assert_eq!(served_around_the_end(conf), (3, after_the_end), "{flag}");
    }
}

#[test]
fn several_rates_of_one_key_hold_together() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&patient(on(&server)), &upstream);
    let limits = json!([{"rate": 12, "per": 600}, {"rate": 30, "per": 6_000}]);
    let key = create(&gateways[0], &session(json!({"rate": 20, "per": 600, "limits": limits})));
    assert_eq!(in_turn(&gateways, &key, 60), [(200, 12), (429, 48)]);
}

#[test]
fn a_quota_is_used_up_exactly_by_all_and_is_where_tyk_has_it() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&patient(on(&server)), &upstream);
    for max in [5_usize, 1_000] {
        let answer = gateways[0].control(
            "POST",
            "/tyk/keys/create",
            &session(json!({"quota_max": max, "quota_renewal_rate": 3600})).to_string(),
        );
        let (key, hash) =
            (answer.json()["key"].as_str().unwrap().to_owned(), answer.json()["key_hash"].as_str().unwrap().to_owned());
        let mut passed_in_all = passed(&in_turn(&gateways, &key, max + 20));
        assert!(passed_in_all <= max);
        // What one gateway has in advance and does not use is given back.
        eventually("the whole quota is used", || {
            passed_in_all += passed(&in_turn(&gateways, &key, 3));
            passed_in_all >= max
        });
        assert_eq!(passed_in_all, max);
        assert_eq!(in_turn(&gateways, &key, 9), [(403, 9)]);
        assert_eq!(server.cli(&["GET", &format!("quota-{hash}")]), max.to_string());
        let left: i64 = server.cli(&["TTL", &format!("quota-{hash}")]).parse().unwrap();
        assert!((3_000..=3_600).contains(&left), "{left}");
    }
}

#[test]
fn a_quota_that_is_reset_begins_anew_everywhere() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&patient(on(&server)), &upstream);
    let limited = session(json!({"quota_max": 6, "quota_renewal_rate": 3600}));
    let key = create(&gateways[0], &limited);
    assert_eq!(in_turn(&gateways, &key, 9), [(200, 6), (403, 3)]);
    assert_eq!(gateways[1].control("PUT", &format!("/tyk/keys/{key}"), &limited.to_string()).status, 200);
    let mut again = 0;
    eventually("all of it is there again", || {
        again += passed(&in_turn(&gateways, &key, 3));
        again >= 6
    });
    assert_eq!(again, 6);
}

#[test]
fn limits_hold_in_a_cluster() {
    let (cluster, upstream) = (Cluster::start(), Upstream::ok());
    let gateways = three(&patient(on_cluster(&cluster)), &upstream);
    for _ in 0..5 {
        let key = create(&gateways[0], &session(json!({"rate": 9, "per": 600})));
        assert_eq!(in_turn(&gateways, &key, 20), [(200, 9), (429, 11)]);
    }
}

#[test]
fn an_organisation_has_its_limits_over_all_gateways() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = patient(on(&server));
    conf["enforce_org_quotas"] = json!(true);
    let gateways = three(&conf, &upstream);
    // The key's own limit is asked for as well: what is held for it counts once.
    let key = create(&gateways[0], &session(json!({"rate": 100, "per": 600})));
    let org = json!({"org_id": "default", "rate": 11, "per": 600, "quota_max": 8, "quota_renewal_rate": 600});
    assert_eq!(gateways[0].control("POST", "/tyk/org/keys/default", &org.to_string()).status, 200);
    eventually("all gateways know the organisation", || {
        gateways.iter().all(|gateway| gateway.control("GET", "/tyk/org/keys/default", "").status == 200)
    });
    assert_eq!(in_turn(&gateways, &key, 15), [(200, 8), (403, 7)]);
}

#[test]
fn apis_and_endpoints_have_their_limits_over_all_gateways() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let endpoints = json!([{"path": "/few", "method": "GET", "rate": 2, "per": 600}]);
    let api =
        || keyed("a", &upstream).set("global_rate_limit", json!({"rate": 7, "per": 600})).list("rate_limit", endpoints.clone());
    let gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(patient(on(&server)), [api()])).collect();
    std::thread::sleep(Duration::from_millis(1_500));
    let limited = session(json!({"rate": 100, "per": 600, "quota_max": 100, "quota_renewal_rate": 600}));
    let answer = gateways[0].control("POST", "/tyk/keys/create", &limited.to_string()).json();
    let (key, hash) = (answer["key"].as_str().unwrap(), answer["key_hash"].as_str().unwrap());
    assert_eq!(in_turn(&gateways, key, 10), [(200, 7), (429, 3)]);
    // What is held for the API's limit has cost the key's quota once.
    assert_eq!(server.cli(&["GET", &format!("quota-{hash}")]), "10");
    let few = |gateway: &Gateway| call(gateway, "/a/few", key).status;
    assert_eq!([0, 1, 2, 0].map(|index| few(&gateways[index])), [200, 200, 429, 429]);
}

#[test]
fn a_revoked_key_is_refused_everywhere_at_once() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&patient(on(&server)), &upstream);
    let mut took: Vec<Duration> = (0..20)
        .map(|round| {
            let key = create(&gateways[0], &session(json!({})));
            assert_eq!(in_turn(&gateways, &key, 3), [(200, 3)]);
            let mut clients: Vec<_> = gateways.iter().map(Gateway::connect).collect();
            let start = Instant::now();
            assert_eq!(gateways[round % 3].control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
            for client in &mut clients {
                while client.ask(with_key("/a/", &key)).status != 403 {
                    assert!(start.elapsed() < PATIENCE, "it goes on being served");
                }
            }
            start.elapsed()
        })
        .collect();
    took.sort();
    println!("revoked on three gateways after {:?} in the middle, {:?} at most", took[10], took[19]);
    // It is a few milliseconds; on a machine that does ten other things at once it may be more.
    assert!(took[10] < Duration::from_millis(500), "{took:?}");
}
