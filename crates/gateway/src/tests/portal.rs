//! What the developer portal and operators' sign-in cost a request: nothing, unless the portal's pages may try APIs, and then for APIs in products alone.

use serde_json::{Value, json};
use std::collections::HashSet;

use super::harness::{Definition, Gateway, Upstream, api, request};

const PORTAL: &str = "https://developers.test";

fn portal(try_it: bool) -> Value {
    let portal = json!({"listen": "127.0.0.1:0", "url": PORTAL, "gateway_url": "https://api.test", "try_it": try_it});
    json!({"tollgate": {"portal": portal}})
}

fn operators() -> Value {
    let provider = json!({"name": "company", "issuer": "https://login.test", "client_id": "console", "client_secret": "secret", "rules": [{"claim": "groups", "value": "admins", "role": "admin"}]});
    json!({"tollgate": {"operators": {"public_url": "https://gateway.test", "control_secret": "loopback", "providers": [provider]}}})
}

/// One definition for each way to be called and each kind of step, and each pair of both.
fn definitions(upstream: &Upstream) -> Vec<Definition> {
    let callers: [&[(&str, Value)]; 4] = [
        &[],
        &[("use_keyless", json!(false)), ("auth/auth_header_name", json!("Authorization"))],
        &[("use_keyless", json!(false)), ("use_basic_auth", json!(true))],
        &[
            ("use_keyless", json!(false)),
            ("enable_jwt", json!(true)),
            ("jwt_signing_method", json!("hmac")),
            ("jwt_source", json!("c2VjcmV0")),
        ],
    ];
    let steps: [&[(&str, Value)]; 6] = [
        &[],
        &[("CORS", json!({"enable": true, "allowed_origins": ["*"]}))],
        &[("cache_options", json!({"enable_cache": true, "cache_all_safe_requests": true, "cache_timeout": 60}))],
        &[("global_rate_limit", json!({"rate": 10, "per": 60}))],
        &[("enable_ip_whitelisting", json!(true)), ("allowed_ips", json!(["127.0.0.1"]))],
        &[("version_data/versions/Default/global_headers", json!({"X-A": "b"}))],
    ];
    let mut all = Vec::new();
    for (row, caller) in callers.iter().enumerate() {
        for (column, step) in steps.iter().enumerate() {
            let id = format!("a{row}{column}");
            let plain = api(&id, &format!("/{id}/"), &upstream.url());
            all.push(caller.iter().chain(*step).fold(plain, |definition, (path, value)| definition.set(path, value.clone())));
        }
    }
    all
}

#[test]
fn no_request_passes_a_step_of_what_is_off() {
    let upstream = Upstream::ok();
    let chains = |conf: Value| Gateway::start(conf, definitions(&upstream)).chains();
    let plain = chains(json!({}));
    assert_eq!(plain.len(), definitions(&upstream).len());
    assert_eq!(plain.values().collect::<HashSet<_>>().len(), plain.len(), "each definition has a chain of its own: {plain:#?}");
    for conf in [portal(false), operators()] {
        assert_eq!(chains(conf.clone()), plain, "{conf}");
    }
    let own = ["PortalPreflight", "PortalReads"];
    let mut tried = chains(portal(true));
    for (id, chain) in &mut tried {
        assert_eq!(chain.iter().filter(|name| own.contains(&name.as_str())).count(), own.len(), "{id}: {chain:?}");
        chain.retain(|name| !own.contains(&name.as_str()));
    }
    assert_eq!(tried, plain);
}

#[test]
fn pages_of_the_portal_try_apis_in_products_alone() {
    let upstream = Upstream::ok();
    let apis = ["in", "out"].map(|id| api(id, &format!("/{id}/"), &upstream.url()));
    let gateway = Gateway::start(portal(true), apis);
    let (own, other) = (format!("Origin: {PORTAL}"), "Origin: https://elsewhere.test");
    let allowed = |target: &str, origin: &str| {
        let preflight = [origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-key"];
        let preflight = gateway.send(request("OPTIONS", target, &preflight, ""));
        let read = gateway.send(request("GET", target, &[origin], ""));
        let [preflight, read] = [preflight, read].map(|answer| answer.header("access-control-allow-origin").map(str::to_owned));
        assert_eq!(preflight, read, "{target}");
        preflight
    };
    let answers = || [allowed("/in/", &own), allowed("/out/", &own), allowed("/in/", other)];
    assert_eq!(answers(), [None, None, None], "no product is known");
    gateway.set_tried(&["in"]);
    assert_eq!(answers(), [Some(PORTAL.to_owned()), None, None]);
    gateway.set_tried(&["out"]);
    assert_eq!(answers(), [None, Some(PORTAL.to_owned()), None], "products change without a reload");
}
