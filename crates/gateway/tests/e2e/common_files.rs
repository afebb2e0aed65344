//! Several gateways that serve the same files: what is logged of a change, and the way back.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::harness::{Gateway, Upstream, api, eventually};
use crate::servers::Server;
use crate::shared_keys::on;

fn start(server: &Server, apps: &Path) -> Gateway {
    let mut conf = on(server);
    conf["app_path"] = json!(apps);
    Gateway::start(conf, [])
}

fn write(apps: &Path, id: &str, path: &str, upstream: &Upstream) {
    fs::write(apps.join(format!("{id}.json")), api(id, path, &upstream.url()).0.to_string()).unwrap();
}

fn reload(gateways: &[Gateway]) {
    for gateway in gateways {
        gateway.reload();
    }
}

/// What is logged of APIs, the oldest first.
fn logged(gateway: &Gateway) -> Vec<String> {
    let log = tollgate(gateway, "history -n 50 --json").json();
    let rows = log.as_array().unwrap().iter().rev().filter(|row| row["kind"] == "api");
    rows.map(|row| format!("{} {} {}", row["user"], row["action"], row["target"]).replace('"', "")).collect()
}

fn revisions(gateway: &Gateway) -> Vec<Value> {
    gateway.control("GET", "/tyk/configuration/revisions", "").json()["revisions"].as_array().unwrap().clone()
}

#[test]
fn each_change_is_logged_once_and_every_gateway_knows_the_way_back() {
    let (server, upstream, apps) = (Server::start(&[]), Upstream::ok(), tempfile::tempdir().unwrap());
    let mut gateways: Vec<Gateway> = (0..3).map(|_| start(&server, apps.path())).collect();
    let mut expected = Vec::new();
    let mut settled = |gateways: &[Gateway], line: &str| {
        expected.push(line.to_owned());
        eventually("it is logged", || logged(&gateways[0]).len() >= expected.len());
        reload(gateways);
        // A gateway that has told all has logged all.
        for gateway in gateways {
            tollgate(gateway, &format!("rollback {} --dry-run", expected.len())).ok();
        }
        assert_eq!(logged(&gateways[0]), expected);
        eventually("each is one revision", || revisions(&gateways[0]).len() == expected.len());
    };
    // By hand, before there is a change by a gateway.
    write(apps.path(), "hand", "/hand/", &upstream);
    gateways[1].reload();
    settled(&gateways, "files create hand");
    let answer = gateways[0].control("POST", "/tyk/apis", &api("shop", "/shop/", &upstream.url()).0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    // At once, also before it is logged.
    reload(&gateways);
    settled(&gateways, "secret create shop");
    // To a state, away from it, and to it again.
    for (at, path) in ["/one/", "/two/", "/one/", "/two/"].into_iter().enumerate() {
        write(apps.path(), "hand", path, &upstream);
        gateways[at % 3].reload();
        settled(&gateways, "files update hand");
    }
    fs::remove_file(apps.path().join("hand.json")).unwrap();
    gateways[2].reload();
    settled(&gateways, "files delete hand");

    // At a gateway that has changed nothing and has a new name.
    drop(gateways.remove(0));
    let late = start(&server, apps.path());
    tollgate(&late, "rollback 3").ok();
    assert_eq!((late.get("/one/").status, late.get("/shop/").status), (200, 200));
    tollgate(&late, "rollback 1").ok();
    assert_eq!((late.get("/hand/").status, late.get("/shop/").status), (200, 404));
}

#[test]
fn directories_of_their_own_have_revisions_of_their_own() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways: Vec<Gateway> = (0..2).map(|_| Gateway::start(on(&server), [])).collect();
    for gateway in &gateways {
        write(&gateway.apps(), "hand", "/hand/", &upstream);
        gateway.reload();
        let answer = gateway.control("POST", "/tyk/apis", &api("shop", "/shop/", &upstream.url()).0.to_string());
        assert_eq!(answer.status, 200, "{answer}");
    }
    eventually("each is logged", || logged(&gateways[0]).len() == 4 && revisions(&gateways[0]).len() == 4);
    tollgate(&gateways[0], "rollback 0").ok();
    assert_eq!((gateways[0].get("/shop/").status, gateways[1].get("/shop/").status), (404, 200));
}

#[test]
fn a_rollback_takes_back_what_nobody_had_noticed() {
    let (server, upstream, apps) = (Server::start(&[]), Upstream::ok(), tempfile::tempdir().unwrap());
    let gateway = start(&server, apps.path());
    let answer = gateway.control("POST", "/tyk/apis", &api("shop", "/shop/", &upstream.url()).0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    eventually("it is a revision", || revisions(&gateway).len() == 1);
    write(apps.path(), "shop", "/changed/", &upstream);
    let said = tollgate(&gateway, "rollback 1").ok();
    assert!(said.contains("1 changed"), "{said}");
    assert_eq!((gateway.get("/shop/").status, gateway.get("/changed/").status), (200, 404));
}

#[test]
fn files_of_one_gateway_do_not_become_what_all_share() {
    let (server, upstream, apps) = (Server::start(&[]), Upstream::ok(), tempfile::tempdir().unwrap());
    let gateway = start(&server, apps.path());
    let answer = gateway.control("POST", "/tyk/apis", &api("own", "/own/", &upstream.url()).0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    eventually("it is a revision", || revisions(&gateway).len() == 1);
    drop(gateway);
    let mut conf = on(&server);
    conf["app_path"] = json!(apps.path());
    conf["tollgate"]["shared_definitions"] = json!(true);
    let gateways: Vec<Gateway> = (0..2).map(|_| Gateway::start(conf.clone(), [])).collect();
    let answer = gateways[0].control("POST", "/tyk/apis", &api("all", "/all/", &upstream.url()).0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    eventually("it is a revision", || revisions(&gateways[0]).len() == 2);
    tollgate(&gateways[0], "rollback 0").fails(1, "Revision 1 changed files of this gateway");
    tollgate(&gateways[0], "rollback 1").ok();
    assert_eq!((gateways[0].get("/own/").status, gateways[0].get("/all/").status), (200, 404));
}
