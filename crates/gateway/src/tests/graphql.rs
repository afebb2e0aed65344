//! GraphQL APIs as clients meet them: what passes to the upstream and in which form, what is refused before it gets there, and in whose words.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::harness::graph::{DATA, JSON, ask, data, graph, post, url};
use super::harness::{Gateway, Upstream, api, reply, request};

#[test]
fn a_valid_request_passes_as_it_was_sent() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let bodies = [
        r#"{ "query" : "query A($id: ID!) { user(id: $id) { id } } query B { me { id } }", "operationName": "A", "variables": {"id": 7} }"#,
        r#"{"query": "mutation { rename(id: 1, name: \"\u00e9\") { id } }", "extensions": {"trace": [1]}, "other": null}"#,
        r#"{"query": "subscription { renamed { id } }"}"#,
        r#"[{"query": "{ me { id } }"}, {"query": "{ me { name } }", "variables": null}]"#,
        r#"{"query": "{ __typename }"}"#,
    ];
    for body in bodies {
        for _ in 0..2 {
            let answer = gateway.send(request("POST", "/a/", &[JSON, "X-Own: 1"], body));
            assert_eq!((answer.status, answer.text().as_str()), (200, DATA), "{body}");
            let seen = upstream.last();
            assert_eq!((seen.text().as_str(), seen.header("x-own")), (body, Some("1")));
        }
    }
    let target = format!("/a/?query={}&variables={}", url("query($id: ID!) { user(id: $id) { id } }"), url(r#"{"id": "x"}"#));
    assert_eq!(gateway.get(&target).status, 200);
    assert_eq!(upstream.last().target, target.replace("/a/", "/"));
    let plain = gateway.send(request("POST", "/a/", &["Content-Type: application/graphql"], "{ me { id } }"));
    assert_eq!(plain.status, 200);
    let seen = upstream.last();
    assert_eq!((seen.header("content-type"), seen.text().as_str()), (Some("application/json"), r#"{"query":"{ me { id } }"}"#));
}

#[test]
fn large_requests_pass_as_they_were_sent_and_are_refused_in_the_same_words() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let variables = json!({"filter": {"name": "x".repeat(100_000), "ages": vec![7; 10_000]}});
    let query = |field: &str| format!("query($filter: Filter) {{ user(id: 1, where: $filter) {{ {field} }} }}");
    let body = json!({"query": query("id"), "variables": variables}).to_string();
    let answer = gateway.send(request("POST", "/a/", &[JSON], &body));
    assert_eq!((answer.status, answer.text().as_str()), (200, DATA));
    assert_eq!(upstream.last().text(), body);
    // A document of its own becomes JSON.
    let text = format!("# {}\n{}", "x".repeat(100_000), "{ me { id } }");
    let answer = gateway.send(request("POST", "/a/", &["Content-Type: application/graphql"], &text));
    assert_eq!((answer.status, upstream.last().text()), (200, json!({ "query": text }).to_string()));
    assert_eq!(upstream.requests(), 2);
    let [small, large] = [json!({}), variables].map(|variables| {
        let answer = post(&gateway, &json!({"query": query("nobody"), "variables": variables}));
        (answer.status, answer.text())
    });
    assert_eq!((small.0, &small), (400, &large));
    let [small, large] = ["[".to_owned(), "[".repeat(100_000)].map(|body| {
        let answer = gateway.send(request("POST", "/a/", &[JSON], &body));
        (answer.status, answer.header("content-type").map(str::to_owned))
    });
    assert_eq!((small.0, &small), (400, &large));
    assert_eq!(upstream.requests(), 2);
}

#[test]
fn a_query_can_be_sent_once_and_named_afterwards() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let text = "{ me { id name } }";
    let digest: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let extensions = json!({"persistedQuery": {"version": 1, "sha256Hash": digest}});
    let named = json!({ "extensions": extensions, "variables": {} });
    let unknown = post(&gateway, &named);
    assert_eq!(unknown.status, 200);
    assert_eq!(unknown.json()["errors"][0]["message"], "PersistedQueryNotFound");
    assert_eq!(unknown.json()["errors"][0]["extensions"]["code"], "PERSISTED_QUERY_NOT_FOUND");
    let other = post(&gateway, &json!({"query": "{ me { name } }", "extensions": extensions}));
    assert_eq!((other.status, other.json()["errors"][0]["message"].as_str()), (400, Some("provided sha does not match query")));
    assert_eq!(upstream.requests(), 0);
    assert_eq!(post(&gateway, &json!({"query": text, "extensions": extensions})).text(), DATA);
    assert_eq!(post(&gateway, &named).text(), DATA);
    let seen: Value = serde_json::from_str(&upstream.last().text()).unwrap();
    assert_eq!((&seen["query"], &seen["extensions"], &seen["variables"]), (&json!(text), &extensions, &json!({})));
    assert_eq!(gateway.get(&format!("/a/?extensions={}", url(&extensions.to_string()))).text(), DATA);
    assert!(upstream.last().target.contains("&query=%7B+me+%7B+id+name+%7D+%7D"), "{}", upstream.last().target);
    // What is not valid is not registered.
    let bad = "{ nobody }";
    let digest: String = Sha256::digest(bad.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let extensions = json!({"persistedQuery": {"version": 1, "sha256Hash": digest}});
    assert_eq!(post(&gateway, &json!({"query": bad, "extensions": extensions})).status, 400);
    assert_eq!(post(&gateway, &json!({ "extensions": extensions })).json()["errors"][0]["message"], "PersistedQueryNotFound");
}

#[test]
fn headers_for_the_upstream_follow_tyks_rules() {
    let upstream = data();
    let proxy = |immutable: bool| {
        json!({
            "features": {"use_immutable_headers": immutable},
            "request_headers": {"X-Static": "gateway", "X-Address": "$tyk_context.remote_addr"},
            "request_headers_rewrite": {
                "X-Set": {"value": "set", "remove": false}, "X-Gone": {"value": "kept", "remove": true}
            }
        })
    };
    let first = graph(&upstream).set("graphql/proxy", proxy(true)).set("enable_context_vars", true);
    let both = graph(&upstream).set("api_id", "b").set("proxy/listen_path", "/b/").set("graphql/proxy", proxy(false));
    let gateway = Gateway::start(json!({}), [first, both]);
    let body = r#"{"query": "{ me { id } }"}"#;
    let send = |path: &str, lines: &[&str]| {
        let lines: Vec<&str> = [JSON].iter().chain(lines).copied().collect();
        assert_eq!(gateway.send(request("POST", path, &lines, body)).status, 200);
        upstream.last()
    };
    let seen = send("/a/", &[]);
    assert_eq!((seen.header("x-static"), seen.header("x-set"), seen.header("x-gone")), (Some("gateway"), Some("set"), None));
    assert_eq!(seen.header("x-address"), Some("127.0.0.1"));
    let seen = send("/a/", &["X-Static: client", "X-Set: client", "X-Gone: client"]);
    assert_eq!((seen.header("x-static"), seen.header("x-set"), seen.header("x-gone")), (Some("client"), Some("set"), None));
    assert_eq!(send("/a/", &["X-Gone: kept"]).header("x-gone"), Some("kept"));
    let mut values = send("/b/", &["X-Static: client"]).head.all("x-static").iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    values.sort();
    assert_eq!(values, ["client", "gateway"]);
}

#[test]
fn errors_of_the_upstream_become_extensions_if_that_is_wanted() {
    let upstream = Upstream::start(|seen| match seen.header("x-answer") {
        Some("graphql") => reply("400 Bad Request", &[JSON], r#"{"errors":[{"message":"own"}]}"#),
        Some("text") => reply("502 Bad Gateway", &["Content-Type: text/plain"], "down"),
        _ => reply("500 Internal Server Error", &[JSON], r#"{"error": "Something went wrong"}"#),
    });
    let wanted = graph(&upstream).set("graphql/proxy/use_response_extensions/on_error_forwarding", true);
    let plain = graph(&upstream).set("api_id", "b").set("proxy/listen_path", "/b/");
    let gateway = Gateway::start(json!({}), [wanted, plain]);
    let send = |path: &str, answer: &str| {
        let answer = gateway.send(request("POST", path, &[JSON, &format!("X-Answer: {answer}")], r#"{"query": "{ me { id } }"}"#));
        (answer.status, answer.text())
    };
    let made = |extensions: Value| json!({"errors": [{"message": "unable to resolve", "extensions": extensions}]}).to_string();
    assert_eq!(send("/a/", ""), (500, made(json!({"error": "Something went wrong"}))));
    assert_eq!(send("/a/", "text"), (502, made(json!({"body": "down"}))));
    assert_eq!(send("/a/", "graphql"), (400, r#"{"errors":[{"message":"own"}]}"#.to_owned()));
    assert_eq!(send("/b/", "text"), (502, "down".to_owned()));
}

#[test]
fn an_endpoint_stands_for_an_operation() {
    let upstream = data();
    let entry = json!([{"path": "/users/{id}/{id2}", "method": "GET", "operation": "query($id: ID!) { user(id: $id) { id } }",
        "variables": {"id": "$path.id", "more": ["$path.id2 and $tyk_context.request_id", 1]}}]);
    let target = format!("{}/graphql", upstream.url().trim_end_matches('/'));
    let plain = api("p", "/p/", &target).list("persist_graphql", entry.clone());
    let checked = graph(&upstream).list("persist_graphql", entry);
    let bad = graph(&upstream)
        .set("api_id", "c")
        .set("proxy/listen_path", "/c/")
        .list("persist_graphql", json!([{"path": "/x", "method": "GET", "operation": "{ nobody }"}]));
    let gateway = Gateway::start(json!({}), [plain, checked, bad]);
    assert_eq!(gateway.get("/p/users/7%22%2C/8?x=1").status, 200);
    let seen = upstream.last();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/graphql?x=1"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_str(&seen.text()).unwrap();
    assert_eq!(body["query"], "query($id: ID!) { user(id: $id) { id } }");
    assert_eq!(body["variables"], json!({"id": "7\",", "more": ["8 and ", 1]}));
    assert_eq!(gateway.get("/a/users/1/2").status, 200);
    assert_eq!(gateway.get("/c/x").status, 400);
    assert_eq!(upstream.requests(), 2);
}

#[test]
fn a_subgraph_answers_its_router() {
    let upstream = data();
    let sdl = "type User @key(fields: \"id\") { id: ID! } extend type Query { me: User }";
    let definition = graph(&upstream)
        .set("graphql", json!({"enabled": true, "execution_mode": "subgraph", "version": "2", "subgraph": {"sdl": sdl}}));
    let gateway = Gateway::start(json!({}), [definition]);
    let query = "query($r: [_Any!]!) { _entities(representations: $r) { ... on User { id } } }";
    let variables = json!({"r": [{"__typename": "User", "id": "1"}]});
    assert_eq!(post(&gateway, &json!({"query": query, "variables": variables})).status, 200);
    assert_eq!(ask(&gateway, "{ _service { sdl } }").status, 200);
    assert_eq!(ask(&gateway, "{ me { name } }").status, 400);
    assert_eq!(upstream.requests(), 2);
}
