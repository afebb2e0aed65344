//! What routes have because Ingresses need it: hosts of rules, paths by their characters, answers, replaced paths, locations; and what definitions
//! have for the same reason: users in a list, rates of addresses, a login page behind a service that decides.

use super::harness::{Definition, Gateway, Response, Upstream, api, reply, request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

fn route(id: &str, rules: Value) -> Definition {
    api(id, "/", "").set("tollgate/route/rules", rules)
}

fn ask(gateway: &Gateway, host: &str, target: &str, lines: &[&str]) -> Response {
    gateway.send(request("GET", target, lines, "").replace("Host: gateway.test", &format!("Host: {host}")))
}

fn answer(status: u16) -> Value {
    json!({"status": status, "message": "closed"})
}

#[test]
fn rules_have_hosts_of_their_own() {
    let rules = json!([
        {"hosts": ["a.test"], "answer": answer(401)},
        {"hosts": ["?.b.test"], "answer": answer(402)},
        {"hosts": ["*.b.test"], "answer": answer(403)},
        {"hosts": ["*.c.b.test"], "answer": answer(405)},
        {"answer": answer(404)},
    ]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    for (host, status) in [
        ("a.test", 401),
        ("A.test:80", 401),
        ("x.b.test", 402),
        ("c.b.test", 402),
        ("y.x.b.test", 403),
        ("x.c.b.test", 405),
        ("b.test", 404),
        ("d.test", 404),
    ] {
        let response = ask(&gateway, host, "/", &[]);
        assert_eq!(response.status, status, "{host}: {response}");
    }
    assert!(ask(&gateway, "a.test", "/", &[]).text().contains("closed"));
}

#[test]
fn a_path_can_begin_with_characters() {
    let rules = json!([
        {"matches": [{"path": {"starts_with": "/ab"}}], "answer": answer(401)},
        {"matches": [{"path": {"starts_with": "/abc/"}}], "answer": answer(402)},
        {"matches": [{"path": {"exact": "/abx"}}], "answer": answer(403)},
        {"answer": answer(404)},
    ]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    for (target, status) in
        [("/ab", 401), ("/abd", 401), ("/ab/c", 401), ("/abc/d", 402), ("/abc", 401), ("/abx", 403), ("/a", 404)]
    {
        assert_eq!(ask(&gateway, "a.test", target, &[]).status, status, "{target}");
    }
}

#[test]
fn paths_are_replaced_by_expressions() {
    let upstream = Upstream::ok();
    let rule = |path: &str, replace: Value| {
        json!({
            "matches": [{"path": {"prefix": path}}],
            "rewrite": {"path": {"replace": replace}},
            "backends": [{"url": upstream.url()}],
        })
    };
    let rules = json!([
        rule("/api", json!({"regex": "(?i)/API(/|$)(.*)", "path": "/$2"})),
        rule("/one", json!({"regex": "/one", "path": "/"})),
        rule("/none", json!({"regex": "/nothing", "path": "/x"})),
        rule("/10", json!({"regex": "/(1)(0)", "path": "/$10$2"})),
    ]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    for (target, expected) in [
        ("/api/a/b?x=1", "/a/b?x=1"),
        ("/api", "/"),
        ("/api/a%20b", "/a%20b"),
        ("/one/two", "/"),
        ("/none/a", "/none/a"),
        ("/10", "/100"),
    ] {
        assert_eq!(ask(&gateway, "a.test", target, &[]).status, 200, "{target}");
        assert_eq!(upstream.last().target, expected, "{target}");
    }
}

#[test]
fn locations_are_texts_with_parts_of_the_request() {
    let rules = json!([{"redirect": {"location": "{scheme}://www.{host}/to{uri}#{path}{query}{other}", "status": 301}}]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    let response = ask(&gateway, "a.test", "/a?b=c", &[]);
    assert_eq!((response.status, response.header("location")), (301, Some("http://www.a.test/to/a?b=c#/a?b=c{other}")));
}

#[test]
fn requests_with_one_value_have_one_target() {
    let ups = ["one", "two", "three"].map(|name| Upstream::start(move |_| reply("200 OK", &[], name)));
    let targets: Vec<Value> = ups.iter().map(|up| json!({"address": "127.0.0.1", "port": up.port()})).collect();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tables.json");
    std::fs::write(&file, json!({"backends": {"all": {"endpoints": targets}}}).to_string()).unwrap();
    let rules = json!([{"hash": {"by": "header", "name": "X-User"}, "backends": [{"backend": "all"}]}]);
    let gateway = Gateway::start(json!({"tollgate": {"routing_file": file}}), [route("r", rules)]);
    let mut used = std::collections::BTreeSet::new();
    for user in 0..20 {
        let line = format!("X-User: {user}");
        let first = ask(&gateway, "a.test", "/", &[&line]).text();
        for _ in 0..4 {
            assert_eq!(ask(&gateway, "a.test", "/", &[&line]).text(), first, "{user}");
        }
        used.insert(first);
    }
    assert!(used.len() > 1, "{used:?}");
}

#[test]
fn users_of_a_list_log_in() {
    let upstream = Upstream::ok();
    // bcrypt, apr1, SHA and salted SHA of `secret`; a function that is not supported.
    let users = json!([
        "bcrypt:$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a",
        "apr1:$apr1$salt$VEpBc9VHGUKwI9.yg13Iu0",
        "sha:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=",
        "ssha:{SSHA}LIuJxt1EN/45e0mLrflYhSIloLQABAgMEA==",
        "crypt:rqXexS6ZhobKA",
    ]);
    let definition = api("a", "/", &upstream.url()).set("tollgate/user_passwords", users);
    let gateway = Gateway::start(json!({}), [definition]);
    let with = |user: &str, password: &str| {
        let line = format!("Authorization: Basic {}", STANDARD.encode(format!("{user}:{password}")));
        ask(&gateway, "a.test", "/", &[&line])
    };
    for user in ["bcrypt", "apr1", "sha", "ssha"] {
        for _ in 0..2 {
            assert_eq!(with(user, "secret").status, 200, "{user}");
        }
        let refused = with(user, "Secret");
        assert_eq!(refused.status, 401, "{user}");
        assert!(refused.header("www-authenticate").is_some_and(|challenge| challenge.starts_with("Basic realm=")), "{refused}");
    }
    assert_eq!(with("crypt", "secret").status, 401);
    assert_eq!(with("nobody", "secret").status, 401);
    assert_eq!(ask(&gateway, "a.test", "/", &[]).status, 401);
    assert_eq!(ask(&gateway, "a.test", "/", &["Authorization: Basic !"]).status, 401);
}

#[test]
fn each_address_has_its_rate() {
    let upstream = Upstream::ok();
    let rates = |exempt: &str| json!([{"by": "address", "requests": 3, "window_s": 10800, "exempt": [exempt]}]);
    let limited = api("a", "/a/", &upstream.url()).set("tollgate/request_limits", rates("10.0.0.0/8"));
    let exempt = api("b", "/b/", &upstream.url()).set("tollgate/request_limits", rates("127.0.0.0/8"));
    let gateway = Gateway::start(json!({}), [limited, exempt]);
    let statuses = |target: &str| [(); 5].map(|()| ask(&gateway, "h", target, &[]).status);
    assert_eq!(statuses("/a/"), [200, 200, 200, 429, 429]);
    assert_eq!(statuses("/b/"), [200; 5]);
}

#[test]
fn clients_are_sent_to_log_in() {
    let decider = Upstream::start(|seen| match seen.header("cookie") {
        Some("user=joe") => reply("200 OK", &["X-User: joe"], ""),
        _ => reply("401 Unauthorized", &["Set-Cookie: csrf=1"], ""),
    });
    let upstream = Upstream::ok();
    let rules = json!({
        "url": decider.url(),
        "request_headers": ["*"],
        "response_headers": ["X-User"],
        "signin_url": "https://{host}/start?rd={escaped_uri}&url={escaped_url}",
    });
    let definition = api("a", "/", &upstream.url()).set("use_keyless", false).set("tollgate/forward_auth", rules);
    let gateway = Gateway::start(json!({}), [definition]);
    let response = ask(&gateway, "a.test", "/x?y=1", &["X-Own: 1", "X-Real-IP: 9.9.9.9"]);
    let location = "https://a.test/start?rd=%2Fx%3Fy%3D1&url=http%3A%2F%2Fa.test%2Fx%3Fy%3D1";
    assert_eq!(
        (response.status, response.header("location"), response.header("set-cookie")),
        (302, Some(location), Some("csrf=1"))
    );
    let asked = decider.last();
    for (name, value) in [
        ("x-own", "1"),
        ("x-original-url", "http://a.test/x?y=1"),
        ("x-original-method", "GET"),
        ("x-auth-request-redirect", "/x?y=1"),
        ("x-forwarded-proto", "http"),
    ] {
        assert_eq!(asked.header(name), Some(value), "{name}");
    }
    assert_eq!(asked.head.all("x-real-ip"), ["127.0.0.1"]);
    assert_eq!(ask(&gateway, "a.test", "/", &["Cookie: user=joe"]).status, 200);
    assert_eq!(upstream.last().header("x-user"), Some("joe"));
}

#[test]
fn places_of_backends_become_those_of_clients() {
    let upstream = Upstream::start(|_| {
        let lines = [
            "Location: http://shop.internal/app/x",
            "Set-Cookie: a=1; Path=/app; Domain=.shop.internal; HttpOnly",
            "Set-Cookie: b=2; Path=/other",
        ];
        reply("302 Found", &lines, "")
    });
    let rewrites = json!({
        "locations": [{"from": "http://shop.internal/app/", "to": "https://shop.example/"}],
        "cookie_paths": [{"from": "/app", "to": "/"}],
        "cookie_domains": [{"from": "shop.internal", "to": "shop.example"}],
    });
    let rules = json!([
        {"matches": [{"path": {"prefix": "/new"}}], "response_rewrites": rewrites, "backends": [{"url": upstream.url()}]},
        {"backends": [{"url": upstream.url()}]},
    ]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    let changed = ask(&gateway, "a.test", "/new", &[]);
    assert_eq!(changed.header("location"), Some("https://shop.example/x"));
    assert_eq!(changed.head.all("set-cookie"), ["a=1; Path=/; Domain=shop.example; HttpOnly", "b=2; Path=/other"]);
    let other = ask(&gateway, "a.test", "/", &[]);
    assert_eq!(other.header("location"), Some("http://shop.internal/app/x"));
    assert_eq!(other.head.all("set-cookie").len(), 2);
}

#[test]
fn a_cookie_that_names_a_target_has_the_attributes_of_the_rule() {
    let upstream = Upstream::ok();
    let rule = |path: &str, sticky: Value| json!({"matches": [{"path": {"prefix": path}}], "sticky": sticky, "backends": [{"url": upstream.url()}]});
    let rules = json!([
        rule("/one", json!({"cookie": "c"})),
        rule(
            "/two",
            json!({"cookie": "c", "path": "/two", "domain": "a.test", "secure": true, "same_site": "none", "absolute_timeout_s": 9})
        ),
    ]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    let attributes = |target: &str| {
        let response = ask(&gateway, "a.test", target, &[]);
        response.header("set-cookie").and_then(|line| line.split_once("; ")).map(|(_, rest)| rest.to_owned())
    };
    assert_eq!(attributes("/one").as_deref(), Some("Path=/; HttpOnly; SameSite=Lax"));
    assert_eq!(attributes("/two").as_deref(), Some("Path=/two; HttpOnly; SameSite=None; Max-Age=9; Domain=a.test; Secure"));
}

#[test]
fn a_client_can_not_say_that_it_has_shown_a_certificate() {
    let upstream = Upstream::ok();
    let rules = json!([{"client_certificate_header": "ssl-client-cert", "backends": [{"url": upstream.url()}]}]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    assert_eq!(ask(&gateway, "a.test", "/", &["SSL-Client-Cert: mine"]).status, 200);
    assert_eq!(upstream.last().header("ssl-client-cert"), None);
}
