//! Changes of several documents where gateways share their definitions: one command at any gateway, in service on all, or nowhere.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cache_purges::with_storage;
use crate::commands::tollgate;
use crate::configuration::configuration;
use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Setup, Upstream, api, eventually};
use crate::servers::{Cluster, Server};
use crate::shared_keys::on;

fn sharing(mut conf: Value) -> Value {
    conf["tollgate"]["shared_definitions"] = json!(true);
    conf
}

/// Three gateways on one Redis server, and three on a Redis Cluster.
fn on_each_store(test: impl Fn(&[Gateway], &Upstream)) {
    let upstream = Upstream::ok();
    let server = Server::start(&[]);
    let start = |conf: &Value| (0..3).map(|_| Gateway::start(sharing(conf.clone()), [])).collect::<Vec<_>>();
    test(&start(&on(&server)), &upstream);
    let cluster = Cluster::start();
    let nodes: Vec<String> = cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    test(&start(&with_storage(json!({"type": "redis", "enable_cluster": true, "addrs": nodes}))), &upstream);
}

/// A directory as `dump` writes it, with these APIs and a policy for them.
fn directory(home: &Path, ids: &[&str], upstream: &Upstream) {
    for folder in ["apis", "policies"] {
        let _ = fs::remove_dir_all(home.join(folder));
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for id in ids {
        let definition = api(id, &format!("/{id}/"), &upstream.url());
        fs::write(home.join(format!("apis/{id}.json")), definition.0.to_string()).unwrap();
    }
    let rights: Value = ids.iter().map(|id| ((*id).to_owned(), json!({"api_id": id, "versions": ["Default"]}))).collect();
    let policy = json!({"id": "gold", "org_id": "default", "rate": 5, "per": 1, "access_rights": rights});
    fs::write(home.join("policies/gold.json"), policy.to_string()).unwrap();
}

fn name_of(gateway: &Gateway) -> String {
    gateway.control("GET", "/tyk/nodes", "").json()["node"].as_str().unwrap().to_owned()
}

fn know_each_other(gateways: &[Gateway]) {
    for gateway in gateways {
        eventually("they know each other", || {
            let nodes = gateway.control("GET", "/tyk/nodes", "").json();
            nodes["nodes"].as_array().unwrap().iter().filter(|row| row["alive"] == true).count() == gateways.len()
        });
    }
}

fn statuses(gateways: &[Gateway], target: &str) -> Vec<u16> {
    gateways.iter().map(|gateway| gateway.get(target).status).collect()
}

#[test]
fn a_sync_and_a_rollback_at_any_gateway_are_in_service_on_all_when_they_are_confirmed() {
    on_each_store(|gateways, upstream| {
        let home = tempfile::tempdir().unwrap();
        let line = |verb: &str, more: &str| format!("{verb} {} {more}", home.path().display());
        know_each_other(gateways);
        directory(home.path(), &["one", "two"], upstream);
        let said = tollgate(&gateways[0], &line("sync", "--wait")).ok();
        assert!(said.contains("3 added"), "{said}");
        for gateway in gateways {
            assert!(said.contains(&name_of(gateway)) && !said.contains("not confirmed"), "{said}");
        }
        assert_eq!((statuses(gateways, "/one/"), statuses(gateways, "/two/")), (vec![200; 3], vec![200; 3]));
        let digests: Vec<Value> = gateways.iter().map(|gateway| configuration(gateway)["digest"].clone()).collect();
        assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");

        // At another one: one goes, one comes, the policy changes.
        directory(home.path(), &["two", "three"], upstream);
        assert_eq!(tollgate(&gateways[1], &line("diff", "--prune")).code(), 5);
        let said = tollgate(&gateways[1], &line("sync", "--prune --wait")).ok();
        assert!(said.contains("1 added, 1 changed, 1 deleted"), "{said}");
        assert_eq!([statuses(gateways, "/one/"), statuses(gateways, "/three/")], [vec![404; 3], vec![200; 3]]);
        let said = tollgate(&gateways[2], &line("sync", "--prune --wait")).ok();
        assert!(said.contains("nothing differs") && said.contains("in service on"), "{said}");

        // And back, at the third, which has changed nothing yet.
        let revisions = |gateway: &Gateway| gateway.control("GET", "/tyk/configuration/revisions", "").json()["revisions"].clone();
        eventually("both are revisions", || revisions(&gateways[2]).as_array().unwrap().len() == 2);
        let said = tollgate(&gateways[2], "rollback 1 --wait").ok();
        assert!(said.contains("1 added, 1 changed, 1 deleted"), "{said}");
        assert_eq!([statuses(gateways, "/one/"), statuses(gateways, "/three/")], [vec![200; 3], vec![404; 3]]);
        tollgate(&gateways[0], "rollback 0 --wait").ok();
        assert_eq!([statuses(gateways, "/one/"), statuses(gateways, "/two/")], [vec![404; 3], vec![404; 3]]);
        assert_eq!(configuration(&gateways[1])["policies"], json!([]));
        eventually("the log of changes is one", || {
            let log = tollgate(&gateways[1], "history -n 50 --json").json();
            log.as_array().unwrap().iter().filter(|row| row["kind"] == "api").count() == 8
        });
    });
}

#[test]
fn of_two_syncs_for_one_state_one_is_made_and_of_a_broken_one_nothing() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(sharing(on(&server)), [])).collect();
    let revision =
        |gateway: &Gateway| gateway.control("GET", "/tyk/nodes", "").json()["nodes"][0]["shared_definitions"]["revision"].clone();
    let put = |id: &str, path: &str| json!({"kind": "api", "action": "put", "document": api(id, path, &upstream.url()).0});
    let post = |gateway: &Gateway, digest: &Value, changes: Value| {
        gateway.control("POST", "/tyk/configuration", &json!({"digest": digest, "changes": changes, "wait": true}).to_string())
    };
    let digest = configuration(&gateways[0])["digest"].clone();
    let answers: Vec<u16> = thread::scope(|scope| {
        let both: Vec<_> = gateways
            .iter()
            .enumerate()
            .map(|(number, gateway)| {
                let (digest, changes) = (
                    &digest,
                    json!([put("same", &format!("/same-{number}/")), put(&format!("own-{number}"), &format!("/own-{number}/"))]),
                );
                scope.spawn(move || post(gateway, digest, changes).status)
            })
            .collect();
        both.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    let made: Vec<usize> = (0..3).filter(|number| answers[*number] == 200).collect();
    assert_eq!((made.len(), answers.iter().filter(|status| **status == 412).count()), (1, 2), "{answers:?}");
    let served = |target: String| statuses(&gateways, &target);
    for number in 0..3 {
        let status = if number == made[0] { 200 } else { 404 };
        for part in ["same", "own"] {
            eventually("nothing of a refused change is served", || served(format!("/{part}-{number}/")) == [status; 3]);
        }
    }
    let before = revision(&gateways[0]);
    let mut broken = api("broken", "/broken/", &upstream.url()).0;
    broken["proxy"]["listen_path"] = json!("/x{id/");
    let answer = post(
        &gateways[0],
        &json!("*"),
        json!([put("fine", "/fine/"), {"kind": "api", "action": "put", "source": "b.json", "document": broken}]),
    );
    assert_eq!((answer.status, &answer.json()["problems"][0]["source"]), (400, &json!("b.json")), "{answer}");
    assert_eq!((revision(&gateways[0]), served("/fine/".to_owned())), (before, vec![404; 3]));
}

#[test]
fn a_gateway_that_dies_during_a_change_leaves_all_of_it_or_nothing() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let other = Gateway::start(sharing(on(&server)), []);
    for round in 0..6 {
        let mut dying = Gateway::start(sharing(on(&server)), []);
        let documents: Vec<Value> = (0..150)
            .map(|number| json!({"kind": "api", "action": "put", "document": api(&format!("a{number}"), &format!("/a{number}/{round}/"), &upstream.url()).0}))
            .collect();
        let body = json!({"digest": "*", "changes": documents}).to_string();
        thread::scope(|scope| {
            let gateway = &dying;
            let head = format!(
                "POST /tyk/configuration HTTP/1.1\r\nHost: x\r\nX-Tyk-Authorization: {SECRET}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            scope.spawn(move || gateway.raw_or_reset(head + &body));
            thread::sleep(Duration::from_millis(30 * round));
            gateway.signal("KILL");
        });
        dying.wait_for_exit();
        // A later change shows what was stored before.
        let answer = other.control(
            "POST",
            "/tyk/configuration",
            &json!({"digest": "*", "wait": true, "changes": [
            {"kind": "policy", "action": "put", "document": {"id": "p", "rate": round, "per": 1}}]})
            .to_string(),
        );
        assert_eq!(answer.status, 200, "{answer}");
        // Redis may carry it out after the other change, while this is looked at.
        eventually("all of it or nothing is served", || {
            let there = (0..150).filter(|number| other.get(&format!("/a{number}/{round}/")).status == 200).count();
            [0, 150].contains(&there)
        });
    }
}

#[test]
fn gateways_with_other_files_of_their_own_and_those_that_do_not_answer_are_named() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateways = vec![
        Gateway::start(sharing(on(&server)), []),
        Gateway::start(sharing(on(&server)), [api("mine", "/mine/", &upstream.url())]),
        Setup::new(sharing(on(&server))).start(),
    ];
    know_each_other(&gateways);
    let names: Vec<String> = gateways.iter().map(name_of).collect();
    let home = tempfile::tempdir().unwrap();
    directory(home.path(), &["one"], &upstream);
    let line = format!("sync {} --wait", home.path().display());
    let said = tollgate(&gateways[0], &line).ok();
    assert!(said.contains(&format!("note: {} serves other definitions too, from files of its own", names[1])), "{said}");
    assert!(!said.contains(&format!("note: {}", names[2])), "{said}");
    // One that is stopped is alive for some seconds, and confirms nothing; on a machine that stalls, it may count as gone before.
    let mut outcome = None;
    for number in 0..5 {
        know_each_other(&gateways);
        directory(home.path(), &["one", &format!("two-{number}")], &upstream);
        gateways[2].signal("STOP");
        let made = tollgate(&gateways[0], &format!("{line} --prune"));
        gateways[2].signal("CONT");
        if made.code() == 8 {
            outcome = Some((number, made));
            break;
        }
    }
    let (number, outcome) = outcome.expect("one that is alive and silent");
    assert!(
        outcome.out().contains(&format!("not confirmed by: {}", names[2])) && outcome.out().contains(&names[1]),
        "{}",
        outcome.out()
    );
    let late = gateways.pop().unwrap();
    eventually("it takes the change up later", || late.get(&format!("/two-{number}/")).status == 200);
}

#[test]
fn each_change_is_logged_once_by_the_gateway_that_made_it() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(sharing(on(&server)), [])).collect();
    let names: Vec<String> = gateways.iter().map(name_of).collect();
    thread::scope(|scope| {
        for (place, gateway) in gateways.iter().enumerate() {
            let url = upstream.url();
            scope.spawn(move || {
                for number in 0..10 {
                    let definition = api(&format!("own-{place}"), &format!("/own-{place}-{number}/"), &url);
                    assert_eq!(gateway.control("POST", "/tyk/apis", &definition.0.to_string()).status, 200);
                }
            });
        }
    });
    eventually("all are logged", || {
        let log = tollgate(&gateways[0], "history -n 100 --json").json();
        let rows: Vec<&Value> = log.as_array().unwrap().iter().filter(|row| row["kind"] == "api").collect();
        assert!(rows.len() <= 30, "{rows:?}");
        let is_own = |row: &&Value| (0..3).any(|place| row["target"] == format!("own-{place}") && row["node"] == *names[place]);
        assert!(rows.iter().all(is_own), "{rows:?}");
        rows.len() == 30
    });
}

#[test]
fn a_gateway_that_starts_beside_an_emptied_redis_has_its_copy() {
    let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateway = Setup::new(sharing(on(&server))).start();
    assert_eq!(gateway.control("POST", "/tyk/apis", &api("shop", "/shop/", &upstream.url()).0.to_string()).status, 200);
    let copy = gateway.dir().join("data/shared-definitions.json");
    eventually("there is a copy", || fs::read_to_string(&copy).is_ok_and(|text| text.contains("shop")));
    server.kill();
    server.restart();
    gateway.restart();
    assert_eq!(gateway.get("/shop/").status, 200);
    assert_eq!(gateway.control("POST", "/tyk/apis", &api("more", "/more/", &upstream.url()).0.to_string()).status, 200);
    let other = Gateway::start(sharing(on(&server)), []);
    assert_eq!((other.get("/shop/").status, other.get("/more/").status), (200, 200));
}
