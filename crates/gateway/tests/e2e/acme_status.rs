//! Certificates whose issuer says whether it has revoked them (OCSP), with OpenSSL as its responder: what handshakes hand out, and what they
//! do not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::acme::{Issuer, Ports, Secure, programs};
use crate::clock_jumps::{library, set_by};
use crate::external_services::proxy;
use crate::harness::{Upstream, eventually, reply};

const NAME: &str = "a.example.com";
const HOUR: i64 = 3_600;

/// What the responder does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Broken,
    Good,
    /// It signs with a key of its own.
    Foreign,
    /// It speaks of another certificate.
    Beside,
    Revoked,
}

/// Signs as the issuer does.
struct Responder {
    dir: PathBuf,
    mood: Mutex<Mood>,
    asked: Mutex<Vec<Mood>>,
}

fn openssl(dir: &Path, words: &[&str]) -> Vec<u8> {
    let output = Command::new("openssl").current_dir(dir).args(words).stdin(Stdio::null()).output().expect("openssl runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

impl Responder {
    fn answer(&self, question: &[u8]) -> Vec<u8> {
        let mood = *self.mood.lock().unwrap();
        self.asked.lock().unwrap().push(mood);
        if mood == Mood::Broken {
            return reply("503 Later", &[], "");
        }
        std::fs::write(self.dir.join("question"), question).unwrap();
        let text = String::from_utf8(openssl(&self.dir, &["ocsp", "-reqin", "question", "-req_text", "-noverify"])).unwrap();
        let serial = text.lines().find_map(|line| line.trim().strip_prefix("Serial Number: ")).expect("a serial number").to_owned();
        let line = match mood {
            Mood::Revoked => format!("R\t400101000000Z\t260101000000Z\t{serial}\tunknown\t/CN=a\n"),
            _ => format!("V\t400101000000Z\t\t{serial}\tunknown\t/CN=a\n"),
        };
        std::fs::write(self.dir.join("index"), line).unwrap();
        if mood == Mood::Beside {
            let other = ["ocsp", "-issuer", "issuer.pem", "-serial", "0x1234", "-no_nonce", "-reqout", "question"];
            openssl(&self.dir, &other);
        }
        let signer = if mood == Mood::Foreign { "foreign" } else { "issuer" };
        let (certificate, key) = (format!("{signer}.pem"), format!("{signer}.key"));
        let sign = ["ocsp", "-index", "index", "-CA", "issuer.pem", "-rsigner", &certificate, "-rkey", &key, "-ndays", "1"];
        openssl(&self.dir, &[&sign[..], &["-reqin", "question", "-respout", "response", "-noverify"]].concat());
        let response = std::fs::read(self.dir.join("response")).unwrap();
        let mut answer =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/ocsp-response\r\nContent-Length: {}\r\n\r\n", response.len())
                .into_bytes();
        answer.extend(response);
        answer
    }

    fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
        self.asked.lock().unwrap().clear();
    }

    fn was_asked(&self) -> bool {
        !self.asked.lock().unwrap().is_empty()
    }
}

/// What a handshake hands out about the certificate, in OpenSSL's words.
fn stapled(gateway: &Secure) -> String {
    let to = format!("127.0.0.1:{}", gateway.gateway.port);
    let told = openssl(Path::new("/"), &["s_client", "-connect", &to, "-servername", NAME, "-status"]);
    String::from_utf8_lossy(&told).into_owned()
}

#[test]
fn handshakes_hand_out_what_the_issuer_says_as_long_as_it_is_true() {
    let Some(programs) = programs() else { return };
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("responder");
    std::fs::create_dir(&files).unwrap();
    let responder = Arc::new(Responder { dir: files.clone(), mood: Mutex::new(Mood::Broken), asked: Mutex::default() });
    let answering = responder.clone();
    let server = Upstream::start(move |seen| answering.answer(&seen.body));
    let (clock, library) = (dir.path().join("clock"), library());
    let set_clock = |off_s: i64| std::fs::write(&clock, format!("{off_s:+}")).unwrap();
    set_clock(0);
    let ports = Ports::new();
    let acme = json!({"certificates": [{"names": [NAME]}]});
    // The issuer is reached through a proxy.
    let connected = Arc::new(Mutex::new(Vec::new()));
    let on_the_way = proxy(connected.clone());
    let services = json!({"external_services": {"global": {"enabled": true, "https_proxy": on_the_way.url()}}});
    let (directory, variables) = (ports.url(), set_by(&library, &clock));
    let gateway = Secure::start_with(&[&ports], &acme, &services, &variables);
    let tried = || gateway.issued(NAME)["failures"].as_u64().unwrap_or_default() >= 1;
    eventually("it is tried", tried);
    // It shows keys of this kind alone.
    let more = json!({"ocspResponderURL": server.url(), "keyAlgorithm": "rsa"});
    let issuer = Issuer::start(&programs, &dir, ports, (gateway.http, gateway.gateway.port), &more);
    for (path, file) in [("/intermediates/0", "issuer.pem"), ("/intermediate-keys/0", "issuer.key")] {
        std::fs::write(files.join(file), issuer.told(path)).unwrap();
    }
    openssl(
        &files,
        &[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=foreign",
            "-keyout",
            "foreign.key",
            "-out",
            "foreign.pem",
        ],
    );
    assert_eq!(gateway.control("POST", &format!("/tyk/acme/{NAME}/renew")).status, 200);
    eventually("it is served", || gateway.is(NAME, "served"));
    assert!(connected.lock().unwrap().iter().all(|seen| seen.method == "CONNECT" && directory.contains(&seen.target)));
    assert!(!connected.lock().unwrap().is_empty());
    // Nobody says anything: the certificate is served without.
    eventually("the responder is asked", || responder.was_asked());
    let client = issuer.client();
    eventually("it is shown", || gateway.has(&client, NAME));
    assert!(stapled(&gateway).contains("OCSP response: no response sent"));
    // What others say is not handed out.
    let mut off = 0;
    for mood in [Mood::Foreign, Mood::Beside] {
        responder.becomes(mood);
        off += HOUR + 60;
        set_clock(off);
        eventually("it is asked again", || responder.was_asked());
        eventually("that is noted", || gateway.issued(NAME)["status_error"].as_str().is_some_and(|why| !why.is_empty()));
        assert!(stapled(&gateway).contains("OCSP response: no response sent"), "{mood:?}");
    }
    responder.becomes(Mood::Good);
    off += HOUR + 60;
    set_clock(off);
    eventually("it is handed out", || {
        let told = stapled(&gateway);
        told.contains("OCSP Response Status: successful") && told.contains("Cert Status: good")
    });
    // When half of its time is over it is asked again, and what there is stays until its end.
    responder.becomes(Mood::Broken);
    set_clock(14 * HOUR);
    eventually("it is asked again", || responder.was_asked());
    assert!(stapled(&gateway).contains("Cert Status: good"));
    set_clock(25 * HOUR);
    eventually("what has ended is not handed out", || stapled(&gateway).contains("OCSP response: no response sent"));
    assert!(gateway.has(&client, NAME));
    // One that the issuer has revoked is replaced.
    let before = gateway.issued(NAME)["id"].clone();
    responder.becomes(Mood::Revoked);
    set_clock(27 * HOUR);
    eventually("another one is served", || gateway.is(NAME, "served") && gateway.issued(NAME)["id"] != before);
    gateway.gateway.expect_no_panic();
}
