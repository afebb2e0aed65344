//! The console's door: pages with their headers, signing in and out, what is refused, roles, and masks.

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Response, api, eventually};
use crate::servers::Server;
use crate::servers::free_port;

pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// A request as a browser on this machine sends it.
fn request(method: &str, target: &str, lines: &[&str], body: &str) -> String {
    crate::harness::request(method, target, lines, body).replacen("Host: gateway.test", "Host: 127.0.0.1:8080", 1)
}

/// Someone who is signed in.
pub(crate) struct Signed<'g> {
    pub(crate) gateway: &'g Gateway,
    pub(crate) cookie: String,
}

impl Signed<'_> {
    /// The same browser at another gateway.
    pub(crate) fn at<'g>(&self, gateway: &'g Gateway) -> Signed<'g> {
        Signed { gateway, cookie: self.cookie.clone() }
    }

    pub(crate) fn call(&self, method: &str, target: &str, body: &str) -> Response {
        self.call_with(method, target, body, &["X-Tollgate-Console: 1", "Sec-Fetch-Site: same-origin"])
    }

    pub(crate) fn call_with(&self, method: &str, target: &str, body: &str, lines: &[&str]) -> Response {
        let cookie = format!("Cookie: other=1; {}", self.cookie);
        let lines: Vec<&str> = lines.iter().copied().chain([cookie.as_str(), "Connection: close"]).collect();
        self.gateway.send(request(method, &format!("/tyk/console/api{target}"), &lines, body))
    }
}

pub(crate) fn try_sign_in(gateway: &Gateway, body: &Value, lines: &[&str]) -> Response {
    let lines: Vec<&str> = lines.iter().copied().chain(["X-Tollgate-Console: 1", "Connection: close"]).collect();
    gateway.send(request("POST", "/tyk/console/api/session", &lines, &body.to_string()))
}

pub(crate) fn sign_in<'g>(gateway: &'g Gateway, body: &Value) -> Signed<'g> {
    let answer = try_sign_in(gateway, body, &[]);
    assert_eq!(answer.status, 200, "{answer}");
    let line = answer.header("set-cookie").expect("a cookie");
    Signed { gateway, cookie: line.split(';').next().unwrap().to_owned() }
}

/// A user with a role, signed in.
pub(crate) fn user<'g>(gateway: &'g Gateway, role: &str) -> Signed<'g> {
    let new = json!({"name": role, "role": role, "password": PASSWORD});
    let answer = gateway.control("POST", "/tyk/users", &new.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    sign_in(gateway, &json!({"user": role, "password": PASSWORD}))
}

pub(crate) fn with_secret(gateway: &Gateway) -> Signed<'_> {
    sign_in(gateway, &json!({"secret": SECRET}))
}

#[test]
fn whoever_has_the_secret_signs_in_works_and_signs_out() {
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", "http://127.0.0.1:1/")]);
    let out = gateway.send(request("GET", "/tyk/console/api/session", &["X-Tollgate-Console: 1"], ""));
    assert_eq!((out.status, &out.json()["cause"], &out.json()["insecure"]), (401, &json!("signed_out"), &json!(false)), "{out}");

    let answer = try_sign_in(&gateway, &json!({"secret": SECRET}), &[]);
    let line = answer.header("set-cookie").expect("a cookie");
    for part in ["tollgate_console=", "; Path=/tyk/console/", "; HttpOnly", "; SameSite=Strict"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains("Secure"), "{line}");
    assert!(!answer.text().contains(SECRET), "{answer}");

    let signed = with_secret(&gateway);
    let session = signed.call("GET", "/session", "").json();
    assert_eq!((&session["user"], &session["role"], &session["by_secret"]), (&json!("secret"), &json!("admin"), &json!(true)));
    assert_eq!(signed.call("GET", "/apis", "").json()[0]["api_id"], "shop");
    assert_eq!(signed.call("GET", "/no-such-thing", "").status, 404);
    // The cookie opens only the console.
    let cookie = format!("Cookie: {}", signed.cookie);
    assert_eq!(gateway.send(request("GET", "/tyk/apis", &[&cookie, "X-Tollgate-Console: 1"], "")).status, 403);

    // A page of another port has set a cookie of the same name, which the browser sends first.
    let beside = Signed { gateway: &gateway, cookie: format!("tollgate_console=junk; {}; tollgate_console=", signed.cookie) };
    assert_eq!(beside.call("GET", "/apis", "").status, 200);
    assert_eq!(beside.call("DELETE", "/session", "").status, 200);
    assert_eq!(signed.call("GET", "/apis", "").status, 401);
    eventually("it is in the log of changes", || gateway.control("GET", "/tyk/list/changes", "").text().contains("\"sign_out\""));
}

#[test]
fn pages_and_calls_have_the_headers_that_protect_them() {
    let gateway = Gateway::start(json!({}), []);
    let page = gateway.get("/tyk/console/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")), "{page}");
    let redirect = gateway.get("/tyk/console");
    assert_eq!((redirect.status, redirect.header("location")), (308, Some("/tyk/console/")));
    assert_eq!(gateway.get("/tyk/console/no-such-file.js").status, 404);
    let signed = with_secret(&gateway);
    for answer in [page, redirect, signed.call("GET", "/apis", ""), signed.call_with("GET", "/apis", "", &[])] {
        let policy = answer.header("content-security-policy").expect("a policy");
        for part in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "form-action 'none'",
            "base-uri 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}: {answer}");
        }
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn a_foreign_page_can_not_make_a_browser_call_the_console() {
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", "http://127.0.0.1:1/")]);
    let signed = with_secret(&gateway);
    for lines in [
        // A form, an image, a script of an old browser.
        &[][..],
        &["Sec-Fetch-Site: same-origin"],
        // An upstream's page on another port of the same machine: the browser sends the cookie.
        &["Sec-Fetch-Site: same-site"],
        &["Sec-Fetch-Site: same-site", "X-Tollgate-Console: 1"],
        &["Sec-Fetch-Site: cross-site", "X-Tollgate-Console: 1"],
        &["Sec-Fetch-Site: none", "X-Tollgate-Console: 1"],
        // A browser that tells only where its page is from.
        &["Origin: http://evil.example", "X-Tollgate-Console: 1"],
        &["Origin: null", "X-Tollgate-Console: 1"],
    ] {
        for (method, target) in [("GET", "/apis"), ("DELETE", "/apis/shop"), ("GET", "/session"), ("DELETE", "/session")] {
            let answer = signed.call_with(method, target, "", lines);
            assert_eq!((answer.status, &answer.json()["cause"]), (403, &json!("csrf")), "{method} {target} {lines:?}: {answer}");
        }
    }
    // Scripts may ask for permission to send the header; nobody gives it.
    let preflight = [
        "Origin: http://evil.example",
        "Access-Control-Request-Method: DELETE",
        "Access-Control-Request-Headers: x-tollgate-console",
    ];
    let answer = gateway.send(request("OPTIONS", "/tyk/console/api/apis/shop", &preflight, ""));
    assert_eq!(answer.header("access-control-allow-headers"), None, "{answer}");
    assert_eq!(signed.call("GET", "/apis/shop", "").status, 200);
    // An event source can't send the header.
    assert_ne!(signed.call_with("GET", "/stream?events=1", "", &["Sec-Fetch-Site: same-origin"]).status, 403);
    assert_eq!(signed.call_with("GET", "/stream", "", &["Sec-Fetch-Site: same-site"]).status, 403);
}

#[test]
fn guessing_makes_an_address_wait_even_with_the_right_secret() {
    let gateway = Gateway::start(json!({}), []);
    for left in (0..5).rev() {
        let answer = try_sign_in(&gateway, &json!({"secret": "wrong"}), &[]);
        assert_eq!(
            (answer.status, &answer.json()["cause"], &answer.json()["tries_left"]),
            (403, &json!("wrong"), &json!(left)),
            "{answer}"
        );
    }
    // The first wait is a second, so a slow machine may have passed it.
    let mut waits = Vec::new();
    while waits.len() < 3 {
        let answer = try_sign_in(&gateway, &json!({"user": "nobody", "password": "wrong"}), &[]);
        if answer.status == 429 {
            let wait = answer.json()["wait_s"].as_u64().unwrap();
            assert_eq!(answer.header("retry-after"), Some(wait.to_string().as_str()));
            waits.push(wait);
        } else {
            assert_eq!(answer.status, 403, "{answer}");
        }
        if waits.len() == 2 {
            let right = try_sign_in(&gateway, &json!({"secret": SECRET}), &[]);
            assert_eq!((right.status, right.header("set-cookie")), (429, None), "{right}");
        }
    }
    // Those who are named by a trusted proxy, or use the header, are not affected.
    assert_eq!(gateway.control("GET", "/tyk/apis", "").status, 200);
}

#[test]
fn over_plain_http_from_afar_nobody_signs_in() {
    let gateway = Gateway::start(json!({}), []);
    // What another machine looks like here: a proxy that is not trusted, or a name that was pointed at this machine.
    for lines in [
        &["X-Forwarded-For: 10.0.0.9"][..],
        &["Forwarded: for=10.0.0.9"],
        &["Via: 1.1 proxy"],
        &["X-Tollgate-Caller: 127.0.0.1 tls", "X-Real-IP: 10.0.0.9"],
    ] {
        let answer = try_sign_in(&gateway, &json!({"secret": SECRET}), lines);
        assert_eq!((answer.status, &answer.json()["cause"]), (403, &json!("insecure")), "{lines:?}: {answer}");
        let lines: Vec<&str> = lines.iter().copied().chain(["X-Tollgate-Console: 1"]).collect();
        let out = gateway.send(request("GET", "/tyk/console/api/session", &lines, "")).json();
        assert_eq!((&out["insecure"], &out["secret_file"]), (&json!(true), &Value::Null), "{out}");
        assert!(out["ssh"].as_str().unwrap().starts_with(&format!("ssh -L {0}:127.0.0.1:{0} ", gateway.port)), "{out}");
    }
    let rebound = "POST /tyk/console/api/session HTTP/1.1\r\nHost: evil.example\r\nX-Tollgate-Console: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    let answer = gateway.connect().ask(rebound);
    assert_eq!(answer.json()["cause"], "insecure", "{answer}");
    // A trusted proxy with TLS is a safe way, and its client's address counts.
    let gateway = Gateway::start(json!({"tollgate": {"trusted_proxies": ["127.0.0.1"]}}), []);
    let answer = try_sign_in(&gateway, &json!({"secret": SECRET}), &["X-Forwarded-For: 10.0.0.9", "X-Forwarded-Proto: https"]);
    assert_eq!(answer.status, 200, "{answer}");
    assert!(answer.header("set-cookie").unwrap().contains("; Secure"), "{answer}");
}

#[test]
fn the_console_is_where_the_configuration_says() {
    let port = free_port();
    for (conf, has_console) in [
        (json!({}), true),
        (json!({"tollgate": {"console": {"serve": "off"}}}), false),
        (json!({"listen_address": "0.0.0.0"}), false),
        (json!({"listen_address": "0.0.0.0", "tollgate": {"console": {"serve": "on"}}}), true),
        // Then the gateway's own port belongs to the APIs.
        (json!({"control_api_port": port}), false),
    ] {
        let gateway = Gateway::start(conf.clone(), []);
        assert_eq!(gateway.get("/tyk/console/").status == 200, has_console, "{conf}");
        if conf["control_api_port"] == port {
            let mut own = crate::harness::wire::Connection::open(port);
            assert_eq!(own.ask("GET /tyk/console/ HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
            // The header of the data plane means nothing here.
            let forged = "POST /tyk/console/api/session HTTP/1.1\r\nHost: evil.example\r\nX-Tollgate-Caller: 127.0.0.1 tls\r\n\
                X-Tollgate-Console: 1\r\nContent-Length: 2\r\n\r\n{}";
            assert_eq!(own.ask(forged).json()["cause"], "insecure");
        }
    }
}

/// The endpoints below `/tyk` with their least role.
fn endpoints(gateway: &Gateway) -> Vec<(String, String, Value)> {
    let document = gateway.control("GET", "/tyk/openapi.json", "").json();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/tyk/")) {
        for (method, described) in item.as_object().unwrap() {
            if described["security"] == json!([]) {
                // Commands ask for it before anybody has signed in.
                assert_eq!(path, "/tyk/operators/providers", "{method} is open to everybody");
                continue;
            }
            let role = described["security"][0]["secret"][0].clone();
            assert!(["viewer", "editor", "admin"].contains(&role.as_str().unwrap_or_default()), "{method} {path} declares no role");
            all.push((method.to_uppercase(), path.clone(), role));
        }
    }
    assert!(all.len() > 60, "{}", all.len());
    all
}

#[test]
fn every_endpoint_refuses_whoever_has_a_lesser_role() {
    let gateway = Gateway::start(json!({}), []);
    let (viewer, editor) = (user(&gateway, "viewer"), user(&gateway, "editor"));
    for (method, path, needed) in endpoints(&gateway) {
        let target = filled(path.strip_prefix("/tyk").unwrap(), "x");
        for (signed, refuses) in [(&viewer, needed != "viewer"), (&editor, needed == "admin")] {
            if !refuses {
                continue;
            }
            let answer = signed.call(&method, &target, "");
            let body = answer.json();
            assert_eq!(
                (answer.status, &body["cause"], &body["needs"]),
                (403, &json!("role"), &needed),
                "{method} {path}: {answer}"
            );
        }
    }
}

/// A path with a value for each parameter.
fn filled(path: &str, value: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { value } else { part }).collect::<Vec<_>>().join("/")
}

#[test]
fn users_change_their_own_password_and_other_roles_end_sessions() {
    let gateway = Gateway::start(json!({}), []);
    let viewer = user(&gateway, "viewer");
    let other = sign_in(&gateway, &json!({"user": "viewer", "password": PASSWORD}));
    let change =
        |old: &str, new: &str| viewer.call("POST", "/users/viewer/password", &json!({"old": old, "new": new}).to_string()).status;
    assert_eq!(change("wrong wrong wrong", "a new long password"), 403);
    assert_eq!(change(PASSWORD, "short"), 400);
    assert_eq!(change(PASSWORD, "a new long password"), 200);
    // The other browser is signed out, this one is not.
    assert_eq!((other.call("GET", "/apis", "").status, viewer.call("GET", "/apis", "").status), (401, 200));
    assert_eq!(try_sign_in(&gateway, &json!({"user": "viewer", "password": PASSWORD}), &[]).status, 403);
    assert_eq!(viewer.call("POST", "/users/editor/password", &json!({"new": "a new long password"}).to_string()).status, 403);

    assert_eq!(viewer.call("GET", "/reload", "").status, 403);
    assert_eq!(gateway.control("PUT", "/tyk/users/viewer", &json!({"role": "editor"}).to_string()).status, 200);
    assert_eq!(viewer.call("GET", "/apis", "").status, 401);
    let editor = sign_in(&gateway, &json!({"user": "viewer", "password": "a new long password"}));
    assert_eq!(editor.call("GET", "/reload", "").status, 200);
    let listed = gateway.control("GET", "/tyk/users", "");
    assert_eq!((&listed.json()["users"][0]["name"], &listed.json()["users"][0]["role"]), (&json!("viewer"), &json!("editor")));
    assert!(!listed.text().contains("argon2"), "{listed}");
    assert_eq!(gateway.control("DELETE", "/tyk/users/viewer", "").status, 200);
    assert_eq!(editor.call("GET", "/apis", "").status, 401);
}

/// Every secret that this test plants contains this text.
const CANARY: &str = "c4n4ry";

#[test]
fn no_endpoint_shows_a_viewer_a_secret() {
    for hash_keys in [true, false] {
        no_secret_is_shown(hash_keys, None);
    }
}

/// In Redis, keys need not be in the gateway's memory.
#[test]
fn no_endpoint_shows_a_viewer_a_secret_of_a_shared_store() {
    for hash_keys in [true, false] {
        no_secret_is_shown(hash_keys, Some(&Server::start(&[])));
    }
}

fn no_secret_is_shown(hash_keys: bool, server: Option<&Server>) {
    let policies = tempfile::tempdir().expect("a folder");
    let mut conf = json!({
        "secret": format!("{CANARY}-control"), "node_secret": format!("{CANARY}-node"), "hash_keys": hash_keys, "enable_hashed_keys_listing": true,
        "policies": {"policy_source": "file", "policy_path": policies.path()}, "enable_analytics": true,
        "health_check": {"enable_health_checks": true}
    });
    if let Some(server) = server {
        conf["storage"] = json!({"host": "127.0.0.1", "port": server.port});
        conf = crate::shared_keys::patient(conf);
    }
    let secret = |name: &str| json!(format!("{CANARY}-{name}"));
    let definition = api("abc", "/abc/", "http://127.0.0.1:1/")
        .with_keys()
        .set("jwt_source", secret("hmac"))
        .set("proxy/target_url", format!("http://user:{CANARY}@127.0.0.1:1/"))
        .set("use_oauth2", true)
        .set("oauth_meta/allowed_access_types", json!(["client_credentials"]))
        .set("request_signing", json!({"is_enabled": false, "secret": secret("signing"), "key_id": "k"}))
        .set("upstream_auth", json!({"basic_auth": {"username": "u", "password": secret("basic")}}))
        .set("config_data", json!({"payment_secret": secret("data")}))
        .set("version_data/versions/Default/global_headers", json!({"X-Upstream-Key": secret("header")}));
    let balanced = api("balanced", "/balanced/", "http://127.0.0.1:1/").set(
        "tollgate/upstream/targets",
        json!([{"url": format!("http://user:{CANARY}@127.0.0.1:1/")}, {"url": format!("http://127.0.0.1:2/?api_key={CANARY}")}]),
    );
    let broken = api("broken", "/broken/", &format!("http://user:{CANARY}@127.0.0.1:no-port/"));
    let other = api("other", "/other/", "http://127.0.0.1:1/").with_keys().set("do_not_track", false);
    let gateway = Gateway::start(conf, [definition, other, balanced, broken]);
    let call = |method: &str, target: &str, body: &Value| {
        let line = format!("x-tyk-authorization: {CANARY}-control");
        let answer = gateway.send(request(method, target, &[&line, "Connection: close"], &body.to_string()));
        assert_eq!(answer.status, 200, "{method} {target}: {answer}");
        answer.json()
    };
    assert!(call("GET", "/tyk/apis/abc", &json!({})).to_string().matches(CANARY).count() >= 6);
    let session = json!({
        "alias": "abc", "org_id": "default", "hmac_enabled": true, "hmac_string": secret("key"), "jwt_data": {"secret": secret("jwt")},
        "basic_auth_data": {"password": secret("password")}, "oauth_keys": {"abc": secret("token")}, "meta_data": {"api_token": secret("meta")},
        "access_rights": {"abc": {"api_id": "abc", "versions": ["Default"]}, "other": {"api_id": "other", "versions": ["Default"]}}
    });
    let raw = format!("default{CANARY}customer");
    call("POST", &format!("/tyk/keys/{raw}"), &session);
    call("POST", "/tyk/keys/abc", &session);
    call("PUT", "/tyk/keys/abc", &session);
    call(
        "POST",
        "/tyk/policies",
        &json!({"id": "abc", "org_id": "default", "meta_data": {"client_secret": secret("policy")}, "access_rights": {"abc": {"api_id": "abc", "versions": ["Default"]}}}),
    );
    call("POST", "/tyk/org/keys/abc", &json!({"rate": 1, "per": 1, "hmac_string": secret("org")}));
    call(
        "POST",
        "/tyk/oauth/clients/create",
        &json!({"client_id": "abc", "secret": secret("client"), "api_id": "abc", "redirect_uri": "https://a.example/"}),
    );
    if let Some(server) = server.filter(|_| !hash_keys) {
        // Made by another gateway; this one never looked at it. A comma stands for what a file for spreadsheets could take apart.
        server.cli(&[
            "SET",
            &format!("apikey-default{CANARY},foreign"),
            &json!({"alias": "foreign", "org_id": "default", "rate": 1, "per": 1}).to_string(),
        ]);
        let listed = call("GET", "/tyk/list/keys?q=foreign", &json!({}));
        let row = &listed["rows"][0];
        assert!(!listed.to_string().contains(CANARY) && row["by"] == "by=id", "{listed}");
        let found = call("GET", &format!("/tyk/keys/{}?by=id", row["id"].as_str().unwrap()), &json!({}));
        assert_eq!(found["alias"], "foreign");
    }
    call("POST", "/tyk/users", &json!({"name": "viewer", "role": "viewer", "password": format!("{CANARY} password")}));
    // Requests with the key leave records of it.
    let line = format!("Authorization: {raw}");
    let refused = gateway.send(request("GET", "/other/", &[&line], ""));
    assert!(refused.status >= 403, "{refused}");
    // A request gives the targets figures.
    assert_eq!(gateway.get("/balanced/").status, 500);

    let viewer = sign_in(&gateway, &json!({"user": "viewer", "password": format!("{CANARY} password")}));
    let document = viewer.call("GET", "/openapi.json", "").json();
    let mut shown = 0;
    for (path, item) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/tyk/")) {
        for (method, described) in item.as_object().unwrap() {
            // A stream ends by itself after these events. Requests go on, so that there are some of each kind.
            let is_stream = method == "get" && path.ends_with("/stream");
            let bodies = described["requestBody"]["content"]["application/json"]["example"].clone();
            let body = if bodies.is_null() { String::new() } else { bodies.to_string() };
            for value in ["abc", raw.as_str()].into_iter().take(if is_stream { 1 } else { 2 }) {
                let queries: &[&str] = match is_stream {
                    true => &["?events=1", "?topics=tail,changes&events=2"],
                    false => {
                        &["", "?hashed=true", "?mode=detailed&by=key&top=50&last=1h", "?org_id=default&limit=1000", "?reveal=true"]
                    }
                };
                for query in queries {
                    let target = format!("{}{query}", filled(path.strip_prefix("/tyk").unwrap(), value));
                    let answer = std::thread::scope(|scope| {
                        let asked = scope.spawn(|| viewer.call(&method.to_uppercase(), &target, &body));
                        while is_stream && !asked.is_finished() {
                            gateway.send(request("GET", "/other/", &[&line], ""));
                            gateway.get("/balanced/");
                            std::thread::sleep(std::time::Duration::from_millis(100));
                        }
                        asked.join().expect("an answer")
                    });
                    assert!(
                        !is_stream || (answer.status == 200 && answer.text().contains("\ndata: {")),
                        "{method} {target}: {answer}"
                    );
                    // A path repeats what the caller knows already.
                    let text = answer.text().replace(&raw, if value == raw { "" } else { &raw });
                    assert!(!text.contains(CANARY), "{method} {target}: {answer}");
                    shown += usize::from(answer.status == 200);
                }
            }
        }
    }
    assert!(shown > 60, "{shown}");
    assert_eq!(viewer.call("GET", "/apis/abc?reveal=true", "").status, 403);

    // Those who may change a document send its masks back.
    let admin = sign_in(&gateway, &json!({"secret": format!("{CANARY}-control")}));
    let masked = admin.call("GET", "/apis/abc", "");
    assert!(!masked.text().contains(CANARY) && masked.text().contains("********"), "{masked}");
    assert!(admin.call("GET", "/apis/abc?reveal=true", "").text().matches(CANARY).count() >= 6);
    let mut definition = masked.json();
    definition["name"] = "new name".into();
    assert_eq!(admin.call("PUT", "/apis/abc", &definition.to_string()).status, 200);
    let stored = call("GET", "/tyk/apis/abc", &json!({}));
    assert_eq!((&stored["name"], &stored["jwt_source"]), (&json!("new name"), &secret("hmac")));
    assert!(!stored.to_string().contains("********"), "{stored}");
    // A mask that stands for nothing is refused.
    definition["webhook_secret"] = "********".into();
    let refused = admin.call("PUT", "/apis/abc", &definition.to_string());
    assert!(refused.status == 400 && refused.text().contains("$.webhook_secret"), "{refused}");
}

#[test]
fn two_editors_at_once_do_not_overwrite_each_other() {
    let policies = tempfile::tempdir().expect("a folder");
    let conf = json!({"policies": {"policy_source": "file", "policy_path": policies.path()}});
    let gateway = Gateway::start(conf, [api("shop", "/shop/", "http://127.0.0.1:1/")]);
    let signed = with_secret(&gateway);
    let rights = json!({"shop": {"api_id": "shop", "versions": ["Default"]}});
    assert_eq!(
        signed.call("POST", "/policies", &json!({"id": "gold", "rate": 1, "per": 1, "access_rights": rights}).to_string()).status,
        200
    );
    assert_eq!(signed.call("POST", "/keys/customer", &json!({"alias": "one", "access_rights": rights}).to_string()).status, 200);
    for (target, member) in [("/apis/shop", "name"), ("/policies/gold", "name"), ("/keys/customer", "alias")] {
        let seen = signed.call("GET", target, "");
        let etag = seen.header("etag").expect("a version").to_owned();
        assert_eq!(signed.call("GET", target, "").header("etag"), Some(etag.as_str()), "{target}");
        let put = |value: &str, etag: &str| {
            let mut document = seen.json();
            document[member] = value.into();
            let line = format!("If-Match: {etag}");
            signed.call_with("PUT", target, &document.to_string(), &["X-Tollgate-Console: 1", &line])
        };
        let first = put("first", &etag);
        assert_eq!(first.status, 200, "{target}: {first}");
        let second = put("second", &etag);
        assert_eq!(
            (second.status, &second.json()["cause"], &second.json()["current"][member]),
            (412, &json!("changed"), &json!("first")),
            "{second}"
        );
        let now = second.json()["etag"].as_str().unwrap().to_owned();
        assert_eq!(first.header("etag"), Some(now.as_str()), "{target}: {first}");
        assert_eq!(put("second", &now).status, 200, "{target}");
        assert_eq!(signed.call("GET", target, "").json()[member], "second", "{target}");
        let line = format!("If-Match: {etag}");
        assert_eq!(signed.call_with("DELETE", target, "", &["X-Tollgate-Console: 1", &line]).status, 412, "{target}");
        assert_eq!(signed.call("DELETE", target, "").status, 200, "{target}");
    }
}

#[test]
fn the_log_of_changes_tells_who_changed_what() {
    let gateway =
        Gateway::start(json!({}), [api("shop", "/shop/", "http://127.0.0.1:1/").set("jwt_source", format!("{CANARY}-old"))]);
    let editor = user(&gateway, "editor");
    assert_eq!(try_sign_in(&gateway, &json!({"secret": "wrong"}), &[]).status, 403);
    let mut definition = editor.call("GET", "/apis/shop?reveal=true", "").json();
    definition["name"] = "new name".into();
    definition["jwt_source"] = format!("{CANARY}-new").into();
    assert_eq!(editor.call("PUT", "/apis/shop", &definition.to_string()).status, 200);
    assert_eq!(editor.call("POST", "/check/api", &definition.to_string()).status, 200);
    assert_eq!(gateway.control("DELETE", "/tyk/apis/shop", "").status, 200);
    let mut rows = Vec::new();
    // Requests do not wait for their entries.
    crate::harness::eventually("the last change is logged", || {
        let answer = gateway.control("GET", "/tyk/list/changes", "");
        assert!(!answer.text().contains(CANARY), "{answer}");
        rows = answer.json()["rows"].as_array().unwrap().clone();
        rows.iter().any(|row| row["action"] == "delete")
    });
    let seen: Vec<String> =
        rows.iter().map(|row| ["user", "action", "kind", "target"].map(|name| row[name].as_str().unwrap()).join(" ")).collect();
    assert_eq!(
        seen,
        [
            "secret delete api shop",
            "editor update api shop",
            "editor reveal secrets /tyk/apis/shop",
            " sign_in_failed session ",
            "editor sign_in session ",
            "secret create user editor",
        ]
    );
    let diff = rows[1]["diff"].as_array().unwrap();
    assert!(diff.contains(&json!({"path": "$.name", "old": "shop", "new": "new name"})), "{diff:?}");
    assert!(diff.contains(&json!({"path": "$.jwt_source", "old": "********", "new": "********"})), "{diff:?}");
    assert_eq!(rows[1]["address"], "127.0.0.1");
    let page = editor.call("GET", "/list/changes?limit=2&q=editor", "").json();
    assert_eq!(page["rows"].as_array().unwrap().len(), 2, "{page}");
    let rest = editor.call("GET", &format!("/list/changes?q=editor&after={}", page["next"].as_str().unwrap()), "").json();
    assert_eq!((rest["rows"].as_array().unwrap().len(), &rest["next"]), (2, &json!("")), "{rest}");
}

#[test]
fn many_keys_are_changed_after_a_look_at_what_is_meant() {
    for hash_keys in [true, false] {
        let gateway = Gateway::start(json!({"hash_keys": hash_keys}), [api("shop", "/shop/", "http://127.0.0.1:1/").with_keys()]);
        let signed = with_secret(&gateway);
        let key = |number: usize| json!({"alias": format!("customer {}", number % 2), "expires": 2_000_000_000, "access_rights": {"shop": {"api_id": "shop", "versions": ["Default"]}}});
        for number in 0..130 {
            assert_eq!(gateway.control("POST", "/tyk/keys/create", &key(number).to_string()).status, 200);
        }
        let bulk = |body: Value| signed.call("POST", "/keys/bulk", &body.to_string());
        let select = json!({"q": "CUSTOMER 1"});
        let dry = bulk(json!({"action": "deactivate", "select": select})).json();
        assert_eq!((&dry["dry_run"], &dry["count"], &dry["done"]), (&json!(true), &json!(65), &json!(0)), "{dry}");
        assert_eq!((dry["sample"].as_array().unwrap().len(), &dry["sample"][0]["alias"]), (10, &json!("customer 1")));
        assert_eq!(dry["sample"][0]["state"], "active");
        let done = bulk(json!({"action": "deactivate", "select": select, "dry_run": false})).json();
        assert_eq!((&done["done"], &done["failed"]), (&json!(65), &json!([])), "{done}");

        let all = json!({"api": "shop"});
        let refused = bulk(json!({"action": "extend", "until": 2_100_000_000, "select": all, "dry_run": false}));
        assert!(refused.status == 409 && refused.text().contains("130"), "{refused}");
        let done =
            bulk(json!({"action": "extend", "until": 2_100_000_000, "select": all, "dry_run": false, "confirm": 130})).json();
        assert_eq!(done["done"], 130, "{done}");

        // The list shows the result, page by page; each key once.
        let (mut rows, mut after) = (Vec::new(), String::new());
        loop {
            let page = signed.call("GET", &format!("/list/keys?limit=40&after={after}"), "").json();
            rows.extend(page["rows"].as_array().unwrap().clone());
            after = page["next"].as_str().unwrap().to_owned();
            assert_eq!(page["total"], 130);
            if after.is_empty() {
                break;
            }
        }
        let ids: std::collections::BTreeSet<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!((rows.len(), ids.len()), (130, 130));
        assert_eq!(rows.iter().filter(|row| row["state"] == "inactive").count(), 65);
        assert!(rows.iter().all(|row| row["expires"] == 2_100_000_000), "{rows:?}");

        // One key, by its row.
        let target = format!("/keys/{}?{}", rows[0]["id"].as_str().unwrap(), rows[0]["by"].as_str().unwrap());
        assert_eq!(signed.call("PATCH", &target, &json!({"alias": "renamed", "expires": null}).to_string()).status, 200);
        let session = signed.call("GET", &target, "").json();
        assert_eq!((&session["alias"], &session["expires"]), (&json!("renamed"), &Value::Null), "{session}");
        assert_eq!(signed.call("PATCH", &target, &json!({"access_rights": null}).to_string()).status, 400);
        let one = json!({"ids": [rows[0]["id"]]});
        assert_eq!(bulk(json!({"action": "revoke", "select": one, "dry_run": false})).json()["done"], 1);
        assert_eq!(signed.call("GET", &target, "").status, 404);
        for wrong in [
            json!({"action": "extend", "select": one}),
            json!({"action": "revoke", "select": {}}),
            json!({"action": "revoke", "select": {"q": " "}}),
        ] {
            assert_eq!(bulk(wrong.clone()).status, 400, "{wrong}");
        }
    }
}
