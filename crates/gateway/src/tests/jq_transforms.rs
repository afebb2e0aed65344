//! Other bodies by a jq filter: what upstreams and clients see of them, in every framing, coding and protocol. Names and wordings are those of
//! Tyk's `mw_transform_jq.go` and `res_handler_jq_transform.go`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Seen, Upstream, api, error_json, get, reply, request};

/// An endless filter, which its limits stop.
const ENDLESS: &str = "def f: f; f";

fn entry(method: &str, filter: &str) -> Value {
    json!([{"path": "/t", "method": method, "filter": filter}])
}

fn request_filter(upstream: &Upstream, filter: &str) -> Definition {
    api("a", "/a/", &upstream.url()).list("transform_jq", entry("POST", filter))
}

fn response_filter(upstream: &Upstream, filter: &str) -> Definition {
    let definition = api("a", "/a/", &upstream.url()).list("transform_jq_response", entry("GET", filter));
    definition.set("response_processors", json!([{"name": "response_body_transform_jq", "options": {}}]))
}

#[test]
fn without_context_variables_the_filter_sees_and_sets_none() {
    let upstream = Upstream::ok();
    let headers = json!([{"path": "/t", "method": "POST", "add_headers": {"X-Foo": "<$tyk_context.foo>"}}]);
    let filter = "{body: [.body, ._tyk_context], tyk_context: {foo: 1}}";
    let gateway = Gateway::start(json!({}), [request_filter(&upstream, filter).list("transform_headers", headers)]);
    for (body, wanted) in [("", "[null,{}]"), ("  ", "[null,{}]"), ("[1, 2.50, 12345678901] x", "[[1,2.5,12345678901],{}]")] {
        assert_eq!(gateway.send(request("POST", "/a/t", &[], body)).status, 200);
        assert_eq!((upstream.last().text().as_str(), upstream.last().header("x-foo")), (wanted, Some("<>")), "{body}");
    }
}

#[test]
fn requests_that_the_filter_does_not_fit_are_refused() {
    let upstream = Upstream::ok();
    let of = |id: &str, filter: &str| api(id, &format!("/{id}/"), &upstream.url()).list("transform_jq", entry("POST", filter));
    let gateway = Gateway::start(
        json!({}),
        [
            of("plain", "{body: .body.a}"),
            of("list", "[.body]"),
            of("none", "empty"),
            of("error", "{body: (.body | error(\"no\"))}"),
        ],
    );
    let no_object = "Invalid JSON object returned by JQ filter. Allowed field are 'body', 'rewrite_headers' and 'tyk_context'";
    let failed = |why: &str| format!("Error while applying JQ transformation: {why}");
    for (id, body, message) in [
        ("plain", "wrong json", "expected value at line 1 column 1".to_owned()),
        ("plain", "{\"a\": ", "unexpected EOF".to_owned()),
        ("plain", "[1]", failed("Cannot index array with string \\\"a\\\"")),
        ("list", "{}", no_object.to_owned()),
        ("none", "{}", failed("the filter has no output")),
        ("error", "{}", failed("no")),
    ] {
        let answer = gateway.send(request("POST", &format!("/{id}/t"), &[], body));
        assert_eq!((answer.status, answer.text()), (415, error_json(&message)), "{id} {body}");
    }
    let deep = "[".repeat(200);
    assert_eq!(gateway.send(request("POST", "/plain/t", &[], &deep)).status, 415);
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_filter_that_does_not_end_fails_its_own_request_only() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], "{}"));
    let plain = api("b", "/b/", &upstream.url());
    let mut endless = response_filter(&upstream, "[range(1e12)]").list("transform_jq", entry("POST", ENDLESS));
    endless = endless.set("proxy/strip_listen_path", true);
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [endless, plain]);
    let mut client = gateway.connect();
    for _ in 0..3 {
        let answer = client.ask(request("POST", "/a/t", &[], "{}"));
        let message = "the filter takes too many steps or too much memory";
        assert_eq!((answer.status, answer.text()), (500, error_json(message)));
        let answer = client.ask(get("/a/t"));
        assert_eq!((answer.status, answer.text()), (500, error_json("Response could not be transformed")));
        assert_eq!(client.ask(get("/b/x")).status, 200);
    }
    assert!(gateway.log().contains("a request's body was not transformed"), "{}", gateway.log());
}

#[test]
fn a_response_that_the_filter_does_not_fit_is_an_error() {
    let upstream = Upstream::start(|seen: &Seen| match seen.target.split('?').nth(1).unwrap_or_default() {
        "empty" => reply("200 OK", &[], ""),
        "text" => reply("200 OK", &[], "no JSON"),
        "coding" => reply("200 OK", &["Content-Encoding: compress"], "{}"),
        "large" => reply("200 OK", &[], &format!("\"{}\"", "x".repeat(60_000))),
        "grows" => reply("200 OK", &[], "40000"),
        "204" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        _ => reply("200 OK", &["ETag: \"one\"", "Accept-Ranges: bytes"], "1"),
    });
    let conf = json!({"http_server_options": {"max_response_body_size": 50_000}});
    let gateway = Gateway::start(conf, [response_filter(&upstream, "{body: (\"x\" * .body * 2)}")]);
    let mut client = gateway.connect();
    for (query, message) in [
        ("empty", "Response could not be transformed"),
        ("text", "Response could not be transformed"),
        ("coding", "Response could not be transformed"),
        ("grows", "Response could not be transformed"),
        ("large", "Response body too large"),
    ] {
        let answer = client.ask(get(&format!("/a/t?{query}")));
        assert_eq!((answer.status, answer.text()), (500, error_json(message)), "{query}");
    }
    assert_eq!(client.ask(get("/a/t?204")).status, 204);
    let answer = client.ask(request("GET", "/a/t", &["Range: bytes=0-3"], ""));
    assert_eq!(
        (answer.text().as_str(), answer.header("etag"), answer.header("accept-ranges")),
        ("\"xx\"", Some("W/\"one\""), None)
    );
    assert_eq!(upstream.last().header("range"), None);
}

#[test]
fn a_response_filter_needs_its_processor() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], "{}"));
    let definition = response_filter(&upstream, "{body: 1}").set("response_processors", json!([]));
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/t").text(), "{}");
    let log = gateway.log();
    assert!(log.contains("extended_paths.transform_jq_response"), "{log}");
    assert!(log.contains("has no effect, as no entry of response_processors has the name"), "{log}");
}

#[test]
fn what_a_filter_uses_and_is_not_there_is_a_problem_of_the_definition() {
    let upstream = Upstream::ok();
    for (list, filter, message) in [
        ("transform_jq", "{body: .body,\n x: nonesuch}", "line 2: unknown function nonesuch/0"),
        ("transform_jq_response", "{body: env}", "line 1: unknown function env/0"),
        ("transform_jq", "{body: ", "line 1: expected closing brace at the end"),
        ("transform_jq", "input", "line 1: unknown function input/0"),
        ("transform_jq", "", "line 1: expected term at the end"),
        ("transform_jq", "test(\"(?<=a)b\")", "look-around, including look-ahead and look-behind, is not supported"),
    ] {
        let definition = api("a", "/a/", &upstream.url()).list(list, entry("POST", filter));
        let gateway = Gateway::start(json!({}), [definition]);
        assert_eq!(gateway.get("/a/t").status, 404, "{filter}");
        let log = gateway.log();
        let at = format!("$.version_data.versions.Default.extended_paths.{list}[0].filter: error: not a jq filter: ");
        assert!(log.contains(&at) && log.contains(message), "{filter}:\n{log}");
    }
}

#[test]
fn a_shared_cache_stores_nothing_that_a_filter_made_of_the_request() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Cache-Control: max-age=60"], "{}"));
    let of = |filter: &str| {
        let definition = response_filter(&upstream, filter).set("enable_context_vars", true);
        Gateway::start(json!({}), [definition.set("tollgate", json!({"cache": {}}))])
    };
    let gateway = of("{body: ._tyk_context.path}");
    assert_eq!(gateway.get("/a/t").status, 404);
    assert!(gateway.log().contains("transform_jq_response[0].filter: error: makes another response"), "{}", gateway.log());
    // What it sees by another name is empty.
    assert_eq!(of("{body: (keys - [\"_tyk_response_headers\"] | map(. as $k | $k)), rewrite_headers: {}}").get("/a/t").status, 200);
    assert_eq!(of("{body: .[\"_tyk\" + \"_context\"]}").get("/a/t").text(), "{}");
}

#[test]
fn the_example_of_the_documentation_works() {
    let upstream = Upstream::start(|_| {
        let rows = json!([{"id": 1, "name": "Ann", "password": "x"}, {"id": 2, "name": "Bob", "password": "y"}]);
        reply("200 OK", &[], &rows.to_string())
    });
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tyk-compatibility.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("### Body filters").nth(1).unwrap();
    let example = section.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut definition: Value = serde_json::from_str(example).unwrap();
    definition["proxy"]["target_url"] = json!(upstream.url());
    let gateway = Gateway::start(json!({}), [Definition(definition)]);
    let answer = gateway.send(request("POST", "/people/search", &["X-Team: red"], r#"{"query": " Ann ", "limit": 500}"#));
    assert_eq!(answer.text(), r#"{"count":2,"people":[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]}"#, "{answer}");
    assert_eq!(answer.header("x-count"), Some("2"));
    let seen = upstream.last();
    assert_eq!(seen.text(), r#"{"limit":100,"q":"Ann","team":"red"}"#);
    assert_eq!((seen.header("x-query"), seen.header("x-short-query")), (Some("Ann"), Some("yes")));
}
