//! Traefik from a given binary, with the file provider: keyless routes. It has no API keys, and its limit is an average with a
//! burst, by address or header, rather than a count of requests in a window.

use super::settings::{Need, beyond};
use super::{Launch, PeerAdapter, Program, Setup};
use crate::scenario::Case;
use serde_json::{Map, Value, json};

const CAN: [Need; 4] = [Need::AllowedAddresses, Need::RequestHeaders, Need::ResponseHeaders, Need::ManyApis];

pub(crate) struct TraefikAdapter;

impl PeerAdapter for TraefikAdapter {
    fn name(&self) -> &'static str {
        "traefik"
    }

    fn program(&self) -> Option<&'static str> {
        Some("traefik")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["version"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        beyond(case, &CAN)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let mut routers = Map::new();
        let mut middlewares = Map::new();
        for (number, case) in setup.cases.iter().enumerate() {
            for (index, listen) in case.listens().enumerate() {
                let name = format!("api-{number}-{index}");
                let base = listen.trim_end_matches('/');
                let mut used = vec![format!("{name}-strip")];
                middlewares.insert(format!("{name}-strip"), json!({"stripPrefix": {"prefixes": [base]}}));
                if !case.api.set_headers.is_empty() || !case.api.set_response_headers.is_empty() {
                    used.push(format!("{name}-headers"));
                    let headers = json!({"customRequestHeaders": case.api.set_headers, "customResponseHeaders": case.api.set_response_headers});
                    middlewares.insert(format!("{name}-headers"), json!({"headers": headers}));
                }
                if !case.api.allow_ips.is_empty() {
                    used.push(format!("{name}-addresses"));
                    middlewares.insert(format!("{name}-addresses"), json!({"ipAllowList": {"sourceRange": case.api.allow_ips}}));
                }
                let router = json!({"rule": format!("PathPrefix(`{listen}`)"), "service": "upstream", "entryPoints": ["web"], "middlewares": used});
                routers.insert(name, router);
            }
        }
        let server = json!([{"url": format!("http://{}", setup.upstream)}]);
        let dynamic = json!({"http": {
            "routers": routers,
            "middlewares": middlewares,
            "services": {"upstream": {"loadBalancer": {"servers": server}}},
        }});
        // JSON is valid YAML.
        let dynamic = setup.write("dynamic.yaml", format!("{dynamic:#}\n"))?;
        let fixed: Value = json!({
            "entryPoints": {"web": {"address": setup.listen().to_string()}},
            "providers": {"file": {"filename": dynamic}},
            "serversTransport": {"maxIdleConnsPerHost": 500},
            "log": {"level": "WARN"},
            "global": {"checkNewVersion": false, "sendAnonymousUsage": false},
        });
        let fixed = setup.write("traefik.yaml", format!("{fixed:#}\n"))?;
        let option = format!("--configFile={}", fixed.display());
        let program = Program::new("traefik", &setup.program).args([option]).env("GOMAXPROCS", setup.threads);
        Ok(Launch::of(program, vec![fixed, dynamic]))
    }
}
