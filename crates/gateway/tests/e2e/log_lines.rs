//! The log under load: what failures call forth is limited, and nobody waits for whoever reads it.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::harness::certificates::Authority;
use crate::harness::{Gateway, PATIENCE, Setup, Upstream, api, get};
use crate::servers::free_port;

/// An address that refuses connections.
fn nobody() -> String {
    format!("http://127.0.0.1:{}", free_port())
}

fn figure(gateway: &Gateway, result: &str) -> u64 {
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let name = format!("tollgate_log_lines_total{{result=\"{result}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&name)).expect("the figure").parse().expect("a number")
}

#[test]
fn many_failures_of_a_kind_are_a_few_lines_and_a_count() {
    let (dead, gone) = (nobody(), nobody());
    let mut gateway = Gateway::start(json!({}), [api("dead", "/dead/", &dead), api("gone", "/gone/", &gone)]);
    let mut client = gateway.connect();
    for target in ["/dead/", "/gone/"] {
        for _ in 0..100 {
            assert_eq!(client.ask(get(target)).status, 500);
        }
    }
    assert!(figure(&gateway, "left_out") >= 100, "{}", gateway.log());
    drop(client);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let log = gateway.log();
    for id in ["dead", "gone"] {
        let own: Vec<&str> = log.lines().filter(|line| line.contains(&format!("api=\"{id}\""))).collect();
        let (counts, single): (Vec<&str>, Vec<&str>) = own.iter().partition(|line| line.contains("request failed: and "));
        assert!(!single.is_empty() && single.len() < 100, "{log}");
        let more = |line: &str| line.split_once(": and ")?.1.split(' ').next()?.parse::<usize>().ok();
        let left_out: usize = counts.iter().filter_map(|line| more(line)).sum();
        assert_eq!(single.len() + left_out, 100, "every request is in a line or in a count, by its API:\n{log}");
        assert!(counts.iter().all(|line| line.contains("cause=\"") && line.contains(" WARN ")), "{log}");
    }
}

#[test]
fn a_log_that_nobody_reads_stops_no_request_and_no_end() {
    let upstream = Upstream::ok();
    // Lines that are never left out: the pipe is full after a few of them, and the gateway's own buffer after a few hundred.
    let conf = json!({"track_404_logs": true});
    let unknown = get(&format!("/unknown/{}", "x".repeat(4_000)));
    let (mut reader, writer) = std::io::pipe().unwrap();
    let setup = Setup::new(conf).api(api("dead", "/dead/", &nobody())).api(api("a", "/a/", &upstream.url()));
    let mut gateway = setup.stderr(writer).start();
    for _ in 0..8 {
        let mut client = gateway.connect();
        for _ in 0..100 {
            assert_eq!(client.ask(&unknown).status, 404);
        }
        assert_eq!((client.ask(get("/dead/")).status, client.ask(get("/a/")).status), (500, 200));
    }
    let dropped = figure(&gateway, "dropped");
    assert!(dropped > 0, "{} lines were taken", figure(&gateway, "written"));
    // Once it is read again, it goes on and says what is missing.
    let mut told = String::new();
    let mut piece = [0; 64 * 1024];
    while !told.contains("lines of the log are lost") {
        let read = reader.read(&mut piece).unwrap();
        assert!(read > 0, "the log ended");
        told.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    // Nobody reads the rest, and it ends nonetheless.
    let mut client = gateway.connect();
    assert!((0..100).all(|_| client.ask(&unknown).status == 404));
    drop(client);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn what_is_wrong_at_the_start_is_told_before_the_end_however_much_it_is() {
    let broken: Vec<(String, String)> = (0..60).map(|number| (format!("broken-{number}.json"), "{".to_owned())).collect();
    let setup = broken.iter().fold(Setup::new(json!({})), |setup, (name, content)| setup.file(name, content.as_str()));
    let mut gateway = setup.start();
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let log = gateway.log();
    for (name, _) in &broken {
        assert!(log.lines().any(|line| line.contains(name.as_str())), "nothing of {name}:\n{log}");
    }
    assert!(log.lines().last().is_some_and(|line| line.contains("stopped")), "{log}");
}

#[test]
fn a_spoilt_handshake_is_no_warning() {
    let authority = Authority::new("tests");
    let dir = tempfile::tempdir().unwrap();
    let file = authority.issue(&["api.test"]).write(dir.path(), "own.pem");
    let options = json!({"use_ssl": true, "certificates": [{"cert_file": file}]});
    let gateway = Setup::new(json!({"http_server_options": options})).start();
    for _ in 0..5 {
        // A message of the handshake that nobody begins with.
        let mut socket = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(b"\x16\x03\x01\x00\x04\x14\x00\x00\x00").unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
    }
    // Written by the same thread, so behind all that came before.
    let lines = gateway.log();
    gateway.signal("USR2");
    crate::harness::eventually("a later line is there", || gateway.log().len() > lines.len());
    let log = gateway.log();
    assert!(!log.contains("expecting") && !log.lines().any(|line| line.contains(" WARN ")), "{log}");
}
