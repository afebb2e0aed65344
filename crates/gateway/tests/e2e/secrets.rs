//! Secrets stay out of the log, at its most talkative level, whatever happens to the requests that carry them.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::certificates::Authority;
use crate::harness::frames::{END_HEADERS, END_STREAM, Frames, HEADERS, block, frame};
use crate::harness::{Gateway, Setup, Upstream, api, eventually, request};
use crate::keys::{create, session_for};

/// Each secret is recognisable, and none is a part of anything else.
const CONTROL: &str = "ctl-5ecret-4b1d";
const NODE: &str = "node-5ecret-77aa";
const SHARED: &str = "hs256-5ecret-with-enough-bytes-c0ffee";
const INJECTED: &str = "upstream-5ecret-9e3f";
const REFERENCED: &str = "referenced-5ecret-1c8e";
const PASSWORD: &str = "pass-5ecret-b00c";
const WRONG: &str = "wrong-5ecret-dead";
const COOKIE: &str = "cookie-5ecret-f00d";
const STORE: &str = "redis-5ecret-aa55";

fn log_has(gateway: &Gateway, secret: &str) -> bool {
    gateway.log().contains(secret)
}

fn every_way(gateway: &Gateway, key: &str) {
    let authorization = |value: &str| format!("Authorization: {value}");
    let basic = base64(&format!("someone:{PASSWORD}"));
    for path in ["/keys/", "/jwt/", "/basic/", "/hmac/", "/gone/", "/nowhere/", "/tyk/apis", "/open/"] {
        for lines in [
            vec![authorization(key)],
            vec![authorization(WRONG)],
            vec![authorization(&format!("Bearer {WRONG}"))],
            vec![authorization(&format!("Basic {basic}"))],
            vec![authorization(&format!("Signature keyId=\"{WRONG}\",algorithm=\"hmac-sha1\",signature=\"{WRONG}\""))],
            vec![format!("x-tyk-authorization: {CONTROL}")],
            vec![format!("x-tyk-authorization: {WRONG}")],
            vec![format!("Cookie: session={COOKIE}"), format!("X-Api-Key: {WRONG}")],
        ] {
            let lines: Vec<&str> = lines.iter().map(String::as_str).chain(["Connection: close"]).collect();
            gateway.send(request("GET", path, &lines, ""));
        }
        gateway.get(&format!("{path}?authorization={key}&api_key={WRONG}"));
    }
    let mut http2 = Frames::open(gateway.port);
    for (stream, value) in [(1, key), (3, WRONG)] {
        http2.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, block("GET", "/keys/", &[("authorization", value)])));
        assert!(http2.until(HEADERS, stream).is_some());
    }
    // What is no request at all.
    gateway.raw_or_reset(format!("GET /keys/ HTTP/1.1\r\nHost: h\r\nAuthorization: {key}\r\nBroken\0: {COOKIE}\r\n\r\n"));
    gateway.raw_or_reset(format!("GET /keys/ HTTP/9.9\r\nAuthorization: {key}\r\n\r\n"));
    for (method, target, body) in [
        ("POST", "/tyk/keys/create", session_for(&["keys"], json!({"basic_auth_data": {"password": PASSWORD}})).to_string()),
        ("POST", "/tyk/keys/create", format!("{{\"hmac_string\": \"{WRONG}\", ")),
        ("POST", "/tyk/apis", format!("{{\"jwt_source\": \"{WRONG}\"")),
        ("POST", "/tyk/certs", WRONG.to_owned()),
        ("GET", "/tyk/keys", String::new()),
        ("DELETE", &format!("/tyk/keys/{WRONG}"), String::new()),
    ] {
        let secret = format!("x-tyk-authorization: {CONTROL}");
        gateway.send(request(method, target, &[&secret, "Connection: close"], &body));
    }
}

fn base64(text: &str) -> String {
    let output = Command::new("sh").args(["-c", "printf %s \"$0\" | base64 -w0", text]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn setup(conf: Value, upstream: &Upstream) -> Setup {
    let injected = json!({"X-Upstream-Token": INJECTED, "X-Referenced": "$secret_env.REFERENCED"});
    Setup::new(conf)
        .env("TYK_SECRET_REFERENCED", REFERENCED)
        .env("TYK_GW_NODESECRET", NODE)
        .api(api("open", "/open/", &upstream.url()).version("global_headers", injected))
        .api(api("gone", "/gone/", "http://127.0.0.1:1/"))
        .api(api("keys", "/keys/", &upstream.url()).with_keys())
        .api(
            api("jwt", "/jwt/", &upstream.url())
                .with_keys()
                .set("enable_jwt", true)
                .set("jwt_signing_method", "hmac")
                .set("jwt_source", SHARED),
        )
        .api(api("basic", "/basic/", &upstream.url()).with_keys().set("use_basic_auth", true))
        .api(api("hmac", "/hmac/", &upstream.url()).with_keys().set("enable_signature_checking", true))
}

#[test]
fn no_secret_reaches_the_log() {
    let upstream = Upstream::ok();
    let authority = Authority::new("tests");
    let made = authority.issue(&["api.test"]);
    let conf = json!({
        "secret": CONTROL,
        "log_level": "debug",
        "hash_keys": true,
        "enable_analytics": true,
        "access_logs": {"enabled": true},
        "secrets": {"other": REFERENCED}
    });
    let mut gateway = setup(conf, &upstream).file("broken.json", format!("{{\"jwt_source\": \"{SHARED}\", ")).start();
    let control = format!("x-tyk-authorization: {CONTROL}");
    let created =
        gateway.send(request("POST", "/tyk/keys/create", &[&control], &session_for(&["keys"], json!({})).to_string())).json();
    let key = created["key"].as_str().expect("a key").to_owned();
    let uploaded = format!("{}{}", made.certificate, made.key);
    gateway.send(request("POST", "/tyk/certs?org_id=default", &[&control], &uploaded));
    every_way(&gateway, &key);
    gateway.send(request("GET", "/tyk/reload/?block=true", &[&control], ""));
    gateway.restart();
    every_way(&gateway, &key);
    gateway.signal("TERM");
    eventually("it has ended", || gateway.log().matches(" stopped").count() >= 2);

    let log = gateway.log();
    assert!(log.contains("DEBUG") && log.contains("request refused"), "the log says what happens: {log}");
    let private: String = made.key.lines().nth(1).unwrap().to_owned();
    let password = base64(&format!("someone:{PASSWORD}"));
    for secret in
        [CONTROL, NODE, SHARED, INJECTED, REFERENCED, PASSWORD, WRONG, COOKIE, key.as_str(), private.as_str(), password.as_str()]
    {
        let line = log.lines().find(|line| line.contains(secret)).unwrap_or_default();
        assert!(!log_has(&gateway, secret), "{secret} is in the log: {line}");
    }
}

#[test]
fn a_store_that_can_not_be_reached_is_named_without_its_password() {
    let upstream = Upstream::ok();
    let storage = json!({"type": "redis", "host": "127.0.0.1", "port": 1, "username": "u", "password": STORE});
    let gateway = setup(json!({"secret": CONTROL, "log_level": "debug", "storage": storage}), &upstream).start();
    gateway.get("/keys/");
    gateway.send(request("GET", "/keys/", &[&format!("Authorization: {WRONG}")], ""));
    assert!(gateway.log().contains("Redis"), "{}", gateway.log());
    for secret in [STORE, CONTROL, WRONG, SHARED] {
        assert!(!log_has(&gateway, secret), "{secret}: {}", gateway.log());
    }
}

#[test]
fn what_is_wrong_with_a_configuration_is_told_without_the_secrets_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let conf = dir.path().join("tyk.conf");
    let text = json!({"secret": format!("{CONTROL}\n"), "storage": {"password": STORE, "port": 70_000}, "listen_port": "x"});
    std::fs::write(&conf, text.to_string()).unwrap();
    for arguments in [vec!["run", "--conf"], vec!["check"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).arg(&conf).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(!output.status.success() && text.contains("$.listen_port"), "{text}");
        assert!(!text.contains(CONTROL) && !text.contains(STORE), "{text}");
    }
}

#[test]
fn the_control_api_never_tells_a_private_key_or_a_password() {
    let upstream = Upstream::ok();
    let gateway = setup(json!({}), &upstream).start();
    let fields = json!({"basic_auth_data": {"password": PASSWORD}});
    let key = create(&gateway, &session_for(&["keys"], fields));
    let shown = gateway.control("GET", &format!("/tyk/keys/{key}"), "").text();
    assert!(shown.contains("basic_auth_data") && !shown.contains(PASSWORD), "{shown}");
    let made = Authority::new("tests").issue(&["api.test"]);
    let uploaded = gateway.control("POST", "/tyk/certs?org_id=default", &format!("{}{}", made.certificate, made.key)).json();
    let id = uploaded["id"].as_str().unwrap_or_else(|| panic!("{uploaded}"));
    for target in
        [format!("/tyk/certs/{id}"), "/tyk/certs?org_id=default".to_owned(), "/tyk/certs?org_id=default&mode=detailed".to_owned()]
    {
        let text = gateway.control("GET", &target, "").text();
        assert!(text.contains(id) && !text.contains("PRIVATE"), "{target}: {text}");
    }
}
