//! `error_overrides`: other responses in place of the gateway's refusals and of upstreams' errors, by status, flag, message and body. What is expected
//! is what Tyk's `error_overrides.go` and its callers do.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::harness::failing::{failing, overriding};
use super::harness::{Gateway, Response, Seen, Upstream, api, error_json, get, reply, request};

fn told(response: &Response) -> (u16, Option<&str>, String) {
    (response.status, response.header("content-type"), response.text())
}

#[test]
fn a_refusal_gets_the_body_status_and_headers_of_its_rule() {
    let upstream = Upstream::ok();
    let overrides = json!({
        "401": [{"response": {"status_code": 403, "body": "{\"login\": true}", "headers": {"X-Reason": "none", "Content-Type": "text/x"}}}],
        "403": [
            {"match": {"flag": "AKI"}, "response": {"body": "{\"code\": {{.StatusCode}}, \"why\": \"{{.Message}}\"}", "message": "it's <new>"}},
            {"match": {"message_pattern": "black|forbidden"}, "response": {"status_code": 404, "message": "Nothing here"}},
        ],
        "4xx": [{"response": {"status_code": 418}}],
    });
    let definition = overriding(&upstream, overrides).with_keys().list("black_list", json!([{"path": "/closed"}]));
    let gateway = Gateway::start(json!({}), [definition]);
    let missing = gateway.get("/a/");
    assert_eq!(told(&missing), (403, Some("text/x"), "{\"login\": true}".to_owned()));
    assert_eq!((missing.header("x-reason"), missing.header("x-generator")), (Some("none"), Some("tyk.io")));
    let unknown = gateway.send(request("GET", "/a/", &["Authorization: no"], ""));
    assert_eq!(told(&unknown), (403, Some("application/json"), "{\"code\": 403, \"why\": \"it's \\u003Cnew\\u003E\"}".to_owned()));
    let unknown = gateway.send(request("GET", "/a/", &["Authorization: no", "Content-Type: text/xml; charset=utf-8"], ""));
    assert_eq!(told(&unknown), (403, Some("text/xml"), "{\"code\": 403, \"why\": \"it&#39;s &lt;new&gt;\"}".to_owned()));
    assert_eq!(told(&gateway.get("/a/closed")), (404, Some("application/json"), error_json("Nothing here")));
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn an_upstreams_error_gets_the_response_of_its_rule() {
    let upstream = failing();
    let overrides = json!({
        "404": [{"response": {"status_code": 200, "body": "{}", "headers": {"X-Own": "2", "X-Global": "rule"}}}],
        "410": [{"response": {"status_code": 404}}],
        "411": [{"response": {"status_code": 204, "headers": {"X-New": "1"}}}],
        "412": [{"response": {"message": "No & never"}}],
        "413": [{"match": {"flag": "BTL"}, "response": {"body": "a refusal's"}}],
        "502": [{"match": {"flag": "URS"}, "response": {"body": "{\"m\": \"{{.Message}}\", \"s\": {{.StatusCode}}}", "message": "down", "status_code": 503}}],
    });
    let definition = overriding(&upstream, overrides).version("global_response_headers", json!({"X-Global": "version"}));
    let gateway = Gateway::start(json!({}), [definition]);
    let found = gateway.get("/a/404");
    assert_eq!(told(&found), (200, Some("application/json"), "{}".to_owned()));
    assert_eq!((found.head.all("x-own"), found.head.all("x-global")), (vec!["2"], vec!["rule"]));
    assert_eq!(found.header("etag"), None, "a validator of another body");
    assert!(!found.head.has("x-generator"), "{found}");
    let kept = gateway.get("/a/410");
    assert_eq!(told(&kept), (404, Some("text/plain"), "the upstream's own words".to_owned()));
    assert_eq!((kept.header("etag"), kept.head.all("x-global")), (Some("\"own\""), vec!["version"]));
    let nothing = gateway.get("/a/411");
    assert_eq!((nothing.status, nothing.text(), nothing.header("x-new")), (204, String::new(), Some("1")));
    assert_eq!(told(&gateway.get("/a/412")), (412, Some("application/json"), error_json("No \\u0026 never")));
    assert_eq!(told(&gateway.get("/a/413")).2, "the upstream's own words");
    assert_eq!(told(&gateway.get("/a/502")), (503, Some("application/json"), "{\"m\": \"down\", \"s\": 503}".to_owned()));
    let xml = gateway.send(request("GET", "/a/412", &["Content-Type: application/xml"], ""));
    let body = "<?xml version = \"1.0\" encoding = \"UTF-8\"?>\n<error>No &amp; never</error>\n";
    assert_eq!(told(&xml), (412, Some("application/xml"), body.to_owned()));
    let mut client = gateway.connect();
    for (target, status) in [("/a/404", 200), ("/a/410", 404), ("/a/411", 204), ("/a/412", 412)] {
        let head = client.ask(request("HEAD", target, &[], ""));
        assert_eq!((head.status, head.text()), (status, String::new()), "{target}");
        assert_eq!(client.ask(get("/a/")).text(), "fine", "the connection goes on behind {target}");
    }
}

#[test]
fn a_rule_may_look_at_how_the_body_begins() {
    let upstream = failing();
    let overrides = json!({"5xx": [
        {"match": {"body_field": "error.code", "body_value": "E17"}, "response": {"status_code": 409, "body": "{\"code\": 17}"}},
        {"match": {"message_pattern": "own [wW]ords"}, "response": {"status_code": 502}},
    ]});
    let gateway = Gateway::start(json!({}), [overriding(&upstream, overrides)]);
    assert_eq!(told(&gateway.get("/a/json")), (409, Some("application/json"), "{\"code\": 17}".to_owned()));
    assert_eq!(gateway.get("/a/large").text(), "{\"code\": 17}");
    let late = gateway.get("/a/late");
    assert_eq!((late.status, late.body.len()), (500, 5_000 + r#"{"more": "", "error": {"code": "E17"}}"#.len()));
    let matched = gateway.get("/a/500");
    assert_eq!((matched.status, matched.text()), (502, "the upstream's own words".to_owned()));
    // A response to HEAD has no body that could match.
    assert_eq!(gateway.send(request("HEAD", "/a/json", &[], "")).status, 500);
}

#[test]
fn a_compressed_body_is_opened_to_be_looked_at() {
    let upstream = Upstream::start(|seen| {
        let text = if seen.target.ends_with("other") {
            r#"{"code": 18}"#.to_owned()
        } else {
            format!("{{\"code\": 17, \"more\": \"{}\"}}", "x".repeat(100_000))
        };
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let body = encoder.finish().unwrap();
        let mut answer =
            format!("HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
        answer.extend(body);
        answer
    });
    let overrides = json!({"500": [{"match": {"body_field": "code", "body_value": "17"}, "response": {"body": "plain"}}]});
    let gateway = Gateway::start(json!({}), [overriding(&upstream, overrides)]);
    let replaced = gateway.get("/a/");
    assert_eq!((replaced.text(), replaced.head.has("content-encoding")), ("plain".to_owned(), false));
    let other = gateway.get("/a/other");
    assert_eq!((other.status, other.header("content-encoding")), (500, Some("gzip")));
}

#[test]
fn the_configurations_rules_are_for_all_apis_behind_their_own() {
    let upstream = failing();
    let conf = json!({"error_overrides": {
        "404": [{"response": {"body": "of the gateway"}}],
        "403": [{"response": {"body": "closed by the gateway"}}],
    }});
    let own = json!({"404": [{"response": {"body": "of the API"}}]});
    let closed = json!([{"path": "/closed"}]);
    let named = |id: &str| api(id, &format!("/{id}/"), &upstream.url()).list("black_list", closed.clone());
    let gateway = Gateway::start(
        conf,
        [
            named("own").set("error_overrides", own.clone()),
            named("off").set("error_overrides", own).set("error_overrides_disabled", true),
            named("none"),
        ],
    );
    for (target, body) in [
        ("/own/404", "of the API"),
        ("/own/closed", "closed by the gateway"),
        ("/off/404", "of the gateway"),
        ("/none/404", "of the gateway"),
        ("/none/closed", "closed by the gateway"),
        ("/none/410", "the upstream's own words"),
        ("/elsewhere", "Not Found"),
    ] {
        assert_eq!(gateway.get(target).text(), body, "{target}");
    }
}

#[test]
fn a_rule_may_name_a_file_in_template_path() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("error_mine.json", "{\"mine\": \"{{.Message}}\", \"status\": {{.StatusCode}}}");
    write("error_mine.xml", "<mine>{{.Message}}</mine>");
    write("error.json", "{\"all\": \"{{.Message}}\"}");
    write("error_418.json", "{\"teapot\": \"{{.Message}}\"}");
    let upstream = failing();
    let overrides = json!({
        "403": [{"response": {"template": "error_mine", "message": "no"}}],
        "404": [{"response": {"template": "error_mine", "message": "no", "status_code": 410}}],
        "405": [{"response": {"message": "short", "status_code": 418}}],
        "401": [{"response": {"message": "short", "status_code": 418}}],
    });
    let definition = overriding(&upstream, overrides).list("black_list", json!([{"path": "/closed"}]));
    let gateway = Gateway::start(
        json!({"template_path": directory.path()}),
        [definition.clone(), {
            let mut keyed = definition.set("api_id", "k").set("proxy/listen_path", "/k/").with_keys();
            keyed.0["name"] = json!("k");
            keyed
        }],
    );
    assert_eq!(gateway.get("/a/closed").text(), "{\"mine\": \"no\", \"status\": 403}");
    let xml = gateway.send(request("GET", "/a/404", &["Content-Type: text/xml"], ""));
    assert_eq!(told(&xml), (410, Some("text/xml"), "<mine>no</mine>".to_owned()));
    // As in Tyk, only a refusal gets the file of its status.
    assert_eq!(gateway.get("/a/405").text(), "{\"all\": \"short\"}");
    assert_eq!(gateway.get("/k/").text(), "{\"teapot\": \"short\"}");
}

#[test]
fn what_is_cached_is_what_clients_saw() {
    let upstream = failing();
    let definition = overriding(&upstream, json!({"404": [{"response": {"status_code": 200, "body": "replaced"}}]}))
        .set("cache_options", json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true}));
    let gateway = Gateway::start(json!({}), [definition]);
    for cached in [None, Some("1")] {
        let answer = gateway.get("/a/404");
        assert_eq!((answer.status, answer.text(), answer.header("x-tyk-cached-response")), (200, "replaced".to_owned(), cached));
    }
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn a_hit_has_the_headers_that_the_rule_has_set() {
    let upstream = failing();
    let headers = json!({"X-Global": "rule", "X-Own": "rule"});
    let definition = overriding(&upstream, json!({"404": [{"response": {"body": "replaced", "headers": headers}}]}))
        .set("cache_options", json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true}))
        .version("global_response_headers", json!({"X-Global": "version", "X-Other": "version"}));
    let gateway = Gateway::start(json!({}), [definition]);
    for cached in [None, Some("1")] {
        let answer = gateway.get("/a/404");
        assert_eq!((answer.text().as_str(), answer.header("x-tyk-cached-response")), ("replaced", cached));
        let all = |name| answer.head.all(name);
        assert_eq!((all("x-global"), all("x-own"), all("x-other")), (vec!["rule"], vec!["rule"], vec!["version"]), "{cached:?}");
    }
}

/// An upstream whose first answer on a path is stored and already stale; later ones have the status in the path.
fn failing_later(first: &'static [&'static str]) -> Upstream {
    let seen_paths = std::sync::Mutex::new(std::collections::HashSet::new());
    Upstream::start(move |seen: &Seen| match seen_paths.lock().unwrap().insert(seen.target.clone()) {
        true => reply("200 OK", first, "good"),
        false => {
            let status = seen.target.rsplit('/').next().unwrap_or_default();
            reply(
                &format!("{status} Own"),
                &["Cache-Control: max-age=60", "ETag: \"e\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
                "bad",
            )
        }
    })
}

#[test]
fn a_shared_cache_judges_the_upstreams_own_response() {
    let overrides = json!({
        "404": [{"response": {"status_code": 503, "body": "replaced"}}],
        "405": [{"response": {"status_code": 304}}],
        "410": [{"response": {"status_code": 200}}],
        "500": [{"response": {"status_code": 200, "body": "replaced", "headers": {"Cache-Control": "max-age=60"}}}],
        "501": [{"response": {"status_code": 200, "body": "replaced"}}],
        "502": [{"match": {"message_pattern": "bad"}, "response": {"status_code": 200, "body": "replaced"}}],
    });
    let stale: &[&str] = &["Cache-Control: max-age=1, stale-if-error=600", "Age: 2", "ETag: \"e\""];
    let upstream = failing_later(stale);
    let definition = overriding(&upstream, overrides.clone()).set("tollgate", json!({"cache": {}}));
    let gateway = Gateway::start(json!({}), [definition]);
    for (path, told) in [
        // RFC 5861 §4: these are errors, whatever rules make of them, and a stale response is better.
        ("/a/500", (200, "good")),
        ("/a/502", (200, "good")),
        // These are none.
        ("/a/404", (503, "replaced")),
        ("/a/501", (200, "replaced")),
        ("/a/410", (200, "bad")),
        // A rule's 304 confirms nothing that is stored.
        ("/a/405", (304, "")),
    ] {
        let before = upstream.requests();
        assert_eq!(gateway.get(path).text(), "good", "{path}");
        for _ in 0..2 {
            let answer = gateway.get(path);
            assert_eq!((answer.status, answer.text().as_str()), told, "{path} {answer}");
        }
        assert_eq!(upstream.requests() - before, 3, "{path}: nothing of it is stored");
    }
}

#[test]
fn a_rule_does_not_make_an_unsafe_request_succeed() {
    let upstream = Upstream::start(|seen| match seen.method.as_str() {
        "POST" => reply("404 Nothing", &[], ""),
        _ => reply("200 OK", &["Cache-Control: max-age=60", "Content-Type: text/x"], ""),
    });
    let definition = overriding(&upstream, json!({"404": [{"response": {"status_code": 200, "body": "{}"}}]}))
        .set("tollgate", json!({"cache": {}}));
    let gateway = Gateway::start(json!({}), [definition]);
    gateway.get("/a/x");
    assert_eq!(gateway.send(request("POST", "/a/x", &[], "")).status, 200);
    gateway.get("/a/x");
    assert_eq!(upstream.requests(), 2, "RFC 9111 §4.4: only a response without an error invalidates");
}
