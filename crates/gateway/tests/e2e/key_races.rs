//! Writes to one key that come at the same time: whichever is last, memory and store end up with the same session, and with what the
//! answers said.

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Gateway, Upstream, request};
use crate::keys::{call, keyed, session, with_key};
use crate::servers::Server;
use crate::shared_keys;

/// Pairs of writes for each kind of race, on a store of its own and on a shared one, and how many run at a time.
const PAIRS: usize = 1_000;
const PAIRS_SHARED: usize = 250;
const WORKERS: usize = 4;

/// One of two writes: its method, its path in front of the key's name, and its body.
struct Write {
    method: &'static str,
    path: &'static str,
    body: String,
}

fn put(fields: Value) -> Write {
    Write { method: "PUT", path: "/tyk/keys/", body: session(fields).to_string() }
}

fn post(fields: Value) -> Write {
    Write { method: "POST", path: "/tyk/keys/", body: session(fields).to_string() }
}

fn delete() -> Write {
    Write { method: "DELETE", path: "/tyk/keys/", body: String::new() }
}

fn set_policy(id: &str) -> Write {
    Write { method: "POST", path: "/tyk/keys/policy/", body: json!({"apply_policies": [id]}).to_string() }
}

impl Write {
    fn text(&self, key: &str) -> String {
        request(self.method, &format!("{}{key}", self.path), &[&format!("x-tyk-authorization: {SECRET}")], &self.body)
    }
}

/// Makes keys and writes each of them twice at the same time, the first write on the first gateway and the second on the last. The answer
/// is the keys and what both writes were answered with.
fn race(name: &str, pairs: usize, gateways: &[&Gateway], first: &Write, second: &Write) -> Vec<(String, [u16; 2])> {
    let ports = [gateways[0].port, gateways[gateways.len() - 1].port];
    let workers = |worker| (worker..pairs).step_by(WORKERS).map(move |pair| format!("{name}{pair}"));
    thread::scope(|scope| {
        let run = |worker| {
            move || {
                let mut clients = ports.map(Connection::open);
                let mut reader = Connection::open(ports[0]);
                let mut outcomes = Vec::new();
                for id in workers(worker) {
                    let made = clients[0].ask(post(json!({"alias": "made"})).text(&id));
                    let key = made.json()["key"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
                    clients[0].send(first.text(&key));
                    clients[1].send(second.text(&key));
                    // Somebody who looks meanwhile must not put what it sees back.
                    reader.ask(request("GET", &format!("/tyk/keys/{key}"), &[&format!("x-tyk-authorization: {SECRET}")], ""));
                    let statuses = [clients[0].response(first.method).status, clients[1].response(second.method).status];
                    outcomes.push((key, statuses));
                }
                outcomes
            }
        };
        let running: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(run(worker))).collect();
        running.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    })
}

/// What a gateway knows of a key: the answer to a request with it, the quota that the answer tells, and the session that it shows.
fn seen(gateway: &Gateway, client: &mut Connection, key: &str) -> (u16, Option<String>, Value) {
    let called = client.ask(with_key("/a/", key));
    let limit = called.header("x-ratelimit-limit").map(str::to_owned);
    let shown = gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
    (called.status, limit, json!([shown["alias"], shown["apply_policies"], shown["is_inactive"], shown["status"]]))
}

/// The races, each with the pairs of answers after which the key must be gone.
fn races() -> Vec<(&'static str, Write, Write, &'static [[u16; 2]])> {
    vec![
        ("modified", put(json!({"alias": "one", "quota_max": 111})), put(json!({"alias": "two", "quota_max": 222})), &[]),
        // Whoever is second to a deletion finds nothing.
        ("deleted", put(json!({"alias": "one", "quota_max": 111})), delete(), &[[200, 200], [404, 200]]),
        ("made", post(json!({"alias": "one", "quota_max": 111})), delete(), &[]),
        ("policed", set_policy("p"), put(json!({"alias": "two", "is_inactive": true})), &[]),
    ]
}

fn policies() -> Value {
    json!({"p": {"id": "p", "org_id": "default", "rate": 0, "quota_max": 333, "access_rights": {"a": {"versions": ["Default"]}}}})
}

fn kept(data: &Path, policies: &Path, upstream: &Upstream) -> Gateway {
    let conf = json!({"tollgate": {"data_dir": data}, "policies": {"policy_source": "file", "policy_record_name": policies}});
    Gateway::start(conf, [keyed("a", upstream)])
}

#[test]
fn writes_to_one_key_at_the_same_time_leave_memory_and_store_the_same() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().expect("a folder");
    let path = data.path().join("policies.json");
    std::fs::write(&path, policies().to_string()).expect("policies");
    let mut gateway = kept(data.path(), &path, &upstream);
    let mut all = Vec::new();
    for (name, first, second, gone_after) in races() {
        for (key, statuses) in race(name, PAIRS, &[&gateway], &first, &second) {
            assert!(statuses.iter().all(|status| [200, 404].contains(status)), "{key}: {statuses:?}");
            all.push((key, statuses, gone_after));
        }
    }
    let look = |gateway: &Gateway| {
        let mut client = gateway.connect();
        all.iter().map(|(key, ..)| seen(gateway, &mut client, key)).collect::<Vec<_>>()
    };
    let memory = look(&gateway);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let gateway = kept(data.path(), &path, &upstream);
    let store = look(&gateway);
    let mut wrong = Vec::new();
    for (((key, statuses, gone_after), memory), store) in all.iter().zip(&memory).zip(&store) {
        if memory != store {
            wrong.push(format!("{key} {statuses:?}: {memory:?} in memory, {store:?} in the store"));
        } else if gone_after.contains(statuses) && store.0 != 403 {
            wrong.push(format!("{key} {statuses:?}: deleted, and there: {store:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} keys:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn gateways_that_write_one_key_at_the_same_time_end_up_with_what_redis_has() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("policies.json");
    std::fs::write(&path, policies().to_string()).expect("policies");
    let mut conf = shared_keys::on(&server);
    conf["hash_keys"] = json!(false);
    conf["policies"] = json!({"policy_source": "file", "policy_record_name": path});
    let gateways = [(); 2].map(|()| shared_keys::gateway(&conf, &upstream));
    let mut wrong = Vec::new();
    let sides: [&[&Gateway]; 2] = [&[&gateways[0]], &[&gateways[0], &gateways[1]]];
    for (side, used) in sides.into_iter().enumerate() {
        for (name, first, second, gone_after) in races() {
            for (key, statuses) in race(&format!("{name}{side}n"), PAIRS_SHARED, used, &first, &second) {
                let stored: Value = serde_json::from_str(&server.cli(&["GET", &format!("apikey-{key}")])).unwrap_or_default();
                let expect = json!([stored["alias"], stored["apply_policies"], stored["is_inactive"]]);
                if stored.is_object() && gone_after.contains(&statuses) {
                    wrong.push(format!("{key} {statuses:?}: deleted, and there: {stored}"));
                }
                for gateway in &gateways {
                    let status = match (stored.is_object(), stored["is_inactive"] == true) {
                        (true, false) => 200,
                        _ => 403,
                    };
                    let quota = match stored["apply_policies"].is_array() {
                        true => json!(333),
                        false => stored["quota_max"].clone(),
                    };
                    let shown = gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
                    let shown = json!([shown["alias"], shown["apply_policies"], shown["is_inactive"]]);
                    let mut last = None;
                    let is_right = || {
                        let called = call(gateway, "/a/", &key);
                        let limit = called.header("x-ratelimit-limit").map(str::to_owned);
                        let is_right = called.status == status && (status != 200 || limit == Some(quota.to_string()));
                        last = Some((called.status, limit));
                        is_right
                    };
                    // What the other gateway wrote is heard of a little later.
                    if !settles(is_right) || shown != expect {
                        wrong.push(format!("{key} {statuses:?} on {}: {last:?} and {shown}, stored is {stored}", gateway.port));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} keys:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether something comes true; what the other gateway does is heard of a little later.
fn settles(mut holds: impl FnMut() -> bool) -> bool {
    (0..3_000).any(|_| {
        let is_so = holds();
        if !is_so {
            thread::sleep(Duration::from_millis(10));
        }
        is_so
    })
}
