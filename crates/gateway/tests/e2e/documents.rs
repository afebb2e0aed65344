//! Documents as people have them: settings that act, definitions that Tyk loads, and what a check says of them.

use std::process::Command;

use serde_json::json;

use crate::harness::{Connection, Definition, Gateway, Upstream, api, eventually, get};

// --- settings ---

#[test]
fn idle_connections_to_all_upstreams_together_are_bounded() {
    let (first, second) = (Upstream::ok(), Upstream::ok());
    let conf = json!({"max_idle_connections": 1, "tollgate": {"threads": 1}});
    let gateway = Gateway::start(conf, [api("a", "/a/", &first.url()), api("b", "/b/", &second.url())]);
    for _ in 0..3 {
        assert_eq!((gateway.get("/a/").status, gateway.get("/b/").status), (200, 200));
    }
    assert_eq!((first.connections(), second.connections()), (1, 3), "the first one stays, and no other");
}

#[test]
fn a_client_that_takes_nothing_has_tyks_write_timeout() {
    let upstream = Upstream::start(|_| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 64 << 20).into_bytes();
        bytes.resize(bytes.len() + (64 << 20), b'x');
        bytes
    });
    let gateway = Gateway::start(json!({"http_server_options": {"write_timeout": 1}}), [api("a", "/a/", &upstream.url())]);
    let before = gateway.open_files_at_rest();
    let mut clients: Vec<Connection> = (0..2).map(|_| gateway.connect()).collect();
    for client in &mut clients {
        client.send(get("/a/"));
    }
    eventually("both are under way", || upstream.requests() == 2);
    eventually("the gateway has let go of them and of their upstream", || gateway.open_files() <= before);
}

#[test]
fn reloads_that_nobody_waits_for_keep_their_distance() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"reload_interval": 3600}), []);
    let loads = || gateway.log().matches("API reload complete").count();
    let ask = || assert_eq!(gateway.control("GET", "/tyk/reload", "").status, 200);
    gateway.write_api(&api("a", "/a/", &upstream.url()));
    ask();
    eventually("the first comes at once", || gateway.get("/a/").status == 200);
    gateway.write_api(&api("b", "/b/", &upstream.url()));
    for _ in 0..5 {
        ask();
    }
    gateway.reload();
    assert_eq!(gateway.get("/b/").status, 200, "who waits need not wait for them");
    assert_eq!(loads(), 3, "at the start, the first, and all others as one:\n{}", gateway.log());
}

// --- definitions that Tyk loads ---

#[test]
fn a_time_for_the_upstream_may_be_a_span() {
    let silent = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let definition = api("a", "/a/", &silent.url()).version("global_enforce_timeout", "100ms");
    let gateway = Gateway::start(json!({"proxy_default_timeout": 600}), [definition]);
    assert_eq!(gateway.get("/a/").status, 504);
}

// --- checks ---

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl ToString) {
        std::fs::create_dir_all(self.0.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(self.0.path().join(name), content.to_string()).unwrap();
    }

    fn check(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TYK_") || name.starts_with("TOLLGATE_")) {
            command.env_remove(name);
        }
        let output = command.current_dir(self.0.path()).arg("check").args(arguments).env("HOME", self.0.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

#[test]
fn a_check_knows_an_openapi_document_when_it_sees_one() {
    let files = Files::new();
    files.write("three.json", json!({"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {}}));
    files.write("two.json", json!({"swagger": "2.0", "paths": {}}));
    files.write("tyk.json", json!({"info": {"title": "x"}, "x-tyk-api-gateway": {"info": {"name": "x"}}}));
    files.write("three.yaml", "openapi: 3.0.3\ninfo:\n  title: x\npaths: {}\n");
    files.write("three.conf", json!({"openapi": "3.0.3"}));
    for (file, message) in [
        ("three.json", "$.x-tyk-api-gateway: error: is missing: nothing says where the API is served"),
        ("two.json", "$.swagger: error: Swagger 2; convert it to OpenAPI 3 first"),
        ("tyk.json", "$.x-tyk-api-gateway: error: an OpenAPI document, where a classic API definition is expected"),
        ("three.yaml", "$.x-tyk-api-gateway: error: is missing: nothing says where the API is served"),
        ("three.conf", "$.x-tyk-api-gateway: error: is missing: nothing says where the API is served"),
    ] {
        let (code, text) = files.check(&[file]);
        assert_eq!(code, Some(1), "{file}: {text}");
        assert!(text.contains(message), "{file}: {text}");
        assert!(text.contains("not usable: 1 errors"), "{file}: {text}");
    }
}

#[test]
fn a_check_reads_definitions_with_their_configuration() {
    let files = Files::new();
    let definition: Definition =
        api("a", "/a/", "secrets://target").list("virtual", json!([{"path": "/x", "method": "GET"}])).set("listen_port", 9999);
    files.write("apps/a.json", definition.0);
    let conf =
        json!({"secrets": {"target": "http://127.0.0.1:9/"}, "listen_port": 9999, "tollgate": {"serve_without": ["virtual"]}});
    files.write("other.conf", &conf);

    let (code, text) = files.check(&["apps"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("secrets://target has no value"), "{text}");
    for arguments in [&["apps", "other.conf"][..], &["other.conf", "apps/a.json"], &["--conf", "other.conf", "apps"]] {
        let (code, text) = files.check(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {text}");
        assert!(text.contains("a.json: ok: 0 errors, 1 warnings"), "{arguments:?}: {text}");
    }
    files.write("tyk.conf", &conf);
    assert_eq!(files.check(&["apps"]).0, Some(0), "the configuration that the gateway would find");
    files.write("tyk.conf", "{");
    let (code, text) = files.check(&["apps"]);
    assert!(code == Some(1) && text.contains("tyk.conf: error: not valid JSON"), "{text}");
}
