//! Other bodies by a template: what upstreams and clients see of them, in every framing, coding and protocol. Names and wordings are those of
//! Tyk's `mw_transform.go` and `res_handler_transform.go`.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::{Value, json};

use super::harness::transforms::{entry, framed, request_transform, response_transform, template};
use super::harness::{Definition, Gateway, Seen, Upstream, api, error_json, get, reply, request};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn opened(mut decoder: impl Read) -> String {
    let mut text = String::new();
    decoder.read_to_string(&mut text).unwrap();
    text
}

/// The time, the randomness and the time zones that templates get are the machine's.
#[test]
fn templates_have_the_time_and_randomness_of_the_gateway() {
    let upstream = Upstream::ok();
    let text =
        r#"{{uuidv4}} {{now.Unix}} {{dateInZone "15:04 MST" 1720000000 "Asia/Tokyo"}} {{regexReplaceAll "[^0-9]" .phone ""}}"#;
    let gateway = Gateway::start(json!({}), [request_transform(&upstream, text)]);
    let unix_s = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let before = unix_s();
        assert_eq!(gateway.send(request("POST", "/a/t", &[], r#"{"phone": "+49 (30) 12-34"}"#)).status, 200);
        let seen = upstream.last().text();
        let (id, rest) = seen.split_once(' ').unwrap();
        let (time, rest) = rest.split_once(' ').unwrap();
        assert!((before..=unix_s()).contains(&time.parse::<u64>().unwrap()), "{seen}");
        assert_eq!(rest, "18:46 JST 49301234");
        assert_eq!((id.len(), id.as_bytes()[14]), (36, b'4'), "{seen}");
        ids.insert(id.to_owned());
    }
    assert_eq!(ids.len(), 3);
}

#[test]
fn lists_texts_and_nothing_are_seen_as_in_tyk() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [request_transform(&upstream, "{{.}}|{{len .array}}")]);
    for (body, wanted) in [
        (r#"[1, "b"]"#, "map[array:[1 b]]|2"),
        // What the template can't be rendered for goes on as it is.
        (r#""a text""#, r#""a text""#),
        ("{\"cut\": ", "{\"cut\": "),
        ("no JSON", "no JSON"),
    ] {
        assert_eq!(gateway.send(request("POST", "/a/t", &[], body)).status, 200);
        assert_eq!(upstream.last().text(), wanted);
    }
    let gateway = Gateway::start(json!({}), [request_transform(&upstream, "made of nothing: {{.}}")]);
    gateway.send(request("POST", "/a/t", &[], ""));
    assert_eq!(upstream.last().text(), "made of nothing: map[]");
    // A body that was empty gets a length, and the connection goes on behind it.
    let mut client = gateway.connect();
    for _ in 0..2 {
        client.ask("POST /a/t HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(upstream.last().text(), "made of nothing: map[]");
    }
}

#[test]
fn xml_is_read_by_tyks_mapping() {
    let upstream = Upstream::ok();
    let mut data = template("{{.order.item}} {{index .order \"-id\"}} {{.order.line | jsonMarshal}}");
    data["input_type"] = json!("xml");
    let definition = api("a", "/a/", &upstream.url()).list("transform", entry("POST", data));
    let gateway = Gateway::start(json!({}), [definition]);
    gateway.send(request("POST", "/a/t", &[], "<order id=\"7\"><item>a &amp; b</item><line>1</line><line>2</line></order>"));
    assert_eq!(upstream.last().text(), "a & b 7 [\"1\",\"2\"]");
    // Entities of the document's own are not read, so that it can't grow; it goes on as it is.
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><order><item>&c;</item></order>";
    gateway.send(request("POST", "/a/t", &[], bomb));
    assert_eq!(upstream.last().text(), bomb);
}

#[test]
fn a_template_sees_the_context_and_the_keys_metadata() {
    let upstream = Upstream::ok();
    let text = concat!(
        "{{._tyk_context.path}} {{._tyk_context.request_data_q}} {{index ._tyk_context.request_data.q 1}} ",
        "{{._tyk_context.headers_X_Own}} {{index ._tyk_context.headers \"X-Own\" 0}} {{._tyk_context.cookies_c_d}} ",
        "{{index ._tyk_context.path_parts 1}} {{._tyk_meta.plan}}"
    );
    let mut data = template(text);
    data["enable_session"] = json!(true);
    let definition = api("a", "/a/", &upstream.url()).with_keys().set("enable_context_vars", true);
    let gateway = Gateway::start(json!({}), [definition.list("transform", entry("POST", data))]);
    let session = json!({"access_rights": {"a": {"api_id": "a"}}, "meta_data": {"plan": "gold"}});
    let made = gateway.control("POST", "/tyk/keys/create", &session.to_string());
    let key = made.json()["key"].as_str().unwrap().to_owned();
    let lines = [&format!("Authorization: {key}"), "x-own: mine", "Cookie: c-d=\"e\""];
    let answer = gateway.send(request("POST", "/a/t?q=one&q=two", &lines, "{}"));
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(upstream.last().text(), "/a/t one two mine mine e a gold");
}

#[test]
fn variables_of_the_template_are_put_in_and_those_of_clients_are_not() {
    let upstream = Upstream::ok();
    let text = "$secret_conf.public $tyk_context.headers_X_Own {{.text}} $tyk_context.path";
    let definition = request_transform(&upstream, text).set("enable_context_vars", true);
    let gateway = Gateway::start(json!({"secrets": {"public": "p", "hidden": "h"}}), [definition]);
    let body = r#"{"text": "$secret_conf.hidden $tyk_context.path"}"#;
    gateway.send(request("POST", "/a/t", &["X-Own: a&b"], body));
    assert_eq!(upstream.last().text(), "p a%26b $secret_conf.hidden $tyk_context.path %2Fa%2Ft");
}

#[test]
fn compressed_requests_are_opened_for_what_reads_them() {
    let upstream = Upstream::ok();
    let paths = request_transform(&upstream, "{{.item}}")
        .list("validate_json", json!([{"path": "/v", "method": "POST", "schema": {"required": ["item"]}}]));
    let limits = json!({"tollgate": {"limits": {"body_bytes_max": 100_000}}});
    let gateway = Gateway::start(limits, [paths]);
    let send = |path: &str, coding: &str, body: &[u8]| {
        let start = format!("POST /a{path} HTTP/1.1\r\nHost: h\r\nContent-Encoding: {coding}\r\n");
        gateway.send(framed(&start, "length", body))
    };
    let body = br#"{"item": "opened"}"#;
    for (coding, closed) in [("gzip", gzip(body)), ("deflate", deflate(body))] {
        assert_eq!(send("/t", coding, &closed).status, 200);
        let seen = upstream.last();
        assert_eq!((seen.text().as_str(), seen.header("content-encoding")), ("opened", None), "{coding}");
        // What only looks at a body leaves it as it is.
        assert_eq!(send("/v", coding, &closed).status, 200);
        let seen = upstream.last();
        assert_eq!((seen.body.as_slice(), seen.header("content-encoding")), (closed.as_slice(), Some(coding)));
        assert_eq!(send("/other", coding, &closed).status, 200);
        assert_eq!(upstream.last().body, closed);
    }
    let before = upstream.requests();
    for (coding, closed, status, message) in [
        ("gzip", gzip(&vec![b' '; 10_000_000]), 400, "Request is too large"),
        ("gzip", b"no gzip".to_vec(), 400, "Body does not fit its Content-Encoding"),
        ("gzip", gzip(body)[..20].to_vec(), 400, "Body does not fit its Content-Encoding"),
        ("compress", body.to_vec(), 415, "Content-Encoding is not supported"),
    ] {
        for path in ["/t", "/v"] {
            let answer = send(path, coding, &closed);
            assert_eq!((answer.status, answer.text()), (status, error_json(message)), "{path}");
        }
    }
    assert_eq!(upstream.requests(), before);
}

#[test]
fn responses_without_a_body_have_none_afterwards() {
    let upstream = Upstream::start(|seen: &Seen| match (seen.method.as_str(), seen.target.as_str()) {
        (_, "/t?204") => b"HTTP/1.1 204 No Content\r\nX-Own: 1\r\n\r\n".to_vec(),
        (_, "/t?304") => b"HTTP/1.1 304 Not Modified\r\nETag: \"one\"\r\nContent-Length: 28\r\n\r\n".to_vec(),
        ("HEAD", _) => b"HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 28\r\n\r\n".to_vec(),
        _ => reply("200 OK", &["ETag: \"one\""], ""),
    });
    let mut lists = response_transform(&upstream, "made: {{.}}").0;
    let entries = &mut lists["version_data"]["versions"]["Default"]["extended_paths"]["transform_response"];
    let mut for_head = entries[0].clone();
    for_head["method"] = json!("HEAD");
    entries.as_array_mut().unwrap().push(for_head);
    let gateway = Gateway::start(json!({}), [Definition(lists)]);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/a/t?204")).status, 204);
    let answer = client.ask(get("/a/t?304"));
    assert_eq!((answer.status, answer.header("etag")), (304, Some("W/\"one\"")));
    // The length that the upstream names is not the one that GET would have.
    let answer = client.ask("HEAD /a/t HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!((answer.status, answer.header("content-length"), answer.header("etag")), (200, None, Some("W/\"one\"")));
    // An empty body is one.
    let answer = client.ask(get("/a/t"));
    assert_eq!((answer.text().as_str(), answer.header("etag")), ("made: map[]", Some("W/\"one\"")));
}

#[test]
fn a_part_is_not_asked_for_where_the_whole_is_needed() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Accept-Ranges: bytes"], r#"{"name": "Ann"}"#));
    let gateway = Gateway::start(json!({}), [response_transform(&upstream, "{{.name}}")]);
    let answer = gateway.send(request("GET", "/a/t", &["Range: bytes=0-3", "If-Range: \"one\""], ""));
    assert_eq!((answer.text().as_str(), answer.header("accept-ranges")), ("Ann", None));
    let seen = upstream.last();
    assert_eq!((seen.header("range"), seen.header("if-range")), (None, None));
    gateway.send(request("GET", "/a/other", &["Range: bytes=0-3"], ""));
    assert_eq!(upstream.last().header("range"), Some("bytes=0-3"));
}

#[test]
fn compressed_responses_are_opened_and_closed_again() {
    let upstream = Upstream::start(|seen: &Seen| {
        let body = br#"{"name": "Ann"}"#;
        let (coding, body) = match seen.target.split('?').nth(1).unwrap_or_default() {
            "gzip" => ("gzip", gzip(body)),
            "deflate" => ("deflate", deflate(body)),
            "bomb" => ("gzip", gzip(&vec![b' '; 50_000_000])),
            "broken" => ("gzip", b"no gzip".to_vec()),
            _ => ("compress", b"whatever".to_vec()),
        };
        framed(&format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n"), "length", &body)
    });
    let gateway = Gateway::start(json!({}), [response_transform(&upstream, "Hello {{.name}}")]);
    let answer = gateway.get("/a/t?gzip");
    assert_eq!(
        (answer.header("content-encoding"), opened(GzDecoder::new(answer.body.as_slice())).as_str()),
        (Some("gzip"), "Hello Ann")
    );
    let answer = gateway.get("/a/t?deflate");
    assert_eq!(opened(ZlibDecoder::new(answer.body.as_slice())), "Hello Ann");
    let answer = gateway.get("/a/t?bomb");
    assert_eq!((answer.status, answer.text()), (500, error_json("Response body too large")));
    // As in Tyk, what can't be read is an empty document; what could not be opened is not passed off as opened.
    let answer = gateway.get("/a/t?compress");
    assert_eq!((answer.status, answer.text().as_str(), answer.header("content-encoding")), (200, "Hello <no value>", None));
    assert_eq!(opened(GzDecoder::new(gateway.get("/a/t?broken").body.as_slice())), "Hello <no value>");
}

#[test]
fn a_template_that_fails_on_a_response_is_an_error() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], r#"{"list": []}"#));
    let gateway = Gateway::start(json!({}), [response_transform(&upstream, "begun {{index .list 5}}")]);
    let answer = gateway.get("/a/t");
    assert_eq!((answer.status, answer.text()), (500, error_json("Response could not be transformed")));
}

#[test]
fn what_a_template_uses_and_is_not_there_is_a_problem_of_the_definition() {
    let upstream = Upstream::ok();
    let broken = |data: Value| {
        let definition = api("a", "/a/", &upstream.url()).list("transform_response", entry("GET", data));
        let gateway = Gateway::start(json!({}), [definition]);
        assert_eq!(gateway.get("/a/t").status, 404);
        gateway.log()
    };
    let at = "$.version_data.versions.Default.extended_paths.transform_response[0].template_data";
    let missing = std::env::temp_dir().join("no-such-file");
    let unreadable = format!("template_source: error: {} cannot be read", missing.display());
    for (data, message) in [
        (
            template("one\n{{.x | genPrivateKey}}"),
            "template_source: error: not a template: line 2: function \"genPrivateKey\" not defined: making keys and certificates takes too long",
        ),
        (template("{{regexMatch `(a` .x}}"), "template_source: error: not a template: line 1: regexMatch: "),
        (template("{{.x"), "template_source: error: not a template: line 1: "),
        (json!({"template_mode": "blob", "template_source": "%%"}), "template_source: error: not Base64"),
        (json!({"template_mode": "file", "template_source": missing}), unreadable.as_str()),
        (json!({"template_source": "e30="}), "template_mode: error: \"\" is neither file nor blob"),
    ] {
        let log = broken(data);
        assert!(log.contains(&format!("{at}.{message}")), "{message}:\n{log}");
    }
}

#[test]
fn templates_are_read_from_files_and_entries_can_be_switched_off() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], r#"{"name": "Ann"}"#));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("names.tmpl");
    std::fs::write(&file, "{{define \"x\"}}<{{.}}>{{end}}{{template \"x\" .name}}").unwrap();
    let data = json!({"input_type": "json", "template_mode": "file", "template_source": file.to_str().unwrap()});
    let entries = json!([
        {"path": "/t", "method": "GET", "template_data": data, "disabled": true},
        {"path": "/t", "method": "GET", "template_data": data},
        {"path": "/off", "method": "GET", "template_data": data, "disabled": true}
    ]);
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).list("transform_response", entries)]);
    assert_eq!(gateway.get("/a/t").text(), "<Ann>");
    assert_eq!(gateway.get("/a/off").text(), r#"{"name": "Ann"}"#);
}
