//! Other bodies by a jq filter: what upstreams and clients see of them, in every framing, coding and protocol. Names and wordings are those of
//! Tyk's `mw_transform_jq.go` and `res_handler_jq_transform.go`.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::harness::http2::{ask, connect, converse, get as get_http2, post as post_http2, upload};
use crate::harness::wire::Framing;
use crate::harness::{Definition, Gateway, Seen, Upstream, api, error_json, get, reply, request};

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

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn chunked(start: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{start}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for piece in body.chunks(7) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[test]
fn a_request_goes_on_with_what_the_filter_makes() {
    let upstream = Upstream::ok();
    // The filter of Tyk's own example.
    let filter = r#"{"body": (.body + {"TRANSFORMED-REQUEST-BY-JQ": true, path: ._tyk_context.path, user_agent: ._tyk_context.headers_User_Agent}), "rewrite_headers": {"X-added-rewrite-headers": .body.foo, "X-number": 5, "Content-Length": "1", "X-bad": "a\nb"}, "tyk_context": {"foo-val": .body.foo, "n": 5}}"#;
    let headers =
        json!([{"path": "/t", "method": "POST", "add_headers": {"X-Foo": "$tyk_context.foo-val", "X-N": "$tyk_context.n"}}]);
    let definition = request_filter(&upstream, filter).set("enable_context_vars", true).list("transform_headers", headers);
    let gateway = Gateway::start(json!({}), [definition]);
    let start = "POST /a/t HTTP/1.1\r\nHost: h\r\nUser-Agent: test\r\nX-Added-Rewrite-Headers: old\r\n";
    let body = br#"{"foo": "<bar>"}"#;
    // Written as Go writes it.
    let wanted = r#"{"TRANSFORMED-REQUEST-BY-JQ":true,"foo":"\u003cbar\u003e","path":"/a/t","user_agent":"test"}"#;
    let with_length = [format!("{start}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat();
    let closed = gzip(body);
    let compressed =
        [format!("{start}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", closed.len()).as_bytes(), &closed].concat();
    for bytes in [with_length, chunked(start, body), compressed] {
        assert_eq!(gateway.send(bytes).status, 200);
        let seen = upstream.last();
        assert_eq!((seen.text().as_str(), seen.framing), (wanted, Framing::Length));
        let header = |name: &str| seen.header(name).map(str::to_owned);
        assert_eq!(header("x-added-rewrite-headers").as_deref(), Some("<bar>"));
        assert_eq!((header("x-foo").as_deref(), header("x-n").as_deref()), (Some("<bar>"), Some("5")));
        // Only texts that fit a header line are set, and none that frames the message; the coding is gone.
        assert_eq!((header("x-number"), header("x-bad"), header("content-encoding")), (None, None, None));
    }
    converse(async {
        let client = connect(gateway.port).await;
        let answer = upload(&client, post_http2("/a/t"), body, None).await.unwrap();
        assert_eq!(answer.status, 200);
    });
    let seen = upstream.last();
    assert_eq!(seen.header("x-foo"), Some("<bar>"));
    let made: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!((&made["foo"], &made["path"]), (&json!("<bar>"), &json!("/a/t")));
    // Other methods and endpoints go on as they are.
    gateway.send(request("PUT", "/a/t", &[], "as it is"));
    assert_eq!(upstream.last().text(), "as it is");
    gateway.send(request("POST", "/a/other", &[], "as it is"));
    assert_eq!(upstream.last().text(), "as it is");
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
fn a_client_gets_what_the_filter_makes_of_a_response() {
    let body = br#"{"secret": 1, "name": "Ann"}"#;
    let upstream = Upstream::start(move |seen: &Seen| {
        let start = "HTTP/1.1 201 Created\r\nX-Own: one\r\nX-Own: two\r\nX-Secret: 1\r\n";
        match seen.target.split('?').nth(1).unwrap_or_default() {
            "chunked" => chunked(start, body),
            "gzip" => {
                let closed = gzip(body);
                let head = format!("{start}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", closed.len());
                [head.as_bytes(), &closed].concat()
            }
            _ => [format!("{start}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat(),
        }
    });
    let filter =
        r#"{body: (.body | del(.secret) + {own: $own}), rewrite_headers: {"X-Secret": "-", "X-Path": ._tyk_context.path}}"#;
    let filter = format!("._tyk_response_headers[\"X-Own\"] as $own | {filter}");
    let gateway = Gateway::start(json!({}), [response_filter(&upstream, &filter).set("enable_context_vars", true)]);
    let wanted = r#"{"name":"Ann","own":["one","two"]}"#;
    let mut client = gateway.connect();
    for form in ["length", "chunked", "gzip"] {
        let answer = client.ask(get(&format!("/a/t?{form}")));
        let text = match answer.header("content-encoding") {
            Some("gzip") => {
                let mut text = String::new();
                GzDecoder::new(answer.body.as_slice()).read_to_string(&mut text).unwrap();
                text
            }
            _ => answer.text(),
        };
        assert_eq!((answer.status, text.as_str(), answer.framing), (201, wanted, Framing::Length), "{form}");
        assert_eq!((answer.header("x-secret"), answer.header("x-path")), (Some("-"), Some("/a/t")));
        assert_eq!(answer.header("content-encoding").is_some(), form == "gzip");
        // Another endpoint passes as it is, on the same connection.
        assert_eq!(client.ask(get("/a/other?chunked")).body, body);
    }
    converse(async {
        let client = connect(gateway.port).await;
        for form in ["length", "chunked"] {
            let answer = ask(&client, get_http2(&format!("/a/t?{form}"))).await.unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (201, wanted), "{form}");
        }
    });
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
