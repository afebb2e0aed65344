//! Compressed responses over sockets, as curl reads them in both protocols: whole, cut, and as events of a stream that goes on.

use serde_json::json;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use crate::harness::{Gateway, Seen, Upstream, api};

/// A text of two megabytes, which no coding makes as small as one read.
fn text() -> String {
    let mut number = 1_u64;
    let mut next = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        number >> 33
    };
    (0..120_000).map(|line| format!("{line} {}\n", next())).collect()
}

fn curl(gateway: &Gateway, path: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("curl");
    let url = format!("http://127.0.0.1:{}/a/{path}", gateway.port);
    command.args(["-sS", "-N", "--max-time", "20", "--compressed"]).args(arguments).arg(url);
    command
}

#[test]
fn curl_reads_bodies_whole_or_not_at_all_and_events_as_they_come() {
    let body = text();
    let (events, to_send) = channel::<&'static str>();
    let to_send = Mutex::new(to_send);
    let upstream = Upstream::raw({
        let body = body.clone();
        move |mut wire, _| {
            while let Some(seen) = Seen::read(&mut wire) {
                match seen.target.as_str() {
                    "/events" => {
                        wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
                        let to_send = to_send.lock().unwrap();
                        while let Some(part) = to_send.recv().ok().filter(|part| !part.is_empty()) {
                            wire.send(part);
                        }
                        wire.send("0\r\n\r\n");
                    }
                    target => {
                        let length = body.len();
                        wire.send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n"));
                        if target == "/cut" {
                            return wire.send(body.get(..length / 2).unwrap());
                        }
                        wire.send(&body);
                    }
                }
            }
        }
    });
    let rules = json!({"compression": {"event_streams": true}});
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("tollgate", rules)]);
    for protocol in ["--http1.1", "--http2-prior-knowledge"] {
        for encoding in ["gzip", "br", "identity"] {
            let accept = format!("Accept-Encoding: {encoding}");
            let whole = curl(&gateway, "whole", &[protocol, "-H", &accept, "-D", "/dev/stderr"]).output().expect("curl runs");
            assert!(whole.stdout == body.as_bytes(), "{protocol} {encoding}: {}", whole.stdout.len());
            let head = String::from_utf8_lossy(&whole.stderr).to_lowercase();
            assert_eq!(head.contains(&format!("content-encoding: {encoding}")), encoding != "identity", "{head}");
            let cut = curl(&gateway, "cut", &[protocol, "-H", &accept]).output().expect("curl runs");
            assert!(!cut.status.success(), "{protocol} {encoding}: {}", cut.stdout.len());
        }
        let mut child = curl(&gateway, "events", &[protocol]).stdout(Stdio::piped()).spawn().expect("curl runs");
        let mut shown = child.stdout.take().expect("its output");
        for event in ["d\r\ndata: first\n\n\r\n", "e\r\ndata: second\n\n\r\n"] {
            events.send(event).unwrap();
            let data = event.split("\r\n").nth(1).unwrap();
            let mut got = vec![0; data.len()];
            shown.read_exact(&mut got).expect("the event comes before the next one");
            assert_eq!(got, data.as_bytes());
        }
        events.send("").unwrap();
        assert!(child.wait().expect("curl ends").success());
    }
}
