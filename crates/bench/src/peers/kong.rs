//! Kong from a given `kong` program, without a database: key-auth, and rate-limiting with its local policy, whose windows are a
//! second, a minute, an hour or a day.

use super::settings::{Need, beyond, limits};
use super::{Launch, PeerAdapter, Program, Setup};
use crate::scenario::{Auth, Case, LimitSpec};
use serde_json::{Map, Value, json};

const CAN: [Need; 7] = [
    Need::Keys,
    Need::Limits,
    Need::SeveralLimits,
    Need::AllowedAddresses,
    Need::RequestHeaders,
    Need::ResponseHeaders,
    Need::ManyApis,
];

pub(crate) struct KongAdapter;

impl PeerAdapter for KongAdapter {
    fn name(&self) -> &'static str {
        "kong"
    }

    fn program(&self) -> Option<&'static str> {
        Some("kong")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["version"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        if let Some(limit) = limits(case).iter().find(|limit| window(**limit).is_none()) {
            return Some(format!("has no limit for {} seconds", limit.seconds));
        }
        beyond(case, &CAN)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let mut services = Vec::new();
        let mut consumers = Vec::new();
        for (number, case) in setup.cases.iter().enumerate() {
            let routes: Vec<Value> = case.listens().map(|listen| json!({"paths": [listen], "strip_path": true})).collect();
            services.push(json!({
                "name": format!("case-{number}"),
                "url": format!("http://{}/", setup.upstream),
                "routes": routes,
                "plugins": plugins(case),
            }));
            if let Some(key) = &case.key {
                consumers.push(json!({"username": format!("caller-{number}"), "keyauth_credentials": [{"key": key.value}]}));
            }
        }
        let declared = json!({"_format_version": "3.0", "services": services, "consumers": consumers});
        let declared = setup.write("kong.json", format!("{declared:#}\n"))?;
        let prefix = setup.directory("prefix")?;
        let program = Program::new("kong", &setup.program)
            .args(["start"])
            .env("KONG_DATABASE", "off")
            .env("KONG_DECLARATIVE_CONFIG", declared.display())
            .env("KONG_PREFIX", prefix.display())
            .env("KONG_PROXY_LISTEN", format!("{} backlog=4096", setup.listen()))
            .env("KONG_ADMIN_LISTEN", "off")
            .env("KONG_STATUS_LISTEN", "off")
            .env("KONG_NGINX_DAEMON", "off")
            .env("KONG_NGINX_WORKER_PROCESSES", setup.threads)
            .env("KONG_PROXY_ACCESS_LOG", "off")
            .env("KONG_ANONYMOUS_REPORTS", "off")
            .env("KONG_UPSTREAM_KEEPALIVE_POOL_SIZE", 512);
        Ok(Launch::of(program, vec![declared]))
    }
}

fn plugins(case: &Case) -> Vec<Value> {
    let mut plugins = Vec::new();
    if let Some(auth) = &case.api.auth {
        let (name, in_header) = match auth {
            Auth::Header(name) => (name, true),
            Auth::Query(name) => (name, false),
        };
        plugins.push(
            json!({"name": "key-auth", "config": {"key_names": [name], "key_in_header": in_header, "key_in_query": !in_header}}),
        );
    }
    let windows: Map<String, Value> =
        limits(case).into_iter().filter_map(|limit| Some((window(limit)?.to_owned(), limit.requests.into()))).collect();
    if !windows.is_empty() {
        let mut config = Value::Object(windows);
        config["policy"] = "local".into();
        config["limit_by"] = if case.api.auth.is_some() { "consumer" } else { "service" }.into();
        plugins.push(json!({"name": "rate-limiting", "config": config}));
    }
    if !case.api.allow_ips.is_empty() {
        plugins.push(json!({"name": "ip-restriction", "config": {"allow": case.api.allow_ips}}));
    }
    let pairs = |headers: &std::collections::BTreeMap<String, String>| -> Vec<String> {
        headers.iter().map(|(name, value)| format!("{name}:{value}")).collect()
    };
    if !case.api.set_headers.is_empty() {
        plugins.push(json!({"name": "request-transformer", "config": {"add": {"headers": pairs(&case.api.set_headers)}}}));
    }
    if !case.api.set_response_headers.is_empty() {
        plugins
            .push(json!({"name": "response-transformer", "config": {"add": {"headers": pairs(&case.api.set_response_headers)}}}));
    }
    plugins
}

fn window(limit: LimitSpec) -> Option<&'static str> {
    match limit.seconds {
        1 => Some("second"),
        60 => Some("minute"),
        3600 => Some("hour"),
        86_400 => Some("day"),
        _ => None,
    }
}
