//! How often a key may come: rates, several at once, throttling, quotas, and what clients are told of them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::harness::keys::{call, create, keyed, session, session_for, with_key};
use super::harness::start_keyed as start;
use super::harness::{Gateway, Response, Upstream, error_json, now, pass};

const RATE: &str = "Rate Limit Exceeded";
const QUOTA: &str = "Quota exceeded";

fn shown(response: &Response) -> [Option<&str>; 2] {
    [response.header("x-ratelimit-limit"), response.header("x-ratelimit-remaining")]
}

/// The statuses of `count` requests that are sent in one go on one connection.
fn statuses(gateway: &Gateway, target: &str, key: &str, count: usize) -> Vec<u16> {
    let mut client = gateway.connect();
    client.send(with_key(target, key).repeat(count));
    (0..count).map(|_| client.response("GET").status).collect()
}

/// `served` times 200 and then 429.
fn first(served: usize, count: usize) -> Vec<u16> {
    (0..count).map(|index| if index < served { 200 } else { 429 }).collect()
}

#[test]
fn a_burst_of_the_whole_rate_is_served_and_then_no_more() {
    let (upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"rate": 5, "per": 3600})));
    assert_eq!(statuses(&gateway, "/a/", &key, 20), first(5, 20));
    let response = call(&gateway, "/a/", &key);
    assert_eq!((response.status, response.text()), (429, error_json(RATE)));
    assert_eq!(upstream.requests(), 5);
}

#[test]
fn what_is_refused_does_not_count_however_hard_it_is_tried() {
    let (upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"rate": 5, "per": 2})));
    let mut client = gateway.connect();
    assert!((0..5).all(|_| client.ask(with_key("/a/", &key)).status == 200));
    for _ in 0..250 {
        pass(Duration::from_millis(10));
        assert!(matches!(client.ask(with_key("/a/", &key)).status, 200 | 429));
    }
    // One more every 0.4 s.
    assert_eq!(upstream.requests(), 5 + 6);
}

#[test]
fn a_key_that_is_over_its_rate_disturbs_no_other() {
    let (_upstream, gateway) = start(json!({}));
    let (greedy, other, free) = (
        create(&gateway, &session(json!({"rate": 2, "per": 3600}))),
        create(&gateway, &session(json!({"rate": 2, "per": 3600}))),
        create(&gateway, &session(json!({}))),
    );
    assert_eq!(statuses(&gateway, "/a/", &greedy, 50), first(2, 50));
    assert_eq!(statuses(&gateway, "/a/", &free, 50), [200; 50]);
    assert_eq!(statuses(&gateway, "/a/", &other, 4), first(2, 4));
}

#[test]
fn a_rate_that_is_not_positive_limits_nothing() {
    let (_upstream, gateway) = start(json!({}));
    for (rate, per) in [(0, 0), (-1, -1), (1, 0), (0, 1), (-1, 3600)] {
        let key = create(&gateway, &session(json!({"rate": rate, "per": per})));
        assert_eq!(statuses(&gateway, "/a/", &key, 20), [200; 20], "{rate} per {per}");
    }
}

#[test]
fn a_rate_below_one_lets_one_through() {
    let (_upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"rate": 0.5, "per": 3600})));
    assert_eq!(statuses(&gateway, "/a/", &key, 3), first(1, 3));
}

#[test]
fn all_of_several_limits_hold() {
    let (_upstream, gateway) = start(json!({}));
    let cases = [
        (json!({"limits": [{"rate": 100, "per": 3600}, {"rate": 3, "per": 3600}]}), 3),
        (json!({"limits": [{"rate": 3, "per": 3600}, {"rate": 100, "per": 3600}]}), 3),
        (json!({"rate": 2, "per": 3600, "limits": [{"rate": 5, "per": 3600}]}), 2),
        (json!({"rate": 5, "per": 3600, "limits": [{"rate": 2, "per": 3600}]}), 2),
        (json!({"limits": [{"rate": 9, "per": 3600}, {"rate": 7, "per": 3600}, {"rate": 8, "per": 3600}]}), 7),
        (json!({"limits": [{"rate": 10, "per": 3600, "burst": 4}]}), 4),
        (json!({"limits": [{"rate": 0, "per": 0}]}), 20),
        (json!({"limits": []}), 20),
    ];
    for (fields, served) in cases {
        let key = create(&gateway, &session(fields.clone()));
        assert_eq!(statuses(&gateway, "/a/", &key, 20), first(served, 20), "{fields}");
    }
}

#[test]
fn what_one_limit_refuses_no_other_counts() {
    let (upstream, gateway) = start(json!({}));
    for limits in
        [json!([{"rate": 4, "per": 3600}, {"rate": 1, "per": 0.3}]), json!([{"rate": 1, "per": 0.3}, {"rate": 4, "per": 3600}])]
    {
        let before = upstream.requests();
        let key = create(&gateway, &session(json!({"limits": limits})));
        let mut client = gateway.connect();
        for _ in 0..200 {
            client.ask(with_key("/a/", &key));
            pass(Duration::from_millis(10));
        }
        assert_eq!(upstream.requests() - before, 4, "{limits}");
    }
}

#[test]
fn what_a_used_up_quota_refuses_no_rate_counts() {
    let (_upstream, gateway) = start(json!({}));
    let body = |quota: i64| session(json!({"rate": 5, "per": 3600, "quota_max": quota, "quota_renewal_rate": 3600}));
    let key = create(&gateway, &body(2));
    assert_eq!(statuses(&gateway, "/a/", &key, 10), [200, 200, 403, 403, 403, 403, 403, 403, 403, 403]);
    let change = gateway.control("PUT", &format!("/tyk/keys/{key}?suppress_reset=1"), &body(100).to_string());
    assert_eq!(change.status, 200, "{change}");
    assert_eq!(statuses(&gateway, "/a/", &key, 5), first(3, 5));
}

#[test]
fn a_request_that_was_held_often_enough_is_refused() {
    let (upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"rate": 1, "per": 3600, "throttle_interval": 0.1, "throttle_retry_limit": 3})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    let begun = now();
    let response = call(&gateway, "/a/", &key);
    assert_eq!((response.status, response.text()), (429, error_json(RATE)));
    // As in Tyk, it is held once more after its last try.
    assert_eq!(now().since(begun), Duration::from_millis(400));
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn a_quota_counts_down_and_then_refuses() {
    // The gateway's clock stands still from its start on.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"quota_max": 3, "quota_renewal_rate": 3600})));
    let mut resets = Vec::new();
    for left in ["2", "1", "0"] {
        let response = call(&gateway, "/a/", &key);
        assert_eq!((response.status, shown(&response)), (200, [Some("3"), Some(left)]), "{response}");
        resets.push(response.header("x-ratelimit-reset").expect("a reset").parse::<u64>().expect("a moment"));
    }
    assert!((now + 3600..now + 3620).contains(&resets[0]) && resets.iter().all(|reset| *reset == resets[0]), "{now} {resets:?}");
    for _ in 0..3 {
        let response = call(&gateway, "/a/", &key);
        assert_eq!((response.status, response.text()), (403, error_json(QUOTA)));
        let names: Vec<String> = response.head.names().iter().map(|name| name.to_lowercase()).collect();
        assert!(!names.iter().any(|name| name.starts_with("x-ratelimit")), "{response}");
    }
    assert_eq!(upstream.requests(), 3);
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{key}"), "").json().get("quota_remaining").unwrap_or(&json!(0)), 0);
}

#[test]
fn a_quota_renews() {
    let (upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"quota_max": 2, "quota_renewal_rate": 2})));
    assert_eq!([0; 2].map(|_| call(&gateway, "/a/", &key).status), [200, 200]);
    super::harness::eventually("the quota is renewed", || call(&gateway, "/a/", &key).status == 200);
    assert_eq!(upstream.requests(), 3);
}

#[test]
fn a_quota_without_renewal_stays_used_up() {
    let (_upstream, gateway) = start(json!({}));
    for renewal in [0, -1] {
        let key = create(&gateway, &session(json!({"quota_max": 1, "quota_renewal_rate": renewal, "quota_renews": 1})));
        assert_eq!(call(&gateway, "/a/", &key).status, 200);
        pass(Duration::from_millis(1100));
        assert_eq!(call(&gateway, "/a/", &key).status, 403, "{renewal}");
    }
}

#[test]
fn an_unlimited_quota_shows_what_is_stored() {
    let (_upstream, gateway) = start(json!({}));
    let fields = json!({"quota_max": -1, "quota_remaining": 42, "quota_renews": 1_568_655_187, "quota_renewal_rate": -1});
    let key = create(&gateway, &session(fields));
    for _ in 0..3 {
        let response = call(&gateway, "/a/", &key);
        assert_eq!((response.status, shown(&response)), (200, [Some("-1"), Some("42")]));
        assert_eq!(response.header("x-ratelimit-reset"), Some("1568655187"));
    }
}

#[test]
fn limits_that_an_api_switches_off_do_not_hold() {
    let upstream = Upstream::ok();
    let definitions =
        [keyed("norate", &upstream).set("disable_rate_limit", true), keyed("noquota", &upstream).set("disable_quota", true)];
    let gateway = Gateway::start(json!({}), definitions);
    let body = session_for(&["norate", "noquota"], json!({"rate": 4, "per": 3600, "quota_max": 2, "quota_renewal_rate": 3600}));
    let key = create(&gateway, &body);
    assert_eq!(statuses(&gateway, "/norate/", &key, 4), [200, 200, 403, 403]);
    let key = create(&gateway, &body);
    assert_eq!(statuses(&gateway, "/noquota/", &key, 6), first(4, 6));
}

/// Two APIs and a key with one limit for both, or with limits of their own.
fn two(fields: Value) -> (Upstream, Gateway, String) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream), keyed("b", &upstream)]);
    let key = create(&gateway, &session_for(&["a", "b"], fields));
    (upstream, gateway, key)
}

#[test]
fn apis_without_limits_of_their_own_share_the_keys_counters() {
    let (_upstream, gateway, key) = two(json!({"rate": 3, "per": 3600}));
    let answers = ["/a/", "/b/", "/a/", "/b/", "/a/"].map(|target| call(&gateway, target, &key).status);
    assert_eq!(answers, [200, 200, 200, 429, 429]);

    let (_upstream, gateway, key) = two(json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    let answers = ["/a/", "/b/", "/a/", "/b/", "/a/"].map(|target| call(&gateway, target, &key).status);
    assert_eq!(answers, [200, 200, 200, 403, 403]);
}

#[test]
fn an_api_with_a_limit_of_its_own_has_its_own_counters() {
    let own = json!({"a": {"limit": {"rate": 2, "per": 3600, "quota_max": -1}}});
    let (_upstream, gateway, key) = two(json!({"rate": 3, "per": 3600, "access_rights": own}));
    assert_eq!(statuses(&gateway, "/a/", &key, 4), first(2, 4));
    assert_eq!(statuses(&gateway, "/b/", &key, 5), first(3, 5));

    let limit = |rate: i64| json!({"limit": {"rate": rate, "per": 3600, "quota_max": -1}});
    let (_upstream, gateway, key) = two(json!({"access_rights": {"a": limit(2), "b": limit(3)}}));
    assert_eq!(statuses(&gateway, "/a/", &key, 4), first(2, 4));
    assert_eq!(statuses(&gateway, "/b/", &key, 5), first(3, 5));

    let quota = |max: i64| json!({"limit": {"quota_max": max, "quota_renewal_rate": 3600}});
    let (_upstream, gateway, key) = two(json!({"access_rights": {"a": quota(2), "b": quota(1)}}));
    assert_eq!(statuses(&gateway, "/a/", &key, 3), [200, 200, 403]);
    assert_eq!(statuses(&gateway, "/b/", &key, 3), [200, 403, 403]);
    let rights = gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["access_rights"].clone();
    assert_eq!(rights["a"]["limit"]["quota_max"], 2, "{rights}");
    assert_eq!(rights["a"]["limit"].get("quota_remaining").unwrap_or(&json!(0)), 0, "{rights}");
}

#[test]
fn headers_may_tell_of_the_rate_instead_of_the_quota() {
    let upstream = Upstream::ok();
    let open = super::harness::api("open", "/open/", &upstream.url());
    let gateway = Gateway::start(json!({"rate_limit_response_headers": "rate_limits"}), [keyed("a", &upstream), open]);
    assert_eq!(shown(&gateway.get("/open/")), [None, None], "nothing is limited there");

    let key = create(&gateway, &session(json!({"rate": 3, "per": 3600})));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for left in ["2", "1", "0"] {
        let response = call(&gateway, "/a/", &key);
        assert_eq!((response.status, shown(&response)), (200, [Some("3"), Some(left)]), "{response}");
        let reset: u64 = response.header("x-ratelimit-reset").expect("a reset").parse().expect("a moment");
        assert!((now..=now + 3620).contains(&reset), "{now} {reset}");
    }
    let response = call(&gateway, "/a/", &key);
    assert_eq!((response.status, shown(&response)), (429, [Some("3"), Some("0")]), "{response}");
    assert!(response.header("x-ratelimit-reset").is_some(), "{response}");

    let key = create(&gateway, &session(json!({"rate": 10, "per": 3600, "quota_max": 1, "quota_renewal_rate": 3600})));
    assert_eq!(shown(&call(&gateway, "/a/", &key)), [Some("10"), Some("9")]);
    let response = call(&gateway, "/a/", &key);
    assert_eq!((response.status, shown(&response)[0]), (403, Some("10")), "{response}");
}

#[test]
fn keyless_answers_show_zeros() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [super::harness::api("open", "/open/", &upstream.url())]);
    assert_eq!(shown(&gateway.get("/open/")), [Some("0"), Some("0")]);
}

#[test]
fn dry_run_reports_what_a_limit_would_refuse_and_refuses_nothing() {
    let (upstream, gateway) = start(json!({}));
    let limits = json!({"rate": 2, "per": 3600, "quota_max": 2, "quota_renewal_rate": 3600});
    let reported = |dry_run: Value, only: &[&str]| -> Vec<(u16, bool)> {
        let mut fields = json!({"dry_run": dry_run});
        only.iter().for_each(|name| fields[*name] = limits[*name].clone());
        let key = create(&gateway, &session(fields));
        let mut client = gateway.connect();
        let answers = (0..4).map(|_| client.ask(with_key("/a/", &key)));
        answers.map(|answer| (answer.status, answer.head.has("tollgate-dry-run"))).collect()
    };
    let rate: &[&str] = &["rate", "per"];
    let quota: &[&str] = &["quota_max", "quota_renewal_rate"];
    let (served, told) = ((200, false), (200, true));
    for (dry_run, fields) in [(json!(true), rate), (json!(["rate_limit"]), rate), (json!(true), quota), (json!(["quota"]), quota)] {
        assert_eq!(reported(dry_run.clone(), fields), [served, served, told, told], "{dry_run} {fields:?}");
    }
    let served_so_far = upstream.requests();
    assert_eq!(served_so_far, 16);
    assert_eq!(reported(json!(["quota"]), rate), [served, served, (429, false), (429, false)]);
    assert_eq!(reported(json!(["rate_limit"]), quota), [served, served, (403, false), (403, false)]);
    assert_eq!(reported(json!(false), rate), [served, served, (429, false), (429, false)]);
}

#[test]
fn a_reload_forgets_no_count_of_a_key() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream)]);
    let key = create(&gateway, &session(json!({"rate": 4, "per": 3600})));
    let counted = create(&gateway, &session(json!({"quota_max": 4, "quota_renewal_rate": 3600})));
    for key in [&key, &counted] {
        assert_eq!([0; 2].map(|_| call(&gateway, "/a/", key).status), [200, 200]);
    }
    gateway.write_api(&keyed("a", &upstream).set("name", "renamed"));
    gateway.reload();
    assert_eq!([0; 3].map(|_| call(&gateway, "/a/", &key).status), [200, 200, 429]);
    assert_eq!([0; 3].map(|_| call(&gateway, "/a/", &counted).status), [200, 200, 403]);
}

#[test]
fn the_standard_fields_say_what_is_left_and_when_to_come_again() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {"rate_limit_headers": "ietf", "problem_details": true, "quota_status": 429}});
    let gateway = Gateway::start(conf, [keyed("a", &upstream)]);
    let limits = json!([{"name": "daily", "rate": 100, "per": 86400}]);
    let key = create(&gateway, &session(json!({"rate": 2, "per": 3600, "limits": limits})));
    let response = call(&gateway, "/a/", &key);
    assert_eq!(shown(&response), [None, None], "{response}");
    assert_eq!(response.header("ratelimit-policy"), Some("\"rate-1\";q=2;w=3600, \"daily\";q=100;w=86400"));
    assert_eq!(response.header("ratelimit"), Some("\"rate-1\";r=1;t=1800, \"daily\";r=99;t=864"));
    assert_eq!(response.header("retry-after"), None, "{response}");

    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    let response = call(&gateway, "/a/", &key);
    assert_eq!((response.status, response.header("content-type")), (429, Some("application/problem+json")), "{response}");
    let problem: Value = serde_json::from_str(&response.text()).expect("JSON");
    assert_eq!((&problem["status"], &problem["title"]), (&json!(429), &json!(RATE)));
    let wait: u64 = response.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((1..=1800).contains(&wait), "{wait}");

    let key = create(&gateway, &session(json!({"rate": 10, "per": 3600, "quota_max": 1, "quota_renewal_rate": 600})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    let response = call(&gateway, "/a/", &key);
    assert_eq!(response.status, 429, "{response}");
    let wait: u64 = response.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((590..=600).contains(&wait), "{wait}");
}

#[test]
fn a_caller_can_ask_for_its_limits_without_using_them_up() {
    let (upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"rate": 1000, "per": 60, "quota_max": 3, "quota_renewal_rate": 3600})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    for _ in 0..3 {
        let response = call(&gateway, "/a/tyk/rate-limits/", &key);
        let limits: Value = serde_json::from_str(&response.text()).expect("JSON");
        assert_eq!(limits["quota"]["quota_max"], 3, "{limits}");
        assert_eq!(limits["quota"]["quota_remaining"], 2, "{limits}");
        assert_eq!(limits["rate_limit"], json!({"requests": 1000, "per_unit": 60}), "{limits}");
    }
    assert_eq!(upstream.requests(), 1);
    assert_eq!(gateway.get("/a/tyk/rate-limits/").status, 401);
}

#[test]
fn keys_that_name_the_same_use_one_quota() {
    let (_upstream, gateway) = start(json!({}));
    let session = |owner: &str, quota_max: i64| {
        let limits = json!({"quota_max": quota_max, "quota_renewal_rate": 3600, "meta_data": {"tollgate_quota": owner}});
        create(&gateway, &session(limits))
    };
    let status = |key: &str| call(&gateway, "/a/", key).status;
    let (first, second, other) = (session("team", 3), session("team", 3), session("other", 3));
    assert_eq!([&first, &second, &first, &second, &first, &other].map(|key| status(key)), [200, 200, 200, 403, 403, 200]);
    // One that is made later goes on with what is left; by its own limit.
    assert_eq!([session("team", 3), session("team", 5)].map(|key| status(&key)), [403, 200]);
    assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{first}"), "").status, 200);
    assert_eq!([&second, &other].map(|key| status(key)), [403, 200], "a key that is gone has used its part");
    // Without a name, each key has a quota of its own.
    let own = [session("", 1), session("", 1)];
    assert_eq!(own.each_ref().map(|key| status(key)), [200, 200]);
}
