//! Definitions and policies that gateways share through their Redis: one saves, all serve.

use serde_json::{Value, json};

use crate::console::{Signed, with_secret};
use crate::harness::definition::Definition;
use crate::harness::{Gateway, Response, Setup, Upstream, api, eventually};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::statistics::wait_for;

fn sharing(server: &Server) -> Value {
    let mut conf = on(server);
    conf["tollgate"]["shared_definitions"] = json!(true);
    conf
}

fn three(server: &Server) -> Vec<Gateway> {
    (0..3).map(|_| Gateway::start(sharing(server), [])).collect()
}

fn post(gateway: &Gateway, definition: &Definition) -> Value {
    let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()
}

fn all_answer(gateways: &[Gateway], target: &str, status: u16) {
    for gateway in gateways {
        eventually("all gateways answer alike", || gateway.get(target).status == status);
    }
}

#[test]
fn what_one_gateway_saves_all_serve_and_a_late_one_takes_up() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateways = three(&server);
    let saved = post(&gateways[0], &api("shop", "/shop/", &upstream.url()));
    assert_eq!((&saved["shared"], &saved["action"]), (&json!(true), &json!("added")), "{saved}");
    assert!(saved["node"].as_str().unwrap().ends_with(&format!(":{}", gateways[0].port)), "{saved}");
    all_answer(&gateways, "/shop/", 200);

    let policy = json!({"id": "gold", "name": "Gold", "rate": 5, "per": 1, "access_rights": {"shop": {"api_id": "shop", "versions": ["Default"]}}});
    assert_eq!(gateways[1].control("POST", "/tyk/policies", &policy.to_string()).json()["shared"], true);
    for gateway in &gateways {
        eventually("the policy is everywhere", || gateway.control("GET", "/tyk/policies/gold", "").status == 200);
    }
    // One that was down has the new state when it is ready.
    let mut gone = gateways.remove(2);
    gone.signal("TERM");
    assert!(gone.wait_for_exit().success());
    post(&gateways[1], &api("later", "/later/", &upstream.url()));
    assert_eq!(gateways[0].control("DELETE", "/tyk/policies/gold", "").status, 200);
    gateways.push(Gateway::start(sharing(&server), []));
    assert_eq!((gateways[2].get("/later/").status, gateways[2].get("/shop/").status), (200, 200));
    assert_eq!(gateways[2].control("GET", "/tyk/policies/gold", "").status, 404);

    let removed = gateways[2].control("DELETE", "/tyk/apis/shop", "").json();
    assert_eq!(removed["shared"], true, "{removed}");
    all_answer(&gateways, "/shop/", 404);
    let nodes = wait_for(&gateways[0], "/tyk/nodes", |nodes| {
        let alive = nodes["nodes"].as_array().unwrap().iter().filter(|row| row["alive"] == true);
        alive.clone().count() == 3 && alive.into_iter().all(|row| row["differs"] == json!([]))
    });
    let own = &nodes["nodes"][0]["shared_definitions"];
    assert_eq!((&own["revision"], &own["store_up"]), (&json!(5), &json!(true)), "{nodes}");
    assert_eq!(gateways[1].control("GET", "/tyk/list/apis", "").json()["rows"][0]["shared"], true);
}

#[test]
fn openapi_documents_are_shared_too() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&server);
    let document = json!({
        "openapi": "3.0.3", "info": {"title": "pets", "version": "1"}, "paths": {"/all": {"get": {"responses": {"200": {"description": "ok"}}}}},
        "x-tyk-api-gateway": {
            "info": {"id": "pets", "name": "pets", "state": {"active": true}},
            "server": {"listenPath": {"value": "/pets/", "strip": true}}, "upstream": {"url": upstream.url()},
        },
    });
    let answer = gateways[0].control("POST", "/tyk/apis/oas", &document.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    all_answer(&gateways, "/pets/all", 200);
    let seen = gateways[2].control("GET", "/tyk/apis/oas/pets", "");
    assert_eq!((seen.status, &seen.json()["info"]["title"]), (200, &json!("pets")), "{seen}");
}

/// A change of the version with this tag.
fn put(signed: &Signed<'_>, document: &Value, etag: &str) -> Response {
    signed.call_with("PUT", "/apis/shop", &document.to_string(), &["X-Tollgate-Console: 1", &format!("If-Match: {etag}")])
}

#[test]
fn two_editors_on_two_gateways_do_not_overwrite_each_other() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&server);
    post(&gateways[0], &api("shop", "/shop/", &upstream.url()));
    all_answer(&gateways, "/shop/", 200);
    let editors: Vec<Signed<'_>> = gateways.iter().map(with_secret).collect();
    let seen: Vec<Response> = editors.iter().map(|editor| editor.call("GET", "/apis/shop?reveal=true", "")).collect();
    let etag = seen[0].header("etag").unwrap();
    assert_eq!(seen[1].header("etag"), Some(etag), "versions have the same name on all gateways");
    let named = |name: &str| {
        let mut document = seen[0].json();
        document["name"] = name.into();
        document
    };
    assert_eq!(put(&editors[0], &named("first"), etag).status, 200);
    // At once, before the other gateway has looked.
    let late = put(&editors[1], &named("second"), etag);
    let said = late.json();
    assert_eq!((late.status, &said["cause"], &said["current"]["name"]), (412, &json!("changed"), &json!("first")), "{late}");
    let now = said["etag"].as_str().unwrap().to_owned();
    assert_eq!(put(&editors[1], &named("second"), &now).status, 200);
    for editor in &editors {
        eventually("all have the last version", || editor.call("GET", "/apis/shop", "").json()["name"] == "second");
    }
    // Many at once: each change is made to the version that its editor knows, or not at all.
    let etag = editors[0].call("GET", "/apis/shop", "").header("etag").unwrap().to_owned();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let puts: Vec<_> = (0..9)
            .map(|number| {
                let (editor, document, etag) = (&editors[number % 3], named(&format!("name {number}")), etag.clone());
                scope.spawn(move || put(editor, &document, &etag).status)
            })
            .collect();
        puts.into_iter().map(|put| put.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 412].contains(status)), "{statuses:?}");
}

#[test]
fn versions_that_are_added_at_the_same_time_are_all_in_the_list() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways = three(&server);
    post(&gateways[0], &api("base", "/base/", &upstream.url()));
    all_answer(&gateways, "/base/", 200);
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let posts: Vec<_> = (0..9)
            .map(|number| {
                let definition = api(&format!("n{number}"), &format!("/n{number}/"), &upstream.url()).0.to_string();
                let target = format!("/tyk/apis?base_api_id=base&base_api_version_name=v&new_version_name=v{number}");
                let gateway = &gateways[number % 3];
                scope.spawn(move || gateway.control("POST", &target, &definition))
            })
            .collect();
        posts.into_iter().map(|post| post.join().unwrap()).collect()
    });
    for answer in &answers {
        assert_eq!(answer.status, 200, "{answer}");
    }
    let wanted: Value = (0..9).map(|number| (format!("v{number}"), json!(format!("n{number}")))).collect();
    eventually("all are there", || gateways[0].control("GET", "/tyk/apis/base", "").json()["definition"]["versions"] == wanted);
}

#[test]
fn a_file_with_the_id_of_a_shared_definition_does_not_count() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways: Vec<Gateway> =
        (0..2).map(|_| Gateway::start(sharing(&server), [api("shop", "/old/", &upstream.url())])).collect();
    all_answer(&gateways, "/old/", 200);
    post(&gateways[0], &api("shop", "/new/", &upstream.url()));
    all_answer(&gateways, "/new/", 200);
    all_answer(&gateways, "/old/", 404);
    wait_for(&gateways[1], "/tyk/live", |live| {
        live["reload"]["problems"].to_string().contains("in a file of this gateway does not count")
    });
    // The gateway that removes it removes its own file as well; another one's file is served again.
    assert_eq!(gateways[0].control("DELETE", "/tyk/apis/shop", "").status, 200);
    all_answer(&gateways[..1], "/old/", 404);
    all_answer(&gateways[1..], "/old/", 200);
    let answer = gateways[1].control("DELETE", "/tyk/apis/shop", "");
    assert_eq!((answer.status, &answer.json()["shared"]), (200, &json!(false)), "{answer}");
}

#[test]
fn without_redis_the_last_good_set_serves_even_after_a_restart_and_nothing_is_saved() {
    let (mut server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut gateway = Setup::new(sharing(&server)).start();
    post(&gateway, &api("shop", "/shop/", &upstream.url()));
    assert_eq!(gateway.get("/shop/").status, 200);
    // The copy is written behind the answer.
    let copy = gateway.dir().join("data/shared-definitions.json");
    eventually("there is a copy", || std::fs::read_to_string(&copy).is_ok_and(|text| text.contains("/shop/")));
    server.kill();
    wait_for(&gateway, "/tyk/live", |live| live["reload"]["problems"].to_string().contains("those of revision 1 stay in service"));
    assert_eq!(gateway.get("/shop/").status, 200);
    let refused = gateway.control("PUT", "/tyk/apis/shop", &api("shop", "/other/", &upstream.url()).0.to_string());
    assert_eq!((refused.status, &refused.json()["cause"]), (503, &json!("store")), "{refused}");
    let nodes = gateway.control("GET", "/tyk/nodes", "").json();
    assert_eq!(nodes["nodes"][0]["shared_definitions"]["store_up"], false, "{nodes}");
    // A start without Redis has the copy on disk.
    gateway.restart();
    assert_eq!(gateway.get("/shop/").status, 200);

    // Redis is back and has lost everything: what is served stays, and the next change stores all of it.
    server.restart();
    wait_for(&gateway, "/tyk/live", |live| live["reload"]["problems"].to_string().contains("Redis has lost them"));
    assert_eq!(gateway.get("/shop/").status, 200);
    post(&gateway, &api("more", "/more/", &upstream.url()));
    let other = Gateway::start(sharing(&server), []);
    assert_eq!((other.get("/shop/").status, other.get("/more/").status), (200, 200));
    wait_for(&gateway, "/tyk/live", |live| live["reload"]["errors"] == 0);
}

#[test]
fn without_the_setting_a_change_concerns_one_gateway_and_the_setting_needs_redis() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let gateways: Vec<Gateway> = (0..2).map(|_| Gateway::start(on(&server), [])).collect();
    let saved = post(&gateways[0], &api("shop", "/shop/", &upstream.url()));
    assert_eq!(saved["shared"], false, "{saved}");
    let session = with_secret(&gateways[0]).call("GET", "/session", "").json();
    assert_eq!((&session["shared_definitions"], &session["node"]), (&json!(false), &saved["node"]), "{session}");
    assert_eq!((gateways[0].get("/shop/").status, gateways[1].get("/shop/").status), (200, 404));

    let dir = tempfile::tempdir().unwrap();
    let conf = dir.path().join("tyk.conf");
    std::fs::write(&conf, json!({"tollgate": {"shared_definitions": true}}).to_string()).unwrap();
    let checked = std::process::Command::new(env!("CARGO_BIN_EXE_tollgate")).args(["check", "--conf"]).arg(&conf).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout).into_owned() + &String::from_utf8_lossy(&checked.stderr);
    assert!(!checked.status.success() && said.contains("$.tollgate.shared_definitions"), "{said}");
}
