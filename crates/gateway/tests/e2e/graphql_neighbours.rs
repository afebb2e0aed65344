//! While a GraphQL API gets queries that are made to be expensive, they are refused before any fetch, and another API is served (how fast, see
//! `make attack`). Every query is a new text, so that none is known from an earlier one.

use serde_json::{Value, json};

use crate::harness::graph::graph;
use crate::harness::neighbours::{assert_beside, beside};
use crate::harness::{Definition, Gateway, Upstream, api, request};

/// A request with a JSON body.
fn post(path: &str, body: &Value) -> String {
    request("POST", path, &["Content-Type: application/json"], &body.to_string())
}

/// A query that is like no other one.
fn numbered(number: usize, text: &str) -> Value {
    json!({ "query": format!("{text}\n# {number}") })
}

/// A part of a text for each number below `count`.
fn each(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect()
}

#[test]
fn expensive_queries_leave_other_apis_served() {
    let (upstream, neighbour) = (Upstream::ok(), Upstream::ok());
    let gateway = Gateway::start(json!({}), [graph(&upstream), beside(&neighbour)]);
    let spreads = each(20, |n| format!("fragment F{n} on User {{ ...F{m} ...F{m} ...F{m} }}\n", m = n + 1));
    let circle = each(1_000, |n| format!("fragment F{n} on User {{ friends {{ ...F{m} }} }}\n", m = (n + 1) % 1_000));
    let queries = [
        ("depth", "{ friends ".repeat(3_000)),
        ("levels", format!("{{ me {} id {} }}", "{ friends ".repeat(70) + "{", "}".repeat(71))),
        ("width", format!("{{ me {{ {} }} }}", "friends { id name } ".repeat(3_000))),
        ("tokens", format!("{{ me {{ {} }} }}", "id ".repeat(60_000))),
        ("aliases", format!("{{ me {{ {} }} }}", each(3_000, |n| format!("a{n}: id ")))),
        ("conflicts", format!("{{ {} }}", each(1_200, |n| format!("user(id: {n}) {{ id }} ")))),
        ("fragments", format!("{{ me {{ ...F0 }} }}\n{spreads}fragment F20 on User {{ id }}")),
        ("a circle", format!("{{ me {{ ...F0 }} }}\n{circle}")),
        ("directives", format!("{{ me {{ id {} }} }}", "@skip(if: false) ".repeat(5_000))),
        ("a long list", format!("{{ list(ids: [{}]) {{ id }} }}", "1 ".repeat(50_000))),
        ("a long text", format!("{{ user(id: \"{}\") {{ nothing }} }}", "x".repeat(400_000))),
        ("unknown fields", format!("{{ me {{ {} }} }}", each(3_000, |n| format!("x{n} ")))),
    ];
    for (what, text) in &queries {
        assert_beside(&gateway, what, &|number| post("/a/", &numbered(number, text)), 400);
    }
    let batch = Value::Array(vec![json!({"query": "{ me { id } }"}); 10_000]);
    assert_beside(&gateway, "a batch", &|_| post("/a/", &batch), 400);
    let with_list = "query($ids: [Int!]) { list(ids: $ids) { id } }";
    let mut ids = vec![json!(1); 50_000];
    ids.push(json!("one"));
    let variables = |number| {
        let mut body = numbered(number, with_list);
        body["variables"] = json!({ "ids": ids });
        post("/a/", &body)
    };
    assert_beside(&gateway, "variables", &variables, 400);
    assert_eq!(upstream.requests(), 0);
    gateway.expect_no_panic();
}

/// A federation of one subgraph with an interface that has many implementations.
fn federation(upstream: &Upstream) -> Definition {
    let implementations =
        each(300, |n| format!("type T{n} implements N @key(fields: \"id\") {{ id: ID! a: Int n: N own{n}: Int }} "));
    let sdl = format!("type Query {{ n: N }} interface N {{ id: ID! a: Int n: N }} {implementations}");
    let subgraph = json!({"api_id": "only", "name": "only", "url": upstream.url(), "sdl": sdl});
    api("s", "/s/", "").set(
        "graphql",
        json!({
            "enabled": true, "execution_mode": "supergraph", "version": "2",
            "supergraph": {"subgraphs": [subgraph], "merged_sdl": ""}
        }),
    )
}

#[test]
fn queries_that_are_expensive_to_plan_leave_other_apis_served() {
    let (upstream, neighbour) = (Upstream::ok(), Upstream::ok());
    let gateway = Gateway::start(json!({}), [federation(&upstream), beside(&neighbour)]);
    let level = "{ a ... on T1 { own1 } n ";
    let implementations = format!("{{ n {}{{ id }}{} }}", level.repeat(10), "}".repeat(10));
    // A query that is valid and cannot be executed gets its errors with 200, like one whose sources fail.
    assert_beside(&gateway, "implementations", &|number| post("/s/", &numbered(number, &implementations)), 200);
    assert_eq!(upstream.requests(), 0);
    gateway.expect_no_panic();
}
