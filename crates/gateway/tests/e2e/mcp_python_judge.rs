//! A judge of MCP servers that is not ours: an official client in Python, with a session and with the newest version, in front of an official server,
//! directly and through the gateway as a proxy and as a federation.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp_judges::{Everything, gateway};
use crate::openid_provider::packages;
use crate::real_clients::python;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp_judges.py");

/// Tools that need a client that answers questions.
const ASKING: [&str; 4] = ["get-roots-list", "trigger-elicitation-request", "trigger-sampling-request", "trigger-url-elicitation"];

/// What the client finds at a URL.
fn found(python: &Path, url: &str, prefix: &str, mode: &str) -> BTreeMap<String, Value> {
    let mut command = Command::new(python);
    command.args(["-W", "ignore", SCRIPT, url, prefix, mode]).env_remove("http_proxy").env_remove("https_proxy");
    let output = command.output().expect("python runs");
    assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["name"].as_str().unwrap().to_owned(), line["value"].clone())).collect()
}

/// What is found elsewhere and differs; `null` for what is not found there.
fn differences(direct: &BTreeMap<String, Value>, elsewhere: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let names = direct.keys().chain(elsewhere.keys()).filter(|name| direct.get(*name) != elsewhere.get(*name));
    names.map(|name| (name.clone(), elsewhere.get(name).cloned().unwrap_or_default())).collect()
}

#[test]
fn an_official_python_client_finds_behind_the_gateway_what_it_finds_at_the_server() {
    let (Some(packages), Some(python)) = (packages(), python()) else { return };
    let server = Everything::start(&packages);
    let gateway = gateway(&packages, &server);
    for id in ["federation", "process"] {
        let asked = gateway.control("POST", &format!("/tyk/mcps/{id}/servers"), "").json();
        assert_eq!(asked["servers"][0]["state"], "there", "{asked}");
    }
    for mode in ["legacy", "auto"] {
        let at = |id: &str, prefix: &str| found(&python, &format!("http://127.0.0.1:{}/{id}/", gateway.port), prefix, mode);
        let direct = found(&python, &server.url(), "", mode);
        assert!(direct.len() >= 48, "{mode}: {direct:?}");
        assert_eq!(direct["version"], "2025-11-25");
        assert_eq!(direct["progress"], json!([1.0, 2.0, 3.0, 4.0]));
        for (tool, answer) in [("trigger-sampling-request", "sampled here"), ("trigger-elicitation-request", "decline")] {
            assert!(direct[&format!("call of {tool}")].to_string().contains(answer), "{mode}: {direct:?}");
        }
        assert_eq!(differences(&direct, &at("proxy", "")), BTreeMap::new(), "{mode}");

        let mut expected: BTreeMap<String, Value> = BTreeMap::new();
        let mut expect = |name: &str, value: Value| drop(expected.insert(name.to_owned(), value));
        let mut taskless = direct["tool simulate-research-query"].clone();
        taskless["execution"]["taskSupport"] = json!("forbidden");
        // The federation has the newest version, which the server has not, and in which it has no tasks.
        if mode == "auto" {
            expect("tool simulate-research-query", taskless.clone());
            expect("version", json!("2026-07-28"));
            expect("capabilities", json!(["completions", "logging", "prompts", "resources", "tools"]));
        }
        // The server answers the call of an unknown tool with a result; the federation knows its tools.
        expect("unknown tool", json!(-32602));
        // Its lists are the same for all its clients: what a server lists in one session alone can be read, but is in no list.
        expect("the session's resource is listed", json!(false));
        assert_eq!(differences(&direct, &at("federation", "")), expected, "{mode}");

        // Clients share a process: it cannot ask one of them or keep tasks for one, and nobody is told what it tells by itself.
        expected.insert("tool simulate-research-query".to_owned(), taskless);
        expected.insert("capabilities".to_owned(), json!(["completions", "prompts", "resources", "tools"]));
        let asking = ASKING.iter().flat_map(|tool| [format!("tool {tool}"), format!("call of {tool}")]);
        let telling = ["subscribed", "updated", "unsubscribed", "level", "logged"].map(str::to_owned);
        for name in asking.chain(telling).filter(|name| direct.contains_key(name)) {
            expected.insert(name, Value::Null);
        }
        let mut process = differences(&direct, &at("process", "p_"));
        // It has one list for all, which is read anew a while after it has changed.
        for facts in [&mut process, &mut expected] {
            facts.remove("the session's resource is listed");
        }
        assert_eq!(process, expected, "{mode}");
    }
    gateway.expect_no_panic();
}
