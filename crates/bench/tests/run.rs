//! `tollgate-bench run` as a user starts it: the real program, nginx, and the real gateway.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const SCENARIO: &str = r#"
title = "Tiny"
source = "a test"
suite = "published"
[[load]]
name = "full speed"
connections = 4
[[load]]
name = "half"
connections = 4
percent_of_capacity = 50
[[case]]
name = "proxy"
request = { path = "/json/valid" }
expect = { 200 = "all" }
[[case]]
name = "one in a minute"
api.auth = { header = "Authorization" }
key = { value = "known", limits = [{ requests = 1, seconds = 60 }] }
request = { path = "/json/valid", headers = { Authorization = "known" } }
expect = { 200 = 1, 429 = "rest" }
check = [{ headers = { Authorization = "unknown" }, status = 401 }]
"#;

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new(scenario: &str) -> Bench {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("scenarios")).expect("a directory");
        fs::write(dir.path().join("scenarios/tiny.toml"), scenario).expect("a scenario");
        Bench { dir }
    }

    fn results(&self) -> PathBuf {
        self.dir.path().join("results")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate-bench"));
        command.arg("run").arg("--scenarios").arg(self.dir.path().join("scenarios"));
        command.arg("--out").arg(self.results()).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("tollgate-bench")
    }

    fn kept(&self) -> Value {
        let text = fs::read(self.results().join("run.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or(Value::Null)
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A real SSH server for this user, with keys of its own. Addresses of loopback stand for other machines.
struct SshServer {
    dir: tempfile::TempDir,
    process: Child,
    port: u16,
}

impl SshServer {
    fn start() -> SshServer {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name).display().to_string();
        for name in ["host", "user"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path(name)]).output().expect("ssh-keygen");
            assert!(made.status.success(), "{}", said(&made));
        }
        fs::copy(path("user.pub"), path("authorized")).expect("a file");
        // The system gives none of these to sockets that ask for any port.
        let ports = (9_000..10_000).cycle().skip(std::process::id() as usize % 1_000).take(1_000);
        let mut free = ports.filter(|port| TcpListener::bind(("0.0.0.0", *port)).is_ok());
        let port = free.next().expect("a port");
        let config = format!(
            "Port {port}\nListenAddress 0.0.0.0\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nPermitRootLogin yes\n",
            path("host"),
            path("authorized")
        );
        fs::write(path("sshd_config"), config).expect("a file");
        // It wants an absolute path, and a directory that its service would make.
        let _ = fs::create_dir_all("/run/sshd");
        let log = fs::File::create(path("log")).expect("a file");
        let process = Command::new("/usr/sbin/sshd").args(["-D", "-e", "-f", &path("sshd_config")]).stderr(log).spawn();
        let server = SshServer { process: process.expect("sshd (openssh-server)"), dir, port };
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "sshd does not listen: {}", server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// The client's command.
    fn client(&self) -> String {
        let key = self.dir.path().join("user");
        format!("ssh -F none -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR", key.display())
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn each_role_has_a_machine_of_its_own_over_ssh() {
    let bench = Bench::new(SCENARIO);
    expect_gateway();
    let server = SshServer::start();
    let port = server.port;
    let programs = || -> BTreeSet<String> {
        let entries = fs::read_dir(std::env::temp_dir()).expect("the directory");
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
        names.filter(|name| name.starts_with("tollgate-bench-programs.")).collect()
    };
    let before = programs();
    let hosts = format!("loader=127.0.0.4:{port},gateway=127.0.0.2:{port},upstream=127.0.0.3:{port}");
    let ssh = server.client();
    let output = bench.run(&[
        "--hosts",
        &hosts,
        "--ssh",
        &ssh,
        "--peers",
        "tollgate,nginx",
        "--rounds",
        "2",
        "--seconds",
        "0.3",
        "--threads",
        "1",
    ]);
    assert!(output.status.success(), "{}\n{}", said(&output), server.log());
    let kept = bench.kept();
    assert_eq!(kept["scenarios"][0]["failures"], serde_json::json!([]), "{}", said(&output));
    let roles: Vec<_> =
        kept["facts"]["roles"].as_array().expect("roles").iter().map(|role| (&role["role"], &role["address"])).collect();
    assert_eq!(
        serde_json::json!(roles),
        serde_json::json!([["loader", "127.0.0.4"], ["gateway", "127.0.0.2"], ["upstream", "127.0.0.3"]])
    );
    for gateway in GATEWAYS {
        for round in series(&kept, gateway).iter().flat_map(|series| series["rounds"].as_array().expect("rounds")) {
            assert_eq!(round["void"], Value::Null, "{round}");
            assert!(round["gateway"]["cpu_us"].as_f64().is_some_and(|cpu| cpu > 0.0), "{round}");
            assert!(round["upstream"]["memory_mib"].as_f64().is_some_and(|memory| memory > 0.0), "{round}");
        }
        let kept = bench.results().join("configuration/tiny").join(gateway);
        let texts: String = fs::read_dir(kept)
            .expect("its configuration")
            .map(|entry| fs::read_to_string(entry.expect("a file").path()).unwrap_or_default())
            .collect();
        assert!(texts.contains("127.0.0.3:"), "the upstream's address is in the configuration of {gateway}: {texts}");
    }
    assert!(said(&output).contains("gateway:  "), "{}", said(&output));
    assert_eq!(programs(), before, "the copied programs are removed");
}

#[test]
fn a_machine_that_cannot_be_reached_is_named() {
    let bench = Bench::new(SCENARIO);
    let output = bench.run(&["--hosts", "gateway=127.0.0.2:1,upstream=127.0.0.3:1", "--peers", "nginx"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("127.0.0.2:1: "), "{}", said(&output));
}

const GATEWAYS: [&str; 2] = ["tollgate", "nginx"];

/// `tollgate-bench` runs the gateway beside it. Cargo builds that only with the whole workspace.
fn expect_gateway() {
    let program = Path::new(env!("CARGO_BIN_EXE_tollgate-bench")).with_file_name("tollgate");
    let hint = "no gateway is built: run `cargo build --bin tollgate` with this profile, or `make test`";
    assert!(program.is_file(), "{}: {hint}", program.display());
}

fn series<'a>(kept: &'a Value, peer: &str) -> Vec<&'a Value> {
    let all = kept["scenarios"][0]["series"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|series| series["peer"] == peer).collect()
}

#[test]
fn a_tiny_scenario_is_judged_measured_and_reported() {
    let bench = Bench::new(SCENARIO);
    expect_gateway();
    let peers = format!("direct,{}", GATEWAYS.join(","));
    let output = bench.run(&["--peers", &peers, "--rounds", "2", "--seconds", "0.3"]);
    assert!(output.status.success(), "{}", said(&output));

    let kept = bench.kept();
    assert_eq!(kept["end"], Value::Null);
    assert_eq!(kept["scenarios"][0]["failures"], serde_json::json!([]));
    assert_eq!(series(&kept, "direct").len(), 2, "one case, two loads: it refuses nothing");
    for gateway in GATEWAYS {
        assert_eq!(series(&kept, gateway).len(), 4, "two cases, two loads");
        for series in series(&kept, gateway) {
            let rounds = series["rounds"].as_array().expect("rounds");
            assert_eq!(rounds.len(), 2);
            for round in rounds {
                assert_eq!(round["void"], Value::Null, "{round}");
                assert!(round["gateway"]["cpu_us"].as_f64().is_some_and(|cpu| cpu > 0.0), "{round}");
            }
        }
        assert!(bench.results().join("configuration/tiny").join(gateway).is_dir());
    }
    assert!(said(&output).contains("direct is not in one in a minute: the upstream refuses nothing"), "{}", said(&output));

    let report = bench.results().join("report.md");
    let before = fs::read_to_string(&report).expect("a report");
    fs::remove_file(&report).expect("removed");
    let again = Command::new(env!("CARGO_BIN_EXE_tollgate-bench")).arg("report").arg(bench.results()).output().expect("a report");
    assert!(again.status.success(), "{}", said(&again));
    assert_eq!(fs::read_to_string(&report).expect("a report again"), before);
    assert!(fs::read_to_string(bench.results().join("report.html")).expect("HTML").contains("<svg"));

    let twice = bench.run(&["--peers", "direct"]);
    assert!(!twice.status.success() && said(&twice).contains("holds a run already"), "{}", said(&twice));
}

#[test]
fn wrong_statuses_are_a_failure_and_nothing_is_measured() {
    let bench = Bench::new(&SCENARIO.replace("200 = \"all\"", "204 = \"all\""));
    let output = bench.run(&["--peers", "nginx", "--rounds", "1", "--seconds", "0.2"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("expected all 204, got 2000 x 200"), "{}", said(&output));
    assert!(series(&bench.kept(), "nginx").iter().all(|series| series["case"] == 1));
}

#[test]
fn a_broken_scenario_is_named_with_its_key() {
    let bench = Bench::new(&SCENARIO.replace("connections = 4\npercent", "conections = 4\npercent"));
    let output = bench.run(&["--peers", "direct"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("scenarios/tiny.toml: ") && said(&output).contains("unknown field `conections`"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_gateway_that_does_not_start_is_reported_with_its_last_words() {
    let bench = Bench::new(SCENARIO);
    let program = bench.dir.path().join("nginx");
    fs::write(&program, "#!/bin/sh\necho 'no licence for this machine'\nexit 3\n").expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    let given = format!("nginx={}", program.display());
    let output = bench.run(&["--peers", "nginx,direct", "--peer", &given, "--rounds", "1", "--seconds", "0.2"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("nginx ended before it answered"), "{}", said(&output));
    assert!(said(&output).contains("no licence for this machine"), "{}", said(&output));
    assert!(!series(&bench.kept(), "direct").is_empty(), "the others are measured");
}

#[test]
fn a_missing_program_and_a_place_that_cannot_be_written_are_said() {
    let bench = Bench::new(SCENARIO);
    let output = bench.run(&["--peer", "tyk=/nowhere/tyk", "--peers", "tyk"]);
    assert!(said(&output).contains("tyk: /nowhere/tyk: there is no program"), "{}", said(&output));
    let output = bench.run(&["--peers", "apache"]);
    assert!(said(&output).contains("is none of tollgate, direct, floor, nginx"), "{}", said(&output));
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate-bench"))
        .args(["run", "--peers", "direct", "--out", "/dev/null/results", "--scenarios"])
        .arg(bench.dir.path().join("scenarios"))
        .output()
        .expect("tollgate-bench");
    assert!(said(&output).contains("/dev/null/results: cannot be made"), "{}", said(&output));
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_marks_it() {
    let bench = Bench::new(SCENARIO);
    let mut running = bench
        .command(&["--peers", "direct", "--rounds", "500", "--seconds", "0.2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("tollgate-bench");
    let deadline = Instant::now() + Duration::from_secs(60);
    while series(&bench.kept(), "direct").is_empty() {
        assert!(Instant::now() < deadline, "nothing was measured");
        assert!(running.try_wait().expect("a status").is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(50));
    }
    let sent = Command::new("kill").args(["-INT", &running.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    assert_eq!(running.wait().expect("a status").code(), Some(130));
    let kept = bench.kept();
    assert_eq!(kept["end"], "interrupted");
    assert!(!series(&kept, "direct").is_empty());
    assert!(fs::read_to_string(bench.results().join("report.html")).expect("HTML").contains("This run is not complete"));
}

/// A scenario of one case and one load.
fn one_case(load: &str, case: &str, expect: &str) -> String {
    format!(
        "title = \"T\"\nsource = \"S\"\nsuite = \"published\"\n[[load]]\nname = \"full speed\"\nconnections = 4\n{load}\n\
         [[case]]\nname = \"one\"\n{case}\nrequest = {{ path = \"/json/valid\" }}\nexpect = {{ {expect} = \"all\" }}\n"
    )
}

/// Every gateway of a run was measured, and nothing of it is void.
fn assert_measured(scenario: &str, peers: &[&str]) {
    let bench = Bench::new(scenario);
    let output = bench.run(&["--peers", &peers.join(","), "--rounds", "1", "--seconds", "0.2"]);
    assert!(output.status.success(), "{scenario}\n{}", said(&output));
    for peer in peers {
        let kept = bench.kept();
        let all = series(&kept, peer);
        assert_eq!(all.len(), 1, "{peer}: {}", said(&output));
        assert_eq!(all[0]["rounds"][0]["void"], Value::Null, "{peer}: {}", all[0]);
    }
}

#[test]
fn clients_speak_tls_and_http2_where_the_scenario_says_so() {
    expect_gateway();
    assert_measured(&one_case("", "api.tls = \"ecdsa\"", "200"), &GATEWAYS);
    assert_measured(&one_case("new_connections = true", "api.tls = \"rsa\"", "200"), &GATEWAYS);
    assert_measured(&one_case("streams = 5", "api.tls = \"ecdsa\"\napi.http2 = true", "200"), &GATEWAYS);
    assert_measured(&one_case("streams = 5", "api.http2 = true", "200"), &GATEWAYS);
}

#[test]
fn the_floor_relays_what_is_served_and_answers_what_is_refused() {
    assert_measured(&one_case("", "", "200"), &["floor"]);
    assert_measured(
        &one_case("", "api.auth = { header = \"Authorization\" }\nkey = { value = \"known\" }", "401"),
        &["floor", "nginx"],
    );
}

#[test]
fn tokens_passwords_and_signatures_are_made_and_accepted() {
    expect_gateway();
    for method in ["oauth", "jwt", "basic", "hmac-signature", "rsa-signature"] {
        assert_measured(&one_case("", &format!("api.auth_method = \"{method}\""), "200"), &["tollgate"]);
    }
    let fresh = one_case("", "api.auth_method = \"jwt\"", "200").replace("/json/valid\"", "/json/valid\", tokens = 2000");
    assert_measured(&fresh, &["tollgate"]);
}

#[test]
fn a_gateway_that_a_scenario_names_must_be_known() {
    let bench = Bench::new(&format!("peers = [\"ngnix\"]\n{SCENARIO}"));
    let output = bench.run(&["--peers", "direct"]);
    assert!(said(&output).contains("tiny.toml: peers: ngnix is none of tollgate, direct, floor"), "{}", said(&output));
}

const SIDE_BY_SIDE: &str = r#"
title = "Side by side"
source = "a test"
suite = "published"
own_process = true
side_by_side = true
[[load]]
name = "full speed"
connections = 8
[[case]]
name = "off"
settings.tollgate.metrics.enabled = false
api.definition.do_not_track = false
request = { path = "/json/valid" }
expect = { 200 = "all" }
[[case]]
name = "access log"
settings.access_logs.enabled = true
settings.tollgate.access_log = { file = "{dir}/access.log", files_max = 100 }
api.definition.do_not_track = false
records = { file = "access.log" }
request = { path = "/json/valid" }
expect = { 200 = "all" }
"#;

#[test]
fn cases_are_measured_beside_the_first_one_and_their_records_are_counted() {
    expect_gateway();
    let round_of_log = |scenario: &str| {
        let bench = Bench::new(scenario);
        let output = bench.run(&["--peers", "tollgate", "--rounds", "1", "--seconds", "0.3"]);
        let kept = bench.kept();
        let rounds: Vec<Value> = series(&kept, "tollgate").iter().map(|series| series["rounds"][0].clone()).collect();
        assert_eq!((rounds.len(), &rounds[0]["first_case_cpu_us"]), (2, &Value::Null), "the first one is measured alone");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), rounds[1].clone())
    };
    let (code, _, recorded) = round_of_log(SIDE_BY_SIDE);
    assert_eq!((code, &recorded["void"]), (Some(0), &Value::Null), "{recorded}");
    assert!(recorded["first_case_cpu_us"].as_f64().is_some_and(|cpu| cpu > 0.0), "{recorded}");
    let (code, told, lost) = round_of_log(&SIDE_BY_SIDE.replace("access_logs.enabled = true", "access_logs.enabled = false"));
    let void = lost["void"].as_str().unwrap_or_default();
    assert_eq!(code, Some(1), "a void round is a failure");
    assert!(told.contains("failed: ") && told.contains(&format!(", access log, full speed, tollgate: {void}")), "{told}");
    assert!(void.ends_with("requests were not recorded") || void.contains("access.log"), "{lost}");
}
