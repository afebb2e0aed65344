use super::comparison::{Aspects, ProofSides};
use super::sender::{BothAnswers, GatewayAnswer};
use super::*;
use http::HeaderMap;

fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Result<GatewayAnswer, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    Ok(GatewayAnswer { status, headers: map, body: body.as_bytes().to_vec(), upstream: None })
}

/// The aspects in which two answers to a GET differ.
fn aspects(old: Result<GatewayAnswer, String>, new: Result<GatewayAnswer, String>) -> Vec<String> {
    let compared = Aspects::new(&["X-Told".to_owned()], ProofSides { old: 1080, new: 2080 });
    compared.compare("GET", &BothAnswers { old, new }).into_iter().map(|difference| difference.aspect).collect()
}

#[test]
fn answers_differ_in_what_a_client_sees() {
    let page = [("content-type", "text/html")];
    let json = [("content-type", "application/json")];
    let cases = [
        (answer(200, &[], "a"), answer(200, &[], "a"), &[][..]),
        (answer(200, &[], "a"), answer(404, &[("x", "y")], "b"), &["status"]),
        (answer(200, &[], "a"), Err("gone".to_owned()), &["status"]),
        (answer(200, &[], "a"), answer(200, &[], "b"), &["body"]),
        (answer(200, &json, "{\"a\":1,\"b\":2}"), answer(200, &json, "{ \"b\":2, \"a\":1 }"), &[]),
        (answer(200, &[("x-a", "1")], ""), answer(200, &[("x-a", "2")], ""), &["header x-a"]),
        (answer(200, &[("x-a", "1")], ""), answer(200, &[], ""), &["header x-a"]),
        (answer(200, &[("date", "1"), ("x-told", "1")], ""), answer(200, &[("date", "2")], ""), &[]),
        // The page of the old gateway itself.
        (answer(403, &page, "<h1>"), answer(403, &json, "{}"), &[]),
        (answer(403, &[page[0], ("content-encoding", "gzip")], "<h1>"), answer(403, &json, "{}"), &[]),
        (answer(404, &[("content-type", "text/plain")], "404 page not found\n"), answer(404, &json, "{}"), &[]),
        (answer(403, &json, "{\"a\":1}"), answer(403, &json, "{}"), &["body"]),
        (answer(200, &page, "<h1>"), answer(200, &json, "{}"), &["header content-type", "body"]),
        // Each writes its own port.
        (answer(301, &[("location", "http://a:1080/b")], ""), answer(301, &[("location", "http://a:2080/b")], ""), &[]),
        (
            answer(301, &[("location", "http://a:1080/b")], ""),
            answer(301, &[("location", "http://a:1081/b")], ""),
            &["header location"],
        ),
    ];
    for (old, new, expected) in cases {
        let words = format!("{old:?} {new:?}");
        assert_eq!(aspects(old, new), expected, "{words}");
    }
}

fn request(api: &str, path: &str) -> ProofRequest {
    ProofRequest { api: api.to_owned(), method: "GET".to_owned(), path: path.to_owned(), ..ProofRequest::default() }
}

#[test]
fn every_api_keeps_requests_when_there_are_too_many() {
    let mut all: Vec<ProofRequest> = (0..100).map(|index| request("many", &format!("/{index}"))).collect();
    all.push(request("few", "/"));
    let chosen = spread(all.clone(), 10);
    assert_eq!(chosen.len(), 10);
    assert!(chosen.iter().any(|request| request.api == "few"));
    assert_eq!(spread(all.clone(), 1_000), all);
}

#[test]
fn groups_are_by_api_and_aspect() {
    let compared = Aspects::new(&[], ProofSides { old: 1, new: 2 });
    let mut differences = Differences::default();
    for (api, old, new) in [("a", 200, 404), ("a", 200, 404), ("a", 200, 500), ("b", 200, 404), ("b", 200, 200)] {
        let both = BothAnswers { old: answer(old, &[], ""), new: answer(new, &[], "") };
        differences.add(&request(api, "/"), compared.compare("GET", &both));
    }
    let found = differences.to_json();
    assert_eq!((&found["requests"], &found["same"], &found["different"]), (&5.into(), &1.into(), &4.into()));
    let groups: Vec<(&str, &str, u64)> = found["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["api_id"].as_str().unwrap(), group["to"].as_str().unwrap(), group["requests"].as_u64().unwrap()))
        .collect();
    assert_eq!(groups, [("a", "404", 2), ("a", "500", 1), ("b", "404", 1)]);
    assert_eq!(differences.by_aspect(), [("status".to_owned(), 4)]);
}

#[test]
fn only_gateways_on_this_machine_are_asked() {
    for (url, is_allowed) in [
        ("http://127.0.0.1:80", true),
        ("http://[::1]:80", true),
        ("http://localhost", true),
        ("https://127.1.2.3", true),
        ("http://10.0.0.1", false),
        ("http://localhost.example.com", false),
        ("http://127.0.0.1.example.com", false),
    ] {
        assert_eq!(address(url, false).is_ok(), is_allowed, "{url}");
        assert!(address(url, true).is_ok(), "{url}");
    }
}
