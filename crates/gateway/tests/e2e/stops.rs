//! What was answered is stored, whatever ends the process directly afterwards.

use serde_json::{Value, json};

use crate::harness::{Gateway, Setup, Upstream, api};

const CHANGES: usize = 60;

/// Makes changes of all kinds that are stored behind their answers.
fn change(gateway: &Gateway, upstream: &Upstream) {
    for number in 0..CHANGES {
        let definition = api(&format!("n{number}"), &format!("/n{number}/"), &upstream.url());
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        gateway.reload();
    }
}

fn expect_all(gateway: &Gateway) {
    let revisions = gateway.control("GET", "/tyk/configuration/revisions", "").json();
    let objects: Vec<String> = revisions["revisions"].as_array().unwrap().iter().map(|one| one["objects"].to_string()).collect();
    let entries = gateway.control("GET", "/tyk/list/changes?limit=1000", "").json();
    let targets: Vec<&Value> = entries["rows"].as_array().unwrap().iter().map(|row| &row["target"]).collect();
    for number in 0..CHANGES {
        assert!(objects.iter().any(|object| object.contains(&format!("create api n{number}\""))), "n{number} has no revision");
        assert!(targets.iter().any(|target| **target == format!("n{number}").as_str()), "n{number} is not logged: {entries}");
    }
    assert!(!gateway.log().contains("can't be stored") && !gateway.log().contains("database is locked"), "{}", gateway.log());
}

#[test]
fn changes_that_were_answered_are_stored_before_the_process_ends() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().unwrap();
    let start = || Setup::new(json!({"tollgate": {"data_dir": data.path()}})).start();
    let mut gateway = start();
    change(&gateway, &upstream);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let log = gateway.log();
    assert!(!log.contains("lost") && !log.contains("database is locked") && !log.contains("can't be"), "{log}");
    expect_all(&start());
}

#[test]
fn changes_that_were_answered_are_stored_by_a_process_that_hands_over() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().unwrap();
    let mut gateway = Setup::new(json!({"tollgate": {"data_dir": data.path()}})).start();
    change(&gateway, &upstream);
    gateway.restart();
    gateway.wait_for_exit();
    expect_all(&gateway);
}
