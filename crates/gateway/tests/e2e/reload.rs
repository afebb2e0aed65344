//! New configuration under running traffic: what changes, what must not, and what happens to broken documents.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use serde_json::json;

use crate::harness::{Connection, Gateway, PATIENCE, Setup, Upstream, api, eventually, get, ok, reply};
use crate::upgrade;

#[test]
fn definitions_are_added_changed_and_removed() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/a/x")).status, 200);

    gateway.write_api(&api("b", "/b/", &upstream.url()));
    assert_eq!(client.ask(get("/b/x")).status, 404);
    gateway.reload();
    assert_eq!(client.ask(get("/b/x")).status, 200);

    gateway.write_api(&api("a", "/a/", &format!("{}/changed", upstream.url())));
    gateway.reload();
    assert_eq!(client.ask(get("/a/x")).status, 200);
    assert_eq!(upstream.last().target, "/changed/x");

    gateway.remove_file("a.json");
    gateway.reload();
    assert_eq!((client.ask(get("/a/x")).status, client.ask(get("/b/x")).status), (404, 200));
    assert_eq!(upstream.connections(), 1, "upstream connections outlive a reload");
}

#[test]
fn a_signal_reloads_too() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    gateway.write_api(&api("a", "/a/", &upstream.url()));
    gateway.signal("HUP");
    eventually("the new definition is served", || gateway.get("/a/").status == 200);
}

#[test]
fn a_reload_that_nobody_waits_for_comes_soon() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), []);
    for (number, target) in ["/tyk/reload", "/tyk/reload/group"].iter().enumerate() {
        gateway.write_api(&api(&format!("n{number}"), &format!("/n{number}/"), &upstream.url()));
        assert_eq!(gateway.control("GET", target, "").status, 200);
        eventually("the new definition is served", || gateway.get(&format!("/n{number}/")).status == 200);
    }
}

#[test]
fn a_broken_document_leaves_the_last_good_version_serving_and_is_reported() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()), api("b", "/b/", &upstream.url())]);
    let wrong_type = api("a", "/a/", &upstream.url()).set("proxy/listen_path", 7).0.to_string();
    let bad_pattern = api("a", "/a/", &upstream.url()).list("black_list", json!([{"path": "/x("}])).0.to_string();
    let cut = api("a", "/a/", &upstream.url()).0.to_string()[..40].to_owned();
    for (text, place) in [(wrong_type, "listen_path"), (bad_pattern, "black_list"), (cut, "")] {
        gateway.write_file("a.json", &text);
        gateway.write_api(&api("b", "/b/", &format!("{}/new", upstream.url())));
        let answer = gateway.control("GET", "/tyk/reload/?block=true", "");
        assert!(answer.text().contains("a.json") && answer.text().contains(place), "{text}: {answer}");
        eventually("the log names the file", || gateway.log().contains("a.json"));
        assert_eq!(gateway.get("/a/x").status, 200, "{text}");
        assert_eq!(upstream.last().target, "/x", "{text}");
        assert_eq!(gateway.get("/b/x").status, 200);
        assert_eq!(upstream.last().target, "/new/x", "the other document applies");
    }
    gateway.write_api(&api("a", "/a/", &format!("{}/mended", upstream.url())));
    gateway.reload();
    assert_eq!(gateway.get("/a/x").status, 200);
    assert_eq!(upstream.last().target, "/mended/x");
}

#[test]
fn a_document_that_is_broken_at_the_start_is_left_out_and_reported() {
    let upstream = Upstream::ok();
    let gateway =
        Setup::new(json!({})).api(api("good", "/good/", &upstream.url())).file("broken.json", "{\"api_id\": \"x\",").start();
    assert_eq!(gateway.get("/good/").status, 200);
    assert!(gateway.log().contains("broken.json"), "{}", gateway.log());
}

#[test]
fn a_request_in_flight_is_finished_by_the_configuration_it_began_with() {
    let (arrived, wait_arrived) = channel();
    let (go_on, wait) = channel::<()>();
    let (arrived, wait) = (Mutex::new(arrived), Mutex::new(wait));
    let upstream = Upstream::start(move |_| {
        arrived.lock().unwrap().send(()).unwrap();
        wait.lock().unwrap().recv_timeout(PATIENCE).expect("the reload is over");
        ok()
    });
    let definition = api("a", "/a/", &upstream.url()).version("global_response_headers", json!({"X-Old": "1"}));
    let gateway = Gateway::start(json!({}), [definition]);
    let mut client = gateway.connect();
    client.send(get("/a/"));
    wait_arrived.recv_timeout(PATIENCE).expect("the request is at the upstream");
    gateway.remove_file("a.json");
    gateway.reload();
    assert_eq!(gateway.get("/a/").status, 404);
    go_on.send(()).unwrap();
    let response = client.response("GET");
    assert_eq!((response.status, response.header("x-old")), (200, Some("1")));
    assert_eq!(client.ask(get("/a/")).status, 404);
}

#[test]
fn a_definition_of_ten_megabytes_disturbs_nobody() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let body = "x".repeat(10 << 20);
    let list = json!([{"path": "/m", "method": "GET", "code": 200, "body": body, "headers": {}}]);
    gateway.write_api(&api("huge", "/huge/", &upstream.url()).list("mock_response", list));
    let answer = gateway.control("GET", "/tyk/reload/?block=true", "");
    let huge = gateway.get("/huge/m");
    match huge.status {
        200 => assert_eq!(huge.body.len(), body.len()),
        404 => assert!(answer.text().contains("huge.json"), "{answer}"),
        other => panic!("{other}"),
    }
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn reloads_under_load_fail_no_request_and_drop_no_tunnel() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &seen.target));
    let echo = upgrade::echo();
    let conf = upgrade::enabled();
    let gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url()), api("ws", "/ws/", &echo.url())]);
    let mut tunnels: Vec<Connection> = (0..50).map(|_| upgrade::open(&gateway, "/ws/")).collect();
    let before = {
        for _ in 0..10 {
            gateway.reload();
        }
        gateway.rss_kib()
    };

    let (stop, served) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut kept = gateway.connect();
                while !stop.load(Ordering::SeqCst) {
                    for _ in 0..20 {
                        assert_eq!(kept.ask(get("/a/kept")).text(), "/kept");
                    }
                    assert_eq!(gateway.get("/a/new").text(), "/new");
                    served.fetch_add(21, Ordering::SeqCst);
                }
            });
        }
        for number in 0..100 {
            match number % 4 {
                0 => gateway.write_api(&api("extra", "/extra/", &upstream.url())),
                2 => gateway.remove_file("extra.json"),
                _ => {}
            }
            if number % 10 == 9 {
                gateway.signal("HUP");
            }
            gateway.reload();
            let expect = if number % 4 < 2 { 200 } else { 404 };
            assert_eq!(gateway.get("/extra/x").status, expect, "reload {number}");
            let tunnel = &mut tunnels[number % 50];
            tunnel.send("ping");
            assert_eq!(tunnel.exactly(4).expect("the tunnel is open"), b"ping");
        }
        stop.store(true, Ordering::SeqCst);
    });
    for tunnel in &mut tunnels {
        tunnel.send("still open");
        assert_eq!(tunnel.exactly(10).expect("the tunnel is open"), b"still open");
    }
    assert!(served.load(Ordering::SeqCst) > 0);
    let after = gateway.rss_kib();
    assert!(after < before + 16 * 1024, "memory went from {before} to {after} KiB");
}

#[test]
fn ids_that_end_like_names_of_other_files_are_kept_and_take_nothing_away() {
    let upstream = Upstream::ok();
    let gateway = Setup::new(json!({})).start();
    let document = json!({
        "openapi": "3.0.3", "info": {"title": "o", "version": "1"}, "paths": {},
        "x-tyk-api-gateway": {
            "info": {"id": "o", "name": "o", "state": {"active": true}},
            "server": {"listenPath": {"value": "/o/", "strip": true}}, "upstream": {"url": upstream.url()},
        },
    });
    assert_eq!(gateway.control("POST", "/tyk/apis/oas", &document.to_string()).status, 200);
    for id in ["o-oas", "o-mcp"] {
        let definition = api(id, &format!("/{id}/"), &upstream.url());
        assert_eq!(gateway.control("POST", "/tyk/apis", &definition.0.to_string()).status, 200);
    }
    // Read anew from the files.
    gateway.write_file("later.json", api("later", "/later/", &upstream.url()).0.to_string());
    gateway.reload();
    for path in ["/o/", "/o-oas/", "/o-mcp/", "/later/"] {
        assert_eq!(gateway.get(path).status, 200, "{path}");
    }
    assert_eq!(gateway.control("GET", "/tyk/apis/oas/o", "").status, 200, "its document is there");
}

#[test]
fn a_directory_that_is_missing_takes_no_api_away() {
    let upstream = Upstream::ok();
    let gateway = Setup::new(json!({})).api(api("a", "/a/", &upstream.url())).start();
    let away = gateway.dir().join("away");
    std::fs::rename(gateway.apps(), &away).unwrap();
    let refused = gateway.control("POST", "/tyk/apis", &api("b", "/b/", &upstream.url()).0.to_string());
    assert_eq!((refused.status, gateway.apps().exists()), (500, false), "{refused}");
    assert_eq!(gateway.get("/a/").status, 200);
    std::fs::rename(&away, gateway.apps()).unwrap();
    assert_eq!(gateway.control("POST", "/tyk/apis", &api("b", "/b/", &upstream.url()).0.to_string()).status, 200);
    assert_eq!((gateway.get("/a/").status, gateway.get("/b/").status), (200, 200));
}
