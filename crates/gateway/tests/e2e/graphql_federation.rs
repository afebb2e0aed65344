//! graphql-js as the judge of the gateway in front of the subgraphs of a federation.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Gateway, api};
use crate::openid_provider::packages;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/graphql_federation.mjs");

/// The planner's own test has thousands of queries; here, those between real servers are few.
const QUERIES: &str = "300";

#[test]
fn responses_from_subgraphs_are_those_of_one_server_with_all_the_data() {
    let Some(packages) = packages() else { return };
    let mut command = Command::new("node");
    command.arg(SCRIPT).arg(&packages).args([QUERIES, "7"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("node runs");
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&said.next().expect("a line").unwrap()).unwrap() };
    let subgraphs = next()["subgraphs"].take();
    let supergraph = json!({"subgraphs": subgraphs, "merged_sdl": ""});
    let definition = api("s", "/s/", "")
        .set("graphql", json!({"enabled": true, "execution_mode": "supergraph", "version": "2", "supergraph": supergraph}));
    let gateway = Gateway::start(json!({}), [definition]);
    let port = gateway.connect().socket().peer_addr().unwrap().port();
    writeln!(child.stdin.take().unwrap(), "http://127.0.0.1:{port}/s/").unwrap();
    let result = next();
    assert!(child.wait().unwrap().success());
    let differences = result["differences"].as_array().unwrap();
    assert!(differences.is_empty(), "{} differences: {:#}", differences.len(), differences[0]);
    assert!(result["queries"].as_u64().unwrap() > 200 && result["withErrors"].as_u64().unwrap() > 5, "{result}");
    assert!(result["requests"].as_u64().unwrap() > 400, "{result}");
    gateway.expect_no_panic();
}
