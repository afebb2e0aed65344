//! Tollgate itself, as a process: none of its code is linked here.

use super::tyk_api::{add_settings, add_tls, conf, create_keys, reload, session, write_definitions};
use super::{Credential, Launch, PeerAdapter, Program, Reload, Setup};
use crate::peers::tyk_credentials;
use crate::scenario::{Case, KeySpec};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) struct TollgateAdapter;

impl PeerAdapter for TollgateAdapter {
    fn name(&self) -> &'static str {
        "tollgate"
    }

    fn program(&self) -> Option<&'static str> {
        Some("tollgate")
    }

    fn shares_a_store(&self) -> bool {
        true
    }

    fn cannot(&self, _case: &Case) -> Option<String> {
        None
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let apps = write_definitions(setup)?;
        let mut conf = conf(setup, &apps);
        conf["tollgate"] = json!({"threads": setup.threads, "data_dir": setup.dir.join("data")});
        if let Some(policies) = tyk_credentials::policies(setup)? {
            conf["policies"]["policy_record_name"] = json!(policies);
        }
        add_tls(&mut conf, setup);
        let redis = add_settings(&mut conf, setup)?.then(|| Program::redis(setup));
        let file = setup.write("tyk.conf", format!("{conf:#}\n"))?;
        let port = setup.address.port().to_string();
        let program = Program::new("tollgate", &setup.program).args(["run", "--port", &port, "--conf"]).args([&file]);
        let launch = Launch::of(program.env("TYK_GW_SECRET", &setup.secret), vec![file, apps]);
        let issuer = tyk_credentials::issuer(setup)?;
        Ok(Launch { before: redis.into_iter().chain(issuer).collect(), ..launch })
    }

    fn finish(&self, setup: &Setup) -> Result<BTreeMap<usize, Credential>, String> {
        create_keys(setup, several_limits)?;
        tyk_credentials::credentials(setup)
    }

    fn can_reload(&self) -> bool {
        true
    }

    fn reload(&self, setup: &Setup) -> Option<Reload> {
        Some(reload(setup))
    }
}

/// Sessions in Tollgate may have several limits.
fn several_limits(key: &KeySpec, api_id: &str) -> Value {
    let mut session = session(key, api_id);
    if key.limits.len() > 1 {
        let more = key.limits.iter().skip(1).map(|limit| json!({"rate": limit.requests, "per": limit.seconds}));
        session["limits"] = more.collect();
    }
    session
}
