//! Queries that the gateway executes: from REST and GraphQL sources, from APIs of its own, and from the subgraphs of a federation.

use std::process::Command;
use std::sync::{Arc, Barrier};

use serde_json::{Value, json};

use crate::graphql_sockets::{EventSource, GraphqlSocket, SocketSource};
use crate::harness::{Definition, Gateway, PATIENCE, Response, Seen, Upstream, api, reply, request};
use crate::keys::{create, session, session_for};
use crate::upgrade;

const JSON: &str = "Content-Type: application/json";
const SCHEMA: &str = "
type Query { user(id: ID!): User users: [User!] product: Product }
type Mutation { rename(id: ID!, name: String!): User }
type Subscription { renamed: User }
type User { id: ID! name: String secret: String orders: [Order] }
type Order { id: ID! total: Float product: Product }
type Product { title: String }
";

/// An API whose queries the gateway executes.
pub(crate) fn data_graph(id: &str, schema: &str, engine: Value) -> Definition {
    let graphql = json!({"enabled": true, "execution_mode": "executionEngine", "version": "2", "schema": schema, "engine": engine});
    api(id, &format!("/{id}/"), "").set("graphql", graphql)
}

pub(crate) fn rest(name: &str, fields: Value, config: Value) -> Value {
    json!({"kind": "REST", "name": name, "root_fields": fields, "config": config})
}

pub(crate) fn of(type_name: &str, field: &str) -> Value {
    json!([{"type": type_name, "fields": [field]}])
}

pub(crate) fn whole(type_name: &str, field: &str) -> Value {
    json!({"type_name": type_name, "field_name": field, "disable_default_mapping": true, "path": null})
}

/// Users and orders over REST, products over GraphQL.
fn shop(upstream: &Upstream) -> Definition {
    let url = upstream.url();
    let engine = json!({
        "field_configs": [whole("Query", "user"), whole("Query", "users"), whole("User", "orders"), whole("Mutation", "rename")],
        "data_sources": [
            rest("user", of("Query", "user"), json!({
                "url": format!("{url}/users/{{{{.arguments.id}}}}?full=yes"), "method": "GET",
                "headers": {"X-Tenant": "{{.request.headers.X-Tenant}}", "X-Path": "$tyk_context.path"}, "query": null
            })),
            rest("users", of("Query", "users"), json!({"url": format!("{url}/users")})),
            rest("orders", of("User", "orders"), json!({"url": format!("{url}/orders"), "query": [{"name": "of", "value": "{{.object.id}}"}]})),
            rest("rename", of("Mutation", "rename"), json!({
                "url": format!("{url}/users/{{{{.arguments.id}}}}"), "method": "PUT", "body": "{\"name\": \"{{.arguments.name}}\"}"
            })),
            {"kind": "GraphQL", "name": "products", "root_fields": [{"type": "Order", "fields": ["product"]}, {"type": "Query", "fields": ["product"]}],
             "config": {"url": format!("{url}/graphql"), "method": "POST"}}
        ],
        "global_headers": [{"key": "X-Global", "value": "g"}]
    });
    data_graph("a", SCHEMA, engine).set("enable_context_vars", true)
}

fn serve(seen: &Seen) -> Vec<u8> {
    let body = match (seen.method.as_str(), seen.target.as_str()) {
        ("GET", "/users") => json!([{"id": 1, "name": "Ada"}, {"id": 2, "name": null}]),
        ("GET", "/users/7?full=yes") => json!({"id": 7, "name": "Ada", "secret": "s"}),
        ("PUT", "/users/8") => json!({"id": 8, "name": seen.text()}),
        ("GET", target) if target.starts_with("/orders?of=") => json!([{"id": 1, "total": 2.5}, {"id": 2}]),
        ("POST", "/graphql") => json!({"data": {"product": {"title": "Pen"}}}),
        _ => return reply("404 Not Found", &[], "no"),
    };
    reply("200 OK", &[JSON], &body.to_string())
}

fn ask(gateway: &Gateway, path: &str, body: &Value) -> Response {
    gateway.send(request("POST", path, &[JSON, "X-Tenant: t1"], &body.to_string()))
}

fn query(gateway: &Gateway, path: &str, text: &str) -> Value {
    let answer = ask(gateway, path, &json!({ "query": text }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

#[test]
fn a_query_is_executed_from_its_sources() {
    let upstream = Upstream::start(serve);
    let gateway = Gateway::start(json!({}), [shop(&upstream).version("global_response_headers", json!({"X-Own": "1"}))]);
    let text =
        "query($id: ID!) { user(id: $id) { id name orders { id total product { title } } } __schema { queryType { name } } }";
    let answer = ask(&gateway, "/a/", &json!({"query": text, "variables": {"id": "7"}}));
    assert_eq!((answer.status, answer.header("content-type"), answer.header("x-own")), (200, Some("application/json"), Some("1")));
    let order = |id: &str, total: Value| json!({"id": id, "total": total, "product": {"title": "Pen"}});
    let expected = json!({"data": {
        "user": {"id": "7", "name": "Ada", "orders": [order("1", json!(2.5)), order("2", json!(null))]},
        "__schema": {"queryType": {"name": "Query"}}
    }});
    assert_eq!(serde_json::from_str::<Value>(&answer.text()).unwrap(), expected);
    let seen = upstream.seen();
    assert_eq!(seen.len(), 3, "the same product is asked for once");
    let first = seen.first().unwrap();
    assert_eq!((first.header("x-tenant"), first.header("x-path"), first.header("x-global")), (Some("t1"), Some("/a/"), Some("g")));
    assert_eq!(seen.last().unwrap().text(), r#"{"query":"query {product {title}}"}"#);

    let renamed = query(&gateway, "/a/", r#"mutation { rename(id: 8, name: "a\"b") { name } }"#);
    assert_eq!(renamed, json!({"data": {"rename": {"name": r#"{"name": "a\"b"}"#}}}));
    let batch = gateway.send(request("POST", "/a/", &[JSON], r#"[{"query": "{ __typename }"}, {"query": "{ users { id } }"}]"#));
    assert_eq!(batch.text(), r#"[{"data":{"__typename":"Query"}},{"data":{"users":[{"id":"1"},{"id":"2"}]}}]"#);
    assert_eq!(gateway.get("/a/?query=%7B%20product%20%7B%20title%20%7D%20%7D").text(), r#"{"data":{"product":{"title":"Pen"}}}"#);
    // What is not valid asks nobody.
    let asked = upstream.requests();
    assert_eq!(ask(&gateway, "/a/", &json!({"query": "{ user { id } }"})).status, 400);
    assert_eq!(upstream.requests(), asked);
    gateway.expect_no_panic();
}

#[test]
fn sources_of_one_query_are_asked_at_the_same_time() {
    // Nobody is answered until all five are here.
    let all = Arc::new(Barrier::new(5));
    let upstream = Upstream::start(move |seen| {
        all.wait();
        reply("200 OK", &[JSON], &json!({"value": seen.target}).to_string())
    });
    let sources =
        (0..5).map(|n| rest(&format!("s{n}"), of("Query", &format!("f{n}")), json!({"url": format!("{}/{n}", upstream.url())})));
    let configs = (0..5).map(|n| json!({"type_name": "Query", "field_name": format!("f{n}"), "path": ["value"]}));
    let engine = json!({"data_sources": sources.collect::<Vec<_>>(), "field_configs": configs.collect::<Vec<_>>()});
    let gateway = Gateway::start(json!({}), [data_graph("a", "type Query { f0: ID f1: ID f2: ID f3: ID f4: ID }", engine)]);
    let found = query(&gateway, "/a/", "{ f0 f1 f2 f3 f4 }");
    assert_eq!(found, json!({"data": {"f0": "/0", "f1": "/1", "f2": "/2", "f3": "/3", "f4": "/4"}}));
}

#[test]
fn a_source_that_fails_leaves_the_rest() {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/slow" => {
            std::thread::sleep(PATIENCE);
            reply("200 OK", &[JSON], "{}")
        }
        "/page" => reply("200 OK", &["Content-Type: text/html"], "<html>"),
        "/large" => reply("200 OK", &[JSON], &format!("\"{}\"", "x".repeat(70_000))),
        "/good" => reply("200 OK", &[JSON], "\"g\""),
        _ => reply("503 Service Unavailable", &[], "down"),
    });
    let dead = "http://127.0.0.1:9/";
    let fields = [("slow", ""), ("page", ""), ("large", ""), ("good", ""), ("down", ""), ("dead", dead)];
    let url = |name: &str, url: &str| if url.is_empty() { format!("{}/{name}", upstream.url()) } else { url.to_owned() };
    let sources = fields.map(|(name, at)| rest(name, of("Query", name), json!({"url": url(name, at)})));
    let configs = fields.map(|(name, _)| whole("Query", name));
    let schema = "type Query { slow: ID page: ID large: ID good: ID down: ID dead: ID }";
    let definition = data_graph("a", schema, json!({"data_sources": sources, "field_configs": configs}))
        .set("tollgate/graphql", json!({"source_time_max_ms": 3_000, "source_bytes_max": 60_000}));
    let gateway = Gateway::start(json!({}), [definition]);
    let found = query(&gateway, "/a/", "{ slow page large good down dead }");
    assert_eq!(found["data"], json!({"slow": null, "page": null, "large": null, "good": "g", "down": null, "dead": null}));
    let mut told: Vec<String> = found["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| format!("{} {}", error["path"][0].as_str().unwrap(), error["extensions"]["code"].as_str().unwrap()))
        .collect();
    told.sort();
    let expected =
        ["dead SOURCE_UNAVAILABLE", "down SOURCE_STATUS", "large SOURCE_ANSWER", "page SOURCE_ANSWER", "slow SOURCE_TIMEOUT"];
    assert_eq!(told, expected);
    // Clients learn no address.
    assert!(!found.to_string().contains("127.0.0.1"), "{found}");
    gateway.expect_no_panic();
}

#[test]
fn operations_of_the_definition_and_the_first_version_work() {
    let upstream = Upstream::start(|seen| match seen.method.as_str() {
        "POST" => reply("200 OK", &[JSON], &json!({"data": {"person": {"name": seen.text()}}}).to_string()),
        _ => reply("200 OK", &[JSON], &json!({"wrapped": {"name": seen.target, "tenant": seen.header("x-a")}}).to_string()),
    });
    let schema = "type Query { user(id: ID!): User } type User { name: String tenant: String }";
    let config = json!({
        "url": upstream.url(), "has_operation": true, "operation": "query($id: ID!) { person(id: $id) { name } }",
        "variables": {"id": "{{.arguments.id}}"}
    });
    let source = json!({"kind": "GraphQL", "name": "people", "root_fields": of("Query", "user"), "config": config});
    let path = json!([{"type_name": "Query", "field_name": "user", "path": ["data", "person"]}]);
    let with_operation = data_graph("a", schema, json!({"data_sources": [source], "field_configs": path}));
    let first = api("b", "/b/", "").set(
        "graphql",
        json!({
            "enabled": true, "execution_mode": "executionEngine", "version": "", "schema": schema,
            "type_field_configurations": [{
                "type_name": "Query", "field_name": "user", "mapping": {"disabled": false, "path": "wrapped"},
                "data_source": {"kind": "HTTPJSONDataSource", "data_source_config": {
                    "url": format!("{}/u/{{{{.arguments.id}}}}", upstream.url()), "method": "GET",
                    "headers": [{"key": "X-A", "value": "{{.request.headers.x-tenant}}"}]
                }}
            }]
        }),
    );
    let gateway = Gateway::start(json!({}), [with_operation, first]);
    let found = query(&gateway, "/a/", r#"{ user(id: "x\"y") { name } }"#);
    let sent: Value = serde_json::from_str(found["data"]["user"]["name"].as_str().unwrap()).unwrap();
    assert_eq!(sent["variables"], json!({"id": "x\"y"}));
    let found = query(&gateway, "/b/", "{ user(id: 3) { name tenant } }");
    assert_eq!(found, json!({"data": {"user": {"name": "/u/3", "tenant": "t1"}}}));
}

#[test]
fn an_api_of_the_gateway_can_be_a_source() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[JSON], &json!({"name": seen.target}).to_string()));
    let schema = "type Query { user: User self: User } type User { name: String }";
    let source = |name: &str, url: &str| json!({"kind": "REST", "name": name, "internal": true, "root_fields": of("Query", name), "config": {"url": url}});
    // A graph whose source it is itself must end.
    let looped = json!({"kind": "GraphQL", "name": "self", "root_fields": of("Query", "self"), "config": {"url": "tyk://a/"}});
    let engine = json!({
        "data_sources": [source("user", "tyk://users/v1/me?x={{.request.headers.x-tenant}}"), looped],
        "field_configs": [whole("Query", "user")]
    });
    let users = api("users", "/hidden/", &format!("{}/base", upstream.url())).set("internal", true);
    let gateway = Gateway::start(json!({}), [data_graph("a", schema, engine), users]);
    assert_eq!(gateway.get("/hidden/v1/me").status, 404, "clients do not reach it");
    assert_eq!(query(&gateway, "/a/", "{ user { name } }"), json!({"data": {"user": {"name": "/base/v1/me?x=t1"}}}));
    let found = query(&gateway, "/a/", "{ self { name } }");
    assert_eq!(found["data"], json!({"self": null}));
    assert!(found["errors"].to_string().contains("SOURCE_REQUEST"), "{found}");
    gateway.expect_no_panic();
}

#[test]
fn rights_and_limits_hold_before_any_source_is_asked() {
    let upstream = Upstream::start(serve);
    let definition = shop(&upstream).with_keys().set("strip_auth_data", true);
    let gateway = Gateway::start(json!({}), [definition]);
    let restricted = json!({"a": {"restricted_types": [{"name": "User", "fields": ["secret"]}]}});
    let key = create(&gateway, &session(json!({"max_query_depth": 2, "access_rights": restricted})));
    let authorization = format!("Authorization: {key}");
    let ask = |text: &str| gateway.send(request("POST", "/a/", &[JSON, &authorization], &json!({ "query": text }).to_string()));
    assert_eq!(ask("{ user(id: 7) { name } }").status, 200);
    assert_eq!(upstream.requests(), 1);
    assert!(upstream.last().header("authorization").is_none());
    assert_eq!(ask("{ user(id: 7) { secret } }").status, 400);
    assert_eq!(ask("{ user(id: 7) { orders { product { title } } } }").status, 403);
    assert_eq!(upstream.requests(), 1);
}

const ACCOUNTS: &str = "type Query { me: User } type User @key(fields: \"id\") { id: ID! name: String }
type Subscription { renamed: User }";
const REVIEWS: &str = "extend type User @key(fields: \"id\") { id: ID! @external reviews: [Review] } type Review { body: String }";

fn supergraph(accounts: &str, reviews: &str) -> Definition {
    let subgraph = |name: &str, url: &str, sdl: &str| json!({"api_id": name, "name": name, "url": url, "sdl": sdl, "headers": {"X-Own": name}});
    api("s", "/s/", "").set(
        "graphql",
        json!({
            "enabled": true, "execution_mode": "supergraph", "version": "2",
            "supergraph": {
                "subgraphs": [subgraph("accounts", accounts, ACCOUNTS), subgraph("reviews", reviews, REVIEWS)],
                "merged_sdl": "", "global_headers": {"X-Global": "g", "X-Own": "other"}
            }
        }),
    )
}

fn serve_accounts(seen: &Seen) -> Vec<u8> {
    let data = if seen.text().contains("_entities") {
        json!({"_entities": [{"reviews": [{"body": format!("{:?} {:?}", seen.header("x-own"), seen.header("x-global"))}]}]})
    } else {
        json!({"me": {"name": "Ada", "_User_id": "u1"}})
    };
    reply("200 OK", &[JSON], &json!({ "data": data }).to_string())
}

#[test]
fn a_supergraph_is_composed_and_executed() {
    let upstream = Upstream::start(serve_accounts);
    // One subgraph is an API of the gateway, as Tyk's dashboard makes them.
    let sdl = json!({"enabled": true, "execution_mode": "subgraph", "version": "2", "schema": "", "subgraph": {"sdl": REVIEWS}});
    let own = api("reviews-api", "/r/", &upstream.url()).set("graphql", sdl).set("internal", true);
    let gateway = Gateway::start(json!({}), [supergraph(&upstream.url(), "tyk://reviews-api/"), own]);
    let found = query(&gateway, "/s/", "{ me { name reviews { body } } }");
    let body = r#"Some("reviews") Some("g")"#;
    assert_eq!(found, json!({"data": {"me": {"name": "Ada", "reviews": [{"body": body}]}}}));
    let entities = upstream.last();
    let sent: Value = serde_json::from_str(&entities.text()).unwrap();
    assert_eq!(sent["variables"], json!({"representations": [{"__typename": "User", "id": "u1"}]}));
    let schema = query(&gateway, "/s/", "{ __type(name: \"User\") { fields { name } } }");
    assert_eq!(schema["data"]["__type"]["fields"], json!([{"name": "id"}, {"name": "name"}, {"name": "reviews"}]));
    gateway.expect_no_panic();
}

#[test]
fn clients_subscribe_over_web_sockets_and_events() {
    let upstream = Upstream::start(serve_accounts);
    for (kind, protocol) in [("graphql-transport-ws", "graphql-transport-ws"), ("", "graphql-ws"), ("sse", "graphql-transport-ws")]
    {
        let event = |name: &str| json!({"data": {"renamed": {"name": name, "_User_id": "u1"}}});
        let events = [event("A"), event("B")];
        let (socket, stream);
        let url = match kind {
            "sse" => {
                stream = EventSource::start(&events);
                stream.url()
            }
            _ => {
                socket = SocketSource::start(protocol, &events);
                socket.url()
            }
        };
        let mut definition = supergraph(&url, &upstream.url());
        definition.0["graphql"]["supergraph"]["subgraphs"][0]["subscription_type"] = json!(kind);
        let gateway = Gateway::start(upgrade::enabled(), [definition]);
        let text = "subscription { renamed { name reviews { body } } }";
        let expected = |name: &str| {
            let reviews = json!([{"body": r#"Some("reviews") Some("g")"#}]);
            json!({"data": {"renamed": {"name": name, "reviews": reviews}}})
        };
        for client in ["graphql-transport-ws", "graphql-ws"] {
            let mut client = GraphqlSocket::open(&gateway, "/s/", client);
            assert_eq!(client.run(text), [expected("A"), expected("B")], "{kind}");
            let queried = client.run("{ __typename }");
            assert_eq!(queried, [json!({"data": {"__typename": "Query"}})]);
            assert!(client.refused("{ nobody }").to_string().contains("nobody"), "{kind}");
        }
        let body = json!({ "query": text }).to_string();
        let answer = gateway.send(request("POST", "/s/", &[JSON, "Accept: text/event-stream"], &body));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
        let written =
            format!("event: next\ndata: {}\n\nevent: next\ndata: {}\n\nevent: complete\ndata:\n\n", expected("A"), expected("B"));
        assert_eq!(answer.text(), written);
        // A plain request cannot have more than one response.
        let plain = ask(&gateway, "/s/", &json!({ "query": text }));
        assert!(plain.text().contains("SUBSCRIPTION_BY_REQUEST"), "{}", plain.text());
        gateway.expect_no_panic();
    }
}

#[test]
fn rights_hold_inside_of_web_sockets() {
    let upstream = Upstream::start(serve_accounts);
    let gateway = Gateway::start(upgrade::enabled(), [supergraph(&upstream.url(), &upstream.url()).with_keys()]);
    let restricted = json!({"s": {"restricted_types": [{"name": "User", "fields": ["reviews"]}], "disable_introspection": true}});
    let key = create(&gateway, &session_for(&["s"], json!({"access_rights": restricted})));
    let mut client = GraphqlSocket::open_with(&gateway, "/s/", "graphql-transport-ws", &key);
    assert_eq!(client.run("{ me { name } }"), [json!({"data": {"me": {"name": "Ada"}}})]);
    let asked = upstream.requests();
    assert!(client.refused("{ me { reviews { body } } }").to_string().contains("reviews is restricted"));
    assert!(client.refused("subscription { renamed { reviews { body } } }").to_string().contains("reviews is restricted"));
    assert!(client.refused("{ __schema { types { name } } }").to_string().contains("introspection is disabled"));
    assert_eq!(upstream.requests(), asked);
}

#[test]
fn definitions_that_cannot_work_say_why() {
    let dir = tempfile::tempdir().unwrap();
    let check = |definition: &Definition| {
        let file = dir.path().join("a.json");
        std::fs::write(&file, definition.0.to_string()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let with = |source: Value| data_graph("a", SCHEMA, json!({ "data_sources": [source] }));
    let url = |url: &str| rest("s", of("Query", "user"), json!({ "url": url }));
    let mut broken = supergraph("http://a/", "http://a/");
    broken.0["graphql"]["supergraph"]["subgraphs"][1]["sdl"] = json!("type Query {");
    let kafka = json!({"kind": "Kafka", "name": "k", "root_fields": of("Subscription", "renamed"), "config": {"topics": ["t"], "broker_addresses": ["k:1"], "group_id": "g"}});
    let asked = json!({"kind": "Kafka", "name": "k", "root_fields": of("Query", "user"),
                       "config": {"topics": ["t"], "broker_addresses": ["k:1"], "group_id": "g", "client_id": "c"}});
    for (definition, told) in [
        (with(url("ftp://a/")), "$.graphql.engine.data_sources[0].config.url: error: \"ftp://a/\" is no URL of http, https or tyk"),
        (with(url("http://{{.arguments.id}}/")), "a variable must not be part of the scheme or the host"),
        (with(url("http://a/{{.argument.id}}")), "is neither .arguments.NAME"),
        (with(kafka), "$.graphql.engine.data_sources[0].config.client_id: error: \"\" is no name"),
        (
            with(asked),
            "$.graphql.engine.data_sources[0].root_fields[0]: error: Kafka is a source of subscriptions, and Query is not their type",
        ),
        (broken, "$.graphql.supergraph.subgraphs[1].sdl: error"),
        (supergraph("http://a/", "b"), "$.graphql.supergraph.subgraphs[1].url: error"),
        (supergraph("http://a/", "http://a/").set("graphql/supergraph/subgraphs", json!([])), "has no subgraph"),
        (data_graph("a", "type Query { a: Nobody }", json!({})), "$.graphql.schema: error: line 1, column 17"),
    ] {
        let (good, text) = check(&definition);
        assert!(!good && text.contains(told), "{told}: {text}");
    }
    // What nobody can ask for has no effect.
    for (definition, told) in [
        (with(rest("s", of("Query", "nobody"), json!({"url": "http://a/"}))), "Query has no field nobody: it is never asked for"),
        (with(rest("s", of("Nothing", "a"), json!({"url": "http://a/"}))), "the schema has no type Nothing: it is never asked for"),
    ] {
        let (good, text) = check(&definition);
        let told = format!("data_sources[0].root_fields[0]: warning: {told}");
        assert!(good && text.contains(&told), "{told}: {text}");
    }
    let (good, text) = check(&with(url("http://a/")));
    assert!(
        good && text.contains("no source has Query.users, Query.product, Mutation.rename, Subscription.renamed: always null"),
        "{text}"
    );
}
