//! Lines of the audit file at a syslog server, rsyslog: over UDP, TCP and TLS, what of the chain it sees, and what it missed while it was away.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::commands::tollgate;
use crate::harness::certificates::Authority;
use crate::harness::{Gateway, Setup, eventually};
use crate::operator_tokens::made;
use crate::servers::free_port;

/// An rsyslogd with one input, which writes what it reads of messages to a file.
struct Rsyslog {
    dir: tempfile::TempDir,
    port: u16,
    child: Child,
}

impl Rsyslog {
    /// `inputs` is configuration with `PORT` and `DIR`.
    fn start(dir: tempfile::TempDir, inputs: &str) -> Rsyslog {
        let port = free_port();
        let text = format!(
            "global(workDirectory=\"DIR\" maxMessageSize=\"64k\")\n{inputs}\n\
             template(name=\"line\" type=\"string\" string=\"%syslogfacility-text% %syslogseverity-text% %app-name% %msgid% %structured-data% %msg%\\n\")\n\
             action(type=\"omfile\" file=\"DIR/received\" template=\"line\")\n"
        );
        let text = text.replace("DIR", dir.path().to_str().expect("text")).replace("PORT", &port.to_string());
        fs::write(dir.path().join("rsyslog.conf"), text).expect("written");
        let child = Rsyslog::spawn(dir.path());
        Rsyslog { dir, port, child }
    }

    fn spawn(dir: &Path) -> Child {
        let program = ["/usr/sbin/rsyslogd", "rsyslogd"].into_iter().find(|path| Path::new(path).exists());
        let mut command = Command::new(program.unwrap_or("rsyslogd"));
        command.arg("-n").arg("-f").arg(dir.join("rsyslog.conf")).arg("-i").arg(dir.join("pid"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("rsyslogd: scripts/test-deps.sh installs it")
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(self.dir.path().join("pid"));
    }

    /// The messages: facility, severity, program and kind in one text, the parameters of the structured data, and the line of the audit file.
    fn received(&self) -> Vec<(String, String, Value)> {
        let text = fs::read_to_string(self.dir.path().join("received")).unwrap_or_default();
        let read = |line: &str| {
            let (head, rest) = line.split_once(" [tollgate@32473 ")?;
            let (data, message) = rest.split_once("] ")?;
            Some((head.to_owned(), data.to_owned(), serde_json::from_str(message).ok()?))
        };
        text.lines().map(|line| read(line).unwrap_or_else(|| panic!("{line}"))).collect()
    }

    fn has(&self, target: &str) -> bool {
        self.received().iter().any(|(_, _, line)| line["target"] == target)
    }
}

impl Drop for Rsyslog {
    fn drop(&mut self) {
        self.end();
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A gateway with an audit file of a key.
fn start(folder: &Path, syslog: &Value) -> (Gateway, PathBuf) {
    let (file, key) = (folder.join("audit.jsonl"), folder.join("audit.key"));
    fs::write(&key, "a secret that nobody else has\n").expect("written");
    let key = format!("file://{}", key.display());
    let conf = json!({"tollgate": {"operators": {"audit_file": file, "audit_key": key, "audit_syslog": syslog}}});
    (Setup::new(conf).start(), file)
}

/// Makes something, and waits until the server has it.
fn make(gateway: &Gateway, server: &Rsyslog, name: &str) {
    made(gateway, &json!({"name": name, "role": "viewer"}));
    eventually(name, || server.has(name));
}

const TCP: &str = "module(load=\"imptcp\")\ninput(type=\"imptcp\" address=\"127.0.0.1\" port=\"PORT\")";

#[test]
fn each_line_of_the_file_is_a_message_with_its_hash() {
    let files = folder();
    let server = Rsyslog::start(folder(), TCP);
    let (gateway, file) = start(files.path(), &json!({"url": format!("tcp://127.0.0.1:{}", server.port)}));
    make(&gateway, &server, "one");
    assert_eq!(gateway.control("DELETE", "/tyk/tokens/nobody", "").status, 404);
    eventually("a refused call", || server.has("DELETE /tyk/tokens/{name}"));
    let written = fs::read_to_string(&file).expect("text");
    let received = server.received();
    assert_eq!(written.lines().count(), received.len());
    for (line, (head, data, message)) in written.lines().zip(received) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line, message);
        let severity = if line["status"].as_u64().expect("a status") < 400 { "notice" } else { "warning" };
        assert!(head.ends_with(&format!(" {severity} tollgate audit")), "{head}");
        assert_eq!(data, format!("seq=\"{}\" prev={} hash={}", line["seq"], line["prev"], line["hash"]));
    }
    // What the server has kept is checked as the file is: with the key, and not without it.
    let copy = files.path().join("copy.jsonl");
    let text = fs::read_to_string(server.dir.path().join("received")).expect("text");
    let lines: Vec<&str> = text.lines().filter_map(|line| line.split_once("] ")).map(|(_, line)| line).collect();
    fs::write(&copy, lines.join("\n") + "\n").expect("written");
    let key = files.path().join("audit.key");
    for file in [&file, &copy] {
        tollgate(&gateway, &format!("audit verify --key-file {} {}", key.display(), file.display())).ok();
        tollgate(&gateway, &format!("audit verify {}", file.display())).fails(1, "name a file with it: --key-file");
    }
    tollgate(&gateway, &format!("audit verify --key-file /nowhere {}", file.display())).fails(1, "/nowhere");
}

#[test]
fn datagrams_and_tls_arrive_too_and_a_server_without_a_right_certificate_gets_nothing() {
    let files = folder();
    let server = Rsyslog::start(folder(), "module(load=\"imudp\")\ninput(type=\"imudp\" address=\"127.0.0.1\" port=\"PORT\")");
    let (gateway, _) = start(files.path(), &json!({"url": format!("udp://127.0.0.1:{}", server.port)}));
    // A datagram may come before the server listens.
    let mut number = 0;
    eventually("a datagram arrives", || {
        number += 1;
        made(&gateway, &json!({"name": format!("n{number}"), "role": "viewer"}));
        !server.received().is_empty()
    });
    drop(gateway);

    let dir = folder();
    let authority = Authority::new("ours");
    let certificate = authority.issue(&["127.0.0.1"]);
    for (name, text) in [("ca.pem", authority.pem()), ("cert.pem", certificate.certificate), ("key.pem", certificate.key)] {
        fs::write(dir.path().join(name), text).expect("written");
    }
    let other = dir.path().join("other.pem");
    fs::write(&other, Authority::new("another").pem()).expect("written");
    let driver = "global(defaultNetstreamDriver=\"ossl\" defaultNetstreamDriverCAFile=\"DIR/ca.pem\" \
                  defaultNetstreamDriverCertFile=\"DIR/cert.pem\" defaultNetstreamDriverKeyFile=\"DIR/key.pem\")\n\
                  module(load=\"imtcp\" streamDriver.name=\"ossl\" streamDriver.mode=\"1\" streamDriver.authMode=\"anon\")\n\
                  input(type=\"imtcp\" address=\"127.0.0.1\" port=\"PORT\")";
    let server = Rsyslog::start(dir, driver);
    let url = format!("tls://127.0.0.1:{}", server.port);
    let files = [folder(), folder()];
    let (gateway, _) = start(files[0].path(), &json!({"url": url, "ca_file": server.dir.path().join("ca.pem")}));
    make(&gateway, &server, "one");
    eventually("nothing is on its way", || server.has("POST /tyk/tokens"));
    drop(gateway);
    let before = server.received().len();
    let (gateway, _) = start(files[1].path(), &json!({"url": url, "ca_file": other}));
    made(&gateway, &json!({"name": "two", "role": "viewer"}));
    eventually("the log says so", || gateway.log().contains("the syslog server takes no changes"));
    assert_eq!(server.received().len(), before);
}

#[test]
fn what_a_server_missed_it_gets_and_no_answer_waits_for_it() {
    let files = folder();
    let mut server = Rsyslog::start(folder(), TCP);
    let (gateway, file) = start(files.path(), &json!({"url": format!("tcp://127.0.0.1:{}", server.port)}));
    make(&gateway, &server, "one");
    eventually("nothing is on its way", || server.has("POST /tyk/tokens"));
    server.end();
    made(&gateway, &json!({"name": "two", "role": "viewer"}));
    eventually("the log says so", || gateway.log().contains("the syslog server takes no changes; they wait for it"));
    made(&gateway, &json!({"name": "three", "role": "viewer"}));
    let count = |file: &Path| fs::read_to_string(file).unwrap_or_default().matches("\"seq\"").count();
    eventually("the file has all", || count(&file) >= 6);
    server.child = Rsyslog::spawn(server.dir.path());
    eventually("the server has all", || server.received().len() == count(&file));
    let numbers: Vec<u64> = server.received().iter().filter_map(|(_, _, line)| line["seq"].as_u64()).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    assert!(gateway.log().contains("the syslog server takes changes again"));
}

#[test]
fn a_server_that_cannot_be_is_told_at_the_start() {
    let operators = |syslog: Value| json!({"tollgate": {"operators": {"audit_file": "/tmp/none", "audit_syslog": syslog}}});
    let (status, text) = crate::start::check_conf(&operators(json!({"url": "syslog://logs"})));
    assert!(status == Some(1) && text.contains("$.tollgate.operators.audit_syslog.url: error: must be udp://HOST:PORT"), "{text}");
}
