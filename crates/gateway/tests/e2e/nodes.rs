//! Three gateways on one Redis are one for whoever looks: each knows the others, what differs, and sums their figures.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::definition::Definition;
use crate::harness::{Gateway, Upstream, api, eventually};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::statistics::{Events, wait_for};

fn shop(upstream: &Upstream) -> Definition {
    api("shop", "/shop/", &upstream.url()).set("do_not_track", false)
}

fn three(server: &Server, upstream: &Upstream) -> Vec<Gateway> {
    (0..3).map(|_| Gateway::start(on(server), [shop(upstream)])).collect()
}

fn rows(nodes: &Value) -> &Vec<Value> {
    nodes["nodes"].as_array().expect("rows")
}

fn all_know_each_other(gateways: &[Gateway]) {
    for gateway in gateways {
        wait_for(gateway, "/tyk/nodes", |nodes| {
            rows(nodes).len() == gateways.len() && rows(nodes).iter().all(|row| row["alive"] == true && row["differs"] == json!([]))
        });
    }
}

#[test]
fn each_gateway_knows_the_others_and_what_differs() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateways = three(&server, &upstream);
    all_know_each_other(&gateways);
    gateways[2].write_api(&api("extra", "/extra/", &upstream.url()));
    gateways[2].reload();
    let nodes =
        wait_for(&gateways[0], "/tyk/nodes", |nodes| rows(nodes).iter().any(|row| row["differs"] == json!(["definitions"])));
    let odd: Vec<&Value> = rows(&nodes).iter().filter(|row| row["differs"] != json!([])).collect();
    assert!(odd.len() == 1 && odd[0]["apis"] == 2 && odd[0]["self"] == false, "{nodes}");
    assert_eq!((&rows(&nodes)[0]["self"], &nodes["shared"]), (&json!(true), &json!(true)), "{nodes}");

    let mut gone = gateways.remove(2);
    gone.signal("TERM");
    assert!(gone.wait_for_exit().success());
    wait_for(&gateways[0], "/tyk/nodes", |nodes| rows(nodes).iter().filter(|row| row["alive"] == true).count() == 2);
    let marks = gateways[0].control("GET", "/tyk/history", "").json()["marks"].clone();
    let kinds: Vec<&str> = marks.as_array().unwrap().iter().filter_map(|mark| mark["kind"].as_str()).collect();
    assert!(kinds.contains(&"node_joined") && kinds.last() == Some(&"node_left"), "{marks}");
}

#[test]
fn figures_of_all_gateways_are_summed() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&server, &upstream);
    all_know_each_other(&gateways);
    // Counting begins with the first question, on all gateways.
    gateways[0].control("GET", "/tyk/top?by=path&nodes=all", "");
    for (gateway, count) in gateways.iter().zip([1, 2, 4]) {
        (0..count).for_each(|_| drop(gateway.get("/shop/thing")));
    }
    let top = wait_for(&gateways[0], "/tyk/top?by=path&nodes=all", |top| top["seen"] == 7);
    assert_eq!((&top["rows"][0]["value"], &top["rows"][0]["requests"]), (&json!("/shop/thing"), &json!(7)), "{top}");
    assert_eq!((top["nodes"].as_array().map(Vec::len), &top["missing"]), (Some(3), &json!([])), "{top}");

    let requests =
        |history: &Value| -> u64 { history["totals"]["requests"].as_array().into_iter().flatten().filter_map(Value::as_u64).sum() };
    let history = wait_for(&gateways[1], "/tyk/history?nodes=all", |history| requests(history) == 7);
    assert_eq!(history["apis"][0]["api_id"], "shop", "{history}");
    assert_eq!(requests(&gateways[1].control("GET", "/tyk/history", "").json()), 2);
}

#[test]
fn refusals_of_all_gateways_are_found_and_a_silent_gateway_is_named() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let conf = on(&server);
    let gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(conf.clone(), [shop(&upstream).with_keys()])).collect();
    all_know_each_other(&gateways);
    gateways.iter().for_each(|gateway| drop(gateway.get("/shop/")));
    let nodes = |tail: &Value| -> BTreeSet<String> {
        tail["entries"].as_array().unwrap().iter().map(|entry| entry["node"].as_str().unwrap().to_owned()).collect()
    };
    // Each keeps its own after the client has its answer.
    wait_for(&gateways[0], "/tyk/tail?nodes=all&cause=auth_missing", |tail| nodes(tail).len() == 3);

    gateways[2].signal("STOP");
    let tail = gateways[0].control("GET", "/tyk/tail?nodes=all", "").json();
    assert_eq!((tail["nodes"].as_array().map(Vec::len), tail["missing"].as_array().map(Vec::len)), (Some(2), Some(1)), "{tail}");
    gateways[2].signal("CONT");
    eventually("it answers again", || gateways[0].control("GET", "/tyk/tail?nodes=all", "").json()["missing"] == json!([]));
}

#[test]
fn a_stream_has_the_sums_and_the_tail_of_all_gateways() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let conf = on(&server);
    let gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(conf.clone(), [shop(&upstream).with_keys()])).collect();
    all_know_each_other(&gateways);
    let mut stream = Events::open(gateways[0].port, "topics=live,tail&nodes=all");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                gateways.iter().for_each(|gateway| drop(gateway.get("/shop/")));
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        // Whatever fails, the other thread must end.
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let sum = (0..20).find_map(|_| {
                let live = stream.next("live").expect("a sample");
                // The first sample has no causes: it does not know since when.
                let has_causes = live["totals"]["refusals"]["auth_missing"].is_u64();
                (live["nodes"].as_array().map(Vec::len) == Some(3) && has_causes).then_some(live)
            });
            let mut tailed = BTreeSet::new();
            for _ in 0..60 {
                let batch = stream.next("tail").expect("a batch");
                tailed.extend(batch["entries"].as_array().unwrap().iter().map(|entry| entry["node"].as_str().unwrap().to_owned()));
                if tailed.len() == 3 {
                    break;
                }
            }
            (sum, tailed)
        }));
        is_done.store(true, Ordering::Relaxed);
        let (sum, tailed) = seen.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let sum = sum.expect("a sum of three gateways");
        assert_eq!(sum["missing"], json!([]), "{sum}");
        let number = |path: &str| sum.pointer(path).and_then(Value::as_u64).unwrap();
        assert_eq!(number("/totals/refused"), number("/totals/requests"), "{sum}");
        assert_eq!((&sum["apis"][0]["api_id"], number("/apis/0/requests")), (&json!("shop"), number("/totals/requests")), "{sum}");
        assert_eq!(tailed.len(), 3, "{tailed:?}");
    });
}

#[test]
fn a_gateway_of_another_secret_is_not_heard() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let with = |secret: &str| {
        let mut conf = on(&server);
        conf["node_secret"] = json!(secret);
        Gateway::start(conf, [shop(&upstream)])
    };
    let (one, other, stranger) = (with("same"), with("same"), with("forged"));
    let nodes = wait_for(&one, "/tyk/nodes", |nodes| rows(nodes).len() == 2);
    assert!(rows(&nodes).iter().all(|row| !row["node"].as_str().unwrap().ends_with(&format!(":{}", stranger.port))), "{nodes}");
    drop(other);
}

#[test]
fn without_redis_a_gateway_is_alone() {
    let gateway = Gateway::start(json!({}), []);
    let nodes = gateway.control("GET", "/tyk/nodes", "").json();
    assert_eq!((&nodes["shared"], rows(&nodes).len()), (&json!(false), 1), "{nodes}");
    assert_eq!(gateway.control("GET", "/tyk/history?nodes=some", "").status, 400);
}

#[test]
fn gateways_that_share_only_cached_responses_know_each_other() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let conf =
        json!({"enable_separate_cache_store": true, "cache_storage": {"type": "redis", "host": "127.0.0.1", "port": server.port}});
    let gateways: Vec<Gateway> = (0..2).map(|_| Gateway::start(conf.clone(), [shop(&upstream)])).collect();
    all_know_each_other(&gateways);
    gateways[0].control("GET", "/tyk/top?by=path&nodes=all", "");
    gateways.iter().for_each(|gateway| drop(gateway.get("/shop/thing")));
    let top = wait_for(&gateways[1], "/tyk/top?by=path&nodes=all", |top| top["seen"] == 2);
    assert_eq!((top["nodes"].as_array().map(Vec::len), &top["missing"]), (Some(2), &json!([])), "{top}");
}

#[test]
fn a_restart_without_interruption_is_no_news_to_the_others() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateways = three(&server, &upstream);
    all_know_each_other(&gateways);
    let marks = |gateway: &Gateway| gateway.control("GET", "/tyk/history", "").json()["marks"].as_array().map_or(0, Vec::len);
    let before = marks(&gateways[0]);
    gateways[1].restart();
    let process = format!("(process {})", gateways[1].pid());
    wait_for(&gateways[0], "/tyk/cache", |status| {
        let processes: Vec<&str> = status["gateways"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        processes.len() == 3 && processes.iter().any(|name| name.ends_with(&process))
    });
    all_know_each_other(&gateways);
    assert_eq!(marks(&gateways[0]), before);
}
