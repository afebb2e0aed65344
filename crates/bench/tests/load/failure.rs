//! What goes wrong is said, counted by its cause, shows in the exit code, and never hangs.

use crate::command::{bench, finished, load, start, wait};
use crate::server::{Server, response};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// An address nobody listens on.
fn dead() -> String {
    "http://127.0.0.1:1/".to_owned()
}

#[test]
fn a_dead_target_is_an_error_at_once() {
    let begun = Instant::now();
    let run = load("-z 5m", &[&dead()]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("cannot connect to 127.0.0.1:") && run.stderr.contains("refused"), "{}", run.stderr);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn wrong_usage_is_named() {
    let server = Server::ok();
    let url = server.url("/");
    for (words, reason) in [
        ("-z 5x", "`5x` is not a duration"),
        ("-n x", "invalid value 'x'"),
        ("-c 0", "0 workers"),
        ("-n 0", "at least one request"),
        ("-q x", "invalid value 'x'"),
        ("-q -1", "-1"),
        ("--rate 0", "above 0"),
        ("--ramp 5", "FROM:TO:DURATION"),
        ("--find-max --slo p99", "not an objective"),
        ("--slo p99<5ms", "--find-max"),
        ("-m G:T", "not a request method"),
        ("-H Content-Length:5", "Content-Length"),
        ("-D /no/such/file", "/no/such/file"),
        ("--vars key", "NAME=FILE"),
        ("--vars key=/no/such/file", "/no/such/file"),
        ("--cacert /no/such/file", "/no/such/file"),
        ("--threads 0", "--threads"),
        ("-x a:b", "host:port"),
        ("--no-such-flag", "--no-such-flag"),
    ] {
        let run = load(words, &[&url]);
        assert_eq!(run.code, 2, "{words}: {}", run.stderr);
        assert!(run.stderr.contains(reason), "{words}: {}", run.stderr);
    }
    assert_eq!(load("-n 1", &[]).code, 2, "no URL");
    assert_eq!(load("-n 1 ftp://x/", &[]).code, 2);
    assert_eq!(server.received().len(), 0);
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let server = Server::ok();
    let run = bench("load -n 1", &["--json", "/no/such/folder/x", &server.url("/")]);
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(server.received().len(), 0, "said before the load, not after");
    for full in ["--json", "--hgrm"] {
        let run = bench("load -n 5 -c 1", &[full, "/dev/full", &server.url("/")]);
        let stderr = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("/dev/full") && stderr.contains("No space left"), "{stderr}");
    }
}

#[test]
fn failures_are_counted_by_their_cause() {
    let cases: [(&str, &'static [u8]); 4] = [
        ("reset", b""),
        ("reset", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
        ("protocol", b"SSH-2.0-OpenSSH\r\n\r\n"),
        ("protocol", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
    ];
    for (cause, bytes) in cases {
        let server = Server::start(move |_, _| (bytes.to_vec(), false));
        let run = load("-n 6 -c 2", &[&server.url("/")]);
        assert_eq!((run.code, &run.result["errors"][cause]), (1, &6.into()), "{cause}: {}", run.result["error_messages"]);
        assert_eq!(run.result["requests"]["failed"], 6);
        assert!(run.stdout.contains("Error distribution:"), "{}", run.stdout);
        assert!(run.stderr.contains("6 of 6 requests failed"), "{}", run.stderr);
    }
}

#[test]
fn a_response_that_does_not_come_is_a_timeout() {
    let server = Server::start(|request, _| {
        if request.line().contains("/hang") {
            std::thread::sleep(Duration::from_secs(30));
        }
        (response(200, "ok"), true)
    });
    let run = load("-n 4 -c 2 -t 300ms", &[&server.url("/hang")]);
    assert_eq!((run.code, &run.result["errors"]["timeout"]), (1, &4.into()), "{}", run.stderr);
}

#[test]
fn a_kept_connection_that_died_is_no_failure() {
    let server =
        Server::start(|request, _| if request.on_connection == 2 { (Vec::new(), false) } else { (response(200, "ok"), true) });
    let run = load("-n 40 -c 1", &[&server.url("/")]);
    assert_eq!((run.code, &run.result["requests"]["completed"]), (0, &40.into()), "{}", run.stderr);
    assert!(run.result["connections"]["resent"].as_u64().unwrap() > 0);
    // A POST may have been acted on.
    let run = load("-n 40 -c 1 -m POST", &[&server.url("/")]);
    assert!(run.result["errors"]["reset"].as_u64().unwrap() > 0);
}

#[test]
fn a_target_that_stops_midway_ends_the_run_with_what_was_measured() {
    let server = Server::start(|_, number| if number < 50 { (response(200, "ok"), true) } else { (Vec::new(), false) });
    let begun = Instant::now();
    let run = load("-z 10m -c 2 --give-up 5s", &[&server.url("/")]);
    assert_eq!(run.code, 1);
    assert_eq!((&run.result["complete"], &run.result["requests"]["completed"]), (&false.into(), &50.into()), "{}", run.stderr);
    assert!(run.stderr.contains("stopped answering"), "{}", run.stderr);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn ctrl_c_reports_what_was_measured_and_marks_it() {
    let folder = tempfile::TempDir::new().unwrap();
    let json = folder.path().join("result.json");
    let server = Server::ok();
    let child = start(["load", "-z", "10m", "--rate", "100", "--json", json.to_str().unwrap(), &server.url("/")]);
    let begun = Instant::now();
    // Those of all workers may be under way.
    while server.received().len() < 80 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = wait(child);
    assert_eq!(output.status.signal(), None);
    let run = finished(output, &json);
    assert_eq!((run.code, &run.result["complete"]), (130, &false.into()), "{}", run.stderr);
    assert!(run.result["requests"]["completed"].as_u64().unwrap() >= 29);
    assert!(run.result["stopped"].as_str().unwrap().contains("interrupted"));
    assert!(run.stdout.contains("Incomplete: interrupted"), "{}", run.stdout);
}
