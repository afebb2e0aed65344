//! The log of changes and revisions while their store does not answer: nothing is lost, or what is lost is named.

use serde_json::Value;

use crate::commands::tollgate;
use crate::harness::{Gateway, Upstream, api, eventually};
use crate::servers::Server;
use crate::shared_keys::on;

fn post(gateway: &Gateway, id: &str, upstream: &Upstream) {
    let answer = gateway.control("POST", "/tyk/apis", &api(id, &format!("/{id}/"), &upstream.url()).0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

/// Ids of logged APIs, the newest first.
fn logged(gateway: &Gateway) -> Vec<String> {
    let log = tollgate(gateway, "history -n 50 --json").json();
    let rows = log.as_array().unwrap().iter().filter(|row| row["kind"] == "api");
    rows.map(|row| row["target"].as_str().unwrap().to_owned()).collect()
}

fn revisions(gateway: &Gateway) -> Value {
    gateway.control("GET", "/tyk/configuration/revisions", "").json()["revisions"].clone()
}

fn revised(gateway: &Gateway) -> Vec<String> {
    revisions(gateway).as_array().unwrap().iter().map(|row| row["objects"][0].as_str().unwrap().to_owned()).collect()
}

#[test]
fn changes_during_an_outage_are_logged_in_their_order_afterwards() {
    let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateway = Gateway::start(on(&server), []);
    post(&gateway, "one", &upstream);
    eventually("the first is logged", || logged(&gateway) == ["one"] && revised(&gateway).len() == 1);
    server.cli(&["SAVE"]);
    server.kill();
    ["two", "three", "four"].iter().for_each(|id| post(&gateway, id, &upstream));
    eventually("it is noticed", || gateway.log().contains("it is tried again"));
    server.restart();
    eventually("it is connected again", || gateway.log().matches("connected to Redis").count() == 2);
    eventually("all are logged", || logged(&gateway).len() == 4);
    assert_eq!(logged(&gateway), ["four", "three", "two", "one"]);
    eventually("all are revisions", || revised(&gateway).len() == 4);
    assert_eq!(revised(&gateway), ["create api four", "create api three", "create api two", "create api one"]);
    tollgate(&gateway, "rollback 1").ok();
    assert_eq!(["one", "two", "four"].map(|id| gateway.get(&format!("/{id}/")).status), [200, 404, 404]);
}

#[test]
fn a_gateway_that_stops_stores_what_waits_and_a_hole_in_the_revisions_is_named() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateway = Gateway::start(on(&server), []);
    post(&gateway, "one", &upstream);
    eventually("the first is logged", || logged(&gateway) == ["one"] && revised(&gateway).len() == 1);
    server.signal("STOP");
    post(&gateway, "two", &upstream);
    post(&gateway, "three", &upstream);
    gateway.signal("TERM");
    eventually("it is noticed", || gateway.log().contains("it is tried again"));
    server.signal("CONT");
    assert!(gateway.wait_for_exit().success());
    let next = Gateway::start(on(&server), []);
    assert_eq!((logged(&next), revised(&next).len()), (vec!["three".to_owned(), "two".to_owned(), "one".to_owned()], 3));

    post(&next, "four", &upstream);
    post(&next, "five", &upstream);
    eventually("all are revisions", || revised(&next).len() == 5);
    let keys = server.cli(&["KEYS", "*revision/4"]);
    assert_eq!(server.cli(&["DEL", &keys]), "1", "{keys}");
    tollgate(&next, "rollback 3").fails(1, "Revision 4 is missing");
    tollgate(&next, "rollback 4").ok();
}
