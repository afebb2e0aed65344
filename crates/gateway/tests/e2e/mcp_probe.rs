//! An official server in Python that tells what reaches it, behind federations: over HTTP with and without sessions, where it speaks the versions of
//! both kinds, and as a process. In front is the official client, with a session and without.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{ChildProcess, Setup, api, eventually};
use crate::real_clients::python;
use crate::servers::free_port;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp_probe.py");

struct Probe {
    _process: ChildProcess,
    port: u16,
}

impl Probe {
    fn start(python: &Path, more: &[&str]) -> Probe {
        let port = free_port();
        let mut command = Command::new(python);
        command.args(["-W", "ignore", SCRIPT, "server", &port.to_string()]).args(more);
        let process = ChildProcess::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()));
        eventually("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Probe { _process: process, port }
    }
}

/// What the client finds, as one text for each fact.
fn found(python: &Path, url: &str, mode: &str) -> BTreeMap<String, String> {
    let output = Command::new(python).args(["-W", "ignore", SCRIPT, "client", url, mode]).output().expect("python runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{url}: {text}{}", String::from_utf8_lossy(&output.stderr));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| text.split(':').next().unwrap().to_owned());
    lines.map(|line| (plain(&line["name"]), plain(&line["value"]))).collect()
}

#[test]
fn a_server_in_python_does_behind_a_federation_what_it_does_alone() {
    let Some(python) = python() else { return };
    let (server, stateless) = (Probe::start(&python, &[]), Probe::start(&python, &["stateless"]));
    let federation = |id: &str, server: Value| {
        let mcp = json!({"servers": [server]});
        api(id, &format!("/{id}/"), "http://127.0.0.1:9").set("application_protocol", "mcp").set("tollgate/mcp", mcp)
    };
    let over_http = |server: &Probe| json!({"name": "http", "url": format!("http://127.0.0.1:{}/mcp", server.port)});
    let command = json!({"command": [python, "-W", "ignore", SCRIPT, "server"]});
    let gateway = Setup::new(json!({"tollgate": {"mcp_commands": {"probe": command}}}))
        .api(federation("sessions", over_http(&server)))
        .api(federation("stateless", over_http(&stateless)))
        .api(federation("process", json!({"name": "process", "command": "probe"})))
        .start();
    for id in ["sessions", "stateless", "process"] {
        let asked = gateway.control("POST", &format!("/tyk/mcps/{id}/servers"), "").json();
        assert_eq!(asked["servers"][0]["state"], "there", "{asked}");
    }
    let at = |id: &str, mode: &str| found(&python, &format!("http://127.0.0.1:{}/{id}/", gateway.port), mode);
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let direct = found(&python, &format!("http://127.0.0.1:{}/mcp", server.port), mode);
        let with = |changes: &[(&str, &str)]| {
            let mut expected = direct.clone();
            // A response of 9 MiB is one that nobody gets, and nobody else notices.
            let common = [("version", version), ("large", "failed"), ("small", "1024")];
            let all = common.iter().chain(changes).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            expected.extend(all);
            expected
        };
        let done = ["begun", "cancelled", "logged", "forgotten", "grown"];
        assert!(done.iter().all(|name| direct[*name] == "true") && direct["call of grown"] == "grown", "{mode}: {direct:?}");
        assert_eq!(direct["asked"], if mode == "legacy" { "accept Ada" } else { "failed" });
        assert_eq!(at("sessions", mode), with(&[]), "{mode}");
        // Without a session of its own, a server has nobody to ask. What it logs is only for requests that want that.
        let logged = if mode == "legacy" { "false" } else { "true" };
        assert_eq!(at("stateless", mode), with(&[("asked", "failed"), ("logged", logged)]), "{mode}");
        assert_eq!(at("process", mode), with(&[("asked", "failed"), ("logged", "false")]), "{mode}");
    }
    gateway.expect_no_panic();
}
