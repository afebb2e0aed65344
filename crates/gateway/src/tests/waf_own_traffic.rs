//! False positives of the Core Rule Set on traffic of the gateway's own: the examples of the control API, calls to MCP servers, requests to language
//! models, all as clients send them. What is denied, and by which rules, is listed beside this file; the list must be exact.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::harness::{Gateway, Upstream, api, request};
use tollgate_testing::core_rule_set::core_rule_set;

struct OwnRequest {
    source: &'static str,
    method: String,
    target: String,
    lines: Vec<String>,
    body: String,
}

/// What became of the requests of a source at a level.
#[derive(Default)]
struct Row {
    sent: usize,
    /// By the rules that denied them.
    denied: BTreeMap<String, usize>,
}

/// The examples of all operations.
fn of_control_api(document: &Value) -> Vec<OwnRequest> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap().iter().filter(|(_, described)| described.get("responses").is_some()) {
            let parameters = described["parameters"].as_array().into_iter().flatten();
            let examples =
                parameters.filter_map(|one| Some((one["in"].as_str()?, one["name"].as_str()?, one["example"].as_str()?)));
            let (mut target, mut query) = (path.clone(), Vec::new());
            for (place, name, example) in examples {
                match place {
                    "path" => target = target.replace(&format!("{{{name}}}"), example),
                    _ => query.push(format!("{name}={example}")),
                }
            }
            if !query.is_empty() {
                target = format!("{target}?{}", query.join("&"));
            }
            let content = described["requestBody"]["content"].as_object().and_then(|content| content.iter().next());
            let (mut lines, mut body) = (vec!["X-Tyk-Authorization: 352d20ee67be67f6340b4c0605b044b7".to_owned()], String::new());
            if let Some((kind, content)) = content {
                lines.push(format!("Content-Type: {kind}"));
                body = match (kind.as_str(), &content["example"]) {
                    ("application/x-www-form-urlencoded", example) => {
                        let pairs = example.as_object().unwrap().iter();
                        pairs
                            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap().replace(' ', "+")))
                            .collect::<Vec<_>>()
                            .join("&")
                    }
                    ("application/json", example) => example.to_string(),
                    (_, example) => example.as_str().unwrap().to_owned(),
                };
            }
            found.push(OwnRequest { source: "control API", method: method.to_uppercase(), target, lines, body });
        }
    }
    found
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn of_mcp() -> Vec<OwnRequest> {
    let recorded = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/mcp_calls.json"));
    let made = |row: &Value| OwnRequest {
        source: "MCP",
        method: row["method"].as_str().unwrap().to_owned(),
        target: row["path"].as_str().unwrap().to_owned(),
        lines: row["headers"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap()))
            .collect(),
        body: row["body"].as_str().unwrap_or_default().to_owned(),
    };
    // Calls that are no JSON are there to be refused.
    let is_call =
        |row: &&Value| row["body"].as_str().is_none_or(|body| body.is_empty() || serde_json::from_str::<Value>(body).is_ok());
    recorded["rows"].as_array().unwrap().iter().filter(is_call).map(made).collect()
}

fn of_models() -> Vec<OwnRequest> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../llm/tests/fixtures");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let cases =
        paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")).flat_map(|path| {
            match read(path) {
                Value::Array(cases) => cases,
                _ => Vec::new(),
            }
        });
    let requests = cases.filter_map(|case| Some(case.get("request")?.to_string()));
    let made = |body: String| OwnRequest {
        source: "language models",
        method: "POST".to_owned(),
        target: "/v1/chat/completions".to_owned(),
        lines: vec![
            "Content-Type: application/json".to_owned(),
            "Authorization: Bearer sk-0123456789abcdef0123456789abcdef".to_owned(),
        ],
        body,
    };
    requests.map(made).collect()
}

/// The rules that the newest line of the log names.
fn rules_of(log: &str) -> String {
    let line = log.lines().rev().find(|line| line.contains("firewall denies a request")).unwrap_or_default();
    let rules = line.split("rules=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    // Those that only sum up are in all of them.
    rules.split(',').filter(|rule| !rule.starts_with("949") && !rule.starts_with("980")).collect::<Vec<_>>().join(",")
}

#[test]
fn what_the_rules_deny_of_own_traffic_is_known() {
    let upstream = Upstream::ok();
    let at_level = |level: u8| {
        let id = format!("l{level}");
        api(&id, &format!("/{id}/"), &upstream.url()).set("tollgate", json!({"waf": {"paranoia_level": level}}))
    };
    let gateway = Gateway::start(json!({"tollgate": {"waf": {"rules": core_rule_set()}}}), (1..=4).map(at_level));
    let document = gateway.control("GET", "/tyk/openapi.json", "").json();
    let requests: Vec<OwnRequest> = of_control_api(&document).into_iter().chain(of_mcp()).chain(of_models()).collect();
    let mut table: BTreeMap<(&str, u8), Row> = BTreeMap::new();
    for level in 1..=4 {
        for own in &requests {
            let mut lines = vec!["User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"];
            if !own.lines.iter().any(|line| line.starts_with("Accept:")) {
                lines.push("Accept: application/json");
            }
            lines.extend(own.lines.iter().map(String::as_str));
            let response = gateway.send(request(&own.method, &format!("/l{level}{}", own.target), &lines, &own.body));
            assert!([200, 403].contains(&response.status), "{} {} {}: {response}", own.method, own.target, own.body);
            let row = table.entry((own.source, level)).or_default();
            row.sent += 1;
            if response.status == 403 {
                *row.denied.entry(rules_of(&gateway.log())).or_default() += 1;
            }
        }
    }
    let mut found = String::new();
    for ((source, level), Row { sent, denied }) in &table {
        writeln!(found, "{source}, level {level}: {} of {sent}", denied.values().sum::<usize>()).unwrap();
        denied.iter().for_each(|(rules, count)| writeln!(found, "  {count} by {rules}").unwrap());
    }
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/waf_own_traffic.txt");
    if std::env::var_os("TOLLGATE_WRITE").is_some() {
        fs::write(&known, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(&known).unwrap(), "written anew with TOLLGATE_WRITE=1; docs/waf.md has the sums");
}
