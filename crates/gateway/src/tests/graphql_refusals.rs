//! What requests to GraphQL APIs are refused for, in whose words, and what keys may ask.

use serde_json::{Value, json};
use tollgate_testing::messages::UPGRADE;

use super::harness::graph::{DATA, JSON, ask, data, graph, post, url};
use super::harness::keys::{create, session};
use super::harness::{Gateway, error_json, request};

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
    let handshake: Vec<&str> = ["Sec-WebSocket-Protocol: graphql-ws", JSON].into_iter().chain(UPGRADE).collect();
    for (method, target, body) in [("GET", "/a/?query=%7Bother%7D", ""), ("POST", "/a/", r#"{"query": "{ other }"}"#)] {
        assert_eq!(gateway.send(request(method, target, &handshake, body)).status, 400, "{method} {target}");
    }
    assert_eq!(upstream.requests(), 0);
    let get = gateway.get(&format!("/a/?query={}", url("mutation { rename(id: 1, name: \"n\") { id } }")));
    assert_eq!(get.header("allow"), Some("POST"));
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
        super::harness::definition::merge(&mut right, &fields);
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
    let lines: Vec<String> = UPGRADE
        .iter()
        .map(|line| (*line).to_owned())
        .chain([format!("Authorization: {root}"), "Sec-WebSocket-Protocol: graphql-ws".to_owned()])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(gateway.send(request("GET", "/a/", &lines, "")).status, 422);
}

#[test]
fn checks_can_be_tried_before_they_refuse() {
    let upstream = data();
    let gateway = Gateway::start(json!({}), [graph(&upstream).set("tollgate/dry_run", json!(["validation"]))]);
    let answer = ask(&gateway, "{ nobody }");
    assert_eq!((answer.status, answer.header("tollgate-dry-run")), (200, Some("graphql_invalid")));
    assert_eq!(upstream.requests(), 1);
}
