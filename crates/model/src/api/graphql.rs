//! `graphql` of a definition, and `tollgate.graphql`.

mod sources;

pub use sources::{
    GraphqlDataSource, GraphqlEngine, GraphqlFieldConfig, GraphqlFieldSource, GraphqlFieldSourceConfig, GraphqlHeader,
    GraphqlKafkaSasl, GraphqlMapping, GraphqlQueryParameter, GraphqlSourceConfig, GraphqlSourceKind, GraphqlSubgraphEntry,
    GraphqlSubscriptionKind, GraphqlSupergraph, GraphqlTypeField, GraphqlTypeFields,
};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token};

/// `graphql`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlDefinition {
    /// Requests are GraphQL, and are checked before they reach the upstream.
    pub enabled: bool,
    /// Who executes queries.
    pub execution_mode: GraphqlMode,
    /// Version of the settings: empty or `1`, `2`, `3-preview`.
    pub version: String,
    /// The schema, in the schema definition language.
    pub schema: String,
    /// A page for people who try queries.
    pub playground: GraphqlPlayground,
    /// The way to the upstream.
    pub proxy: GraphqlProxy,
    /// Queries for the schema.
    pub introspection: GraphqlIntrospection,
    /// Settings of a subgraph.
    pub subgraph: GraphqlSubgraph,
    /// Sources of an API whose queries the gateway executes.
    pub engine: GraphqlEngine,
    /// The subgraphs of a federation.
    pub supergraph: GraphqlSupergraph,
    /// Sources of single fields, in version 1.
    pub type_field_configurations: Vec<GraphqlTypeField>,
}

/// Who executes the queries of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum GraphqlMode {
    /// The upstream.
    #[default]
    #[serde(rename = "")]
    Unset,
    /// The upstream.
    #[serde(rename = "proxyOnly")]
    ProxyOnly,
    /// The upstream, which is part of a federation.
    #[serde(rename = "subgraph")]
    Subgraph,
    /// The gateway, from several sources.
    #[serde(rename = "executionEngine")]
    ExecutionEngine,
    /// The gateway, from the subgraphs of a federation.
    #[serde(rename = "supergraph")]
    Supergraph,
}

/// `graphql.playground`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlPlayground {
    /// The page is served, without authentication, as in Tyk.
    pub enabled: bool,
    /// Its path behind the listen path.
    pub path: String,
}

/// `graphql.proxy`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlProxy {
    /// Switches.
    pub features: GraphqlFeatures,
    /// Headers for the upstream.
    pub request_headers: BTreeMap<String, String>,
    /// Rules for headers for the upstream, which come last.
    pub request_headers_rewrite: BTreeMap<String, HeaderRewrite>,
    /// What clients see of an upstream's errors.
    pub use_response_extensions: GraphqlResponseExtensions,
}

/// `graphql.proxy.features`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlFeatures {
    /// A header of the client takes the place of one in `request_headers`; otherwise the upstream gets both.
    pub use_immutable_headers: bool,
}

/// An entry of `graphql.proxy.request_headers_rewrite`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeaderRewrite {
    /// The value that the header gets; with `remove`, the only value that it may keep.
    pub value: String,
    /// Remove the header instead of setting it.
    pub remove: bool,
}

/// `graphql.proxy.use_response_extensions`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlResponseExtensions {
    /// The body of an upstream's error that is not a GraphQL response becomes the `extensions` of an error that is one.
    pub on_error_forwarding: bool,
}

/// `graphql.introspection`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlIntrospection {
    /// Queries for the schema are refused.
    pub disabled: bool,
}

/// `graphql.subgraph`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlSubgraph {
    /// The subgraph's own schema; used if `schema` is empty.
    pub sdl: String,
}

/// `tollgate.graphql`: limits of documents, and how strictly requests are read. 0 stands for the default.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlRules {
    /// Most tokens of a document: 0 means 10000.
    pub tokens_max: usize,
    /// Most levels of fields, fragments included: 0 means 64.
    pub levels_max: usize,
    /// Most fields of an operation, with each fragment counted as often as it is spread: 0 means 10000.
    pub fields_max: u64,
    /// Most fields with an alias, counted alike: 0 means 500.
    pub aliases_max: u64,
    /// Most requests in a batch: 0 means 10; 1 refuses batches of more than one.
    pub batch_requests_max: usize,
    /// Accept POST requests whose content type any page on the web may send: forms, plain text, or none. Otherwise they are refused with
    /// 415, because a browser sends them with cookies and without asking.
    pub accept_simple_content_types: bool,
    /// Refuse persisted queries, which clients register by sending them once.
    pub disable_persisted_queries: bool,
    /// Refuse WebSockets. Operations in WebSockets are not checked.
    pub disable_websockets: bool,
    /// Which statuses refused queries have.
    pub error_statuses: GraphqlStatuses,
    /// Most requests to sources for one query: 0 means 1000.
    pub source_requests_max: usize,
    /// Most bytes of the answers of sources to one query, all together: 0 means 32 MiB.
    pub source_bytes_max: usize,
    /// Longest time for one request to a source, in milliseconds: 0 means 30000.
    pub source_time_max_ms: u64,
}

/// Statuses of refused queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphqlStatuses {
    /// 400, as in Tyk.
    #[default]
    Tyk,
    /// As the GraphQL-over-HTTP specification says: 200 for clients that accept `application/json`, 400 for those that accept
    /// `application/graphql-response+json`.
    GraphqlOverHttp,
}

impl GraphqlDefinition {
    /// The schema of requests.
    pub fn request_schema(&self) -> &str {
        if self.schema.is_empty() && self.is_subgraph() { &self.subgraph.sdl } else { &self.schema }
    }

    /// Whether the upstream is part of a federation.
    pub fn is_subgraph(&self) -> bool {
        self.execution_mode == GraphqlMode::Subgraph
    }

    /// Whether the gateway executes queries.
    pub fn is_executed(&self) -> bool {
        self.enabled && matches!(self.execution_mode, GraphqlMode::ExecutionEngine | GraphqlMode::Supergraph)
    }

    /// Whether the settings are of the first version, which has no WebSockets.
    pub fn is_first_version(&self) -> bool {
        matches!(self.version.as_str(), "" | "1")
    }

    pub(super) fn check(&self, findings: &mut Findings) {
        if !self.enabled {
            return;
        }
        if !["", "1", "2", "3-preview"].contains(&self.version.as_str()) {
            findings.error(&JsonPath::of("graphql.version"), "must be 1, 2 or 3-preview");
        }
        let at = JsonPath::of("graphql.proxy.request_headers");
        for (name, value) in &self.proxy.request_headers {
            check_header(&at.key(name), name, value, findings);
        }
        let at = JsonPath::of("graphql.proxy.request_headers_rewrite");
        for (name, rule) in &self.proxy.request_headers_rewrite {
            check_header(&at.key(name), name, &rule.value, findings);
        }
    }
}

fn check_header(at: &JsonPath, name: &str, value: &str, findings: &mut Findings) {
    if !is_token(name) {
        findings.error(at, "is not a valid header name");
    }
    if !is_header_value(value) {
        findings.error(at, "has a value that no header can have");
    }
}
