//! Judges of MCP servers that are not ours: an official client and the conformance suite, in front of an official server, directly and through the
//! gateway as a proxy and as a federation.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{ChildProcess, Gateway, Setup, api, eventually};
use crate::openid_provider::packages;
use crate::servers::free_port;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp_judges.mjs");

/// An official server that has all that servers can have.
pub(crate) struct Everything {
    _process: ChildProcess,
    port: u16,
}

impl Everything {
    pub(crate) fn start(packages: &Path) -> Everything {
        let port = free_port();
        let process = ChildProcess::start(everything(packages, "streamableHttp").env("PORT", port.to_string()));
        eventually("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Everything { _process: process, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

fn script_of(packages: &Path) -> String {
    packages.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js").display().to_string()
}

fn everything(packages: &Path, transport: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(script_of(packages)).arg(transport).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// A gateway before the server: as a proxy, as a federation over HTTP, and as one that starts it as a process.
pub(crate) fn gateway(packages: &Path, server: &Everything) -> Gateway {
    let node = String::from_utf8(Command::new("sh").args(["-c", "command -v node"]).output().unwrap().stdout).unwrap();
    let command = json!({"command": [node.trim(), script_of(packages), "stdio"]});
    let mcp = |id: &str| api(id, &format!("/{id}/"), &server.url()).set("application_protocol", "mcp");
    let over_http = json!({"servers": [{"name": "http", "url": server.url()}]});
    let as_process = json!({"servers": [{"name": "process", "command": "everything", "prefix": "p_"}]});
    Setup::new(json!({"tollgate": {"mcp_commands": {"everything": command}}}))
        .api(mcp("proxy"))
        .api(mcp("federation").set("tollgate/mcp", over_http))
        .api(mcp("process").set("tollgate/mcp", as_process))
        .start()
}

/// What the official client finds at a URL.
fn found(packages: &Path, url: &str, prefix: &str) -> BTreeMap<String, Value> {
    let output = Command::new("node").arg(SCRIPT).arg(packages).arg(url).arg(prefix).output().expect("node runs");
    assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["name"].as_str().unwrap().to_owned(), line["value"].clone())).collect()
}

#[test]
fn an_official_client_finds_behind_the_gateway_what_it_finds_at_the_server() {
    let Some(packages) = packages() else { return };
    let server = Everything::start(&packages);
    let gateway = gateway(&packages, &server);
    let at = |id: &str, prefix: &str| found(&packages, &format!("http://127.0.0.1:{}/{id}/", gateway.port), prefix);
    let direct = found(&packages, &server.url(), "");
    assert!(direct.len() >= 14 && direct["sampled"] == true && direct["elicited"] == true && direct["roots"] == true, "{direct:?}");
    assert!(
        direct["task"]["seen"].as_array().is_some_and(|seen| seen.len() > 2) && direct["task afterwards"] == true,
        "{direct:?}"
    );
    assert_eq!(at("proxy", ""), direct);
    // The server answers the call of an unknown tool with a result; the federation knows its tools.
    let mut expected = direct;
    expected.insert("unknown tool".to_owned(), json!(-32602));
    assert_eq!(at("federation", ""), expected);
    // Clients share a process: it cannot ask one of them, nor keep tasks for one.
    let mut alone = at("process", "p_");
    for name in ["tools", "sampled", "elicited", "roots", "task", "task cancelled", "task afterwards"] {
        alone.remove(name);
        expected.remove(name);
    }
    assert_eq!(alone, expected);
    gateway.expect_no_panic();
}

/// The scenarios of the conformance suite for a version that pass at a URL.
fn passed(packages: &Path, url: &str, version: &str) -> Vec<String> {
    let node = packages.join("node_modules/node/bin/node");
    let suite = packages.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut command = Command::new(node);
    command.arg(suite).args(["server", "--url", url, "--requirements", version, "--timeout", "10000"]);
    let output = command.current_dir(std::env::temp_dir()).output().expect("the suite runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let named = text.lines().filter_map(|line| line.strip_prefix("✓ ")).filter_map(|line| line.split_once(':'));
    let passed: Vec<String> = named.map(|(name, _)| name.to_owned()).collect();
    assert!(!passed.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    passed
}

/// What passes at the server, but not behind the gateway's APIs. Each may lose some.
fn lost(packages: &Path, (version, direct): (&str, &[String]), gateway: &Gateway, apis: &[(&str, &[&str])]) -> Vec<String> {
    let of_api = |(id, may_lose): &(&str, &[&str])| {
        let here = passed(packages, &format!("http://127.0.0.1:{}/{id}/", gateway.port), version);
        let is_lost = |name: &&String| !here.contains(name) && !may_lose.contains(&name.as_str());
        direct.iter().filter(is_lost).map(|name| format!("{id}: {name}")).collect::<Vec<_>>()
    };
    apis.iter().flat_map(of_api).collect()
}

#[test]
fn what_conforms_at_the_server_conforms_behind_the_gateway() {
    let Some(packages) = packages() else { return };
    let server = Everything::start(&packages);
    let gateway = gateway(&packages, &server);
    let version = "2025-11-25";
    let direct = passed(&packages, &server.url(), version);
    assert!(direct.len() >= 9, "{direct:?}");
    // The suite calls a tool and subscribes to a resource that this server has not, and takes any answer without an error of the protocol; the federation
    // knows what its servers have.
    let not_there = ["tools-call-simple-text", "tools-call-error", "resources-subscribe", "resources-unsubscribe"];
    let lost = lost(&packages, (version, &direct), &gateway, &[("proxy", &[]), ("federation", &not_there)]);
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn what_conforms_without_sessions_at_the_server_conforms_behind_the_gateway() {
    let Some(packages) = packages() else { return };
    let (script, port) = (SCRIPT.replace("mcp_judges.mjs", "mcp_modern_server.mjs"), free_port());
    let mut command = Command::new(packages.join("node_modules/node/bin/node"));
    command.arg(script).arg(&packages).arg(port.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
    let _server = ChildProcess::start(&mut command);
    eventually("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mcp = |id: &str| api(id, &format!("/{id}/"), &url).set("application_protocol", "mcp");
    let gateway = Setup::new(json!({}))
        .api(mcp("proxy"))
        .api(mcp("heads").set("tollgate/mcp_server_checks_heads", true))
        .api(mcp("federation").set("tollgate/mcp", json!({"servers": [{"name": "s", "url": url}]})))
        .start();
    let version = "2026-07-28";
    let direct = passed(&packages, &url, version);
    // All that the version requires.
    assert!(direct.len() >= 37 && direct.iter().any(|name| name == "server-stateless"), "{direct:?}");
    let lost = lost(&packages, (version, &direct), &gateway, &[("proxy", &[]), ("heads", &[]), ("federation", &[])]);
    assert!(lost.is_empty(), "{lost:?}");
    gateway.expect_no_panic();
}
