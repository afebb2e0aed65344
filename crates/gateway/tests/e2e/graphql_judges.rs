//! Judges of GraphQL that are not ours: the audits of graphql-http through the gateway, and graphql-js about which documents are valid.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::graph::{SCHEMA, graph};
use crate::harness::{Definition, Gateway, Upstream, api, reply};
use crate::openid_provider::packages;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/graphql_server.mjs");

/// Differences that are known, one a line: a part of what is said of a document, a tab, and the reason.
const DIFFERENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/graphql_differences.txt");

/// Starts one of the script's modes; `None` without its packages.
fn node(arguments: &[&str]) -> Option<Child> {
    let packages = packages()?;
    let mut command = Command::new("node");
    command.arg(SCRIPT).arg(packages).args(arguments).stdout(Stdio::piped());
    Some(command.spawn().expect("node runs"))
}

/// All that a mode prints.
fn lines(arguments: &[&str]) -> Option<Vec<Value>> {
    let output = node(arguments)?.wait_with_output().expect("node ends");
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// graphql-http as the upstream.
struct Server {
    child: Child,
    port: u64,
}

impl Server {
    fn start(schema: &str) -> Option<Server> {
        let mut child = node(&["serve", schema])?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("the server does not start ({error}): {line}"));
        Some(Server { child, port: said["port"].as_u64().unwrap() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn schema_file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), SCHEMA).unwrap();
    file
}

fn port(gateway: &Gateway) -> u16 {
    gateway.connect().socket().peer_addr().unwrap().port()
}

#[test]
fn the_audits_of_graphql_http_pass_through_the_gateway() {
    let schema = schema_file();
    let Some(server) = Server::start(schema.path().to_str().unwrap()) else { return };
    let served = |id: &str, statuses: &str| -> Definition {
        api(id, &format!("/{id}/"), &format!("http://127.0.0.1:{}/graphql", server.port))
            .set("graphql", json!({"enabled": true, "execution_mode": "proxyOnly", "version": "2", "schema": SCHEMA}))
            .set("tollgate/graphql/error_statuses", statuses)
    };
    // The same server as the source of queries that the gateway executes.
    let fields = json!([{"type": "Query", "fields": ["me", "user", "node", "list"]}, {"type": "Mutation", "fields": ["rename"]}]);
    let config = json!({"url": format!("http://127.0.0.1:{}/graphql", server.port), "method": "POST"});
    let engine = json!({"data_sources": [{"kind": "GraphQL", "name": "people", "root_fields": fields, "config": config}]});
    let executed =
        served("executed", "graphql_over_http").set("graphql/execution_mode", "executionEngine").set("graphql/engine", engine);
    let gateway = Gateway::start(json!({}), [served("specified", "graphql_over_http"), served("as-tyk", "tyk"), executed]);
    let failed = |path: &str| -> Option<Vec<String>> {
        let results = lines(&["audit", &format!("http://127.0.0.1:{}/{path}/", port(&gateway))])?;
        assert!(results.len() > 60, "{}", results.len());
        let failed = results.iter().filter(|result| result["status"] != "ok");
        Some(failed.map(|result| format!("{} {} {}", result["id"], result["name"], result["reason"])).collect())
    };
    let Some(specified) = failed("specified") else { return };
    assert!(specified.is_empty(), "{specified:#?}");
    let executed = failed("executed").unwrap();
    assert!(executed.is_empty(), "{executed:#?}");
    // As in Tyk, a query that is not valid gets 400, where the specification would rather have 200.
    let tyk = failed("as-tyk").unwrap();
    assert_eq!(tyk.len(), 3, "{tyk:#?}");
    assert!(tyk.iter().all(|failed| failed.contains("SHOULD use") && failed.contains("200")), "{tyk:#?}");
}

#[test]
fn graphql_js_and_the_gateway_agree_which_documents_are_valid() {
    let schema = schema_file();
    let upstream = Upstream::start(|_| reply("200 OK", &["Content-Type: application/json"], r#"{"data":{}}"#));
    // The gateway checks values of variables too, and answers queries for the schema: neither is the judge's subject.
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let url = format!("http://127.0.0.1:{}/a/", port(&gateway));
    let Some(mut all) = lines(&["judge", schema.path().to_str().unwrap(), &url, "3000"]) else { return };
    let sum = all.pop().unwrap();
    assert!(sum["documents"] == 3000 && sum["valid"].as_u64().unwrap() > 900, "{sum}");
    let known = std::fs::read_to_string(DIFFERENCES).unwrap();
    let parts: Vec<&str> =
        known.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once('\t').unwrap().0).collect();
    let is_known = |difference: &&Value| {
        let text = difference.to_string();
        parts.iter().any(|part| text.contains(part))
    };
    let unexplained: Vec<&Value> = all.iter().filter(|difference| !is_known(difference)).collect();
    for part in &parts {
        assert!(all.iter().any(|difference| difference.to_string().contains(part)), "no document shows this difference: {part}");
    }
    assert!(unexplained.is_empty(), "{} of them: {:#?}", unexplained.len(), &unexplained[..unexplained.len().min(20)]);
    gateway.expect_no_panic();
}
