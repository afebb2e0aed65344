//! The algorithms that Tyk's flags select, limits of single endpoints, and dry runs of an API's own limits.

use std::time::Duration;

use serde_json::{Value, json};

use super::harness::keys::{call, create, session, with_key};
use super::harness::start_keyed as start;
use super::harness::{Gateway, Upstream, api, get, pass, request};

fn statuses(gateway: &Gateway, target: &str, key: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| call(gateway, target, key).status).collect()
}

/// Whether requests are served just before and just after the end of a window that began with the first of them.
fn served_around_the_end(conf: Value) -> (usize, usize) {
    const WINDOW: Duration = Duration::from_secs(4);
    let (_upstream, gateway) = start(conf);
    let key = create(&gateway, &session(json!({"rate": 4, "per": WINDOW.as_secs()})));
    let mut client = gateway.connect();
    let mut ask = |count: usize| (0..count).filter(|_| client.ask(with_key("/a/", &key)).status == 200).count();
    assert_eq!(ask(1), 1, "the first request begins the window");
    pass(WINDOW - Duration::from_millis(10));
    let before = ask(6);
    pass(Duration::from_millis(20));
    (before, ask(6))
}

#[test]
fn in_a_fixed_window_everything_comes_back_at_once() {
    assert_eq!(served_around_the_end(json!({"enable_fixed_window_rate_limiter": true})), (3, 4));
}

#[test]
fn in_a_sliding_window_only_what_has_left_it_comes_back() {
    for flag in ["enable_redis_rolling_limiter", "enable_sentinel_rate_limiter"] {
        assert_eq!(served_around_the_end(json!({flag: true})), (3, 1), "{flag}");
    }
}

#[test]
fn a_client_that_keeps_trying_is_served_again_whatever_counts() {
    for flag in ["enable_redis_rolling_limiter", "enable_fixed_window_rate_limiter", "enable_sentinel_rate_limiter"] {
        let (_upstream, gateway) = start(json!({flag: true}));
        let key = create(&gateway, &session(json!({"rate": 1, "per": 1})));
        let mut client = gateway.connect();
        let mut served = 0;
        super::harness::eventually("three are served, one a second, while hundreds are refused", || {
            (0..20).for_each(|_| served += usize::from(client.ask(with_key("/a/", &key)).status == 200));
            served >= 3
        });
    }
}

#[test]
fn an_api_is_limited_by_the_same_algorithm() {
    let upstream = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url()).set("global_rate_limit", json!({"rate": 3, "per": 3600}));
    for flag in ["enable_redis_rolling_limiter", "enable_fixed_window_rate_limiter"] {
        let gateway = Gateway::start(json!({flag: true}), [definition.clone()]);
        let statuses: Vec<u16> = (0..5).map(|_| gateway.get("/a/").status).collect();
        assert_eq!(statuses, [200, 200, 200, 429, 429], "{flag}");
    }
}

/// A session with these endpoints on the API `a` beside a rate of 4.
fn with_endpoints(endpoints: Value) -> Value {
    session(json!({"rate": 4, "per": 3600, "access_rights": {"a": {"endpoints": endpoints}}}))
}

fn exact() -> Value {
    json!({"http_server_options": {"enable_path_prefix_matching": true, "enable_path_suffix_matching": true}})
}

#[test]
fn a_key_may_have_rates_for_single_endpoints() {
    let (_upstream, gateway) = start(exact());
    let endpoints = json!([
        {"path": "/few/{id}", "methods": [{"name": "GET", "limit": {"rate": 2, "per": 3600}}, {"name": "PUT", "limit": {"rate": 1, "per": 3600}}]},
        {"path": "/free", "methods": [{"name": "GET", "limit": {"rate": -1, "per": -1}}]}
    ]);
    let key = create(&gateway, &with_endpoints(endpoints));
    assert_eq!(statuses(&gateway, "/a/few/1", &key, 3), [200, 200, 429]);
    assert_eq!(statuses(&gateway, "/a/few/2", &key, 1), [429], "one counter for the pattern");
    assert_eq!(statuses(&gateway, "/a/free", &key, 20), [200; 20]);
    let put = || gateway.send(request("PUT", "/a/few/1", &[&format!("Authorization: {key}")], "x")).status;
    assert_eq!([put(), put()], [200, 429]);
    assert_eq!(statuses(&gateway, "/a/other", &key, 5), [200, 200, 200, 200, 429], "the key's own rate was not touched");
}

#[test]
fn an_endpoint_within_its_rate_still_costs_quota() {
    let (_upstream, gateway) = start(exact());
    let mut body = with_endpoints(json!([{"path": "/x", "methods": [{"name": "GET", "limit": {"rate": 9, "per": 3600}}]}]));
    super::harness::definition::merge(&mut body, &json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    let key = create(&gateway, &body);
    assert_eq!(statuses(&gateway, "/a/x", &key, 2), [200, 200]);
    assert_eq!(statuses(&gateway, "/a/y", &key, 2), [200, 403]);
}

#[test]
fn an_apis_own_limit_in_dry_run_refuses_nobody_and_says_so() {
    let upstream = Upstream::ok();
    let list = json!([{"path": "/few", "method": "GET", "rate": 1, "per": 3600, "dry_run": true}]);
    let limit = json!({"rate": 2, "per": 3600, "dry_run": true});
    let gateway =
        Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).list("rate_limit", list).set("global_rate_limit", limit)]);
    let mut told = |target: &str| {
        let response = gateway.send(get(target));
        assert_eq!(response.status, 200, "{response}");
        response.header("tollgate-dry-run").map(str::to_owned)
    };
    let over = Some("api_rate_limit".to_owned());
    assert_eq!(["/a/", "/a/", "/a/", "/a/few", "/a/few"].map(&mut told), [None, None, over.clone(), None, over]);
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let counted = metrics.lines().find(|line| line.starts_with("tollgate_dry_runs_total{")).expect("the counter");
    assert_eq!(counted, "tollgate_dry_runs_total{api=\"a\",cause=\"api_rate_limit\"} 2");
}
