//! The audit file: every change over the control API in it, by whom and from where; and what shows when somebody edits it.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::commands::tollgate;
use crate::harness::{Gateway, Setup, Upstream, api, eventually};
use crate::operator_tokens::{call, made};
use crate::webhooks::webhook;

fn start(file: &Path) -> Gateway {
    let conf = json!({"tollgate": {"operators": {"audit_file": file}}});
    Setup::new(conf).api(api("shop", "/shop/", "http://127.0.0.1:9/").set("tags", json!(["team-a"]))).start()
}

/// The lines, once there is one of which this is true.
fn lines_with(file: &Path, is_there: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    eventually("the line is there", || {
        let text = fs::read_to_string(file).unwrap_or_default();
        lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        lines.iter().any(&is_there)
    });
    lines
}

fn is(line: &Value, user: &str, action: &str, target: &str) -> bool {
    line["user"] == user && line["action"] == action && line["target"] == target
}

#[test]
fn every_change_is_a_line_with_who_and_from_where_and_no_editor_gets_at_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("audit.jsonl");
    let gateway = start(&file);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let editor = made(&gateway, &json!({"name": "ed", "role": "editor"}));
    let viewer = made(&gateway, &json!({"name": "vi", "role": "viewer"}));
    let key = json!({"access_rights": {"shop": {"api_id": "shop", "versions": ["Default"]}}});
    let secret = call(&gateway, &editor, "POST", "/tyk/keys", &key.to_string()).json()["key"].as_str().expect("a key").to_owned();
    let mut shop = gateway.control("GET", "/tyk/apis/shop", "").json();
    shop["name"] = json!("The shop");
    assert_eq!(call(&gateway, &editor, "PUT", "/tyk/apis/shop", &shop.to_string()).status, 200);
    assert_eq!(call(&gateway, &viewer, "DELETE", "/tyk/apis/shop", "").status, 403);
    assert_eq!(call(&gateway, &editor, "DELETE", &format!("/tyk/keys/{secret}"), "").status, 200);
    let lines = lines_with(&file, |line| is(line, "token:ed", "call", "DELETE /tyk/keys/{id}") && line["status"] == 200);
    for (user, action, target) in [
        ("secret", "create", "ed"),
        ("token:ed", "call", "POST /tyk/keys"),
        ("token:ed", "update", "shop"),
        ("token:ed", "call", "PUT /tyk/apis/{id}"),
        ("token:vi", "call", "DELETE /tyk/apis/{id}"),
    ] {
        let line = lines.iter().find(|line| is(line, user, action, target));
        let line = line.unwrap_or_else(|| panic!("{user} {action} {target}: {lines:#?}"));
        assert!(line["address"] == "127.0.0.1" && line["time"].as_u64().is_some(), "{line}");
        assert_eq!(line["status"] == 403, user == "token:vi", "{line}");
    }
    let text = fs::read_to_string(&file).expect("text");
    assert!(!text.contains(&secret) && !text.contains(editor.trim_start_matches("tollgate_")), "{text}");

    // An editor writes definitions, which name files: neither this one nor what is kept beside it.
    for name in ["audit.jsonl", "audit.jsonl.end"] {
        let path = folder.path().join(name);
        assert!(path.exists(), "{name}");
        let mut thief = shop.clone();
        thief["custom_middleware"] = json!({"pre": [{"name": "x", "path": path}], "driver": "otto"});
        let before = fs::read(&path).expect("bytes");
        call(&gateway, &editor, "PUT", "/tyk/apis/shop", &thief.to_string());
        let shown = call(&gateway, &editor, "GET", "/tyk/apis/shop", "").text().to_owned();
        assert!(!shown.contains("\"prev\""), "{shown}");
        assert!(fs::read(&path).expect("bytes").len() >= before.len());
    }
}

#[test]
fn a_chain_goes_on_over_restarts_and_rotations_and_the_command_finds_what_was_done_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, old) = (folder.path().join("audit.jsonl"), folder.path().join("audit.jsonl.1"));
    let verify = |gateway: &Gateway, files: &[&Path]| {
        let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        tollgate(gateway, &format!("audit verify {}", names.join(" ")))
    };
    let gateway = start(&file);
    made(&gateway, &json!({"name": "one", "role": "viewer"}));
    lines_with(&file, |line| is(line, "secret", "call", "POST /tyk/tokens"));
    drop(gateway);
    let gateway = start(&file);
    made(&gateway, &json!({"name": "two", "role": "viewer"}));
    lines_with(&file, |line| is(line, "secret", "create", "two"));
    fs::rename(&file, &old).expect("moved");
    made(&gateway, &json!({"name": "three", "role": "viewer"}));
    lines_with(&file, |line| is(line, "secret", "create", "three"));
    let told = verify(&gateway, &[&old, &file]).ok();
    assert!(told.starts_with("changes 1 to "), "{told}");
    verify(&gateway, &[&file]).ok();

    let whole = fs::read_to_string(&old).expect("text");
    let lines: Vec<&str> = whole.lines().collect();
    let write = |lines: &[&str]| fs::write(&old, lines.join("\n") + "\n").expect("written");
    write(&[&lines[..1], &lines[2..]].concat());
    let gone = verify(&gateway, &[&old]);
    assert!(gone.code() == 1 && gone.errors().contains("line 2: number 3 follows number 1"), "{}", gone.errors());
    let changed = lines[1].replace("\"status\":200", "\"status\":500");
    write(&[&lines[..1], &[&*changed], &lines[2..]].concat());
    let edited = verify(&gateway, &[&old]);
    assert!(edited.code() == 1 && edited.errors().contains("line 2: the line is not what was written"), "{}", edited.errors());
    fs::write(&old, &whole).expect("written");
    // What is cut off at the end, the gateway has noted.
    let text = fs::read_to_string(&file).expect("text");
    let cut: Vec<&str> = text.lines().collect();
    fs::write(&file, cut[..cut.len() - 1].join("\n") + "\n").expect("written");
    let ended = verify(&gateway, &[&old, &file]);
    assert!(ended.code() == 1 && ended.errors().contains("the last lines are missing"), "{}", ended.errors());
    tollgate(&gateway, "audit verify /nowhere/audit.jsonl").fails(1, "/nowhere/audit.jsonl");
}

#[test]
fn a_disk_that_takes_nothing_holds_up_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("audit.jsonl");
    let gateway = start(&file);
    made(&gateway, &json!({"name": "one", "role": "viewer"}));
    lines_with(&file, |line| is(line, "secret", "call", "POST /tyk/tokens"));
    let away = folder.path().join("away");
    fs::rename(&file, &away).expect("moved");
    fs::create_dir(&file).expect("a folder in its place");
    made(&gateway, &json!({"name": "two", "role": "viewer"}));
    eventually("the log says so", || gateway.log().contains("the audit file can't be written"));
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 200);
    fs::remove_dir(&file).expect("removed");
    fs::rename(&away, &file).expect("moved back");
    // Nothing is lost that found a place to wait.
    lines_with(&file, |line| is(line, "secret", "create", "two"));
    tollgate(&gateway, &format!("audit verify {}", file.display())).ok();
}

#[test]
fn a_file_that_cannot_be_written_is_told_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = json!({"listen_port": 0, "secret": "s", "tollgate": {"operators": {"audit_file": folder.path()}, "data_dir": folder.path().join("data")}});
    let path = folder.path().join("tyk.conf");
    fs::write(&path, conf.to_string()).expect("written");
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("run").arg("--conf").arg(&path).output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && told.contains("tollgate.operators.audit_file"), "{told}");
}

#[test]
fn a_webhook_is_told_of_each_change_as_it_happens() {
    let receiver = Upstream::ok();
    let handler = webhook(&receiver, json!({}));
    let policies = tempfile::tempdir().expect("a folder");
    let conf = json!({
        "event_handlers": {"events": {"OperatorChange": [handler]}},
        "policies": {"policy_source": "file", "policy_path": policies.path()},
    });
    let gateway = Gateway::start(conf, []);
    let policy = json!({"id": "gold", "name": "x", "state": "active", "access_rights": {}});
    assert_eq!(gateway.control("POST", "/tyk/policies", &policy.to_string()).status, 200);
    made(&gateway, &json!({"name": "ci", "role": "viewer"}));
    eventually("both are told", || {
        let json = |text: String| serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        let told: Vec<Value> = receiver.seen().iter().map(|seen| json(seen.text())).collect();
        let has = |kind: &str, target: &str| {
            told.iter().any(|event| {
                event["event"] == "OperatorChange"
                    && event["kind"] == kind
                    && event["target"] == target
                    && event["user"] == "secret"
            })
        };
        has("policy", "gold") && has("token", "ci")
    });
}

/// With an audit file, what goes to webhooks names its line: each event names the hash of the one before, and a call that was refused is one too.
#[test]
fn a_webhook_sees_whether_it_got_all() {
    let receiver = Upstream::ok();
    let handler = webhook(&receiver, json!({}));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("audit.jsonl");
    let conf = json!({
        "event_handlers": {"events": {"OperatorChange": [handler]}},
        "tollgate": {"operators": {"audit_file": file}},
    });
    let gateway = Gateway::start(conf, []);
    let viewer = made(&gateway, &json!({"name": "looks", "role": "viewer"}));
    made(&gateway, &json!({"name": "ci", "role": "viewer"}));
    assert_eq!(call(&gateway, &viewer, "POST", "/tyk/apis", "{}").status, 403);
    let lines = || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect::<Vec<Value>>()
    };
    eventually("each line is told with its place", || {
        let place = |entry: &Value| [&entry["seq"], &entry["prev"], &entry["hash"], &entry["action"]].map(Value::to_string);
        let mut told: Vec<[String; 4]> =
            receiver.seen().iter().map(|seen| place(&serde_json::from_str(&seen.text()).expect("an event"))).collect();
        told.sort();
        let mut wanted: Vec<[String; 4]> = lines().iter().map(place).collect();
        wanted.sort();
        wanted.len() >= 3 && wanted.iter().any(|line| line[3] == "\"call\"") && told == wanted
    });
}
