//! KrakenD, Community Edition, from a given binary: keyless endpoints that pass bodies through. Only its Enterprise Edition has
//! keys.

use super::settings::{Need, beyond};
use super::{Launch, PeerAdapter, Program, Setup};
use crate::scenario::Case;
use serde_json::{Value, json};

const CAN: [Need; 1] = [Need::ManyApis];

pub(crate) struct KrakendAdapter;

impl PeerAdapter for KrakendAdapter {
    fn name(&self) -> &'static str {
        "krakend"
    }

    fn program(&self) -> Option<&'static str> {
        Some("krakend")
    }

    fn version_arguments(&self) -> &'static [&'static str] {
        &["version"]
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        beyond(case, &CAN)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let upstream = format!("http://{}", setup.upstream);
        // It has no prefix routes, so the requested path gets its own endpoint.
        let endpoints: Vec<Value> = setup
            .cases
            .iter()
            .flat_map(|case| case.listens().map(move |listen| (case, listen)))
            .map(|(case, listen)| {
                let path = case.request.path.split('?').next().unwrap_or("/").to_owned();
                json!({
                    "endpoint": format!("{}{}", listen.trim_end_matches('/'), path),
                    "method": case.request.method,
                    "output_encoding": "no-op",
                    "input_headers": ["*"],
                    "input_query_strings": ["*"],
                    "backend": [{"host": [&upstream], "url_pattern": path, "encoding": "no-op"}],
                })
            })
            .collect();
        let config = json!({
            "version": 3,
            "listen_ip": setup.listen_address,
            "port": setup.address.port(),
            "timeout": "30s",
            "max_idle_connections_per_host": 500,
            "endpoints": endpoints,
        });
        let file = setup.write("krakend.json", format!("{config:#}\n"))?;
        let program = Program::new("krakend", &setup.program).args(["run", "-c"]).args([&file]);
        Ok(Launch::of(program.env("GOMAXPROCS", setup.threads), vec![file]))
    }
}
