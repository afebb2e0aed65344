//! Limits that several gateways count together: three processes on one Redis let pass what one would, exactly when it is little.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Gateway, Upstream, eventually};
use crate::keys::{call, create, keyed, session, start, with_key};
use crate::servers::{Cluster, Server};
use crate::shared_keys::{gateway, on, patient};

/// Settings for a gateway on this cluster.
pub(crate) fn on_cluster(cluster: &Cluster) -> Value {
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port);
    patient(json!({"hash_keys": true, "storage": {"type": "redis", "enable_cluster": true, "addrs": [node]}}))
}

pub(crate) fn three(conf: &Value, upstream: &Upstream) -> Vec<Gateway> {
    let gateways: Vec<Gateway> = (0..3).map(|_| gateway(conf, upstream)).collect();
    all_count(conf, gateways.len());
    gateways
}

/// Waits until so many gateways know of each other, so that each has its share of what is counted.
pub(crate) fn all_count(conf: &Value, gateways: usize) {
    let mut before = BTreeMap::new();
    // Each says that it is there once a second and is told how many are; before it says so again, it has understood the answer.
    for _ in 0..3 {
        eventually("all gateways have said that they are there", || {
            let now = present(conf);
            let is_so = now.len() == gateways && now.iter().all(|(id, at)| before.get(id).is_none_or(|before| before < at));
            if is_so {
                before = now;
            }
            is_so
        });
    }
}

/// When each gateway has last said that it is there, as Redis knows it.
fn present(conf: &Value) -> BTreeMap<String, u64> {
    let cli = |port: &str, arguments: &[&str]| -> Vec<String> {
        let output = Command::new("redis-cli").args(["-c", "-h", "127.0.0.1", "-p", port]).args(arguments).output();
        String::from_utf8_lossy(&output.expect("redis-cli runs").stdout).lines().map(str::to_owned).collect()
    };
    let storage = &conf["storage"];
    let address = storage["addrs"][0].as_str().unwrap_or_default();
    let mut port =
        storage["port"].as_u64().map_or(address.rsplit(':').next().unwrap_or_default().to_owned(), |port| port.to_string());
    if let Some(name) = storage["master_name"].as_str() {
        port = cli(&port, &["SENTINEL", "get-master-addr-by-name", name]).pop().expect("a master");
    }
    let lines = cli(&port, &["ZRANGE", "tollgate.gateways", "0", "-1", "WITHSCORES"]);
    lines.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].parse().expect("a time"))).collect()
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

/// How many of six requests are served in the second half of a window that began with one more, and how many of six in the first half of
/// the next window.
fn served_around_the_end(conf: Value) -> (usize, usize) {
    let (_upstream, gateway) = start(conf);
    // What comes at another time than it should says nothing, and is asked again with a window that is twice as long.
    let windows = (2..8).map(|power| Duration::from_secs(1 << power));
    windows.into_iter().find_map(|window| served_around_the_end_of(window, &gateway)).expect("requests within half a window")
}

/// The same with a window of this length; `None` if one of the requests came too late.
fn served_around_the_end_of(window: Duration, gateway: &Gateway) -> Option<(usize, usize)> {
    let key = create(gateway, &session(json!({"rate": 4, "per": window.as_secs()})));
    let mut client = gateway.connect();
    let mut ask = |count: usize| (0..count).filter(|_| client.ask(with_key("/a/", &key)).status == 200).count();
    let begun = Instant::now();
    assert_eq!(ask(1), 1, "the first request begins the window");
    // The window ends at some moment between these two.
    let [earliest, latest] = [begun, Instant::now()].map(|moment| moment + window);
    let sleep_until = |moment: Instant| thread::sleep(moment.saturating_duration_since(Instant::now()));
    sleep_until(latest - window / 2);
    let second_half = Instant::now();
    let before = ask(6);
    if Instant::now() > earliest {
        return None;
    }
    sleep_until(latest + Duration::from_millis(300));
    let after = ask(6);
    // By then, those of the second half would leave a sliding window.
    (Instant::now() < second_half + window).then_some((before, after))
}

#[test]
fn a_small_rate_is_exact_over_three_gateways() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&on(&server), &upstream);
    for rate in [1, 7, 50] {
        let key = create(&gateways[0], &session(json!({"rate": rate, "per": 600})));
        assert_eq!(in_turn(&gateways, &key, rate * 3 + 20), [(200, rate), (429, rate * 2 + 20)]);
    }
}

#[test]
fn a_large_rate_takes_few_questions_and_is_never_exceeded() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&on(&server), &upstream);
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
        let mut conf = on(&server);
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
    let gateways = three(&on(&server), &upstream);
    let limits = json!([{"rate": 12, "per": 600}, {"rate": 30, "per": 6_000}]);
    let key = create(&gateways[0], &session(json!({"rate": 20, "per": 600, "limits": limits})));
    assert_eq!(in_turn(&gateways, &key, 60), [(200, 12), (429, 48)]);
}

#[test]
fn a_quota_is_used_up_exactly_by_all_and_is_where_tyk_has_it() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&on(&server), &upstream);
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
    let gateways = three(&on(&server), &upstream);
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
    let gateways = three(&on_cluster(&cluster), &upstream);
    for _ in 0..5 {
        let key = create(&gateways[0], &session(json!({"rate": 9, "per": 600})));
        assert_eq!(in_turn(&gateways, &key, 20), [(200, 9), (429, 11)]);
        let key = create(&gateways[0], &session(json!({"quota_max": 5, "quota_renewal_rate": 3600})));
        assert_eq!(in_turn(&gateways, &key, 20), [(200, 5), (403, 15)]);
    }
}

#[test]
fn an_organisation_has_its_limits_over_all_gateways() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = on(&server);
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
    let gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(on(&server), [api()])).collect();
    all_count(&on(&server), gateways.len());
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
fn a_revoked_key_is_refused_everywhere() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&on(&server), &upstream);
    for round in 0..20 {
        let key = create(&gateways[0], &session(json!({})));
        assert_eq!(in_turn(&gateways, &key, 3), [(200, 3)]);
        let mut clients: Vec<_> = gateways.iter().map(Gateway::connect).collect();
        assert_eq!(gateways[round % 3].control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
        for client in &mut clients {
            eventually("it is refused", || client.ask(with_key("/a/", &key)).status == 403);
        }
    }
}
