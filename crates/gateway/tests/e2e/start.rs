//! How the gateway is started and checked: without any configuration, with YAML, with variables; and what `tollgate check` says.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Connection, Gateway, Response, Upstream, api, eventually, request};

/// The program in a directory that is also its home, with an environment that says nothing of it.
fn program(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TYK_") || name.starts_with("TOLLGATE_")) {
        command.env_remove(name);
    }
    command.current_dir(directory).env("HOME", directory).stdin(Stdio::null());
    command
}

/// A running process and what it has announced.
struct Running {
    child: Child,
    port: u16,
    announced: String,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().expect("two lines").expect("text");
        let listening = next();
        let announced = next();
        let port = listening.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or_else(|| panic!("{listening}"));
        Running { child, port, announced }
    }

    fn control(&self, secret: &str, target: &str) -> Response {
        let line = format!("x-tyk-authorization: {secret}");
        Connection::open(self.port).ask(request("GET", target, &[&line, "Connection: close"], ""))
    }

    fn get(&self, target: &str) -> Response {
        Connection::open(self.port).ask(crate::harness::get(target))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn without_any_configuration_it_serves_and_makes_a_secret_that_it_keeps() {
    let directory = directory();
    let start = || {
        let mut command = program(directory.path());
        command.args(["--port", "0", "--listen-address", "127.0.0.1"]);
        Running::start(command)
    };
    let gateway = start();
    let secret_file = directory.path().join("data/control-secret");
    assert!(gateway.announced.contains("/tyk/ (secret in data/control-secret)"), "{}", gateway.announced);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&secret_file), 0o600);
    assert_eq!(mode(&directory.path().join("data/tollgate.db")), 0o600);
    let secret = fs::read_to_string(&secret_file).unwrap();
    assert!(secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{secret}");
    assert_eq!(gateway.control(&secret, "/tyk/apis").json(), json!([]));
    for wrong in ["", "352d20ee67be67f6340b4c0605b044b7", &secret[1..]] {
        assert_eq!(gateway.control(wrong, "/tyk/apis").status, 403, "{wrong:?}");
    }
    assert_eq!(gateway.get("/ready").status, 200);
    assert_eq!(gateway.get("/").status, 404);
    drop(gateway);

    let again = start();
    assert_eq!(fs::read_to_string(&secret_file).unwrap(), secret);
    assert_eq!(again.control(&secret, "/tyk/apis").status, 200);
}

#[test]
fn two_gateways_make_two_secrets() {
    let secrets = [0; 2].map(|_| {
        let directory = directory();
        let mut command = program(directory.path());
        command.args(["run", "--port", "0", "--listen-address", "127.0.0.1"]);
        let _gateway = Running::start(command);
        fs::read_to_string(directory.path().join("data/control-secret")).unwrap()
    });
    assert_ne!(secrets[0], secrets[1]);
}

#[test]
fn a_configuration_may_be_yaml() {
    let (directory, upstream) = (directory(), Upstream::ok());
    fs::create_dir(directory.path().join("definitions")).unwrap();
    fs::write(directory.path().join("definitions/a.json"), api("a", "/a/", &upstream.url()).0.to_string()).unwrap();
    let text = "listen_address: 127.0.0.1\nlisten_port: 0\nsecret: from-yaml\napp_path: definitions\n\
                health_check_endpoint_name: alive\ntollgate:\n  threads: 1\n  data_dir: kept\n";
    for (name, arguments) in [("gateway.yaml", vec!["--conf", "gateway.yaml"]), ("tyk.conf", vec![])] {
        fs::write(directory.path().join(name), text).unwrap();
        let mut command = program(directory.path());
        command.args(arguments);
        let gateway = Running::start(command);
        assert_eq!(gateway.control("from-yaml", "/tyk/apis").json()[0]["api_id"], "a", "{name}");
        assert_eq!((gateway.get("/a/x").status, gateway.get("/alive").status, gateway.get("/hello").status), (200, 200, 404));
        assert!(directory.path().join("kept/tollgate.db").exists() && !directory.path().join("kept/control-secret").exists());
    }
}

#[test]
fn variables_win_over_the_file_ours_over_tyks_and_options_over_all() {
    let directory = directory();
    let conf = json!({"listen_address": "127.0.0.1", "listen_port": 1, "secret": "file", "health_check_endpoint_name": "file"});
    fs::write(directory.path().join("tyk.conf"), conf.to_string()).unwrap();
    let start = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = program(directory.path());
        command.envs(variables.iter().copied()).args(arguments);
        Running::start(command)
    };
    let tyk = start(&[("TYK_GW_LISTENPORT", "0"), ("TYK_GW_SECRET", "tyk"), ("TYK_GW_HEALTHCHECKENDPOINTNAME", "tyk")], &[]);
    assert_eq!((tyk.control("tyk", "/tyk/apis").status, tyk.control("file", "/tyk/apis").status), (200, 403));
    assert_eq!((tyk.get("/tyk").status, tyk.get("/file").status), (200, 404));
    drop(tyk);
    let both = start(&[("TYK_GW_SECRET", "tyk"), ("TOLLGATE_SECRET", "ours"), ("TOLLGATE_LISTEN_PORT", "2")], &["--port", "0"]);
    assert_eq!((both.control("ours", "/tyk/apis").status, both.control("tyk", "/tyk/apis").status), (200, 403));
    drop(both);
    let own = start(&[("TOLLGATE_DATA_DIR", "elsewhere"), ("TOLLGATE_SECRET", ""), ("TYK_GW_LISTENPORT", "0")], &[]);
    assert!(own.announced.contains("secret in elsewhere/control-secret"), "{}", own.announced);
}

#[test]
fn what_cannot_be_started_says_why_and_ends() {
    let directory = directory();
    let fails = |arguments: &[&str], variables: &[(&str, &str)], parts: &[&str]| {
        let output = program(directory.path()).args(arguments).envs(variables.iter().copied()).output().expect("it runs");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{parts:?} in {text}");
        assert!(!text.contains("panicked"), "{text}");
    };
    fails(&["--conf", "none.conf"], &[], &["none.conf"]);
    fs::write(directory.path().join("broken.conf"), "{\"listen_port\": }").unwrap();
    fails(&["--conf", "broken.conf"], &[], &["broken.conf", "not valid JSON"]);
    fs::write(directory.path().join("wrong.conf"), "{\"listen_port\": \"x\", \"http_server_options\": {\"xff_depth\": -1}}")
        .unwrap();
    fails(&["--conf", "wrong.conf"], &[], &["wrong.conf", "$.listen_port", "$.http_server_options.xff_depth"]);
    fails(&[], &[("TYK_GW_LISTENPORT", "many")], &["TYK_GW_LISTENPORT"]);
    fails(&["--port", "99999"], &[], &["99999"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    fails(&["--port", &port, "--listen-address", "127.0.0.1"], &[], &["in use"]);
    fs::write(directory.path().join("data-file"), "").unwrap();
    fails(&["--port", "0"], &[("TOLLGATE_DATA_DIR", "data-file")], &["data-file"]);
}

fn check(directory: &Path, files: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = program(directory).arg("check").args(files).output().expect("it runs");
    assert!(!String::from_utf8_lossy(&stderr).contains("panicked"));
    (status.code(), String::from_utf8(stdout).unwrap())
}

/// What a check says of a configuration.
pub(crate) fn check_conf(conf: &Value) -> (Option<i32>, String) {
    let directory = directory();
    fs::write(directory.path().join("tyk.conf"), conf.to_string()).unwrap();
    check(directory.path(), &["tyk.conf"])
}

#[test]
fn a_check_without_files_takes_the_configuration_and_its_definitions() {
    let directory = directory();
    let (code, text) = check(directory.path(), &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("no configuration is found"), "{text}");
    fs::create_dir(directory.path().join("definitions")).unwrap();
    let definition = api("a", "/a/", "http://127.0.0.1:9/");
    fs::write(directory.path().join("definitions/a.json"), definition.0.to_string()).unwrap();
    fs::write(directory.path().join("tyk.conf"), json!({"app_path": "definitions"}).to_string()).unwrap();
    // `tyk lint` is what it is called there.
    for command in ["check", "lint"] {
        let Output { status, stdout, .. } = program(directory.path()).arg(command).output().expect("it runs");
        let text = String::from_utf8(stdout).unwrap();
        assert!(status.success() && text.contains("tyk.conf: ok") && text.contains("a.json: ok"), "{text}");
    }
}

#[test]
fn the_file_with_the_process_id_is_there_while_it_runs() {
    let directory = directory();
    let path = directory.path().join("run/gateway.pid");
    let conf = json!({"pid_file_location": path});
    let mut gateway = Gateway::start(conf, []);
    let read = || fs::read_to_string(&path).ok().and_then(|text| text.trim_end().parse::<u32>().ok());
    assert_eq!(read(), Some(gateway.pid()));
    gateway.restart();
    assert_eq!(read(), Some(gateway.pid()), "the successor's");
    gateway.wait_for_exit();
    assert_eq!(read(), Some(gateway.pid()), "the old process leaves it alone");
    gateway.signal("TERM");
    eventually("it is gone with the process", || read().is_none());
}

#[test]
fn a_check_passes_good_files_and_names_ignored_fields() {
    let directory = directory();
    let apps = directory.path().join("apps");
    fs::create_dir(&apps).unwrap();
    let definition = api("a", "/a/", "http://127.0.0.1:9/").set("no_such_field", 1);
    fs::write(apps.join("a.json"), definition.0.to_string()).unwrap();
    fs::write(directory.path().join("tyk.conf"), "{\"listen_port\": 8080}").unwrap();
    fs::write(directory.path().join("tyk.yaml"), "listen_port: 8080\n").unwrap();
    let (code, text) = check(directory.path(), &["tyk.conf", "tyk.yaml", "apps"]);
    assert_eq!(code, Some(0), "{text}");
    for part in ["tyk.conf: ok: 0 errors", "tyk.yaml: ok: 0 errors", "a.json: ok: 0 errors", "$.no_such_field", "1 ignored fields"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_check_names_patterns_that_take_too_much() {
    let directory = directory();
    let long = "a".repeat(1 << 20);
    let definition = api("a", "/a/", "http://127.0.0.1:9/")
        .list("ignored", json!([{"path": "/fine"}, {"path": r"\pL{1000}"}]))
        .list("white_list", json!([{"path": long}]))
        .list("url_rewrites", json!([{"path": "/x", "method": "GET", "match_pattern": r"\pL{1000}", "rewrite_to": "/"}]));
    fs::write(directory.path().join("a.json"), definition.0.to_string()).unwrap();
    let (code, text) = check(directory.path(), &["a.json"]);
    assert_eq!(code, Some(1), "{text}");
    for part in [
        "a.json: $.version_data.versions.Default.extended_paths.ignored[1].path: error: takes more than 1024 KiB when compiled",
        "a.json: $.version_data.versions.Default.extended_paths.white_list[0].path: error: a pattern may have 64 KiB, not 1024",
        "extended_paths.url_rewrites[0].match_pattern: error: takes more than 1024 KiB",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_check_names_file_and_place_of_each_error_and_fails() {
    let directory = directory();
    let apps = directory.path().join("apps");
    fs::create_dir(&apps).unwrap();
    let wrong_type = api("a", "/a/", "http://127.0.0.1:9/").set("proxy/listen_path", 7);
    let wrong_values = api("b", "/b/", "http://127.0.0.1:9/")
        .set("allowed_ips", json!(["10.0.0.0/99"]))
        .list("hard_timeouts", json!([{"path": "/x", "method": "GET", "timeout": -1}]));
    let good = api("c", "/c/", "http://127.0.0.1:9/");
    for (name, definition) in [("a.json", wrong_type), ("b.json", wrong_values), ("c.json", good)] {
        fs::write(apps.join(name), definition.0.to_string()).unwrap();
    }
    fs::write(apps.join("d.json"), "{\"api_id\": \"d\",").unwrap();
    fs::write(directory.path().join("tyk.conf"), "{\"listen_port\": 70000}").unwrap();
    let (code, text) = check(directory.path(), &["apps", "tyk.conf"]);
    assert_eq!(code, Some(1), "{text}");
    let line = |parts: &[&str]| {
        assert!(text.lines().any(|line| parts.iter().all(|part| line.contains(part))), "{parts:?} in\n{text}");
    };
    line(&["apps/a.json", "error", "$.proxy.listen_path"]);
    line(&["apps/a.json: not usable"]);
    line(&["apps/b.json", "error", "$.allowed_ips[0]", "10.0.0.0/99"]);
    line(&["apps/b.json", "error", "hard_timeouts[0].timeout"]);
    line(&["apps/c.json: ok: 0 errors"]);
    line(&["apps/d.json", "error", "not valid JSON"]);
    line(&["tyk.conf", "error", "$.listen_port"]);

    for files in [["none.json"], ["none"], ["none.conf"]] {
        let (code, text) = check(directory.path(), &files);
        assert!(code == Some(1) && text.contains(files[0]) && text.contains("cannot be read"), "{files:?} {code:?} {text}");
    }
}

#[test]
fn tyks_command_line_is_taken() {
    let upstream = Upstream::ok();
    let directory = directory();
    fs::create_dir(directory.path().join("apps")).unwrap();
    fs::write(directory.path().join("apps/a.json"), api("a", "/a/", &upstream.url()).0.to_string()).unwrap();
    let conf = json!({"listen_address": "127.0.0.1", "listen_port": 0, "secret": "s", "app_path": directory.path().join("apps")});
    fs::write(directory.path().join("other.conf"), conf.to_string()).unwrap();
    let mut command = program(directory.path());
    command.args(["start", "--conf", "other.conf", "--debug", "--httpprofile", "--log-instrumentation"]);
    let running = Running::start(command);
    assert_eq!(running.get("/a/").status, 200);
    for arguments in [&["-v"][..], &["-V"], &["--version"], &["version"], &["check", "--version"]] {
        let output = program(directory.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("tollgate") && said.trim_end().ends_with(env!("CARGO_PKG_VERSION")), "{arguments:?}: {said}");
    }
}
