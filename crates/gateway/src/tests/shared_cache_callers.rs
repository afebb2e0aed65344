//! Who gets which response of the cache by RFC 9111: spellings, hosts, callers, and what belongs to one request alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::harness::keys::{call, create, keyed, session};
use super::harness::shared_cache::{scripted, shared, with_cache};
use super::harness::{Gateway, Seen, Upstream, api, reply, request};
use super::shared_cache::{FRESH, ok};

#[test]
fn two_spellings_are_two_resources_and_no_spelling_gets_anothers_answer() {
    // Which response a request gets must be the one that the upstream gives to it: each of these reaches the upstream by itself.
    let upstream = Upstream::start(|seen: &Seen| {
        let of = |name: &str| seen.head.all(name).join("|");
        let names = [
            "x-forwarded-host",
            "x-forwarded-proto",
            "x-original-url",
            "x-host",
            "forwarded",
            "x_forwarded_host",
            "x-http-method-override",
            "x-forwarded-port",
            "x-forwarded-prefix",
            "x-forwarded-scheme",
            "x-forwarded-server",
            "x-forwarded-path",
            "x-forwarded-uri",
            "x-forwarded-ssl",
            "x-original-host",
            "x-override-url",
            "x-rewrite-url",
            "x-http-method",
            "x-method-override",
        ];
        let body = names.iter().fold(seen.target.clone(), |body, name| format!("{body} {}", of(name)));
        reply("200 OK", &[FRESH], &body)
    });
    let gateway = Gateway::start(json!({"http_server_options": {"skip_url_cleaning": true}}), [shared(&upstream, json!({}))]);
    let plain = |target: &str| request("GET", target, &[], "");
    let with = |lines: &[&str]| request("GET", "/a/x", lines, "");
    let requests = [
        plain("/a/x"),
        plain("/a/X"),
        plain("/a/x/"),
        plain("/a/y//x"),
        plain("/a/x//"),
        plain("/a/./x"),
        plain("/a/y/../x"),
        plain("/a/%78"),
        plain("/a/x%2F"),
        plain("/a/x%2f"),
        plain("/a/x%20"),
        plain("/a/x+"),
        plain("/a/x%00"),
        plain("/a/x%3Fq"),
        plain("/a/x;a"),
        plain("/a/x%3Ba"),
        plain("/a/x%23a"),
        plain("/a/x?"),
        plain("/a/x?q"),
        plain("/a/x?Q"),
        plain("/a/x?q="),
        plain("/a/x?q&r"),
        plain("/a/x?r&q"),
        plain("/a/x?q%26r"),
        plain("/a/x/a.css"),
        plain("/a/x%2Fa.css"),
        plain("/a/x;a.css"),
        with(&["X-Forwarded-Host: evil"]),
        with(&["X-Forwarded-Host: evil", "X-Forwarded-Host: good"]),
        with(&["X-Forwarded-Host: evil, good"]),
        with(&["X_Forwarded_Host: bad"]),
        with(&["X-Forwarded-Proto: http"]),
        with(&["X-Original-URL: /admin"]),
        with(&["X-Host: evil"]),
        with(&["Forwarded: host=evil"]),
        with(&["X-HTTP-Method-Override: DELETE"]),
        with(&["X-Forwarded-Port: 1"]),
        with(&["X-Forwarded-Prefix: /evil"]),
        with(&["X-Forwarded-Scheme: http"]),
        with(&["X-Forwarded-Server: evil"]),
        with(&["X-Forwarded-Path: /evil"]),
        with(&["X-Forwarded-Uri: /evil"]),
        with(&["X-Forwarded-Ssl: off"]),
        with(&["X-Original-Host: evil"]),
        with(&["X-Override-URL: /admin"]),
        with(&["X-Rewrite-URL: /admin"]),
        with(&["X-HTTP-Method: DELETE"]),
        with(&["X-Method-Override: DELETE"]),
    ];
    let bodies: Vec<String> = requests.iter().map(|request| gateway.send(request).text()).collect();
    assert_eq!(upstream.requests(), requests.len(), "each goes to the upstream once: {bodies:#?}");
    for (request, body) in requests.iter().zip(&bodies) {
        assert_eq!(&gateway.send(request).text(), body, "{request}");
    }
    assert_eq!(upstream.requests(), requests.len());
}

#[test]
fn a_host_that_the_upstream_does_not_see_fills_nothing() {
    let upstream = scripted(vec![ok(&[FRESH])]);
    let preserved = with_cache(api("b", "/b/", &upstream.url()), json!({})).set("proxy/preserve_host_header", true);
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({})), preserved]);
    let of = |target: &str, host: &str| gateway.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).text();
    assert_eq!([of("/a/0", "one"), of("/a/0", "evil.test:99")], ["answer 1", "answer 1"]);
    let preserved = [of("/b/0", "one"), of("/b/0", "two"), of("/b/0", "ONE"), of("/b/0", "one:80")];
    assert_eq!(preserved, ["answer 2", "answer 3", "answer 2", "answer 4"]);
}

#[test]
fn configured_headers_and_callers_distinguish_responses() {
    let upstream = scripted(vec![ok(&["Cache-Control: max-age=60"]), ok(&["Cache-Control: s-maxage=60"])]);
    let all = with_cache(keyed("a", &upstream), json!({"by_headers": ["X-Lang"]}));
    let own = with_cache(keyed("b", &upstream), json!({"by_caller": true})).set("strip_auth_data", true);
    let gateway = Gateway::start(json!({}), [all, own]);
    let rights =
        json!({"access_rights": {"a": {"api_id": "a", "versions": ["Default"]}, "b": {"api_id": "b", "versions": ["Default"]}}});
    let keys = [create(&gateway, &session(rights.clone())), create(&gateway, &session(rights))];
    // The upstream may know who asks: what it does not allow to share is not shared (RFC 9111 §3.5).
    assert_eq!(keys.each_ref().map(|key| call(&gateway, "/a/0", key).text()), ["answer 1", "answer 2"]);
    assert_eq!(keys.each_ref().map(|key| call(&gateway, "/a/1", key).text()), ["answer 3", "answer 3"]);
    let lang = |lang: &str| {
        gateway.send(request("GET", "/a/1", &[&format!("Authorization: {}", keys[0]), &format!("X-Lang: {lang}")], "")).text()
    };
    assert_eq!([lang("de"), lang("en"), lang("de")], ["answer 4", "answer 5", "answer 4"]);
    for _ in 0..2 {
        assert_eq!(keys.each_ref().map(|key| call(&gateway, "/b/0", key).text()), ["answer 6", "answer 7"]);
    }
}

#[test]
fn an_answer_gets_what_belongs_to_its_own_request() {
    let upstream = scripted(vec![ok(&[FRESH, "X-Ratelimit-Limit: 7", "X-Upstream: 1"])]);
    let definition = shared(&upstream, json!({}))
        .set("enable_context_vars", true)
        .version("global_response_headers_remove", json!(["X-Upstream"]))
        .list(
            "transform_response_headers",
            json!([{"path": "/0", "method": "GET", "add_headers": {"X-Who": "$tyk_context.headers_X_Who"}}]),
        );
    let gateway = Gateway::start(json!({"tollgate": {"request_id": true}}), [definition]);
    for who in ["one", "two"] {
        let answer = gateway.send(request("GET", "/a/0", &[&format!("X-Who: {who}"), &format!("X-Request-Id: {who}")], ""));
        assert_eq!((answer.head.all("x-who"), answer.head.all("x-request-id")), (vec![who], vec![who]), "{answer}");
        assert_eq!((answer.head.all("x-ratelimit-limit"), answer.header("x-upstream")), (vec!["0"], None));
        assert_eq!(answer.text(), "answer 1");
    }
}

#[test]
fn what_a_transform_makes_is_what_is_stored() {
    let upstream =
        Upstream::start(|_| reply("200 OK", &[FRESH, "ETag: \"e\"", "Content-Type: application/json"], r#"{"name": "x"}"#));
    let source = "aGVsbG8ge3submFtZX19"; // hello {{.name}}
    let entry = |more: Value| {
        let mut data = json!({"input_type": "json", "template_mode": "blob", "template_source": source});
        super::harness::definition::merge(&mut data, &more);
        json!([{"path": "/x", "method": "GET", "template_data": data}])
    };
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({})).list("transform_response", entry(json!({})))]);
    for _ in 0..2 {
        let answer = gateway.get("/a/x");
        assert_eq!((answer.text().as_str(), answer.header("etag")), ("hello x", Some("W/\"e\"")));
    }
    let has_it = gateway.send(request("GET", "/a/x", &["If-None-Match: W/\"e\""], ""));
    assert_eq!((has_it.status, upstream.requests()), (304, 1));
    // The first one who asks may have it as well.
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({})).list("transform_response", entry(json!({})))]);
    let has_it = gateway.send(request("GET", "/a/x", &["If-None-Match: \"e\""], ""));
    assert_eq!((has_it.status, has_it.body.len()), (304, 0));
    assert_eq!(gateway.get("/a/x").text(), "hello x");
    // One that shows all that it sees does not see who asks.
    let all = STANDARD.encode("{{range $name, $value := .}}{{$name}} {{end}}");
    let showing = entry(json!({"template_source": all}));
    let definition = shared(&upstream, json!({})).set("enable_context_vars", true).list("transform_response", showing);
    assert_eq!(Gateway::start(json!({}), [definition]).get("/a/x").text(), "name ");
    // One that depends on who asks can't be for all.
    gateway.write_api(&shared(&upstream, json!({})).list("transform_response", entry(json!({"enable_session": true}))));
    gateway.reload();
    assert!(gateway.log().contains("makes another response of each request"), "{}", gateway.log());
}
