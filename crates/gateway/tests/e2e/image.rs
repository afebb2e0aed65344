//! The Dockerfile, as far as it can be judged without Docker: what it copies is there, and its commands are real ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::harness::Gateway;
use crate::harness::gateway::SECRET;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The instructions, each on one line.
fn instructions() -> Vec<String> {
    let text = fs::read_to_string(root().join("Dockerfile")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.join("\n").replace("\\\n", " ").lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The words of an instruction in JSON form.
fn words(instruction: &str) -> Vec<String> {
    let from = instruction.find('[').expect("the form without a shell");
    serde_json::from_str(&instruction[from..]).expect("JSON")
}

fn instruction(name: &str) -> String {
    let mut found: Vec<String> = instructions().into_iter().filter(|line| line.starts_with(&format!("{name} "))).collect();
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found.remove(0)
}

/// Whether a file is part of what Docker is sent; the last pattern that fits decides.
fn is_sent(path: &str, patterns: &str) -> bool {
    let mut sent = true;
    for pattern in patterns.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (is_exception, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |pattern| (true, pattern));
        let fits = pattern.split('/').zip(path.split('/')).all(|(wanted, part)| wanted == "*" || wanted == part);
        if fits && pattern.split('/').count() <= path.split('/').count() {
            sent = is_exception;
        }
    }
    sent
}

#[test]
fn what_it_copies_is_there_and_is_sent() {
    let ignored = fs::read_to_string(root().join(".dockerignore")).unwrap();
    let mut copied = 0;
    for line in instructions().iter().filter(|line| line.starts_with("COPY ") && !line.contains("--from=")) {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        for source in &words[..words.len() - 1] {
            assert!(root().join(source).exists(), "{source} is not there");
            assert!(is_sent(source, &ignored), "{source} is ignored");
            copied += 1;
        }
    }
    assert!(copied >= 3);
    for (path, sent) in [
        ("crates/gateway/src/main.rs", true),
        ("crates/gateway/tests/e2e/main.rs", false),
        ("target/quick/tollgate", false),
        (".git/config", false),
    ] {
        assert_eq!(is_sent(path, &ignored), sent, "{path}");
    }
}

#[test]
fn stages_are_pinned_and_the_last_one_is_not_root() {
    let lines = instructions();
    let stages: Vec<&String> = lines.iter().filter(|line| line.starts_with("FROM ")).collect();
    assert_eq!(stages.len(), 2);
    assert!(stages.iter().all(|stage| stage.contains(':') && !stage.contains(":latest")), "{stages:?}");
    let toolchain = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = toolchain.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"').to_owned();
    assert!(stages[0].contains(&format!("rust:{version}-")), "the compiler is the one that is asked for: {}", stages[0]);
    let user = instruction("USER");
    let id: u32 =
        user.trim_start_matches("USER ").split(':').next().unwrap().parse().expect("a number, which can be told from root's");
    assert_ne!(id, 0);
    let named: Vec<&str> = lines.iter().filter_map(|line| line.split("--from=").nth(1)?.split(' ').next()).collect();
    assert!(named.iter().all(|name| stages.iter().any(|stage| stage.ends_with(&format!(" AS {name}")))), "{named:?}");
}

#[test]
fn its_health_check_tells_a_ready_gateway_from_one_that_is_not() {
    let check = words(&instruction("HEALTHCHECK"));
    assert_eq!(check[0], words(&instruction("ENTRYPOINT"))[0]);
    let mut gateway = Gateway::start(json!({}), []);
    let run = |gateway: &Gateway| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.args(&check[1..]).env("TOLLGATE_URL", format!("http://127.0.0.1:{}", gateway.port));
        command.env("TYK_GW_SECRET", SECRET).current_dir(gateway.dir()).output().unwrap()
    };
    let healthy = run(&gateway);
    assert!(healthy.status.success(), "{healthy:?}");
    gateway.signal("TERM");
    gateway.wait_for_exit();
    assert_eq!(run(&gateway).status.code(), Some(3), "nobody answers");
}

#[test]
fn its_command_is_one_that_the_program_takes() {
    let command = words(&instruction("CMD"));
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).args(&command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
