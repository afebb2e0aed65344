//! Envoy from a given binary, with a static configuration: keys as matchers of routes, limits as local rate limits of a route.
//! Circuit breakers are raised, and request ids and detailed statistics are disabled, as its own benchmarking guide recommends.

use super::settings::{Need, beyond, key, limits};
use super::{Launch, PeerAdapter, Program, Setup};
use crate::scenario::{Auth, Case};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;

const CAN: [Need; 5] = [Need::Keys, Need::Limits, Need::RequestHeaders, Need::ResponseHeaders, Need::ManyApis];
const HTTP: &str = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const LIMIT: &str = "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";
const ROUTER: &str = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";

pub(crate) struct EnvoyAdapter;

impl PeerAdapter for EnvoyAdapter {
    fn name(&self) -> &'static str {
        "envoy"
    }

    fn program(&self) -> Option<&'static str> {
        Some("envoy")
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        beyond(case, &CAN)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let routes: Vec<Value> =
            setup.cases.iter().flat_map(|case| case.listens().flat_map(move |listen| routes(case, &listen))).collect();
        let address = |place: SocketAddr| json!({"socket_address": {"address": place.ip(), "port_value": place.port()}});
        let mut filters = Vec::new();
        if setup.cases.iter().any(|case| !limits(case).is_empty()) {
            filters.push(json!({"name": "limit", "typed_config": {"@type": LIMIT, "stat_prefix": "limit"}}));
        }
        filters.push(json!({"name": "router", "typed_config": {"@type": ROUTER, "dynamic_stats": false}}));
        let connections = json!({
            "@type": HTTP,
            "stat_prefix": "clients",
            "generate_request_id": false,
            "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
            "http_filters": filters,
        });
        let most = 1_000_000_000;
        let config = json!({"static_resources": {
            "listeners": [{
                "address": address(setup.listen()),
                "filter_chains": [{"filters": [{"name": "http", "typed_config": connections}]}],
            }],
            "clusters": [{
                "name": "upstream",
                "type": "STATIC",
                "circuit_breakers": {"thresholds": [{"max_connections": most, "max_pending_requests": most, "max_requests": most, "max_retries": most}]},
                "load_assignment": {"cluster_name": "upstream", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address(setup.upstream)}}]}]},
            }],
        }});
        let file = setup.write("envoy.json", format!("{config:#}\n"))?;
        let threads = setup.threads.to_string();
        let program = Program::new("envoy", &setup.program)
            .args(["--concurrency", &threads, "--disable-hot-restart", "--log-level", "warn", "-c"])
            .args([&file]);
        Ok(Launch::of(program, vec![file]))
    }
}

fn routes(case: &Case, listen: &str) -> Vec<Value> {
    let mut matched = json!({"prefix": listen});
    if let Some((auth, value)) = key(case) {
        let (list, name) = match auth {
            Auth::Header(name) => ("headers", name),
            Auth::Query(name) => ("query_parameters", name),
        };
        matched[list] = json!([{"name": name, "string_match": {"exact": value}}]);
    }
    let set = |headers: &BTreeMap<String, String>| -> Vec<Value> {
        headers
            .iter()
            .map(|(name, value)| json!({"header": {"key": name, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}))
            .collect()
    };
    let mut filters = Map::new();
    if let Some(limit) = limits(case).first() {
        let bucket = json!({"max_tokens": limit.requests, "tokens_per_fill": limit.requests, "fill_interval": format!("{}s", limit.seconds)});
        let all = json!({"default_value": {"numerator": 100, "denominator": "HUNDRED"}});
        filters.insert(
            "limit".to_owned(),
            json!({"@type": LIMIT, "stat_prefix": "limit", "token_bucket": bucket, "filter_enabled": all, "filter_enforced": all}),
        );
    }
    let route = json!({
        "match": matched,
        "route": {"cluster": "upstream", "prefix_rewrite": "/", "timeout": "30s"},
        "request_headers_to_add": set(&case.api.set_headers),
        "response_headers_to_add": set(&case.api.set_response_headers),
        "typed_per_filter_config": filters,
    });
    let refusal = json!({"match": {"prefix": listen}, "direct_response": {"status": 401}});
    if case.api.auth.is_some() { vec![route, refusal] } else { vec![route] }
}
