mod provided;

use super::*;
use crate::{DataGraph, FieldMapping, FieldOwner, GraphSource, SourceDefinition, SourceKind};
use tollgate_federation::{SubgraphText, compose};
use tollgate_graphql::{DocumentLimits, GraphqlSchema, SchemaRules};

const LIMITS: ExecutionLimits = ExecutionLimits { requests_max: 100, bytes_max: 1 << 20 };

/// A schema with its sources.
struct TestGraph {
    schema: GraphqlSchema,
    graph: Arc<DataGraph>,
}

fn schema(text: &str) -> GraphqlSchema {
    let compiled = GraphqlSchema::compile(text, SchemaRules::default());
    compiled.unwrap_or_else(|faults| panic!("{faults:?}")).0
}

/// Runs a query. `serve` answers requests, named `METHOD URL BODY`.
fn run(test: &TestGraph, query: &str, variables: Value, serve: &dyn Fn(&str) -> (u16, Value)) -> (Value, Vec<String>) {
    run_with(test, query, variables, LIMITS, serve)
}

fn run_with(
    test: &TestGraph,
    query: &str,
    variables: Value,
    limits: ExecutionLimits,
    serve: &dyn Fn(&str) -> (u16, Value),
) -> (Value, Vec<String>) {
    let all = DocumentLimits { tokens_max: 10_000, depth_max: 64, fields_max: 10_000, aliases_max: 500 };
    let document = test.schema.check(query, &all).unwrap_or_else(|fault| panic!("{query}: {:?}", fault.errors));
    let operation = document.operation(None).unwrap_or_else(|error| panic!("{error:?}"));
    let Value::Object(variables) = variables else { panic!("variables are an object") };
    let conditions = OperationPlan::conditions(operation).into_iter().map(|name| {
        let value = variables.get(&name).and_then(Value::as_bool).unwrap_or_default();
        (name, value)
    });
    let plan =
        OperationPlan::new(&test.graph, &test.schema, operation, &conditions.collect()).unwrap_or_else(|fault| panic!("{fault}"));
    let context = ExecutionContext { headers: HashMap::from([("x-tenant".to_owned(), "t1".to_owned())]), ..Default::default() };
    let mut execution = Execution::new(test.graph.clone(), Arc::new(plan), variables, context, limits);
    let mut log = Vec::new();
    while !execution.is_done() {
        let round: Vec<SourceRequest> = std::iter::from_fn(|| execution.next_request()).collect();
        assert!(!round.is_empty(), "neither done nor anything to send: {log:?}");
        for request in round {
            let line = format!("{} {} {}", request.method, request.url, String::from_utf8_lossy(&request.body));
            let (status, body) = serve(line.trim());
            log.push(line.trim().to_owned());
            let body = if body == json!("broken") { b"<html>".to_vec() } else { body.to_string().into_bytes() };
            let answer = if status == 0 { Err(SourceFailure::Unavailable) } else { Ok(SourceAnswer { status, body }) };
            execution.answer(request.id, answer);
        }
    }
    let response = serde_json::from_slice(&execution.response(&Map::new())).unwrap_or_else(|error| panic!("{error}"));
    (response, log)
}

const PEOPLE: &str = "
    type Query { user(id: ID!): User users(tag: [String!], page: Int = 1): [User!] search(text: String!): [Thing] broken: Int }
    type Mutation { rename(id: ID!, name: String!): User }
    interface Named { name: String }
    type User implements Named { id: ID! name: String age: Int nick: String orders(first: Int): [Order!] manager: User }
    type Company implements Named { name: String seat: String }
    union Thing = User | Company
    type Order { id: ID! total: Float state: State buyer: User product: Product }
    type Product { title: String! }
    enum State { OPEN DONE }
";

fn rest(name: &str, url: &str) -> GraphSource {
    source(name, SourceKind::Rest, SourceDefinition { url, ..Default::default() })
}

fn source(name: &str, kind: SourceKind, definition: SourceDefinition<'_>) -> GraphSource {
    GraphSource::new(name, kind, definition).unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn owner(type_name: &str, field: &str, source: usize) -> FieldOwner {
    FieldOwner { type_name: type_name.to_owned(), field: field.to_owned(), source }
}

fn mapping(type_name: &str, field: &str, path: &[&str]) -> FieldMapping {
    let path = path.iter().map(|step| (*step).to_owned()).collect();
    FieldMapping { type_name: type_name.to_owned(), field: field.to_owned(), path }
}

fn people() -> TestGraph {
    let schema = schema(PEOPLE);
    let headers = [("X-Tenant", "{{.request.headers.x-tenant}}"), ("X-None", "{{.request.headers.x-none}}")];
    let products = SourceDefinition { url: "http://products/graphql", ..Default::default() };
    let rename = SourceDefinition {
        method: "PUT",
        url: "http://users/{{.arguments.id}}",
        headers: &headers,
        body: "{\"name\": \"{{.arguments.name}}\"}",
        ..Default::default()
    };
    let sources = vec![
        rest("user", "http://users/{{.arguments.id}}"),
        rest("users", "http://users/?tag={{.arguments.tag}}&page={{ .arguments.page }}&kind=a%20b"),
        rest("orders", "http://orders/{{.object.id}}?first={{.arguments.first}}"),
        rest("search", "http://search/?q={{.arguments.text}}"),
        source("rename", SourceKind::Rest, rename),
        source("products", SourceKind::Graphql, products),
        rest("manager", "http://users/{{.object.manager_id}}"),
    ];
    let owners = [
        owner("Query", "user", 0),
        owner("Query", "users", 1),
        owner("User", "orders", 2),
        owner("Query", "search", 3),
        owner("Mutation", "rename", 4),
        owner("Order", "product", 5),
        owner("User", "manager", 6),
    ];
    let mappings = [
        mapping("Query", "user", &[]),
        mapping("Query", "users", &["data", "items"]),
        mapping("User", "nick", &["names", "[1]"]),
        mapping("User", "orders", &[]),
        mapping("User", "manager", &[]),
        mapping("Mutation", "rename", &[]),
        mapping("Query", "search", &[]),
    ];
    let (graph, notes) = DataGraph::of_fields(&schema, sources, &owners, &mappings).unwrap_or_else(|faults| panic!("{faults:?}"));
    assert_eq!((notes.unowned, notes.unknown.len()), (vec!["Query.broken".to_owned()], 0));
    TestGraph { schema, graph: Arc::new(graph) }
}

fn users(line: &str) -> (u16, Value) {
    let body = match line {
        "GET http://users/7" => json!({"id": 7, "name": "Ada", "age": "36", "names": ["a", "b"], "manager_id": 8}),
        "GET http://users/8" => json!({"id": 8, "name": "Bob", "manager_id": null}),
        line if line.starts_with("GET http://users/?") => {
            json!({"data": {"items": [{"id": 1, "name": 5, "manager_id": 8}, {"id": "2", "manager_id": 8}]}})
        }
        "GET http://orders/7?first=2" | "GET http://orders/1" => json!([{"id": "o", "total": "1.5", "state": "OPEN"}]),
        "GET http://orders/2" => return (500, json!({})),
        _ => panic!("not expected: {line}"),
    };
    (200, body)
}

#[test]
fn values_come_from_their_sources() {
    let graph = people();
    let query = "query($n: Int) { a: user(id: 7) { __typename id name age nick orders(first: $n) { total state } boss: manager { name } } }";
    let (response, log) = run(&graph, query, json!({"n": 2}), &users);
    assert_eq!(
        response,
        json!({"data": {"a": {
            "__typename": "User", "id": "7", "name": "Ada", "age": 36, "nick": "b",
            "orders": [{"total": 1.5, "state": "OPEN"}], "boss": {"name": "Bob"}
        }}})
    );
    assert_eq!(log, ["GET http://users/7", "GET http://orders/7?first=2", "GET http://users/8"]);
}

#[test]
fn lists_are_asked_for_each_object_and_the_same_only_once() {
    let graph = people();
    let query = "{ users(tag: [\"x y\", \"z\"]) { id name manager { name } orders { id } } }";
    let (response, log) = run(&graph, query, json!({}), &users);
    assert_eq!(log.first().map(String::as_str), Some("GET http://users/?tag=x%20y&tag=z&page=1&kind=a%20b"));
    assert_eq!(log.len(), 4, "{log:?}");
    assert_eq!(
        response,
        json!({
            "errors": [{
                "message": "The source \"orders\" answered with status 500",
                "path": ["users", 1, "orders"],
                "extensions": {"code": "SOURCE_STATUS", "source": "orders", "status": 500}
            }],
            "data": {"users": [
                {"id": "1", "name": "5", "manager": {"name": "Bob"}, "orders": [{"id": "o"}]},
                {"id": "2", "name": null, "manager": {"name": "Bob"}, "orders": null}
            ]}
        })
    );
}

#[test]
fn a_source_of_graphql_gets_one_operation() {
    let graph = people();
    let query = "query($with: Boolean!) { user(id: 7) { orders { product { title @include(if: $with) __typename } } } }";
    let serve = |line: &str| match line {
        line if line.starts_with("POST http://products/graphql") => {
            let title = json!("Pen");
            (200, json!({"data": {"product": {"title": title, "__typename": "Product"}}}))
        }
        "GET http://orders/7" => (200, json!([{"id": 1}, {"id": 2}])),
        line => users(line),
    };
    let (response, log) = run(&graph, query, json!({"with": true}), &serve);
    let product = json!({"product": {"title": "Pen", "__typename": "Product"}});
    assert_eq!(response, json!({"data": {"user": {"orders": [product, product]}}}));
    assert_eq!(log.last().map(String::as_str), Some("POST http://products/graphql {\"query\":\"query {product {title}}\"}"));
    assert_eq!(log.len(), 3);
    let (response, _) = run(&graph, query, json!({"with": false}), &serve);
    assert_eq!(response["data"]["user"]["orders"][0], json!({"product": {"__typename": "Product"}}));
}

#[test]
fn fields_of_one_graphql_source_stay_together_around_others() {
    let schema = schema("type Query { a: Int b: Int rest: Int }");
    let graphql = source("graphql", SourceKind::Graphql, SourceDefinition { url: "http://graphql/", ..Default::default() });
    let owners = [owner("Query", "a", 0), owner("Query", "rest", 1), owner("Query", "b", 0)];
    let built = DataGraph::of_fields(&schema, vec![graphql, rest("rest", "http://rest/")], &owners, &[]);
    let graph = TestGraph { graph: Arc::new(built.unwrap_or_else(|faults| panic!("{faults:?}")).0), schema };
    let serve = |line: &str| match line {
        r#"POST http://graphql/ {"query":"query {a b}"}"# => (200, json!({"data": {"a": 1, "b": 2}})),
        "GET http://rest/" => (200, json!({"rest": 3})),
        line => panic!("not expected: {line}"),
    };
    let (response, log) = run(&graph, "{ a rest b }", json!({}), &serve);
    assert_eq!((response, log.len()), (json!({"data": {"a": 1, "rest": 3, "b": 2}}), 2));
}

#[test]
fn mutations_go_one_after_the_other() {
    let graph = people();
    let query = "mutation($n: String!) { a: rename(id: 1, name: $n) { id } b: rename(id: 2, name: \"B\") { id } }";
    let serve = |line: &str| match line {
        "PUT http://users/1 {\"name\": \"q\\\"q\"}" => (200, json!({"id": 1})),
        "PUT http://users/2 {\"name\": \"B\"}" => (200, json!({"id": 2})),
        line => panic!("not expected: {line}"),
    };
    let (response, log) = run(&graph, query, json!({"n": "q\"q"}), &serve);
    assert_eq!(response, json!({"data": {"a": {"id": "1"}, "b": {"id": "2"}}}));
    assert!(log[0].starts_with("PUT http://users/1"), "{log:?}");
}

#[test]
fn abstract_types_are_told_by_the_source() {
    let graph = people();
    let query =
        "{ search(text: \"a&b\") { __typename ... on Named { name } ... on Company { seat } ... on User { manager { name } } } }";
    let serve = |line: &str| match line {
        "GET http://search/?q=a%26b" => (
            200,
            json!([{"__typename": "User", "name": "Ada", "manager_id": 8}, {"__typename": "Company", "name": "C", "seat": "Rome"}, {"name": 1}]),
        ),
        line => users(line),
    };
    let (response, _) = run(&graph, query, json!({}), &serve);
    assert_eq!(
        response["data"],
        json!({"search": [
            {"__typename": "User", "name": "Ada", "manager": {"name": "Bob"}},
            {"__typename": "Company", "name": "C", "seat": "Rome"},
            null
        ]})
    );
    assert_eq!(response["errors"][0]["path"], json!(["search", 2]));
}

#[test]
fn faults_have_a_place_and_null_goes_up() {
    let graph = people();
    let told = |serve: &dyn Fn(&str) -> (u16, Value)| run(&graph, "{ user(id: 7) { id } broken }", json!({}), serve).0;
    let (no_source, unavailable) = ("Field Query.broken has no source", "The source \"user\" does not answer");
    let response = told(&|_| (0, json!(null)));
    assert_eq!(response["data"], json!({"user": null, "broken": null}));
    assert_eq!(response["errors"][0]["message"], unavailable);
    assert_eq!(response["errors"][0]["extensions"]["code"], "SOURCE_UNAVAILABLE");
    assert_eq!(response["errors"][1]["message"], no_source);
    let response = told(&|_| (200, json!({"name": "no id"})));
    assert_eq!(response["data"]["user"], json!(null));
    let first = &response["errors"][0];
    assert_eq!(first["message"], "Cannot return null for the non-nullable field id");
    assert_eq!(first["path"], json!(["user", "id"]));
    assert_eq!(first["locations"], json!([{"line": 1, "column": 17}]));
    assert_eq!(told(&|_| (200, json!([1])))["errors"][0]["message"], "The source did not give an object");
    assert_eq!(told(&|_| (200, json!("broken")))["errors"][0]["message"], "The source \"user\" did not answer with JSON");
}

#[test]
fn executions_are_bounded() {
    let graph = people();
    let many: Vec<Value> = (1..=50).map(|id| json!({"id": id})).collect();
    let serve = |line: &str| match line {
        line if line.contains("users/?") => (200, json!({"data": {"items": many}})),
        _ => (200, json!([])),
    };
    let limits = ExecutionLimits { requests_max: 10, bytes_max: 1 << 20 };
    let (response, log) = run_with(&graph, "{ users { orders { id } } }", json!({}), limits, &serve);
    assert_eq!(log.len(), 10);
    assert_eq!(response["errors"][0]["message"], "The query needs more than 10 requests");
    assert_eq!(response["errors"][0]["path"], json!(["users", 9, "orders"]));
    let limits = ExecutionLimits { requests_max: 100, bytes_max: 500 };
    let (response, _) = run_with(&graph, "{ users { id } }", json!({}), limits, &serve);
    assert_eq!(response["data"]["users"], json!(null));
}

/// Accounts, products with two keys, reviews that know products by `upc`, and stock that knows them by `sku` and needs their weight.
fn shop() -> TestGraph {
    let texts = [
        (
            "accounts",
            "type Query { me: User node: Node } interface Node { id: ID! }
             type User implements Node @key(fields: \"id\") { id: ID! name: String }",
        ),
        (
            "products",
            "type Query { top: [Product] }
             type Product @key(fields: \"upc\") @key(fields: \"sku\") { upc: String! sku: String name: String weight: Int }",
        ),
        (
            "reviews",
            "interface Node { id: ID! }
             type Review implements Node @key(fields: \"id\") { id: ID! body: String author: User @provides(fields: \"name\") product: Product }
             extend type User @key(fields: \"id\") { id: ID! @external name: String @external reviews: [Review] }
             extend type Product @key(fields: \"upc\") { upc: String! @external reviews: [Review] }",
        ),
        (
            "stock",
            "extend type Product @key(fields: \"sku\") {
                sku: String @external weight: Int @external shipping: Int @requires(fields: \"weight\")
             }",
        ),
    ];
    let subgraphs: Vec<SubgraphText<'_>> = texts.iter().map(|(name, sdl)| SubgraphText { name, sdl }).collect();
    federated(&subgraphs)
}

fn federated(subgraphs: &[SubgraphText<'_>]) -> TestGraph {
    let composed = compose(subgraphs).unwrap_or_else(|findings| panic!("{findings:?}")).0;
    let sources = subgraphs.iter().map(|SubgraphText { name, .. }| {
        source(name, SourceKind::Graphql, SourceDefinition { url: &format!("http://{name}/"), ..Default::default() })
    });
    TestGraph { schema: schema(&composed.schema), graph: Arc::new(DataGraph::of_supergraph(sources.collect(), &composed, true)) }
}

/// Answers for the requests that are expected; each is a part of a request and its data.
fn serving<'s>(answers: &'s [(&'s str, Value)]) -> impl Fn(&str) -> (u16, Value) + 's {
    |line| {
        let found = answers.iter().find(|(part, _)| line == *part);
        (200, json!({"data": found.unwrap_or_else(|| panic!("not expected: {line}")).1}))
    }
}

#[test]
fn entities_are_found_by_their_keys() {
    let graph = shop();
    let answers = [
        (r#"POST http://accounts/ {"query":"query {me {name _User_id: id}}"}"#, json!({"me": {"name": "Ada", "_User_id": "u1"}})),
        (
            r#"POST http://reviews/ {"query":"query($representations: [_Any!]!) {_entities(representations: $representations) {... on User {reviews {body}}}}","variables":{"representations":[{"__typename":"User","id":"u1"}]}}"#,
            json!({"_entities": [{"reviews": [{"body": "good"}]}]}),
        ),
    ];
    let (response, _) = run(&graph, "{ me { name reviews { body } } }", json!({}), &serving(&answers));
    assert_eq!(response, json!({"data": {"me": {"name": "Ada", "reviews": [{"body": "good"}]}}}));
}

#[test]
fn what_a_subgraph_provides_needs_no_other() {
    let graph = shop();
    let answers = [
        (r#"POST http://accounts/ {"query":"query {me {_User_id: id}}"}"#, json!({"me": {"_User_id": "u1"}})),
        (
            r#"POST http://reviews/ {"query":"query($representations: [_Any!]!) {_entities(representations: $representations) {... on User {reviews {author {id name}}}}}","variables":{"representations":[{"__typename":"User","id":"u1"}]}}"#,
            json!({"_entities": [{"reviews": [{"author": {"id": "u1", "name": "Ada"}}]}]}),
        ),
    ];
    let (response, _) = run(&graph, "{ me { reviews { author { id name } } } }", json!({}), &serving(&answers));
    assert_eq!(response["data"]["me"]["reviews"][0]["author"], json!({"id": "u1", "name": "Ada"}));
}

#[test]
fn a_subgraph_in_between_has_the_key_and_what_is_required() {
    let graph = shop();
    let answers = [
        (r#"POST http://accounts/ {"query":"query {me {_User_id: id}}"}"#, json!({"me": {"_User_id": "u1"}})),
        (
            r#"POST http://reviews/ {"query":"query($representations: [_Any!]!) {_entities(representations: $representations) {... on User {reviews {product {_Product_upc: upc}}}}}","variables":{"representations":[{"__typename":"User","id":"u1"}]}}"#,
            json!({"_entities": [{"reviews": [{"product": {"_Product_upc": "p1"}}, {"product": {"_Product_upc": "p2"}}, {"product": {"_Product_upc": "p1"}}]}]}),
        ),
        (
            r#"POST http://products/ {"query":"query($representations: [_Any!]!) {_entities(representations: $representations) {... on Product {_Product_weight: weight _Product_sku: sku}}}","variables":{"representations":[{"__typename":"Product","upc":"p1"},{"__typename":"Product","upc":"p2"}]}}"#,
            json!({"_entities": [{"_Product_weight": 3, "_Product_sku": "s1"}, null]}),
        ),
        (
            r#"POST http://stock/ {"query":"query($representations: [_Any!]!) {_entities(representations: $representations) {... on Product {shipping}}}","variables":{"representations":[{"__typename":"Product","sku":"s1","weight":3}]}}"#,
            json!({"_entities": [{"shipping": 9}]}),
        ),
    ];
    let (response, _) = run(&graph, "{ me { reviews { product { shipping } } } }", json!({}), &serving(&answers));
    let product = |shipping: Value| json!({"product": {"shipping": shipping}});
    assert_eq!(response["data"]["me"]["reviews"], json!([product(json!(9)), product(json!(null)), product(json!(9))]));
}

#[test]
fn errors_of_subgraphs_get_the_path_of_the_response() {
    let graph = shop();
    let serve = |line: &str| {
        if line.starts_with("POST http://products/") {
            return (200, json!({"data": {"top": [{"_Product_upc": "p1"}, {"_Product_upc": "p2"}]}}));
        }
        let error = json!({"message": "lost", "path": ["_entities", 1, "reviews", 0, "body"], "extensions": {"code": "GONE"}});
        (200, json!({"data": {"_entities": [{"reviews": []}, {"reviews": [{"body": null}]}]}, "errors": [error]}))
    };
    let (response, _) = run(&graph, "{ top { reviews { body } } }", json!({}), &serve);
    assert_eq!(
        response["errors"],
        json!([{"message": "lost", "path": ["top", 1, "reviews", 0, "body"], "extensions": {"code": "GONE"}}])
    );
    assert_eq!(response["data"]["top"][1], json!({"reviews": [{"body": null}]}));
}

#[test]
fn what_fails_on_the_way_to_a_field_is_an_error_of_the_field() {
    let graph = shop();
    let serve = |line: &str| match line {
        line if line.starts_with("POST http://accounts/") => (200, json!({"data": {"me": {"_User_id": "u1"}}})),
        line if line.starts_with("POST http://reviews/") => {
            (200, json!({"data": {"_entities": [{"reviews": [{"product": {"_Product_upc": "p1"}}]}]}}))
        }
        line if line.starts_with("POST http://products/") => (0, json!(null)),
        line => panic!("not expected: {line}"),
    };
    let (response, _) = run(&graph, "{ me { reviews { product { ship: shipping } } } }", json!({}), &serve);
    assert_eq!(response["data"]["me"]["reviews"][0]["product"], json!({"ship": null}));
    assert_eq!(response["errors"][0]["path"], json!(["me", "reviews", 0, "product", "ship"]));
}

#[test]
fn interfaces_are_asked_by_type() {
    let graph = shop();
    let answers = [
        (
            r#"POST http://accounts/ {"query":"query {node {__typename ... on User {id name}}}"}"#,
            json!({"node": {"__typename": "User", "id": "u1", "name": "Ada"}}),
        ),
        (
            r#"POST http://reviews/ {"query":"query($representations: [_Any!]!) {_entities(representations: $representations) {... on User {reviews {body}}}}","variables":{"representations":[{"__typename":"User","id":"u1"}]}}"#,
            json!({"_entities": [{"reviews": null}]}),
        ),
    ];
    let query = "{ node { id ... on User { name reviews { body } } ... on Review { body } } }";
    let (response, _) = run(&graph, query, json!({}), &serving(&answers));
    assert_eq!(response, json!({"data": {"node": {"id": "u1", "name": "Ada", "reviews": null}}}));
}

#[test]
fn an_answer_for_several_objects_and_the_response_count_against_the_limit() {
    let test = people();
    let name = "x".repeat(1_000);
    let serve = |line: &str| match line {
        "GET http://users/8" => (200, json!({"name": name})),
        _ => (200, json!({"data": {"items": (0..50).map(|id| json!({"id": id, "manager_id": 8})).collect::<Vec<_>>()}})),
    };
    let limited =
        |bytes_max: usize, query: &str| run_with(&test, query, json!({}), ExecutionLimits { requests_max: 100, bytes_max }, &serve);
    let (response, log) = limited(100_000, "{ users { manager { name } } }");
    assert_eq!(log.len(), 2);
    assert!(response.get("errors").is_none(), "{response}");
    // The manager is one answer of a thousand bytes, for fifty users.
    let (response, _) = limited(20_000, "{ users { manager { name } } }");
    assert_eq!(response["errors"][0]["extensions"]["code"], "SOURCE_ANSWER", "{response}");
    // The answers fit, and the response repeats them.
    let aliases: String = (0..3).map(|number| format!("a{number}: name ")).collect();
    let (response, _) = limited(100_000, &format!("{{ users {{ manager {{ {aliases} }} }} }}"));
    assert_eq!((&response["data"], &response["errors"][0]["extensions"]["code"]), (&Value::Null, &json!("LIMIT_EXCEEDED")));
}
