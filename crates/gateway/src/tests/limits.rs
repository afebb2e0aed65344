//! Who may come and how often: lists of addresses, and rates for an API or a path.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Upstream, api, error_json, get, request};

const IP: &str = "access from this IP has been disallowed";

fn a(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
}

fn trusting() -> Value {
    json!({"tollgate": {"trusted_proxies": ["127.0.0.0/8"]}})
}

#[test]
fn lists_of_addresses_apply_whenever_they_are_not_empty() {
    let upstream = Upstream::ok();
    let cases = [
        (json!({"allowed_ips": ["10.0.0.0/8"]}), 403),
        (json!({"allowed_ips": ["10.0.0.0/8", "127.0.0.1"]}), 200),
        (json!({"allowed_ips": ["127.0.0.0/8"], "enable_ip_whitelisting": true}), 200),
        (json!({"allowed_ips": ["::1"]}), 403),
        (json!({"allowed_ips": [], "enable_ip_whitelisting": true}), 200),
        (json!({"blacklisted_ips": ["127.0.0.1"]}), 403),
        (json!({"blacklisted_ips": ["127.0.0.0/30"]}), 403),
        (json!({"blacklisted_ips": ["10.0.0.1"]}), 200),
        (json!({"allowed_ips": ["127.0.0.1"], "blacklisted_ips": ["127.0.0.1"]}), 403),
        (json!({"allowed_ips": ["10.0.0.0/8"], "ip_access_control_disabled": true}), 200),
        (json!({"blacklisted_ips": ["127.0.0.1"], "ip_access_control_disabled": true}), 200),
    ];
    let apis = cases.iter().enumerate().map(|(number, (fields, _))| {
        let mut definition = api(&format!("n{number}"), &format!("/case{number}/"), &upstream.url());
        super::harness::definition::merge(&mut definition.0, fields);
        definition
    });
    let gateway = Gateway::start(json!({}), apis);
    for (number, (fields, status)) in cases.iter().enumerate() {
        let response = gateway.get(&format!("/case{number}/"));
        assert_eq!(response.status, *status, "{fields}: {response}");
        if *status == 403 {
            assert_eq!(response.text(), error_json(IP));
        }
    }
}

#[test]
fn a_client_cannot_name_its_own_address() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).set("allowed_ips", json!(["10.0.0.0/8"]))]);
    for line in ["X-Forwarded-For: 10.1.1.1", "X-Real-Ip: 10.1.1.1"] {
        assert_eq!(gateway.send(request("GET", "/a/", &[line], "")).status, 403, "{line}");
    }
}

#[test]
fn a_trusted_proxy_may_name_its_clients_address() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(trusting(), [a(&upstream).set("allowed_ips", json!(["10.0.0.0/8"]))]);
    for (line, status) in [
        ("X-Forwarded-For: 10.1.1.1", 200),
        ("X-Forwarded-For: 11.1.1.1", 403),
        ("X-Forwarded-For: nonsense", 403),
        ("X-None: 1", 403),
    ] {
        assert_eq!(gateway.send(request("GET", "/a/", &[line], "")).status, status, "{line}");
    }
}

#[test]
fn an_api_wide_rate_is_shared_by_all_callers() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).set("global_rate_limit", json!({"rate": 5, "per": 3600}))]);
    let answers: Vec<_> = (0..12).map(|_| gateway.get("/a/")).collect();
    let statuses: Vec<u16> = answers.iter().map(|response| response.status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
    assert_eq!(answers[11].text(), error_json("API Rate Limit Exceeded"));
    assert_eq!(upstream.requests(), 5);
}

#[test]
fn an_api_wide_rate_holds_when_all_come_at_once() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).set("global_rate_limit", json!({"rate": 40, "per": 3600}))]);
    let mut clients: Vec<_> = (0..20).map(|_| gateway.connect()).collect();
    for client in &mut clients {
        client.send(get("/a/").repeat(5));
    }
    let served = clients.iter_mut().map(|client| (0..5).filter(|_| client.response("GET").status == 200).count()).sum::<usize>();
    assert_eq!((served, upstream.requests()), (40, 40));
}

#[test]
fn a_rate_recovers_with_time() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).set("global_rate_limit", json!({"rate": 2, "per": 1}))]);
    let mut client = gateway.connect();
    let mut refused = 0;
    super::harness::eventually("ten requests at two a second are served, some being refused on the way", || {
        refused += usize::from(client.ask(get("/a/")).status == 429);
        upstream.requests() >= 5
    });
    assert!(refused > 0);
}

#[test]
fn a_rate_that_is_off_or_empty_limits_nothing() {
    let upstream = Upstream::ok();
    for limit in [json!({"rate": 1, "per": 3600, "disabled": true}), json!({"rate": 0, "per": 0}), json!({"rate": 1, "per": 0})] {
        let gateway = Gateway::start(json!({}), [a(&upstream).set("global_rate_limit", limit.clone())]);
        let mut client = gateway.connect();
        assert!((0..5).all(|_| client.ask(get("/a/")).status == 200), "{limit}");
    }
}

#[test]
fn a_path_may_have_a_rate_of_its_own() {
    let upstream = Upstream::ok();
    let list = json!([
        {"path": "/few", "method": "GET", "rate": 2, "per": 3600},
        {"path": "/off", "method": "GET", "rate": 1, "per": 3600, "disabled": true}
    ]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("rate_limit", list)]);
    let statuses = |method: &str, target: &str| -> Vec<u16> {
        (0..4).map(|_| gateway.send(request(method, target, &[], "")).status).collect()
    };
    assert_eq!(statuses("GET", "/a/few"), [200, 200, 429, 429]);
    assert_eq!(statuses("POST", "/a/few"), [200; 4]);
    assert_eq!(statuses("GET", "/a/off"), [200; 4]);
    assert_eq!(statuses("GET", "/a/other"), [200; 4]);
    assert_eq!(gateway.get("/a/few").text(), error_json("API Rate Limit Exceeded"));
}

#[test]
fn two_apis_do_not_share_a_rate() {
    let upstream = Upstream::ok();
    let limited = |id: &str| api(id, &format!("/{id}/"), &upstream.url()).set("global_rate_limit", json!({"rate": 1, "per": 3600}));
    let gateway = Gateway::start(json!({}), [limited("one"), limited("two")]);
    let statuses: Vec<u16> = ["/one/", "/two/", "/one/", "/two/"].map(|path| gateway.get(path).status).into();
    assert_eq!(statuses, [200, 200, 429, 429]);
}

#[test]
fn a_reload_forgets_no_count() {
    let upstream = Upstream::ok();
    let definition = a(&upstream).set("global_rate_limit", json!({"rate": 3, "per": 3600}));
    let gateway = Gateway::start(json!({}), [definition.clone()]);
    assert_eq!([gateway.get("/a/").status, gateway.get("/a/").status], [200, 200]);
    gateway.reload();
    gateway.write_api(&definition.set("name", "renamed"));
    gateway.reload();
    assert_eq!([gateway.get("/a/").status, gateway.get("/a/").status], [200, 429]);
}

/// Recorded from Tyk 5.14.0.
#[test]
fn a_rate_limit_that_is_not_positive_limits_nothing() {
    let upstream = Upstream::ok();
    let rates = [(-1, -1), (0, 0), (-1, 1), (1, -1), (0, 1), (1, 0), (-2, 60)];
    let apis = rates.iter().enumerate().map(|(number, (rate, per))| {
        let limit = json!({"rate": rate, "per": per});
        api(&format!("a{number}"), &format!("/a{number}/"), &upstream.url()).set("global_rate_limit", limit)
    });
    let gateway = Gateway::start(json!({}), apis);
    for (number, limit) in rates.iter().enumerate() {
        for _ in 0..3 {
            assert_eq!(gateway.get(&format!("/a{number}/")).status, 200, "{limit:?}");
        }
    }
    assert_eq!(gateway.log().matches("is negative: the API has no rate limit").count(), 1, "{}", gateway.log());
}
