//! GraphQL APIs as clients meet them: what passes to the upstream and in which form, what is refused before it gets there, and in whose words.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::browser::Browser;
use crate::harness::{Connection, Definition, Gateway, Response, Seen, Upstream, api, error_json, reply, request};
use crate::jwt_issuers::python;
use crate::keys::{create, session};
use crate::servers::Server;
use crate::upgrade;

pub(crate) const SCHEMA: &str = "
type Query { me: User, user(id: ID!, where: Filter): User, node(id: ID!): Node, list(size: Size = SMALL, ids: [Int!]): [User!]! }
type Mutation { rename(id: ID!, name: String!): User }
type Subscription { renamed: User }
interface Node { id: ID! name: String }
type User implements Node { id: ID! name: String email: String friends: [User!]! pet: Pet }
type Pet implements Node { id: ID! name: String owner: User }
input Filter { name: String!, ages: [Int], size: Size }
enum Size { SMALL LARGE }
";
const JSON: &str = "Content-Type: application/json";
const DATA: &str = r#"{"data":{"me":{"id":"1"}}}"#;

/// A GraphQL API in front of an upstream.
pub(crate) fn graph(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
        .set("graphql", json!({"enabled": true, "execution_mode": "proxyOnly", "version": "2", "schema": SCHEMA}))
}

fn data() -> Upstream {
    Upstream::start(|_| reply("200 OK", &[JSON], DATA))
}

fn post(gateway: &Gateway, body: &Value) -> Response {
    gateway.send(request("POST", "/a/", &[JSON], &body.to_string()))
}

fn ask(gateway: &Gateway, query: &str) -> Response {
    post(gateway, &json!({ "query": query }))
}

fn url(query: &str) -> String {
    query
        .bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

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
    gateway.expect_no_panic();
}

#[test]
fn bad_requests_are_refused_before_the_upstream_sees_them() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let form = "Content-Type: application/x-www-form-urlencoded";
    let query = |text: &str| json!({ "query": text }).to_string();
    let me = query("{ me { id } }");
    let errors = |message: &str| json!({"errors": [{ "message": message }]}).to_string();
    let deep = format!("{{ me {} id {} }}", "{ friends ".repeat(70) + "{", "}".repeat(71));
    let bomb: String = (0..20).map(|n| format!("fragment F{n} on User {{ ...F{m} ...F{m} ...F{m} }}\n", m = n + 1)).collect();
    let bomb = format!("{{ me {{ ...F0 }} }}\n{bomb}fragment F20 on User {{ id }}");
    let cycle = "{ me { ...A } } fragment A on User { friends { ...B } } fragment B on User { friends { ...A } }";
    let aliases: String = (0..600).map(|n| format!("a{n}: id ")).collect();
    let batch = format!("[{}]", vec![me.clone(); 10_000].join(","));
    let cases: Vec<(String, u16, String)> = vec![
        (request("POST", "/a/", &[JSON], ""), 400, error_json("the provided request is empty")),
        (request("GET", "/a/", &[], ""), 400, error_json("the provided request is empty")),
        (request("POST", "/a/", &[JSON], "{}"), 400, errors("document doesn't contain any executable operation")),
        (request("POST", "/a/", &[JSON], &query("# nothing")), 400, errors("document doesn't contain any executable operation")),
        (request("POST", "/a/", &[JSON], "{\"query\": "), 400, "EOF while parsing".to_owned()),
        (request("POST", "/a/", &[JSON], r#"{"query": "{ me { id } }", "QUERY": "{ other }"}"#), 400, "must be written".to_owned()),
        (request("POST", "/a/?query=%7Bx%7D", &[JSON], &me), 400, "either in the body or in the URL".to_owned()),
        (request("GET", "/a/?query=%7Bme%7Bid%7D%7D", &[], "{}"), 400, "either in the body".to_owned()),
        (
            request("POST", "/a/", &[JSON], &query("{ nobody }")),
            400,
            r#"{"errors":[{"message":"field: nobody not defined on type: Query","locations":[{"line":1,"column":3}]}]}"#.to_owned(),
        ),
        (
            request("POST", "/a/", &[JSON], &query("query($id: ID!) { user(id: $id) { id } }")),
            400,
            r#"Required variable \"$id\" was not provided"#.to_owned(),
        ),
        (
            request("POST", "/a/", &[JSON], &query("query A { me { id } } query B { me { id } }")),
            400,
            errors("operation name is required when providing multiple operations"),
        ),
        (
            request("GET", &format!("/a/?query={}", url("mutation { rename(id: 1, name: \"n\") { id } }")), &[], ""),
            405,
            "Only queries".to_owned(),
        ),
        (request("POST", "/a/", &[form], &me), 415, "The content type must be".to_owned()),
        (request("POST", "/a/", &["Content-Type: text/plain"], &me), 415, "The content type must be".to_owned()),
        (
            request("POST", "/a/", &["Content-Type: multipart/form-data; boundary=x"], &me),
            415,
            "The content type must be".to_owned(),
        ),
        (request("POST", "/a/", &[], &me), 415, "The content type must be".to_owned()),
        (request("POST", "/a/", &[JSON], &batch), 400, "The batch has too many requests".to_owned()),
        (request("POST", "/a/", &[JSON], &query(&deep)), 400, "LIMIT_EXCEEDED".to_owned()),
        (request("POST", "/a/", &[JSON], &query(&bomb)), 400, "fields, counting fragments".to_owned()),
        (request("POST", "/a/", &[JSON], &query(cycle)), 400, "forms fragment cycle".to_owned()),
        (request("POST", "/a/", &[JSON], &query(&format!("{{ me {{ {aliases} }} }}"))), 400, "600 aliases; at most 500".to_owned()),
        (
            request("POST", "/a/", &[JSON], &query(&format!("{{ me {{ id {} }} }}", "@skip(if: false) ".repeat(5_000)))),
            400,
            "more than 10000 tokens".to_owned(),
        ),
        (
            request("POST", "/a/", &[JSON], &query(&format!("{{ user(id: \"{}\") {{ id }} {{", "x".repeat(400_000)))),
            400,
            "syntax error".to_owned(),
        ),
        (request("POST", "/a/", &[JSON], &query(&"{".repeat(100_000))), 400, "LIMIT_EXCEEDED".to_owned()),
    ];
    for (request, status, text) in cases {
        for _ in 0..2 {
            let answer = gateway.send(&request);
            let found = answer.text();
            assert_eq!(answer.status, status, "{:.200}: {found:.300}", request);
            assert!(found.contains(&text), "{:.200}: {found:.300}", request);
            assert!(found.len() < 8_000, "{}", found.len());
        }
    }
    // What a server might read as another query than the gateway.
    let me = "query=%7Bme%7Bid%7D%7D";
    for target in [
        format!("/a/?{me}&query=%7Bother%7D"),
        format!("/a/?{me}&QUERY=%7Bother%7D"),
        format!("/a/?{me}&query=%23%zz%0A%7Bother%7D"),
        format!("/a/?{me}%23;query=%7Bother%7D"),
    ] {
        assert_eq!(gateway.get(&target).status, 400, "{target}");
    }
    for target in ["/a/?Query=%7Bother%7D", "/a/?x=1;query=%7Bother%7D", "/a/?quer%zz=1"] {
        let answer = gateway.send(request("POST", target, &[JSON], r#"{"query": "{ me { id } }"}"#));
        assert_eq!(answer.status, 400, "{target}");
    }
    let handshake: Vec<&str> = ["Sec-WebSocket-Protocol: graphql-ws", JSON].into_iter().chain(crate::upgrade::ASK).collect();
    for (method, target, body) in [("GET", "/a/?query=%7Bother%7D", ""), ("POST", "/a/", r#"{"query": "{ other }"}"#)] {
        assert_eq!(gateway.send(request(method, target, &handshake, body)).status, 400, "{method} {target}");
    }
    assert_eq!(upstream.requests(), 0);
    let get = gateway.get(&format!("/a/?query={}", url("mutation { rename(id: 1, name: \"n\") { id } }")));
    assert_eq!(get.header("allow"), Some("POST"));
    gateway.expect_no_panic();
}

#[test]
fn errors_have_the_form_that_the_client_accepts() {
    let upstream = data();
    let specified = graph(&upstream)
        .set("api_id", "b")
        .set("proxy/listen_path", "/b/")
        .set("tollgate/graphql/error_statuses", "graphql_over_http");
    let gateway = Gateway::start(json!({}), [graph(&upstream), specified]);
    let new = "Accept: application/graphql-response+json, application/json;q=0.5";
    let bad = r#"{"query": "{ nobody }"}"#;
    for (path, accept, body, status, kind) in [
        ("/a/", "Accept: application/json", bad, 400, "application/json"),
        ("/a/", new, bad, 400, "application/graphql-response+json"),
        ("/b/", "Accept: application/json", bad, 200, "application/json"),
        ("/b/", "Accept: */*", bad, 200, "application/json"),
        ("/b/", new, bad, 400, "application/graphql-response+json"),
        ("/b/", "Accept: application/json", "{", 400, "application/json"),
        ("/b/", new, "{", 400, "application/graphql-response+json"),
    ] {
        let answer = gateway.send(request("POST", path, &[JSON, accept], body));
        assert_eq!((answer.status, answer.header("content-type")), (status, Some(kind)), "{path} {accept} {body}");
    }
}

#[test]
fn queries_for_the_schema_are_answered_here_or_refused() {
    let upstream = data();
    let closed = graph(&upstream).set("api_id", "b").set("proxy/listen_path", "/b/").set("graphql/introspection/disabled", true);
    let gateway = Gateway::start(json!({}), [graph(&upstream), closed]);
    let query = json!({"query": "query($n: String!) { __type(name: $n) { fields { name } } }", "variables": {"n": "Pet"}});
    let answer = post(&gateway, &query);
    assert_eq!(answer.text(), r#"{"data":{"__type":{"fields":[{"name":"id"},{"name":"name"},{"name":"owner"}]}}}"#);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let got = gateway.get(&format!("/a/?query={}", url("{ __schema { queryType { name } } }")));
    assert_eq!(got.text(), r#"{"data":{"__schema":{"queryType":{"name":"Query"}}}}"#);
    assert_eq!(upstream.requests(), 0);
    // What asks for more goes to the upstream.
    assert_eq!(ask(&gateway, "{ __schema { queryType { name } } me { id } }").text(), DATA);
    for hidden in
        ["{ __schema { types { name } } }", "{ me { id } ...F } fragment F on Query { x: __type(name: \"Pet\") { name } }"]
    {
        let answer = gateway.send(request("POST", "/b/", &[JSON], &json!({ "query": hidden }).to_string()));
        assert_eq!((answer.status, answer.text()), (403, error_json("introspection is disabled")), "{hidden}");
    }
    let nested = "fields { type { ".repeat(6);
    let cycle = format!("{{ __schema {{ types {{ {nested} name {} }} }} }}", "} }".repeat(6));
    let answer = ask(&gateway, &cycle);
    assert_eq!(answer.status, 400, "{answer}");
    // A few fields of all fields of the types of all fields, again and again.
    let all = (0..300).map(|index| format!("a{index}:__schema{{types{{fields{{type{{...F}}}}}}}} ")).collect::<String>();
    let most = "name description isDeprecated args{name description defaultValue}type{name kind description}";
    let answer = ask(&gateway, &format!("{{{all}}}fragment F on __Type{{fields{{{most}}}}}"));
    let error = answer.json()["errors"][0].clone();
    assert_eq!((answer.status, &error["extensions"]["code"]), (400, &json!("LIMIT_EXCEEDED")), "{answer}");
    assert!(error["message"].as_str().is_some_and(|message| message.ends_with("values; at most 1000000 are allowed")), "{error}");
    assert_eq!(upstream.requests(), 1);
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
fn keys_and_policies_limit_depth_and_fields() {
    let upstream = data();
    let policies = tempfile::tempdir().unwrap();
    let restricted = json!([{"name": "User", "fields": ["email"]}]);
    let policy = json!({"id": "deep", "org_id": "default", "active": true, "quota_max": -1, "max_query_depth": 2,
        "access_rights": {"a": {"api_id": "a", "versions": ["Default"], "restricted_types": restricted}}});
    std::fs::write(policies.path().join("deep.json"), policy.to_string()).unwrap();
    let conf = json!({"policies": {"policy_source": "file", "policy_path": policies.path()}});
    let gateway = Gateway::start(conf, [graph(&upstream).with_keys()]);
    let with = |fields: Value| create(&gateway, &session(fields));
    let right = |fields: Value| {
        let mut right = json!({"api_id": "a", "versions": ["Default"]});
        crate::harness::definition::merge(&mut right, &fields);
        with(json!({"access_rights": {"a": right}}))
    };
    let three = "{ me { pet { id } } }";
    let two = "{ me { id } }";
    let email = r#"{"errors":[{"message":"field: email is restricted on type: User"}]}"#;
    let too_deep = error_json("depth limit exceeded");
    let closed = error_json("introspection is disabled");
    let root = with(json!({"max_query_depth": 2}));
    let own = right(json!({"limit": {"max_query_depth": 2, "quota_max": -1}}));
    let field = right(
        json!({"limit": {"max_query_depth": -1, "quota_max": -1}, "field_access_rights": [{"type_name": "Query", "field_name": "me", "limits": {"max_query_depth": 1}}]}),
    );
    let restricted = right(json!({"restricted_types": [{"name": "User", "fields": ["email"]}]}));
    let allowed =
        right(json!({"allowed_types": [{"name": "Query", "fields": ["me"]}, {"name": "User", "fields": ["id", "email"]}]}));
    let blind = right(json!({"disable_introspection": true}));
    let of_policy = with(json!({"apply_policies": ["deep"]}));
    let cases: Vec<(&str, &String, &str, u16, &str)> = vec![
        ("root", &root, three, 403, too_deep.as_str()),
        ("root", &root, two, 200, DATA),
        ("own", &own, three, 403, too_deep.as_str()),
        ("field", &field, three, 403, too_deep.as_str()),
        ("field", &field, "{ node(id: 1) { ... on Pet { owner { id } } } }", 200, DATA),
        ("restricted", &restricted, "{ list { friends { e: email } } }", 400, email),
        ("restricted", &restricted, three, 200, DATA),
        ("allowed", &allowed, "{ me { email } }", 200, DATA),
        ("allowed", &allowed, "{ me { name } }", 400, "field: name is restricted on type: User"),
        ("allowed", &allowed, "{ __schema { queryType { name } } }", 200, "queryType"),
        ("blind", &blind, "{ __schema { queryType { name } } }", 403, closed.as_str()),
        ("blind", &blind, three, 200, DATA),
        ("policy", &of_policy, three, 403, too_deep.as_str()),
        ("policy", &of_policy, "{ me { email } }", 400, email),
        ("policy", &of_policy, two, 200, DATA),
    ];
    for (name, key, query, status, text) in cases {
        let lines = [JSON, &format!("Authorization: {key}")];
        let answer = gateway.send(request("POST", "/a/", &lines, &json!({ "query": query }).to_string()));
        assert_eq!(answer.status, status, "{name} {query}: {answer}");
        assert!(answer.text().contains(text), "{name} {query}: {answer}");
        // A batch is as good as its worst request.
        let batch = json!([{ "query": "{ me { id } }" }, { "query": query }]).to_string();
        let batched = gateway.send(request("POST", "/a/", &lines, &batch));
        let expected = if query.contains("__schema") && status == 200 { 200 } else { status };
        assert_eq!(batched.status, expected, "{name} {query}: {batched}");
    }
    // What a websocket would carry cannot be checked.
    let lines: Vec<String> = upgrade::ASK
        .iter()
        .map(|line| (*line).to_owned())
        .chain([format!("Authorization: {root}"), "Sec-WebSocket-Protocol: graphql-ws".to_owned()])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(gateway.send(request("GET", "/a/", &lines, "")).status, 422);
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
fn websockets_pass_with_a_protocol_of_graphql() {
    let upstream = upgrade::echo();
    let old = graph(&upstream).set("api_id", "b").set("proxy/listen_path", "/b/").set("graphql/version", "1");
    let off = graph(&upstream).set("api_id", "c").set("proxy/listen_path", "/c/").set("tollgate/graphql/disable_websockets", true);
    let closed = graph(&upstream).set("api_id", "d").set("proxy/listen_path", "/d/").set("graphql/introspection/disabled", true);
    let gateway = Gateway::start(upgrade::enabled(), [graph(&upstream), old, off, closed]);
    let asked = |path: &str, protocol: &str| {
        let protocol = format!("Sec-WebSocket-Protocol: {protocol}");
        let lines: Vec<&str> = upgrade::ASK.into_iter().chain([protocol.as_str()]).collect();
        request("GET", path, &lines, "")
    };
    for protocol in ["graphql-transport-ws", "graphql-ws", "other, graphql-transport-ws"] {
        let mut client: Connection = gateway.connect();
        client.send(asked("/a/", protocol));
        assert!(client.head().unwrap().first.contains(" 101 "), "{protocol}");
        // A ping, masked with zeros. This upstream sends it back, which a server must not do.
        client.send(b"\x81\x8f\0\0\0\0{\"type\":\"ping\"}");
        assert!(matches!(client.rest().unwrap().as_slice(), b"" | b"\x88\0"), "only a close may come");
    }
    let off = error_json("websockets are not allowed");
    let invalid = error_json("invalid websocket protocol for upgrading to a graphql websocket connection");
    for (path, protocol, status, text) in [
        ("/a/", "chat", 400, invalid.as_str()),
        ("/a/", "", 400, invalid.as_str()),
        ("/b/", "graphql-ws", 422, off.as_str()),
        ("/c/", "graphql-ws", 422, off.as_str()),
        ("/d/", "chat", 400, invalid.as_str()),
    ] {
        let answer = gateway.send(asked(path, protocol));
        assert_eq!(answer.status, status, "{path} {protocol}: {answer}");
        assert!(answer.text().contains(text), "{path} {protocol}: {answer}");
    }
}

#[test]
fn every_key_opens_a_websocket() {
    let upstream = upgrade::echo();
    let gateway = Gateway::start(upgrade::enabled(), [graph(&upstream).with_keys()]);
    let free = create(&gateway, &session(json!({})));
    let bound = create(&gateway, &session(json!({"max_query_depth": 3})));
    for (key, status) in [(&free, "101"), (&bound, "101")] {
        let own = [format!("Authorization: {key}"), "Sec-WebSocket-Protocol: graphql-transport-ws".to_owned()];
        let lines: Vec<&str> = upgrade::ASK.into_iter().chain(own.iter().map(String::as_str)).collect();
        let mut client = gateway.connect();
        client.send(request("GET", "/a/", &lines, ""));
        assert!(client.head().unwrap().first.contains(status), "{status}");
    }
}

#[test]
fn events_of_a_subscription_arrive_one_by_one() {
    let (send, receive) = std::sync::mpsc::channel::<()>();
    let receive = std::sync::Mutex::new(receive);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n14\r\nevent: next\ndata: 1\n\r\n");
            let _ = receive.lock().unwrap().recv_timeout(Duration::from_secs(20));
            let _ = wire.try_send("14\r\nevent: next\ndata: 2\n\r\n0\r\n\r\n");
        }
    });
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let mut client = gateway.connect();
    let body = r#"{"query": "subscription { renamed { id } }"}"#;
    client.send(request("POST", "/a/", &[JSON, "Accept: text/event-stream"], body));
    let head = client.head().unwrap();
    assert_eq!(head.get("content-type"), Some("text/event-stream"));
    assert!(String::from_utf8(client.chunk().unwrap()).unwrap().contains("data: 1"));
    send.send(()).unwrap();
    assert!(String::from_utf8(client.chunk().unwrap()).unwrap().contains("data: 2"));
}

#[test]
fn a_page_for_people_sends_queries() {
    let upstream = data();
    let definition = graph(&upstream).with_keys().set("graphql/playground", json!({"enabled": true, "path": "/playground"}));
    let open = graph(&upstream)
        .set("api_id", "b")
        .set("proxy/listen_path", "/b/")
        .set("graphql/playground", json!({"enabled": true, "path": ""}));
    let gateway = Gateway::start(json!({}), [definition, open]);
    let page = gateway.get("/a/playground");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(!page.text().contains("http://") && !page.text().contains("https://") && !page.text().contains("{{"));
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    assert_eq!(gateway.get("/a/playground2").status, 401);
    assert_eq!(gateway.send(request("POST", "/a/playground", &[], "")).status, 401);
    // At the path of the queries, only browsers get the page.
    assert_eq!(gateway.get("/b/").status, 400);
    assert_eq!(gateway.send(request("GET", "/b/", &["Accept: text/html,*/*"], "")).status, 200);
    let Some(mut browser) = Browser::start() else { return };
    let port = gateway.connect().socket().peer_addr().unwrap().port();
    let mut tab = browser.tab();
    tab.open_page(&format!("http://127.0.0.1:{port}/b/"));
    tab.eval("document.getElementById('query').value = '{ me { id } }'");
    tab.eval("document.getElementById('run').click()");
    tab.wait("document.getElementById('result').textContent.includes('\"id\": \"1\"')");
    tab.eval("document.getElementById('schema').open = true");
    tab.wait("document.querySelector('#schema ul').textContent.includes('user(id: ID!, where: Filter): User')");
    assert_eq!(upstream.last().text(), r#"{"query":"{ me { id } }"}"#);
}

#[test]
fn a_schema_that_cannot_work_is_told_with_its_place_and_the_last_good_one_stays() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream)]);
    let broken = graph(&upstream).set("graphql/schema", "type Query {\n  me: Nobody\n  you: Int @odd\n}");
    gateway.write_api(&broken);
    gateway.reload();
    assert_eq!(ask(&gateway, "{ me { id } }").status, 200);
    let told = "$.graphql.schema: error: line 2, column 7: cannot find type `Nobody` in this document";
    let log = gateway.log();
    assert!(log.contains("line 2, column 7: cannot find type `Nobody` in this document"), "{log}");
    let check = |definition: &Definition| {
        let file = gateway.dir().join("checked.json");
        std::fs::write(&file, definition.0.to_string()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let (good, text) = check(&broken);
    assert!(!good && text.contains(told), "{text}");
    let (good, text) =
        check(&graph(&upstream).set("graphql/schema", "type Query { me: Int @odd }").set("graphql/proxy/subscription_type", "sse"));
    assert!(good && text.contains("cannot find directive `@odd`") && text.contains("graphql.proxy.subscription_type"), "{text}");
    let (good, text) = check(
        &graph(&upstream)
            .set("graphql/execution_mode", "subgraph")
            .set("graphql/schema", "")
            .set("graphql/subgraph/sdl", "type Query { a: }"),
    );
    assert!(!good && text.contains("$.graphql.subgraph.sdl: error: line 1"), "{text}");
}

#[test]
fn long_documents_are_checked_elsewhere_and_then_known() {
    let upstream = data();
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [graph(&upstream), api("b", "/b/", &upstream.url())]);
    let fields = |n: usize| (0..450).map(|m| format!("a{n}x{m}: friends {{ id name }} ")).collect::<String>();
    let body = |n: usize, end: &str| json!({"query": format!("{{ me {{ {} }} }}{end}", fields(n))}).to_string();
    let mut clients: Vec<Connection> = (0..8)
        .map(|n| {
            let mut client = gateway.connect();
            client.send(request("POST", "/a/", &[JSON], &body(n, if n == 7 { " }" } else { "" })));
            client
        })
        .collect();
    // Requests of another API, on the same thread, are served meanwhile.
    for _ in 0..20 {
        assert_eq!(gateway.get("/b/").status, 200);
    }
    let statuses: Vec<u16> = clients.iter_mut().map(|client| client.response("POST").status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 400]);
    let batch = format!("[{},{},{}]", body(1, ""), body(20, ""), body(21, ""));
    for _ in 0..2 {
        assert_eq!(gateway.send(request("POST", "/a/", &[JSON], &batch)).status, 200);
        assert_eq!(upstream.last().text(), batch);
    }
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

#[test]
fn checks_can_be_tried_before_they_refuse() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream).set("tollgate/dry_run", json!(["validation"]))]);
    let answer = ask(&gateway, "{ nobody }");
    assert_eq!((answer.status, answer.header("tollgate-dry-run")), (200, Some("graphql_invalid")));
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn records_say_what_was_asked_for() {
    let (server, upstream) =
        (Server::start(&[]), Upstream::start(|_| reply("200 OK", &[JSON], r#"{"data":null,"errors":[{"message":"no"}]}"#)));
    let conf = json!({
        "enable_analytics": true, "enable_separate_analytics_store": true,
        "analytics_storage": {"type": "redis", "host": "127.0.0.1", "port": server.port},
        "tollgate": {"threads": 1, "analytics": {"usage": false}}
    });
    let gateway = Gateway::start(conf, [graph(&upstream).set("do_not_track", false)]);
    let query = "query A($id: ID!) { x: user(id: $id) { id pet { name } } me { ...F } } fragment F on User { email __typename }";
    assert_eq!(post(&gateway, &json!({"query": query, "variables": {"id": "1"}})).status, 200);
    let records = crate::records::records(&server, 1);
    let reader = "import json, msgpack\nprint(json.dumps([msgpack.unpackb(bytes.fromhex(r), raw=False) for r in RECORDS.split()]))";
    let hex: String = records[0].iter().map(|byte| format!("{byte:02x}")).collect();
    let Some(read) = python(&format!("RECORDS = '{hex}'\n{reader}")) else { return };
    let stats = &read[0]["GraphQLStats"];
    let expected = json!({
        "Variables": "{\"id\":\"1\"}", "RootFields": ["me", "user"], "Types": {"Pet": ["name"], "User": ["email", "id", "pet"]},
        "Errors": [{"Message": "no", "Path": null}], "OperationType": 1, "HasErrors": true, "IsGraphQL": true
    });
    assert_eq!(stats, &expected);
    assert!(read[0]["Tags"].as_array().unwrap().contains(&json!("tyk-graph-analytics")));
    assert!(!read[0]["ApiSchema"].as_str().unwrap().is_empty() && !read[0]["RawRequest"].as_str().unwrap().is_empty());
}
