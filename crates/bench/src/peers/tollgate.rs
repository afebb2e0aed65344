//! Tollgate itself, as a process: nothing of it is linked here.

use super::tyk_api::{conf, create_keys, session, write_definitions};
use super::{Launch, PeerAdapter, Program, Reload, Setup};
use crate::scenario::{Case, KeySpec};
use serde_json::{Value, json};

pub(crate) struct TollgateAdapter;

impl PeerAdapter for TollgateAdapter {
    fn name(&self) -> &'static str {
        "tollgate"
    }

    fn program(&self) -> Option<&'static str> {
        Some("tollgate")
    }

    fn cannot(&self, _case: &Case) -> Option<String> {
        None
    }

    fn prepare(&self, setup: &Setup) -> Result<Launch, String> {
        let apps = write_definitions(setup)?;
        let mut conf = conf(setup, &apps);
        conf["tollgate"] = json!({"threads": setup.threads, "data_dir": setup.dir.join("data")});
        let file = setup.write("tyk.conf", format!("{conf:#}\n"))?;
        let port = setup.port.to_string();
        let program = Program::new("tollgate", &setup.program).args(["run", "--port", &port, "--conf"]).args([&file]);
        Ok(Launch::of(program.env("TYK_GW_SECRET", &setup.secret), vec![file, apps]))
    }

    fn finish(&self, setup: &Setup) -> Result<(), String> {
        create_keys(setup, several_limits)
    }

    fn can_reload(&self) -> bool {
        true
    }

    fn reload(&self, setup: &Setup) -> Option<Reload> {
        let headers = vec![("x-tyk-authorization".to_owned(), setup.secret.clone())];
        Some(Reload::Request { path: "/tyk/reload/?block=true", headers })
    }
}

/// Tollgate's sessions have any number of limits.
fn several_limits(key: &KeySpec, api_id: &str) -> Value {
    let mut session = session(key, api_id);
    if key.limits.len() > 1 {
        let more = key.limits.iter().skip(1).map(|limit| json!({"rate": limit.requests, "per": limit.seconds}));
        session["limits"] = more.collect();
    }
    session
}
