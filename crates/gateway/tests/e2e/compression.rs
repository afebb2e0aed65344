//! Compressed responses over sockets: what curl makes of them in both protocols, what streams do, and what a broken response looks like.

use serde_json::json;
use std::process::{Command, Output};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use crate::harness::{Gateway, Setup, Upstream, api};

/// A text of two megabytes, which no coding makes as small as one read.
fn text() -> String {
    let mut number = 1_u64;
    let mut next = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        number >> 33
    };
    (0..120_000).map(|line| format!("{line} {}\n", next())).collect()
}

fn start(upstream: &Upstream) -> Gateway {
    let rules = json!({"compression": {"event_streams": true}});
    Setup::new(json!({})).api(api("a", "/a/", &upstream.url()).set("tollgate", rules)).start()
}

fn curl(gateway: &Gateway, arguments: &[&str]) -> Output {
    let url = format!("http://127.0.0.1:{}/a/x", gateway.port);
    Command::new("curl").args(["-sS", "--max-time", "20"]).args(arguments).arg(url).output().expect("curl runs")
}

#[test]
fn curl_reads_every_encoding_in_both_protocols() {
    let body = text();
    let upstream = Upstream::start({
        let body = body.clone();
        move |_| format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    });
    let gateway = start(&upstream);
    for protocol in ["--http1.1", "--http2-prior-knowledge"] {
        for accepts in ["gzip", "br", "identity"] {
            let output =
                curl(&gateway, &[protocol, "--compressed", "-H", &format!("Accept-Encoding: {accepts}"), "-D", "/dev/stderr"]);
            assert!(output.stdout == body.as_bytes(), "{protocol} {accepts}: {}", output.stdout.len());
            let head = String::from_utf8_lossy(&output.stderr).to_lowercase();
            assert_eq!(head.contains(&format!("content-encoding: {accepts}")), accepts != "identity", "{head}");
        }
    }
}

/// The end of a body in chunks.
const END: &str = "0\r\n\r\n";

/// Sends a head and then what the test gives, and closes at the end of the body.
fn streaming(head: &'static str) -> (Upstream, Sender<&'static str>) {
    let (parts, received) = channel::<&'static str>();
    let received = Arc::new(Mutex::new(received));
    let upstream = Upstream::raw(move |mut wire, _| {
        if wire.head().is_ok() {
            wire.send(head.as_bytes());
            let received = received.lock().unwrap();
            while let Ok(part) = received.recv() {
                wire.send(part.as_bytes());
                if part == END {
                    return;
                }
            }
        }
    });
    (upstream, parts)
}

#[test]
fn an_event_reaches_the_client_while_its_stream_goes_on() {
    let (upstream, parts) =
        streaming("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    let gateway = start(&upstream);
    for encoding in ["gzip", "br"] {
        let mut child = Command::new("curl")
            .args(["-sS", "-N", "--max-time", "20", "--compressed", "-H", &format!("Accept-Encoding: {encoding}")])
            .arg(format!("http://127.0.0.1:{}/a/x", gateway.port))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("curl runs");
        let mut events = child.stdout.take().expect("its output");
        for event in ["d\r\ndata: first\n\n\r\n", "e\r\ndata: second\n\n\r\n"] {
            parts.send(event).unwrap();
            let data = event.split("\r\n").nth(1).unwrap();
            let mut got = vec![0; data.len()];
            std::io::Read::read_exact(&mut events, &mut got).expect("the event comes before the next one");
            assert_eq!(got, data.as_bytes());
        }
        parts.send(END).unwrap();
        assert!(child.wait().expect("curl ends").success());
    }
}

#[test]
fn a_response_that_breaks_off_does_not_look_whole() {
    let upstream =
        Upstream::once("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\nonly the beginning");
    let gateway = start(&upstream);
    for protocol in ["--http1.1", "--http2-prior-knowledge"] {
        let output = curl(&gateway, &[protocol, "--compressed"]);
        assert!(!output.status.success(), "{protocol}: {output:?}");
    }
}
