//! Who a client is when proxies stand before the gateway, and what one address may do: connections at once, requests in a time.

use serde_json::{Value, json};

use super::harness::{Gateway, Upstream, api, request};

/// What the gateway takes for the client's address: the one that is let in.
fn seen_as(gateway: &Gateway, lines: &[&str]) -> &'static str {
    for (path, address) in [("/one/", "10.1.1.1"), ("/two/", "10.2.2.2"), ("/three/", "10.3.3.3"), ("/self/", "127.0.0.1")] {
        if gateway.send(request("GET", path, lines, "")).status == 200 {
            return address;
        }
    }
    "somebody else"
}

fn judging(conf: Value) -> (Gateway, Upstream) {
    let upstream = Upstream::ok();
    let apis = [("one", "10.1.1.1"), ("two", "10.2.2.2"), ("three", "10.3.3.3"), ("self", "127.0.0.1")]
        .map(|(name, address)| api(name, &format!("/{name}/"), &upstream.url()).set("allowed_ips", json!([address])));
    (Gateway::start(conf, apis), upstream)
}

#[test]
fn what_a_client_writes_before_a_proxys_entry_is_not_believed() {
    let (gateway, _upstream) = judging(json!({"tollgate": {"trusted_proxies": ["127.0.0.1", "10.3.0.0/16"]}}));
    for (lines, address) in [
        (&["X-Forwarded-For: 10.1.1.1"][..], "10.1.1.1"),
        (&["X-Forwarded-For: 10.1.1.1, 10.2.2.2"], "10.2.2.2"),
        (&["X-Forwarded-For: 10.1.1.1", "X-Forwarded-For: 10.2.2.2"], "10.2.2.2"),
        // Through two proxies.
        (&["X-Forwarded-For: 10.1.1.1, 10.2.2.2, 10.3.3.3"], "10.2.2.2"),
        (&["X-Forwarded-For: 10.3.3.3"], "10.3.3.3"),
        (&["X-Forwarded-For: 10.1.1.1:4711"], "10.1.1.1"),
        (&["X-Forwarded-For: 10.1.1.1, nonsense"], "127.0.0.1"),
        (&["X-Forwarded-For: "], "127.0.0.1"),
        (&["X-Real-IP: 10.2.2.2", "X-Forwarded-For: 10.1.1.1"], "10.2.2.2"),
        (&[], "127.0.0.1"),
    ] {
        assert_eq!(seen_as(&gateway, lines), address, "{lines:?}");
    }
}

#[test]
fn one_header_can_be_named_and_then_no_other_counts() {
    let trusted = json!(["127.0.0.1"]);
    let (gateway, _upstream) = judging(json!({"tollgate": {"trusted_proxies": trusted, "client_ip_header": "CF-Connecting-IP"}}));
    for (lines, address) in [
        (&["cf-connecting-ip: 10.1.1.1"][..], "10.1.1.1"),
        (&["CF-Connecting-IP: 10.1.1.1", "X-Real-IP: 10.2.2.2", "X-Forwarded-For: 10.3.3.3"], "10.1.1.1"),
        (&["X-Real-IP: 10.2.2.2", "X-Forwarded-For: 10.3.3.3"], "127.0.0.1"),
    ] {
        assert_eq!(seen_as(&gateway, lines), address, "{lines:?}");
    }
}

#[test]
fn tyks_way_is_there_when_everybody_is_trusted() {
    let everybody = json!(["0.0.0.0/0", "::/0"]);
    let (gateway, _upstream) = judging(json!({"tollgate": {"trusted_proxies": everybody}}));
    assert_eq!(seen_as(&gateway, &["X-Forwarded-For: 10.1.1.1, 10.2.2.2"]), "10.1.1.1");
    assert_eq!(seen_as(&gateway, &["X-Real-IP: 10.3.3.3", "X-Forwarded-For: 10.1.1.1"]), "10.3.3.3");
    let options = json!({"http_server_options": {"xff_depth": 1}, "tollgate": {"trusted_proxies": everybody}});
    let (gateway, _upstream) = judging(options);
    assert_eq!(seen_as(&gateway, &["X-Forwarded-For: 10.1.1.1, 10.2.2.2"]), "10.2.2.2");
    let options = json!({"http_server_options": {"xff_depth": 5}, "tollgate": {"trusted_proxies": everybody}});
    let (gateway, _upstream) = judging(options);
    assert_eq!(seen_as(&gateway, &["X-Forwarded-For: 10.1.1.1, 10.2.2.2"]), "127.0.0.1");
}

#[test]
fn clients_behind_a_proxy_have_rates_of_their_own_and_the_proxy_has_none() {
    let upstream = Upstream::ok();
    let conf = json!({"tollgate": {
        "trusted_proxies": ["127.0.0.1"],
        "limits": {"requests_per_ip": {"rate": 2, "per": 3600}}
    }});
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut proxy = gateway.connect();
    let mut ask = |line: &str| proxy.ask(request("GET", "/a/", &[line], "")).status;
    for (client, statuses) in [
        ("X-Forwarded-For: 203.0.113.7", [200, 200, 429]),
        ("X-Forwarded-For: 203.0.113.8", [200, 200, 429]),
        ("X-Forwarded-For: 203.0.113.9, 203.0.113.8", [429, 429, 429]),
        ("X-Forwarded-For: 2001:db8::1", [200, 200, 429]),
        ("X-Forwarded-For: 2001:db8::2", [429, 429, 429]),
        ("X-Forwarded-For: 2001:db8:0:1::2", [200, 200, 429]),
        ("X-Health-Check: 1", [200, 200, 200]),
    ] {
        assert_eq!([ask(client), ask(client), ask(client)], statuses, "{client}");
    }
}
