//! The operations kit: `deploy/check.py` judges its files with the programs that read them and with a running gateway.
//! `packaging/check.py` judges what a release would be, `packaging/upgrade_check.py` the way to it and back.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::skip;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs one part of the check. It exits with 77 if a program is missing, and names it.
#[track_caller]
fn check(part: &str) {
    judge("deploy/check.py", &[part]);
}

#[track_caller]
fn judge(script: &str, parts: &[&str]) {
    let output = Command::new("python3")
        .arg(root().join(script))
        .args(["--program", env!("CARGO_BIN_EXE_tollgate")])
        .args(parts)
        .output()
        .expect("python3, which scripts/test-deps.sh installs");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => print!("{text}"),
        Some(77) => skip(&text),
        _ => panic!("{text}"),
    }
}

#[test]
fn configurations_and_definitions_have_no_errors() {
    check("configurations");
}

#[test]
fn each_alert_fires_when_it_must_and_only_then() {
    check("alerts");
}

#[test]
fn a_prometheus_server_answers_every_expression_of_board_and_alerts() {
    check("board");
}

#[test]
fn the_sandbox_is_as_strict_as_the_documentation_says() {
    check("sandbox");
}

#[test]
fn a_release_has_the_same_bytes_twice_and_its_installer_refuses_what_was_changed() {
    judge("packaging/check.py", &[]);
}

#[test]
fn an_upgrade_under_load_and_back_fails_no_request_and_counts_each() {
    judge("packaging/upgrade_check.py", &[]);
}
