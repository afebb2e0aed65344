//! What the rules of routes do with requests: headers, redirects, rewrites, cross-origin requests, and the filters of backends.

use super::harness::{Definition, Gateway, Response, Upstream, api, reply, request};
use serde_json::{Value, json};

fn route(id: &str, rules: Value) -> Definition {
    api(id, "/", "").set("tollgate/route/rules", rules)
}

/// A rule for a prefix, with filters and the upstream as its backend.
fn rule(prefix: &str, upstream: &Upstream, filters: Value) -> Value {
    let mut rule = json!({"matches": [{"path": {"prefix": prefix}}], "backends": [{"url": upstream.url()}]});
    super::harness::definition::merge(&mut rule, &filters);
    rule
}

fn ask(gateway: &Gateway, method: &str, target: &str, lines: &[&str]) -> Response {
    gateway.send(request(method, target, lines, ""))
}

#[test]
fn headers_are_set_added_and_removed_in_both_directions() {
    let upstream = Upstream::start(|_| reply("200 OK", &["X-Set: theirs", "X-Add: theirs", "X-Remove: theirs"], ""));
    let changes = json!({
        "set": [{"name": "X-Set", "value": "ours"}], "add": [{"name": "X-Add", "value": "ours"}], "remove": ["x-remove"]
    });
    let filters = json!({"request_headers": changes, "response_headers": changes});
    let gateway = Gateway::start(json!({}), [route("r", json!([rule("/", &upstream, filters)]))]);
    let response = ask(&gateway, "GET", "/", &["x-set: mine", "x-add: mine", "x-remove: mine"]);
    let seen = upstream.last();
    assert_eq!(seen.header("x-set"), Some("ours"));
    assert_eq!(seen.head.all("x-add"), ["mine", "ours"]);
    assert_eq!(seen.header("x-remove"), None);
    assert_eq!(response.header("x-set"), Some("ours"));
    assert_eq!(response.head.all("x-add"), ["theirs", "ours"]);
    assert_eq!(response.header("x-remove"), None);
}

#[test]
fn redirects_keep_what_they_do_not_name() {
    let upstream = Upstream::ok();
    let redirect = |prefix: &str, redirect: Value| json!({"matches": [{"path": {"prefix": prefix}}], "redirect": redirect});
    let rules = json!([
        redirect("/none", json!({})),
        redirect("/host", json!({"host": "b.test", "status": 301})),
        redirect("/scheme", json!({"scheme": "https"})),
        redirect("/port", json!({"port": 8443})),
        redirect("/usual", json!({"scheme": "https", "port": 443})),
        redirect("/full", json!({"path": {"full": "/other"}})),
        redirect("/old", json!({"path": {"prefix": "/new"}, "status": 308})),
        redirect("/gone", json!({"path": {"prefix": "/"}})),
    ]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    for (target, status, location) in [
        ("/none/a?x=1", 302, "http://gateway.test/none/a?x=1"),
        ("/host/a", 301, "http://b.test/host/a"),
        ("/scheme", 302, "https://gateway.test/scheme"),
        ("/port", 302, "http://gateway.test:8443/port"),
        ("/usual", 302, "https://gateway.test/usual"),
        ("/full/a?x=1", 302, "http://gateway.test/other?x=1"),
        ("/old/a%20b", 308, "http://gateway.test/new/a%20b"),
        ("/old", 308, "http://gateway.test/new"),
        ("/gone", 302, "http://gateway.test/"),
        ("/gone/a", 302, "http://gateway.test/a"),
    ] {
        let response = ask(&gateway, "GET", target, &[]);
        assert_eq!((response.status, response.header("location")), (status, Some(location)), "{target}");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn rewrites_change_host_and_path_for_the_backend() {
    let upstream = Upstream::ok();
    let rules = json!([
        rule("/full", &upstream, json!({"rewrite": {"path": {"full": "/one"}}})),
        rule("/old", &upstream, json!({"rewrite": {"host": "b.test", "path": {"prefix": "/new/"}}})),
        rule("/gone", &upstream, json!({"rewrite": {"path": {"prefix": ""}}})),
    ]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    for (target, host, seen) in [
        ("/full/x?q=1", "gateway.test", "/one?q=1"),
        ("/old/a%2Fb", "b.test", "/new/a%2Fb"),
        ("/old", "b.test", "/new"),
        ("/gone/a/", "gateway.test", "/a/"),
        ("/gone", "gateway.test", "/"),
    ] {
        assert_eq!(ask(&gateway, "GET", target, &[]).status, 200);
        assert_eq!((upstream.last().header("host"), upstream.last().target.as_str()), (Some(host), seen), "{target}");
    }
}

#[test]
fn a_backend_has_filters_of_its_own_after_those_of_its_rule() {
    let (one, two) = (Upstream::ok(), Upstream::ok());
    let set = |value: &str| json!({"set": [{"name": "x-by", "value": value}]});
    let rules = json!([{
        "request_headers": set("rule"),
        "response_headers": json!({"add": [{"name": "x-via", "value": "rule"}]}),
        "backends": [
            {"url": one.url(), "request_headers": set("one"), "response_headers": {"add": [{"name": "x-via", "value": "one"}]}},
            {"url": two.url(), "rewrite": {"host": "two.test", "path": {"full": "/two"}}}
        ]
    }]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    let answers: Vec<Response> = (0..40).map(|_| ask(&gateway, "GET", "/x", &[])).collect();
    assert!(one.requests() > 0 && two.requests() > 0);
    assert!(one.seen().iter().all(|seen| seen.header("x-by") == Some("one") && seen.target == "/x"));
    assert!(two.seen().iter().all(|seen| seen.header("x-by") == Some("rule") && seen.target == "/two"));
    assert!(two.seen().iter().all(|seen| seen.header("host") == Some("two.test")));
    let via = |response: &Response| response.head.all("x-via").join(",");
    assert_eq!(answers.iter().filter(|answer| via(answer) == "rule,one").count(), one.requests());
    assert_eq!(answers.iter().filter(|answer| via(answer) == "rule").count(), two.requests());
}

#[test]
fn preflights_of_a_rule_are_answered_and_other_requests_go_on() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Access-Control-Allow-Origin: *"], "theirs"));
    let cors = json!({"cors": {
        "allow_origins": ["https://www.foo.test", "https://*.bar.test"],
        "allow_methods": ["GET", "OPTIONS"], "allow_headers": ["x-1", "x-2"], "expose_headers": ["x-3"],
        "allow_credentials": true, "max_age_s": 3600
    }});
    let any = json!({"cors": {"allow_origins": ["*"], "allow_methods": ["*"], "allow_headers": ["*"]}});
    let gateway = Gateway::start(json!({}), [route("r", json!([rule("/one", &upstream, cors), rule("/any", &upstream, any)]))]);
    let preflight = |target: &str, origin: &str, method: &str| {
        let (origin, method) = (format!("Origin: {origin}"), format!("Access-Control-Request-Method: {method}"));
        ask(&gateway, "OPTIONS", target, &[&origin, &method, "Access-Control-Request-Headers: x-1, x-9"])
    };
    let told = |response: &Response| {
        ["allow-origin", "allow-methods", "allow-headers", "expose-headers", "allow-credentials", "max-age"]
            .map(|name| response.header(&format!("access-control-{name}")).unwrap_or("-").to_owned())
            .join("; ")
    };
    let response = preflight("/one", "https://a.www.bar.test", "GET");
    assert_eq!(response.status, 204);
    assert_eq!(told(&response), "https://a.www.bar.test; GET, OPTIONS; x-1, x-2; x-3; true; 3600");
    assert_eq!(told(&preflight("/one", "https://foobar.test", "GET")), "-; -; -; -; -; -");
    assert_eq!(told(&preflight("/any", "http://x.test:1", "PUT")), "http://x.test:1; PUT; x-1, x-9; -; -; 5");
    assert_eq!(upstream.requests(), 0);

    let response = ask(&gateway, "GET", "/one", &["Origin: https://www.foo.test"]);
    assert_eq!(
        (response.text().as_str(), response.header("access-control-allow-origin")),
        ("theirs", Some("https://www.foo.test"))
    );
    let response = ask(&gateway, "GET", "/one", &["Origin: https://foobar.test"]);
    assert_eq!((response.text().as_str(), response.header("access-control-allow-origin")), ("theirs", None));
    // No preflight: the upstream's.
    assert_eq!(ask(&gateway, "OPTIONS", "/one", &["Origin: https://www.foo.test"]).text(), "theirs");
}

#[test]
fn headers_by_status_are_on_responses_of_backends_and_of_the_gateway() {
    let upstream = Upstream::start(|seen| {
        let line = if seen.target.ends_with("missing") { "404 Not Found" } else { "200 OK" };
        reply(line, &["X-Both: theirs", "X-Gone: theirs"], "")
    });
    let named = |name: &str, value: &str| json!([{"name": name, "value": value}]);
    let by_status = json!({"status_headers": [
        {"statuses": [200, 301], "headers": {"add": named("X-Both", "ours"), "remove": ["x-gone"]}},
        {"headers": {"set": named("X-Always", "ours")}},
    ]});
    let refuses = json!({"status_headers": by_status["status_headers"], "answer": {"status": 403, "message": "no"}});
    let mut redirect = json!({"matches": [{"path": {"prefix": "/moved"}}], "redirect": {"host": "b.test", "status": 301}});
    super::harness::definition::merge(&mut redirect, &by_status);
    let rules = json!([rule("/a", &upstream, by_status), rule("/no", &upstream, refuses), redirect]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    let of = |target: &str| {
        let response = ask(&gateway, "GET", target, &[]);
        let line = |name: &str| response.head.all(name).join(",");
        (response.status, line("x-both"), line("x-gone"), line("x-always"))
    };
    let expected = |status: u16, both: &str, gone: &str| (status, both.to_owned(), gone.to_owned(), "ours".to_owned());
    assert_eq!(of("/a"), expected(200, "theirs,ours", ""));
    assert_eq!(of("/a/missing"), expected(404, "theirs", "theirs"));
    assert_eq!(of("/moved"), expected(301, "ours", ""));
    assert_eq!(of("/no"), expected(403, "", ""));
}

#[test]
fn backends_get_what_passes_and_what_the_gateway_adds() {
    let upstream = Upstream::ok();
    let passes = json!({
        "passes": {"headers": ["X-Listed"], "query": ["a"]},
        "request_headers": {"set": [{"name": "X-Own", "value": "ours"}]},
    });
    let nothing = json!({"passes": {"headers": [], "query": []}});
    let rules = json!([rule("/some", &upstream, passes), rule("/none", &upstream, nothing), rule("/all", &upstream, json!({}))]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    let lines = ["x-listed: 1", "X-LISTED: 2", "X-Other: 3", "X-Own: theirs", "Cookie: a=b", "X-Forwarded-For: 192.0.2.1"];
    let seen = |target: &str| {
        ask(&gateway, "GET", target, &lines);
        upstream.last()
    };
    let some = seen("/some/x?a=1&b=2&a=%20&%61=3");
    assert_eq!(some.target, "/some/x?a=1&a=%20&%61=3");
    assert_eq!(some.head.all("x-listed"), ["1", "2"]);
    assert_eq!((some.header("x-other"), some.header("cookie"), some.header("x-own")), (None, None, Some("ours")));
    assert!(some.header("x-forwarded-for").is_some_and(|list| list.starts_with("192.0.2.1")));
    let none = seen("/none?a=1");
    assert_eq!((none.target.as_str(), none.header("x-listed"), none.header("host")), ("/none", None, some.header("host")));
    let all = seen("/all?b=2");
    assert_eq!((all.target.as_str(), all.header("x-other"), all.header("cookie")), ("/all?b=2", Some("3"), Some("a=b")));
    // The body is framed as it came.
    let answer = gateway.send(request("POST", "/none", &[], "body"));
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(upstream.last().text(), "body");
}
