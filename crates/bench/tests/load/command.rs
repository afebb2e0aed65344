//! Starts the binary and reads its result.

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No test's command runs this long; one that does hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A finished command.
pub(crate) struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// What `--json` wrote; null if nothing.
    pub result: Value,
}

/// Runs `tollgate-bench` with these words, split at spaces, then `more`.
pub(crate) fn bench(words: &str, more: &[&str]) -> Output {
    let child = start(words.split(' ').chain(more.iter().copied()));
    wait(child)
}

/// Runs `tollgate-bench load` with `--json`.
pub(crate) fn load(words: &str, more: &[&str]) -> Finished {
    let folder = TempDir::new().unwrap();
    let json = folder.path().join("result.json");
    let words = words.split(' ').filter(|word| !word.is_empty());
    let child = start(["load", "--json", json.to_str().unwrap()].into_iter().chain(words).chain(more.iter().copied()));
    finished(wait(child), &json)
}

pub(crate) fn start<'a>(words: impl IntoIterator<Item = &'a str>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate-bench"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

pub(crate) fn wait(mut child: Child) -> Output {
    let begun = Instant::now();
    // Reports are smaller than a pipe's buffer, so that waiting before reading cannot block the command.
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the command hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

pub(crate) fn finished(output: Output, json: &Path) -> Finished {
    let result = std::fs::read_to_string(json).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Finished { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr), result }
}
