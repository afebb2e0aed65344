//! Caddy as shipped: reverse proxy, keys as matchers on header or query. It has no limits.

use super::settings::{Need, beyond, key};
use super::{Launch, PeerAdapter, Program, Setup};
use crate::scenario::{Auth, Case};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

const CAN: [Need; 6] =
    [Need::Keys, Need::Methods, Need::AllowedAddresses, Need::RequestHeaders, Need::ResponseHeaders, Need::ManyApis];

pub(crate) struct CaddyAdapter;

impl PeerAdapter for CaddyAdapter {
    fn name(&self) -> &'static str {
        "caddy"
    }

    fn program(&self) -> Option<&'static str> {
        Some("caddy")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["version"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        beyond(case, &CAN)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let routes: Vec<Value> = setup
            .cases
            .iter()
            .flat_map(|case| case.listens().flat_map(move |listen| routes(case, &listen, setup.upstream)))
            .collect();
        let server = json!({
            "listen": [setup.listen().to_string()],
            "automatic_https": {"disable": true},
            "routes": routes,
        });
        let config = json!({
            "admin": {"disabled": true},
            "logging": {"logs": {"default": {"level": "WARN"}}},
            "apps": {"http": {"servers": {"gateway": server}}},
        });
        let file = setup.write("caddy.json", format!("{config:#}\n"))?;
        let program = Program::new("caddy", &setup.program)
            .args(["run", "--config"])
            .args([&file])
            .env("GOMAXPROCS", setup.threads)
            .env("XDG_DATA_HOME", setup.dir.display())
            .env("XDG_CONFIG_HOME", setup.dir.display());
        Ok(Launch::of(program, vec![file]))
    }
}

/// The accepted requests first, then the rejections in the order in which they apply.
fn routes(case: &Case, listen: &str, upstream: SocketAddr) -> Vec<Value> {
    let path = format!("{listen}*");
    let mut through = Map::from_iter([("path".to_owned(), json!([path]))]);
    let mut refusals = Vec::new();
    let refuse = |extra: Value, status: u16| {
        let mut not = json!({"path": [path]});
        not["not"] = json!([extra]);
        json!({"match": [not], "handle": [{"handler": "static_response", "status_code": status}], "terminal": true})
    };
    if let Some((auth, value)) = key(case) {
        let (name, matcher) = match auth {
            Auth::Header(name) => ("header", json!({name: [value]})),
            Auth::Query(name) => ("query", json!({name: [value]})),
        };
        through.insert(name.to_owned(), matcher.clone());
        refusals.push(refuse(json!({name: matcher}), 401));
    }
    if let Some(methods) = case.key.as_ref().map(|key| &key.methods).filter(|methods| !methods.is_empty()) {
        through.insert("method".to_owned(), json!(methods));
        refusals.push(refuse(json!({"method": methods}), 403));
    }
    if !case.api.allow_ips.is_empty() {
        through.insert("remote_ip".to_owned(), json!({"ranges": case.api.allow_ips}));
        refusals.push(refuse(json!({"remote_ip": {"ranges": case.api.allow_ips}}), 403));
    }
    let listed = |headers: &std::collections::BTreeMap<String, String>| -> Map<String, Value> {
        headers.iter().map(|(name, value)| (name.clone(), json!([value]))).collect()
    };
    let proxy = json!({
        "handler": "reverse_proxy",
        "upstreams": [{"dial": upstream.to_string()}],
        "transport": {"protocol": "http", "keep_alive": {"max_idle_conns_per_host": 500}},
        "headers": {"request": {"set": listed(&case.api.set_headers)}, "response": {"set": listed(&case.api.set_response_headers)}},
    });
    let rewrite = json!({"handler": "rewrite", "strip_path_prefix": listen.trim_end_matches('/')});
    let mut routes = vec![json!({"match": [through], "handle": [rewrite, proxy], "terminal": true})];
    routes.extend(refusals);
    routes
}
