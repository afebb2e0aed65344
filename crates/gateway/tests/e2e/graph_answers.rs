//! Large answers of the sources of data graphs: what they take of the memory, by what the page about data graphs says.

use crate::data_graphs::{data_graph, of, rest, whole};
use crate::harness::{Gateway, Upstream, reply, request};
use serde_json::{Value, json};

const JSON: &str = "Content-Type: application/json";
const PAGE: &str = include_str!("../../../../docs/data-graphs.md");
const BYTES: usize = 4_000_000;
/// Threads and connections that the first query needs, and what the allocator keeps.
const SPARE_KIB: u64 = 24 << 10;

/// Lists as long as the smallest items make them, an object that is nothing but names, and objects as they are.
fn answers() -> Vec<(&'static str, String)> {
    let list = |item: &str| format!("[{}{item}]", format!("{item},").repeat(BYTES / (item.len() + 1)));
    let members = (0..BYTES / 12).map(|number| format!("\"n{number}\":1")).collect::<Vec<_>>().join(",");
    vec![
        ("[Int]", list("1")),
        ("[[Int]]", list("[1]")),
        ("[String]", list("\"a\"")),
        ("[Thing]", list("{}")),
        ("[Thing]", list("{\"id\":1234}")),
        ("Whole", format!("{{{members}}}")),
        ("Whole", list("[]")),
    ]
}

#[test]
fn an_answer_takes_no_more_memory_than_the_page_says() {
    let (_, factor) = PAGE.split_once("A query takes at most ").expect("the factor");
    let factor: u64 = factor.split(' ').next().unwrap().parse().expect("a number");
    for (kind, answer) in answers() {
        let (bytes, start) = (answer.len() as u64, answer.get(..40).unwrap_or_default().to_owned());
        let expected: Value = serde_json::from_str(&answer).unwrap();
        let upstream = Upstream::start(move |_| reply("200 OK", &[JSON], &answer));
        let schema = format!("type Query {{ all: {kind} }} type Thing {{ id: Int }} scalar Whole");
        let engine = json!({
            "field_configs": [whole("Query", "all")],
            "data_sources": [rest("all", of("Query", "all"), json!({"url": upstream.url()}))],
        });
        let gateway = Gateway::start(json!({}), [data_graph("a", &schema, engine)]);
        let query = if kind == "[Thing]" { "{ all { id } }" } else { "{ all }" };
        let response = gateway.send(request("POST", "/a/", &[JSON], &json!({"query": query}).to_string()));
        assert_eq!(response.status, 200, "{kind}");
        let all = &response.json()["data"]["all"];
        match kind {
            "[Thing]" => assert_eq!(all.as_array().map(Vec::len), expected.as_array().map(Vec::len)),
            _ => assert!(*all == expected, "{kind} {start}"),
        }
        let (grown, most) = (gateway.grown_kib(), SPARE_KIB + factor * bytes / 1024);
        assert!(grown <= most, "{kind} {start}: {grown} KiB for {bytes} bytes, at most {most}");
    }
}
