//! Tyk Gateway from a given binary, with its own redis-server without persistence. A key has only one limit there, so the case with
//! two limits sets the second one on the API. GOGC and other variables come from the case, or from this program's environment.

use super::settings::{Need, beyond};
use super::tyk_api::{add_settings, add_tls, conf, create_keys, reload, session, write_definitions};
use super::{Credential, Launch, PeerAdapter, Program, Reload, Setup};
use crate::probe::HOST;
use crate::scenario::Case;
use serde_json::json;
use std::collections::BTreeMap;

const CAN: [Need; 14] = [
    Need::Keys,
    Need::Limits,
    Need::SeveralLimits,
    Need::Quota,
    Need::Methods,
    Need::AllowedAddresses,
    Need::RequestHeaders,
    Need::ResponseHeaders,
    Need::Records,
    Need::Definition,
    Need::ManyApis,
    Need::Tls,
    Need::Settings,
    Need::WebSocket,
];

pub(crate) struct TykAdapter;

impl PeerAdapter for TykAdapter {
    fn name(&self) -> &'static str {
        "tyk"
    }

    fn program(&self) -> Option<&'static str> {
        Some("tyk")
    }

    fn shares_a_store(&self) -> bool {
        true
    }

    fn cannot(&self, case: &Case) -> Option<String> {
        if case.key.as_ref().is_some_and(|key| key.limits.len() > 1) {
            return Some("has one rate limit for a key".to_owned());
        }
        beyond(case, &CAN)
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let apps = write_definitions(setup)?;
        let templates = setup.directory("templates")?;
        setup.write("templates/error.json", "{\"error\": \"{{.Message}}\"}\n")?;
        let mut conf = conf(setup, &apps);
        // Keys must be longer than this.
        conf["min_token_length"] = 1.into();
        conf["template_path"] = json!(templates);
        conf["storage"] = json!({"type": "redis", "host": HOST, "port": setup.second_port, "optimisation_max_idle": 2000, "optimisation_max_active": 4000});
        // Hashed, keys as short as the scenarios' would be indistinguishable.
        conf["hash_keys"] = false.into();
        conf["max_idle_connections_per_host"] = 500.into();
        conf["close_connections"] = false.into();
        conf["allow_insecure_configs"] = true.into();
        add_tls(&mut conf, setup);
        add_settings(&mut conf, setup)?;
        let file = setup.write("tyk.conf", format!("{conf:#}\n"))?;

        let tyk = Program::new("tyk", &setup.program).args(["--conf"]).args([&file]).env("GOMAXPROCS", setup.threads);
        Ok(Launch { before: vec![Program::redis(setup)], gateway: Some(tyk), configuration: vec![file, apps] })
    }

    fn finish(&self, setup: &Setup) -> Result<BTreeMap<usize, Credential>, String> {
        create_keys(setup, session)?;
        Ok(BTreeMap::new())
    }

    fn can_reload(&self) -> bool {
        true
    }

    fn reload(&self, setup: &Setup) -> Option<Reload> {
        Some(reload(setup))
    }
}
