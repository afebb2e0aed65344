//! Datagrams while the process is replaced, and when their target leaves the table.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Gateway, Setup, api, eventually};
use crate::servers::free_port;

/// A server that answers nothing, and what it got.
struct Sink {
    port: u16,
    got: Arc<Mutex<Vec<String>>>,
}

impl Sink {
    fn open() -> Sink {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (port, got) = (socket.local_addr().unwrap().port(), Arc::<Mutex<Vec<String>>>::default());
        let all = got.clone();
        thread::spawn(move || {
            let mut bytes = [0; 64];
            while let Ok((length, _)) = socket.recv_from(&mut bytes) {
                all.lock().unwrap().push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            }
        });
        Sink { port, got }
    }

    fn has(&self, text: &str) -> bool {
        self.got.lock().unwrap().iter().any(|got| got == text)
    }
}

fn tables(port: u16, sink: &Sink) -> Value {
    json!({
        "listeners": {"l": {"addresses": ["127.0.0.1"], "port": port, "protocol": "udp"}},
        "backends": {"b": {"protocol": "udp", "endpoints": [{"address": "127.0.0.1", "port": sink.port}]}}
    })
}

fn start(tables: &Value) -> (Gateway, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("routing.json");
    std::fs::write(&file, tables.to_string()).unwrap();
    let rules = json!({"kind": "stream", "attached": [{"listener": "l"}], "rules": [{"backends": [{"backend": "b"}]}]});
    let gateway =
        Setup::new(json!({"tollgate": {"routing_file": file}})).api(api("r", "/", "").set("tollgate/route", rules)).start();
    (gateway, dir)
}

#[test]
fn no_datagram_is_lost_when_a_new_process_takes_the_sockets_over() {
    let (sink, port) = (Arc::new(Sink::open()), free_port());
    let (mut gateway, _dir) = start(&tables(port, &sink));
    let (stop, rounds) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let (stopped, counted) = (stop.clone(), rounds.clone());
    let sending = thread::spawn(move || {
        // Many clients, so that each socket of the port has some.
        let clients: Vec<UdpSocket> = (0..16).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        while !stopped.load(Ordering::SeqCst) {
            let round = counted.fetch_add(1, Ordering::SeqCst);
            let texts: Vec<String> = (0..clients.len()).map(|number| format!("{round} {number}")).collect();
            for (client, text) in clients.iter().zip(&texts) {
                client.send_to(text.as_bytes(), ("127.0.0.1", port)).unwrap();
            }
            // One round after the other, so that no queue overflows.
            texts.iter().for_each(|text| eventually("it arrives", || sink.has(text)));
        }
    });
    let goes_on = || {
        let until = rounds.load(Ordering::SeqCst) + 20;
        eventually("datagrams arrive", || rounds.load(Ordering::SeqCst) >= until || sending.is_finished());
    };
    goes_on();
    gateway.restart();
    goes_on();
    assert!(gateway.wait_for_exit().success());
    goes_on();
    stop.store(true, Ordering::SeqCst);
    sending.join().expect("all datagrams arrived");
    gateway.expect_no_panic();
}

#[test]
fn datagrams_for_a_target_that_left_the_table_go_to_the_one_that_is_there() {
    let (gone, there, port) = (Sink::open(), Sink::open(), free_port());
    let (gateway, dir) = start(&tables(port, &gone));
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = || client.send_to(b"hi", ("127.0.0.1", port)).unwrap();
    send();
    eventually("it arrives", || gone.has("hi"));
    std::fs::write(dir.path().join("routing.json"), tables(port, &there).to_string()).unwrap();
    assert_eq!(gateway.reload().status, 200);
    // The one before is there and refuses nothing.
    eventually("another one gets them", || {
        send();
        thread::sleep(Duration::from_millis(20));
        there.has("hi")
    });
}
