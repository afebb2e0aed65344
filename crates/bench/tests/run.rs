//! `tollgate-bench run` as a user starts it: the real program, nginx, and the real gateway where one is built.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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

/// The gateway beside this program, where `cargo build --workspace` puts it.
fn tollgate() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_tollgate-bench")).parent()?.join("tollgate");
    program.is_file().then_some(program)
}

fn series<'a>(kept: &'a Value, peer: &str) -> Vec<&'a Value> {
    let all = kept["scenarios"][0]["series"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|series| series["peer"] == peer).collect()
}

#[test]
fn a_tiny_scenario_is_judged_measured_and_reported() {
    let bench = Bench::new(SCENARIO);
    let gateways: &[&str] = if tollgate().is_some() { &["tollgate", "nginx"] } else { &["nginx"] };
    let peers = format!("direct,{}", gateways.join(","));
    let output = bench.run(&["--peers", &peers, "--rounds", "2", "--seconds", "0.3"]);
    assert!(output.status.success(), "{}", said(&output));

    let kept = bench.kept();
    assert_eq!(kept["end"], Value::Null);
    assert_eq!(kept["scenarios"][0]["failures"], serde_json::json!([]));
    assert_eq!(series(&kept, "direct").len(), 2, "one case, two loads: it refuses nothing");
    for gateway in gateways {
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
    assert!(said(&output).contains("is none of tollgate, direct, nginx"), "{}", said(&output));
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
