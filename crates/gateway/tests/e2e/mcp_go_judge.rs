//! A judge of MCP servers that is not ours: an official client in Go, with a session and with the newest version, in front of an official server,
//! directly and through the gateway as a proxy and as a federation. And the Inspector's command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::skip;
use crate::mcp_judges::{Everything, gateway};
use crate::openid_provider::packages;

/// Tools that the server has for clients alone that answer questions.
const ASKING: [&str; 3] = ["trigger-sampling-request", "trigger-elicitation-request", "trigger-url-elicitation"];

fn program() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this program");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-go");
    if let Ok(reason) = std::fs::read_to_string(directory.join("clients-unavailable")) {
        skip(&reason);
        return None;
    }
    Some(directory.join("mcp_judge"))
}

/// What the client finds at a URL.
fn found(program: &Path, url: &str, version: &str) -> BTreeMap<String, Value> {
    let output = Command::new(program).args([url, "", version]).output().expect("the client runs");
    assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["name"].as_str().unwrap().to_owned(), line["value"].clone())).collect()
}

#[test]
fn an_official_go_client_finds_behind_the_gateway_what_it_finds_at_the_server() {
    let (Some(packages), Some(program)) = (packages(), program()) else { return };
    let server = Everything::start(&packages);
    let gateway = gateway(&packages, &server);
    for version in ["2025-11-25", "2026-07-28"] {
        let at = |id: &str| found(&program, &format!("http://127.0.0.1:{}/{id}/", gateway.port), version);
        let direct = found(&program, &server.url(), version);
        assert!(direct.len() >= 24 && direct["end"] == true, "{version}: {direct:?}");
        assert_eq!(at("proxy"), direct, "{version}");
        let mut expected = serde_json::Map::new();
        if version == "2026-07-28" {
            // The federation has the newest version, which the server has not; it has no subscriptions to single resources, and calls log nothing.
            let lists = json!({"listChanged": true});
            let capabilities = json!({"completions": {}, "logging": {}, "prompts": lists, "resources": lists, "tools": lists});
            expected.insert("version".to_owned(), version.into());
            expected.insert("capabilities".to_owned(), capabilities);
            expected.insert("seen in get-roots-list".to_owned(), Value::Null);
        }
        let federation = at("federation");
        let differ = direct.keys().chain(federation.keys()).filter(|name| direct.get(*name) != federation.get(*name));
        let differ: BTreeMap<_, _> = differ.map(|name| (name.clone(), federation.get(name).cloned().unwrap_or_default())).collect();
        assert_eq!(json!(differ), Value::Object(expected), "{version}");
    }
    gateway.expect_no_panic();
}

#[test]
fn the_inspector_s_command_finds_behind_the_gateway_what_it_finds_at_the_server() {
    let Some(packages) = packages() else { return };
    let server = Everything::start(&packages);
    let gateway = gateway(&packages, &server);
    let node = packages.join("node_modules/node/bin/node");
    let ask = |url: &str, method: &[&str]| {
        let mut command = Command::new(&node);
        command
            .arg(packages.join("node_modules/.bin/mcp-inspector"))
            .args(["--cli", url, "--transport", "http", "--method"])
            .args(method);
        let output = command.output().expect("the Inspector runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    for method in [
        &["tools/list"][..],
        &["resources/list"],
        &["resources/templates/list"],
        &["prompts/list"],
        &["tools/call", "--tool-name", "echo", "--tool-arg", "message=hi"],
        &["tools/call", "--tool-name", "get-sum", "--tool-arg", "a=2", "b=3"],
        &["resources/read", "--uri", "demo://resource/static/document/features.md"],
        &["prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Bonn"],
        &["logging/setLevel", "--log-level", "debug"],
    ] {
        let direct = ask(&server.url(), method);
        assert!(direct.0 && direct.1.len() > 2, "{method:?}: {direct:?}");
        for id in ["proxy", "federation"] {
            let mut told = ask(&format!("http://127.0.0.1:{}/{id}/", gateway.port), method);
            if let ("federation", ["tools/list"], Ok(mut list)) = (id, method, serde_json::from_str::<Value>(&told.1)) {
                // It lists the same for all clients, also those that the server would not ask.
                list["tools"].as_array_mut().unwrap().retain(|tool| !ASKING.contains(&tool["name"].as_str().unwrap()));
                told.1 = format!("{}\n", serde_json::to_string_pretty(&list).unwrap());
            }
            assert_eq!(told, direct, "{id} {method:?}");
        }
    }
}
