//! Which set of shared definitions counts, after an older one was brought back or an answer of Redis was lost, and what is logged of it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::harness::{Gateway, Upstream, api, eventually};
use crate::servers::Server;
use crate::shared_keys::on;

/// What only the script has that changes the set.
const CHANGE: &[u8] = b"'HDEL'";

fn sharing(mut conf: Value) -> Value {
    conf["tollgate"]["shared_definitions"] = json!(true);
    conf
}

fn post(gateway: &Gateway, id: &str, upstream: &Upstream) {
    let answer = gateway.control("POST", "/tyk/apis", &api(id, &format!("/{id}/"), &upstream.url()).0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

fn revision(gateway: &Gateway) -> Value {
    gateway.control("GET", "/tyk/nodes", "").json()["nodes"][0]["shared_definitions"]["revision"].clone()
}

/// Three gateways; Redis comes back with the set of the first change, and one gateway is restarted and goes on from there.
fn after_an_older_set(before: impl Fn(&Server)) {
    let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(sharing(on(&server)), [])).collect();
    post(&gateways[0], "one", &upstream);
    before(&server);
    server.cli(&["SAVE"]);
    post(&gateways[0], "two", &upstream);
    for gateway in &gateways {
        eventually("all have the second", || gateway.get("/two/").status == 200);
    }
    server.restart();
    gateways[0].restart();
    assert_eq!((gateways[0].get("/one/").status, gateways[0].get("/two/").status), (200, 404));
    // The others keep what is newer by its number.
    assert_eq!(gateways[1].get("/two/").status, 200);
    post(&gateways[0], "three", &upstream);
    assert_eq!(revision(&gateways[0]), 2);
    for gateway in &gateways {
        eventually("all serve what Redis has", || gateway.get("/three/").status == 200 && gateway.get("/two/").status == 404);
        assert_eq!((gateway.get("/one/").status, revision(gateway)), (200, json!(2)));
    }
    // Also with a change at another one, which says that the others serve it.
    post(&gateways[2], "four", &upstream);
    for gateway in &gateways {
        eventually("all have the fourth", || gateway.get("/four/").status == 200 && gateway.get("/three/").status == 200);
    }
}

#[test]
fn who_goes_on_from_an_older_set_is_followed_although_the_number_is_the_same() {
    after_an_older_set(|_| ());
}

#[test]
fn the_same_with_a_set_of_an_earlier_version_without_stamps() {
    after_an_older_set(|server| assert_eq!(server.cli(&["DEL", "{tollgate.definitions}.stamps"]), "1"));
}

/// A way to a server on which the answers to changes of the set are held back.
struct Way {
    port: u16,
    holds: Arc<AtomicBool>,
    is_held: Arc<AtomicBool>,
}

impl Way {
    fn to(server: &Server) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, target) = (listener.local_addr().unwrap().port(), server.port);
        let [holds, is_held] = [(); 2].map(|()| Arc::<AtomicBool>::default());
        let way = Way { port, holds: holds.clone(), is_held: is_held.clone() };
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let pair = |stream: &TcpStream| stream.try_clone().unwrap();
                let (back_from, back_to) = (pair(&server), pair(&client));
                let (holds, held) = (holds.clone(), is_held.clone());
                thread::spawn(move || {
                    pass_on(client, server, |bytes| {
                        let is_change = bytes.windows(CHANGE.len()).any(|part| part == CHANGE);
                        held.fetch_or(is_change && holds.load(Ordering::Relaxed), Ordering::Relaxed);
                    });
                });
                let held = is_held.clone();
                thread::spawn(move || {
                    pass_on(back_from, back_to, |_| {
                        while held.load(Ordering::Relaxed) {
                            thread::sleep(Duration::from_millis(5));
                        }
                    });
                });
            }
        });
        way
    }

    fn hold(&self, holds: bool) {
        self.holds.store(holds, Ordering::Relaxed);
        self.is_held.store(false, Ordering::Relaxed);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, seen: impl Fn(&[u8])) {
    let mut bytes = [0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        seen(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn a_change_whose_answer_is_lost_is_logged_as_its_authors_when_it_turns_out_to_be_made() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let way = Way::to(&server);
    let mut conf = sharing(on(&server));
    conf["storage"]["port"] = way.port.into();
    let (gateway, other) = (Gateway::start(conf, []), Gateway::start(sharing(on(&server)), []));
    post(&gateway, "one", &upstream);
    way.hold(true);
    let answer = gateway.control("POST", "/tyk/apis", &api("two", "/two/", &upstream.url()).0.to_string());
    assert_eq!((answer.status, &answer.json()["cause"]), (503, &json!("store")), "{answer}");
    assert!(answer.json()["message"].as_str().unwrap().contains("has not confirmed"), "{answer}");
    // Meanwhile, another one changes something: that is not this gateway's.
    eventually("it was made", || other.get("/two/").status == 200);
    post(&other, "three", &upstream);
    way.hold(false);
    eventually("it is served", || gateway.get("/two/").status == 200 && gateway.get("/three/").status == 200);
    let mut rows = Vec::new();
    eventually("each is logged", || {
        let log = tollgate(&other, "history -n 50 --json").json();
        let of_apis = log.as_array().unwrap().iter().filter(|row| row["kind"] == "api");
        rows = of_apis.map(|row| format!("{} {} {}", row["user"], row["action"], row["target"])).collect();
        rows.len() >= 3
    });
    rows.sort();
    assert_eq!(rows, ["one", "three", "two"].map(|id| format!("\"secret\" \"create\" \"{id}\"")));
    let revisions = gateway.control("GET", "/tyk/configuration/revisions", "").json();
    assert_eq!(revisions["revisions"].as_array().unwrap().len(), 3, "{revisions}");
}
