//! graphql-js as the judge: responses to generated queries must be those of one server that has all the data.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "judge/conversation.rs"]
mod conversation;

use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use conversation::Conversation;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge.mjs");

/// Where `scripts/test-deps.sh` has put the judge; `None` where it could not, and has said why.
fn packages() -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap();
    let directory = program.ancestors().nth(3).unwrap().join("test-npm");
    let Ok(reason) = std::fs::read_to_string(directory.join("unavailable")) else {
        assert!(directory.join("node_modules").exists(), "{} is missing: run scripts/test-deps.sh tests", directory.display());
        return Some(directory);
    };
    let may_skip = std::env::var_os("TOLLGATE_TESTS_MAY_SKIP").is_some();
    assert!(may_skip, "this machine can't run the test (TOLLGATE_TESTS_MAY_SKIP=1 skips it): {reason}");
    eprintln!("skipped: {reason}");
    None
}

#[test]
fn responses_are_those_of_one_server_with_all_the_data() {
    let Some(packages) = packages() else { return };
    // Other queries: TOLLGATE_JUDGE_SEED=7 TOLLGATE_JUDGE_COUNT=100000.
    let setting = |name: &str, or: &str| std::env::var(name).unwrap_or_else(|_| or.to_owned());
    let (count, seed) = (setting("TOLLGATE_JUDGE_COUNT", "2000"), setting("TOLLGATE_JUDGE_SEED", "20261124"));
    let mut command = Command::new("node");
    command.arg(SCRIPT).arg(&packages).args([&count, &seed]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("node runs");
    let (hears, says) = (BufReader::new(child.stdout.take().unwrap()), child.stdin.take().unwrap());
    let result = Conversation { hears, says }.run();
    assert!(child.wait().unwrap().success());
    let differences = result["differences"].as_array().expect("a result");
    let shown: Vec<String> = differences.iter().take(3).map(|one| serde_json::to_string_pretty(one).unwrap()).collect();
    assert!(differences.is_empty(), "{} of {} queries: {}", differences.len(), result["queries"], shown.join("\n"));
    let count: u64 = count.parse().unwrap();
    assert!(result["queries"].as_u64().unwrap() > count * 3 / 4, "{result}");
    assert!(result["withErrors"].as_u64().unwrap() > count / 50, "{result}");
    println!("{} queries, {} of them with errors, {} requests", result["queries"], result["withErrors"], result["requests"]);
}
