//! Keys over the end of a process, orderly or not: what was acknowledged is there again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, PATIENCE, Upstream, eventually, request};
use crate::keys::{call, create, keyed, session, with_key};

fn kept(data: &Path, upstream: &Upstream) -> Gateway {
    Gateway::start(json!({"hash_keys": true, "tollgate": {"data_dir": data}}), [keyed("a", upstream)])
}

#[test]
fn keys_and_quotas_are_exact_after_an_orderly_restart() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().expect("a folder");
    let mut gateway = kept(data.path(), &upstream);
    let quota = session(json!({"quota_max": 1000, "quota_renewal_rate": 3600, "alias": "counted", "tags": ["x"]}));
    let keys: Vec<String> = (0..20).map(|_| create(&gateway, &quota)).collect();
    let deleted = create(&gateway, &quota);
    assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{deleted}"), "").status, 200);
    let mut client = gateway.connect();
    let mut resets = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        let mut reset = None;
        for _ in 0..=index {
            reset = client.ask(with_key("/a/", key)).header("x-ratelimit-reset").map(str::to_owned);
        }
        resets.push(reset);
    }
    let shown = |gateway: &Gateway| -> Vec<Value> {
        keys.iter().map(|key| gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()).collect()
    };
    let before = shown(&gateway);
    for round in 0..3 {
        gateway.signal("TERM");
        assert!(gateway.wait_for_exit().success());
        gateway = kept(data.path(), &upstream);
        if round == 0 {
            assert_eq!(shown(&gateway), before);
        }
        for (index, key) in keys.iter().enumerate() {
            let response = call(&gateway, "/a/", key);
            let left = (1000 - index - 2 - round).to_string();
            assert_eq!((response.status, response.header("x-ratelimit-remaining")), (200, Some(left.as_str())), "{index} {round}");
            assert_eq!(response.header("x-ratelimit-reset"), resets[index].as_deref());
        }
        assert_eq!(call(&gateway, "/a/", &deleted).status, 403);
    }
}

#[test]
fn a_used_up_quota_stays_used_up_over_a_restart() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().expect("a folder");
    let mut gateway = kept(data.path(), &upstream);
    let own = json!({"a": {"limit": {"quota_max": 1, "quota_renewal_rate": 3600}}});
    let keys = [
        create(&gateway, &session(json!({"quota_max": 2, "quota_renewal_rate": 3600}))),
        create(&gateway, &session(json!({"quota_max": 2, "quota_renewal_rate": -1}))),
        create(&gateway, &session(json!({"access_rights": own}))),
    ];
    for key in &keys {
        eventually("the quota is used up", || call(&gateway, "/a/", key).status == 403);
    }
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let gateway = kept(data.path(), &upstream);
    for key in &keys {
        assert_eq!(call(&gateway, "/a/", key).status, 403);
    }
}

#[test]
fn a_quota_is_at_most_a_second_old_after_a_kill() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().expect("a folder");
    let mut gateway = kept(data.path(), &upstream);
    let key = create(&gateway, &session(json!({"quota_max": 100, "quota_renewal_rate": 3600})));
    for _ in 0..10 {
        assert_eq!(call(&gateway, "/a/", &key).status, 200);
    }
    let last = std::time::SystemTime::now();
    thread::sleep(Duration::from_millis(2_500));
    // On a busy machine the write itself may come later.
    eventually("something is written", || {
        let files = std::fs::read_dir(data.path()).unwrap().flatten();
        files.filter_map(|file| file.metadata().ok()?.modified().ok()).any(|at| at > last)
    });
    gateway.signal("KILL");
    gateway.wait_for_exit();
    let gateway = kept(data.path(), &upstream);
    assert_eq!(call(&gateway, "/a/", &key).header("x-ratelimit-remaining"), Some("89"));
}

/// What a writer had been told when its gateway went away.
#[derive(Default)]
struct Told {
    made: Vec<String>,
    deleted: Vec<String>,
}

/// Makes keys, and deletes every fourth again, until nobody answers any more.
fn write_until_it_dies(port: u16, name: &str, count: &AtomicUsize) -> Told {
    let mut told = Told::default();
    let secret = format!("x-tyk-authorization: {SECRET}");
    let Ok(socket) = std::net::TcpStream::connect(("127.0.0.1", port)) else { return told };
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut client = crate::harness::Connection::over(socket);
    let body = session(json!({})).to_string();
    for number in 0.. {
        let id = format!("{name}n{number}");
        let mut ask = |method: &str, target: &str, body: &str| {
            client.try_send(request(method, target, &[&secret], body)).ok()?;
            client.try_response(method).ok()
        };
        match ask("POST", &format!("/tyk/keys/{id}"), &body) {
            Some(answer) => assert_eq!(answer.status, 200, "{answer}"),
            None => return told,
        }
        count.fetch_add(1, Ordering::Relaxed);
        if number % 4 == 3 {
            match ask("DELETE", &format!("/tyk/keys/default{id}"), "") {
                Some(answer) => assert_eq!(answer.status, 200, "{answer}"),
                // Its fate is open: the answer did not come.
                None => return told,
            }
            told.deleted.push(id);
        } else {
            told.made.push(id);
        }
    }
    told
}

#[test]
fn every_acknowledged_key_is_there_after_a_kill_at_any_moment() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().expect("a folder");
    let (mut made, mut deleted) = (Vec::new(), Vec::new());
    for round in 0..10 {
        let mut gateway = kept(data.path(), &upstream);
        let (port, count) = (gateway.port, Arc::<AtomicUsize>::default());
        let writer = |writer: u64| {
            let count = count.clone();
            thread::spawn(move || write_until_it_dies(port, &format!("r{round}w{writer}"), &count))
        };
        let writers: Vec<_> = (0..3).map(writer).collect();
        eventually("keys are made", || count.load(Ordering::Relaxed) >= 20);
        // At any moment of a write.
        thread::sleep(Duration::from_millis(37 * round));
        gateway.signal("KILL");
        gateway.wait_for_exit();
        for writer in writers {
            let told = writer.join().expect("a writer");
            made.extend(told.made);
            deleted.extend(told.deleted);
        }
        drop(gateway);

        let gateway = kept(data.path(), &upstream);
        let mut client = gateway.connect();
        for key in &made {
            assert_eq!(client.ask(with_key("/a/", key)).status, 200, "{key} is lost after round {round}");
        }
        for key in &deleted {
            assert_eq!(client.ask(with_key("/a/", key)).status, 403, "{key} is back after round {round}");
        }
    }
    assert!(made.len() > 50 && deleted.len() > 10, "{} made, {} deleted", made.len(), deleted.len());
}
