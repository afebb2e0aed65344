//! `tollgate import` of configurations of KrakenD, beside KrakenD's own engine: requests that are made of a configuration, and what becomes of each
//! kind of answer of a backend.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::{Connection, Response, Seen, Upstream, get, reply, request};
use crate::moving_in::{OldGateway, differs_only_in, imported, krakend_engine, served};

/// What differs at every endpoint.
const EVERYWHERE: [&str; 8] = [
    "header content-type",
    "header x-krakend",
    "header x-krakend-completed",
    "status",
    "upstream header accept-encoding",
    "upstream header x-forwarded-host",
    "upstream header x-forwarded-via",
    "upstream path",
];

fn differs_also_in(file: &'static str, aspects: &[&str]) {
    if krakend_engine().is_some() {
        let mut all: Vec<&str> = EVERYWHERE.iter().chain(aspects).copied().collect();
        all.sort_unstable();
        differs_only_in(file, &all);
    }
}

#[test]
fn a_shop_behind_krakend_is_answered_alike() {
    differs_also_in("shop.krakend.json", &["upstream header user-agent"]);
}

#[test]
fn former_names_behind_krakend_are_answered_alike() {
    differs_also_in("former.krakend.json", &["upstream header if-range", "upstream header range"]);
}

/// All kinds of answers.
fn answer(seen: &Seen) -> Vec<u8> {
    let json = |status: &str, body: &str| reply(status, &["Content-Type: application/json"], body);
    match seen.target.trim_end_matches("?q=1") {
        "/object" => json("200 OK", OBJECT),
        "/none" => json("200 OK", "{}"),
        "/list" => json("200 OK", "[{\"id\":1},{\"id\":2}]"),
        "/number" => json("200 OK", "5"),
        "/text" => reply("200 OK", &["Content-Type: text/plain"], "a text"),
        "/created" => json("201 Created", OBJECT),
        "/missing" => json("404 Not Found", "{\"a\":\"missing\"}"),
        _ => reply("503 Service Unavailable", &["Content-Type: text/plain"], "broken"),
    }
}

const OBJECT: &str = r#"{"a":{"b":{"c":1,"d":null,"next":"list"},"e":[1]},"list":[{"x":1}],"nothing":null,"z":"<&>"}"#;
const ANSWERS: [&str; 8] = ["object", "none", "list", "number", "text", "created", "missing", "broken"];
const SHAPES: [&str; 13] =
    ["plain", "raw", "list", "bare", "safe", "deep", "less", "some", "moved", "added", "code", "both", "none"];

/// The statuses that differ, the engine's first.
fn expected() -> BTreeMap<String, [u16; 2]> {
    let mut expected = BTreeMap::new();
    let mut add = |shapes: &[&str], answers: &[&str], statuses: [u16; 2]| {
        for (shape, answer) in shapes.iter().flat_map(|shape| answers.iter().map(move |answer| (shape, answer))) {
            expected.insert(format!("GET /{shape}/{answer}"), statuses);
        }
    };
    add(&["plain", "code", "safe", "deep", "less", "some", "moved", "added"], &["created"], [200, 201]);
    add(&["plain", "safe", "deep", "less", "some", "moved", "added"], &["missing"], [500, 404]);
    add(&["plain"], &["broken"], [500, 503]);
    // Where no member is selected, nobody looks whether there are any.
    add(&["plain", "code"], &["list", "number", "text"], [500, 200]);
    expected
}

#[test]
fn each_kind_of_answer_becomes_what_krakend_makes_of_it() {
    if krakend_engine().is_none() {
        return;
    }
    let old = OldGateway::new("answers.krakend.json");
    let upstream = Upstream::start_at(&format!("127.0.0.1:{}", old.upstreams[0]), answer);
    let into = old.dir.path().join("imported");
    imported(&old.configuration(), &into);
    let _old = old.start();
    let (_new, port) = served(&into);

    let json_lines = ["Content-Type: application/json"];
    let mut requests: Vec<String> =
        SHAPES.iter().flat_map(|shape| ANSWERS.iter().map(move |answer| get(&format!("/{shape}/{answer}")))).collect();
    requests.extend(["{\"n\":1}", "{\"n\":\"1\"}", "{\"n\":", "[]"].map(|body| request("POST", "/checked", &json_lines, body)));
    requests.push(request("POST", "/sent", &json_lines, "{}"));
    requests.extend(["object", "missing", "text"].map(|answer| get(&format!("/turns/{answer}?q=1&r=2"))));
    requests.extend(["/down", "/nowhere", "/plain", "/plain/a/b"].map(get));
    let mut statuses = BTreeMap::new();
    for request in requests {
        let [of_old, of_new] = [old.port, port].map(|port| {
            let before = upstream.requests();
            let response = Connection::open(port).ask(&request);
            let sent: Vec<Seen> = upstream.seen().split_off(before);
            let mut sent: Vec<(String, String)> = sent.into_iter().map(|seen| (seen.method, seen.target)).collect();
            sent.sort();
            (response, sent)
        });
        assert_eq!(of_old.1, of_new.1, "{request}");
        let (of_old, of_new) = (of_old.0, of_new.0);
        let body = request.rsplit("\r\n\r\n").next().unwrap();
        let line = format!("{} {body}", request.lines().next().unwrap().trim_end_matches(" HTTP/1.1"));
        if of_old.status != of_new.status {
            statuses.insert(line.trim_end().to_owned(), [of_old.status, of_new.status]);
        }
        // What a gateway says of errors is its own affair.
        if of_old.status < 300 && of_new.status < 300 {
            let body =
                |response: &Response| serde_json::from_slice(&response.body).unwrap_or_else(|_| Value::from(response.text()));
            assert_eq!(body(&of_old), body(&of_new), "{line}");
        }
    }
    assert_eq!(statuses, expected());
    for port in [old.port, port] {
        assert_eq!(Connection::open(port).ask(get("/__health")).json()["status"], "ok");
    }
}
