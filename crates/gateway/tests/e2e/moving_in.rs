//! `tollgate import`: configurations of other gateways, served by both, with the same requests to both. What differs is what each case names.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::child::ChildProcess;
use crate::harness::{eventually, skip};
use crate::servers::free_port;

/// A configuration of `moving_in/` in a directory of its own, with ports in place of their names.
pub(crate) struct OldGateway {
    pub(crate) dir: TempDir,
    file: &'static str,
    pub(crate) port: u16,
    pub(crate) upstreams: [u16; 2],
}

/// The program that serves configurations of KrakenD.
pub(crate) fn krakend_engine() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("this program");
    let directory = program.ancestors().nth(3).expect("the target directory").join("test-go");
    if let Ok(reason) = fs::read_to_string(directory.join("krakend-unavailable")) {
        skip(&reason);
        return None;
    }
    Some(directory.join("krakend_engine"))
}

impl OldGateway {
    pub(crate) fn new(file: &'static str) -> OldGateway {
        let old = OldGateway { dir: tempfile::tempdir().unwrap(), file, port: free_port(), upstreams: [free_port(), free_port()] };
        // nginx runs its workers as another user.
        fs::set_permissions(old.dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/moving_in");
        for name in [file, "proxy.conf"] {
            let text = fs::read_to_string(from.join(name)).unwrap();
            let text = text
                .replace("@port@", &old.port.to_string())
                .replace("@one@", &old.upstreams[0].to_string())
                .replace("@two@", &old.upstreams[1].to_string())
                .replace("@dir@", &old.dir.path().display().to_string());
            fs::write(old.dir.path().join(name), text).unwrap();
        }
        old
    }

    pub(crate) fn configuration(&self) -> String {
        self.dir.path().join(self.file).display().to_string()
    }

    /// Starts the gateway that the configuration is for.
    pub(crate) fn start(&self) -> ChildProcess {
        let configuration = self.configuration();
        let engine = || krakend_engine().expect("KrakenD's engine").display().to_string();
        let (program, arguments): (String, Vec<&str>) = match self.file.split_once('.').unwrap().1 {
            "nginx.conf" => ("nginx".to_owned(), vec!["-e", "stderr", "-c", &configuration]),
            "haproxy.cfg" => ("haproxy".to_owned(), vec!["-db", "-q", "-f", &configuration]),
            "krakend.json" => (engine(), vec![&configuration]),
            _ => ("caddy".to_owned(), vec!["run", "--adapter", "caddyfile", "--config", &configuration]),
        };
        let mut command = Command::new(&program);
        command.args(arguments).env("HOME", self.dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = ChildProcess::start(&mut command);
        listens(&program, self.port);
        started
    }
}

fn listens(what: &str, port: u16) {
    eventually(what, || TcpStream::connect(("127.0.0.1", port)).is_ok());
}

fn tollgate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).output().unwrap()
}

fn shown(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{:?}\n{out}\n{err}", output.status)
}

/// Imports into the directory, and checks what was written.
pub(crate) fn imported(file: &str, into: &Path) -> Value {
    let output = tollgate(&["import", file, "--out", into.to_str().unwrap(), "--report", "json"]);
    assert!(matches!(output.status.code(), Some(0 | 9)), "{}", shown(&output));
    let checked = Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .args(["check", "tyk.conf", "apis", "--conf", "tyk.conf"])
        .current_dir(into)
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", shown(&checked));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Serves an imported directory at another port.
pub(crate) fn served(directory: &Path) -> (ChildProcess, u16) {
    let port = free_port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.args(["run", "--conf", "tyk.conf", "--port", &port.to_string()]).current_dir(directory);
    let started = ChildProcess::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    listens("tollgate", port);
    let ready = || tollgate(&["status", "--ready", "--url", &format!("http://127.0.0.1:{port}")]).status.success();
    eventually("tollgate is ready", ready);
    (started, port)
}

/// Requests to both that were compared, and in what how many of them differ.
fn proven(old: &OldGateway, further: &[&str]) -> (u64, Value, Value) {
    let into = old.dir.path().join("imported");
    imported(&old.configuration(), &into);
    let _old = old.start();
    let (_new, port) = served(&into);
    let (old_url, new_url) = (format!("http://127.0.0.1:{}", old.port), format!("http://127.0.0.1:{port}"));
    let configuration = old.configuration();
    let [one, two] = old.upstreams.map(|port| format!("127.0.0.1:{port}"));
    let mut arguments = vec!["import", configuration.as_str(), "--prove", &old_url, &new_url, "--report", "json"];
    arguments.extend(["--upstream", &one, "--upstream", &two]);
    arguments.extend(further);
    let output = tollgate(&arguments);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", shown(&output)));
    let differs = answer["different"].as_u64().unwrap() > 0;
    assert_eq!(output.status.code(), Some(if differs { 7 } else { 0 }), "{}", shown(&output));
    (answer["requests"].as_u64().unwrap(), answer["by_aspect"].clone(), answer)
}

/// All that may differ, by what docs/moving-in.md says.
#[track_caller]
pub(crate) fn differs_only_in(file: &'static str, aspects: &[&str]) {
    let (requests, by_aspect, answer) = proven(&OldGateway::new(file), &[]);
    println!("{file}: {requests} requests, {by_aspect}");
    assert!(requests >= 40, "{requests}");
    let found: Vec<&str> = by_aspect.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, aspects, "{file}: {requests} requests: {:#}", answer["groups"]);
}

#[test]
fn a_shop_behind_nginx_is_answered_alike() {
    differs_only_in("shop.nginx.conf", &["header vary", "upstream path"]);
}

#[test]
fn an_office_behind_nginx_is_answered_alike() {
    differs_only_in("office.nginx.conf", &[]);
}

#[test]
fn an_api_behind_nginx_is_answered_alike() {
    differs_only_in(
        "api.nginx.conf",
        &["header ratelimit", "header ratelimit-policy", "upstream header x-forwarded-for", "upstream path"],
    );
}

#[test]
fn a_blog_behind_nginx_is_answered_alike() {
    differs_only_in("wordpress.nginx.conf", &[]);
}

#[test]
fn a_shop_behind_haproxy_is_answered_alike() {
    differs_only_in("shop.haproxy.cfg", &[]);
}

#[test]
fn methods_behind_haproxy_are_answered_alike() {
    differs_only_in("methods.haproxy.cfg", &["upstream header x-forwarded-for"]);
}

#[test]
fn names_behind_haproxy_are_answered_alike() {
    differs_only_in("hosts.haproxy.cfg", &["header set-cookie", "upstream header x-forwarded-for"]);
}

#[test]
fn a_site_behind_caddy_is_answered_alike() {
    differs_only_in(
        "site.Caddyfile",
        &["status", "upstream header accept-encoding", "upstream header x-forwarded-host", "upstream header x-forwarded-proto"],
    );
}

#[test]
fn names_behind_caddy_are_answered_alike() {
    differs_only_in(
        "names.Caddyfile",
        &[
            "header vary",
            "status",
            "upstream header accept-encoding",
            "upstream header x-forwarded-host",
            "upstream header x-forwarded-proto",
        ],
    );
}

#[test]
fn rewrites_behind_caddy_are_answered_alike() {
    differs_only_in(
        "rewrites.Caddyfile",
        &["status", "upstream header accept-encoding", "upstream header x-forwarded-host", "upstream header x-forwarded-proto"],
    );
}

const KONG: &str = "_format_version: '3.0'\nservices:\n- name: a\n  url: http://127.0.0.1:1\n  routes:\n  - name: r\n    paths: [/a]\n  \
                    plugins:\n  - name: key-auth\nconsumers:\n- username: anna\n  keyauth_credentials:\n  - key: her-secret-key\n";

#[test]
fn consumers_call_with_the_keys_that_they_have() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("kong.yaml");
    fs::write(&file, KONG).unwrap();
    let into = dir.path().join("imported");
    let report = imported(file.to_str().unwrap(), &into);
    assert_eq!((&report["format"], &report["keys"]), (&json!("kong"), &json!(1)));
    // What is stored is hashed.
    for entry in fs::read_dir(into.join("data")).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let text = fs::read(entry.path()).unwrap();
        assert!(!text.windows(14).any(|window| window == b"her-secret-key"), "{:?}", entry.path());
    }
    let (_new, port) = served(&into);
    let status = |key: &str| {
        let output = Command::new("curl")
            .args([
                "-s",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-H",
                &format!("apikey: {key}"),
                &format!("http://127.0.0.1:{port}/a"),
            ])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // There is no upstream.
    assert_eq!([status("her-secret-key"), status("another")], ["500", "403"]);
}

#[test]
fn an_import_overwrites_only_by_force() {
    let dir = tempfile::tempdir().unwrap();
    let (file, into) = (dir.path().join("kong.yaml"), dir.path().join("imported"));
    fs::write(&file, KONG).unwrap();
    let (file, out) = (file.to_str().unwrap(), into.to_str().unwrap());
    // Only the report.
    let reported = tollgate(&["import", file]);
    assert!(reported.status.success() && !into.exists(), "{}", shown(&reported));
    fs::create_dir_all(into.join("apis")).unwrap();
    fs::write(into.join("apis/other.json"), "{}").unwrap();
    let refused = tollgate(&["import", file, "--out", out]);
    assert!(refused.status.code() == Some(1) && shown(&refused).contains("is not empty: --force"), "{}", shown(&refused));
    assert!(!into.join("tyk.conf").exists());
    let forced = tollgate(&["import", file, "--out", out, "--force"]);
    assert!(forced.status.success() && shown(&forced).contains("apis/other.json was there before and stays"), "{}", shown(&forced));
}

#[test]
fn what_protects_and_is_lost_shows_in_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nginx.conf");
    fs::write(&file, "server { listen 80; location / { auth_jwt \"x\"; proxy_pass http://127.0.0.1:1; } }").unwrap();
    let output = tollgate(&["import", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(9), "{}", shown(&output));
    assert!(shown(&output).contains("What protects and acts otherwise"), "{}", shown(&output));
    fs::write(&file, "a poem").unwrap();
    let output = tollgate(&["import", file.to_str().unwrap()]);
    assert!(output.status.code() == Some(1) && shown(&output).contains("--from"), "{}", shown(&output));
}

#[test]
fn recorded_requests_are_sent_if_they_are_safe() {
    let old = OldGateway::new("shop.nginx.conf");
    let log = old.dir.path().join("access.log");
    let line =
        |method: &str| format!("127.0.0.1 - - [10/Oct/2026:13:55:36 +0000] \"{method} /recorded HTTP/1.1\" 200 512 \"-\" \"-\"\n");
    fs::write(&log, [line("GET"), line("DELETE")].concat()).unwrap();
    let (requests, _, answer) = proven(&old, &["--requests", log.to_str().unwrap(), "--record", "5000"]);
    let notes = answer["notes"].to_string();
    assert!(requests > 20 && notes.contains("1 recorded requests were not sent"), "{requests} {notes}");
}

#[test]
fn other_machines_are_not_asked_unless_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("kong.yaml");
    fs::write(&file, KONG).unwrap();
    let file = file.to_str().unwrap();
    let far = tollgate(&["import", file, "--prove", "http://192.0.2.1", "http://127.0.0.1:1"]);
    assert!(far.status.code() == Some(1) && shown(&far).contains("--allow-remote"), "{}", shown(&far));
    let port = free_port();
    let silent = tollgate(&["import", file, "--prove", &format!("http://127.0.0.1:{port}"), "http://127.0.0.1:1"]);
    assert!(silent.status.code() == Some(1) && shown(&silent).contains("does not answer"), "{}", shown(&silent));
}
