//! GraphQL APIs in front of an upstream.

use serde_json::{Value, json};

use crate::keys::Served;
use crate::{Definition, Response, Upstream, api, reply, request};

pub const SCHEMA: &str = "
type Query { me: User, user(id: ID!, where: Filter): User, node(id: ID!): Node, list(size: Size = SMALL, ids: [Int!]): [User!]! }
type Mutation { rename(id: ID!, name: String!): User }
type Subscription { renamed: User }
interface Node { id: ID! name: String }
type User implements Node { id: ID! name: String email: String friends: [User!]! pet: Pet }
type Pet implements Node { id: ID! name: String owner: User }
input Filter { name: String!, ages: [Int], size: Size }
enum Size { SMALL LARGE }
";

pub const JSON: &str = "Content-Type: application/json";
pub const DATA: &str = r#"{"data":{"me":{"id":"1"}}}"#;

/// A GraphQL API in front of an upstream.
pub fn graph(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
        .set("graphql", json!({"enabled": true, "execution_mode": "proxyOnly", "version": "2", "schema": SCHEMA}))
}

/// Answers each query alike.
pub fn data() -> Upstream {
    Upstream::start(|_| reply("200 OK", &[JSON], DATA))
}

pub fn post(gateway: &impl Served, body: &Value) -> Response {
    gateway.answer(request("POST", "/a/", &[JSON], &body.to_string()).as_bytes())
}

pub fn ask(gateway: &impl Served, query: &str) -> Response {
    post(gateway, &json!({ "query": query }))
}

/// A text for the query of a URL.
pub fn url(query: &str) -> String {
    query
        .bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
