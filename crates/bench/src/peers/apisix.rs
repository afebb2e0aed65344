//! Apache APISIX from a given `apisix` program, standalone. It reads its routes from a fixed path next to its own code, so the
//! program must belong to a dedicated installation whose `conf/apisix.yaml` and `conf/config.yaml` may be overwritten:
//! `APISIX_HOME` names its directory.

use super::settings::{Need, beyond, limits};
use super::{Launch, PeerAdapter, Program, Setup};
use crate::scenario::{Auth, Case};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

const CAN: [Need; 6] =
    [Need::Keys, Need::Limits, Need::AllowedAddresses, Need::RequestHeaders, Need::ResponseHeaders, Need::ManyApis];

pub(crate) struct ApisixAdapter;

impl PeerAdapter for ApisixAdapter {
    fn name(&self) -> &'static str {
        "apisix"
    }

    fn program(&self) -> Option<&'static str> {
        Some("apisix")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["version"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        beyond(case, &CAN)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let home = std::env::var_os("APISIX_HOME")
            .map(PathBuf::from)
            .ok_or("APISIX_HOME does not name the installation whose conf/ may be written")?;
        let nodes = json!({setup.upstream.to_string(): 1});
        let mut routes = Vec::new();
        let mut consumers = Vec::new();
        for (number, case) in setup.cases.iter().enumerate() {
            for (index, listen) in case.listens().enumerate() {
                let upstream = json!({"type": "roundrobin", "nodes": nodes, "keepalive_pool": {"size": 512}});
                routes.push(json!({"id": format!("{number}-{index}"), "uri": format!("{listen}*"), "plugins": plugins(case, &listen), "upstream": upstream}));
            }
            if let Some(key) = &case.key {
                consumers.push(json!({"username": format!("caller_{number}"), "plugins": {"key-auth": {"key": key.value}}}));
            }
        }
        let routes = format!("{:#}\n#END\n", json!({"routes": routes, "consumers": consumers}));
        let config = json!({
            "deployment": {"role": "data_plane", "role_data_plane": {"config_provider": "yaml"}},
            "apisix": {"node_listen": [{"ip": setup.listen_address, "port": setup.address.port()}], "enable_admin": false},
            "nginx_config": {"worker_processes": setup.threads, "http": {"enable_access_log": false}},
        });
        let kept = vec![setup.write("apisix.yaml", &routes)?, setup.write("config.yaml", format!("{config:#}\n"))?];
        for file in &kept {
            let target = home.join("conf").join(file.file_name().unwrap_or_default());
            std::fs::copy(file, &target).map_err(|error| format!("{}: cannot be written: {error}", target.display()))?;
        }
        // `init` writes nginx.conf; the gateway itself is then an OpenResty that stays in the foreground.
        let start = format!(
            "cd '{home}' && '{apisix}' init && exec openresty -p '{home}' -c conf/nginx.conf -g 'daemon off;'",
            home = home.display(),
            apisix = setup.program.display()
        );
        Ok(Launch::of(Program::new("apisix", std::path::Path::new("/bin/sh")).args(["-c", &start]), kept))
    }
}

fn plugins(case: &Case, listen: &str) -> Value {
    let base = listen.trim_end_matches('/');
    let mut rewrite = json!({"regex_uri": [format!("^{base}/(.*)"), "/$1"]});
    if !case.api.set_headers.is_empty() {
        rewrite["headers"] = json!({"set": case.api.set_headers});
    }
    let mut plugins = Map::from_iter([("proxy-rewrite".to_owned(), rewrite)]);
    if let Some(auth) = &case.api.auth {
        let place = match auth {
            Auth::Header(name) => json!({"header": name}),
            Auth::Query(name) => json!({"query": name}),
        };
        plugins.insert("key-auth".to_owned(), place);
    }
    if let Some(limit) = limits(case).first() {
        let key = if case.api.auth.is_some() { "consumer_name" } else { "server_addr" };
        plugins.insert(
            "limit-count".to_owned(),
            json!({"count": limit.requests, "time_window": limit.seconds, "key": key, "rejected_code": 429, "policy": "local"}),
        );
    }
    if !case.api.allow_ips.is_empty() {
        plugins.insert("ip-restriction".to_owned(), json!({"whitelist": case.api.allow_ips}));
    }
    if !case.api.set_response_headers.is_empty() {
        plugins.insert("response-rewrite".to_owned(), json!({"headers": {"set": case.api.set_response_headers}}));
    }
    Value::Object(plugins)
}
