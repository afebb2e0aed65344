//! What queries are executed with: `graphql.engine`, `graphql.supergraph`, and `graphql.type_field_configurations` of the first version.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// `graphql.engine`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlEngine {
    /// Where fields are in the answers of sources.
    pub field_configs: Vec<GraphqlFieldConfig>,
    /// The sources.
    pub data_sources: Vec<GraphqlDataSource>,
    /// Headers for all sources.
    pub global_headers: Vec<GraphqlHeader>,
}

/// A header for sources.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlHeader {
    /// Its name.
    pub key: String,
    /// Its value, which may have variables.
    pub value: String,
}

/// An entry of `graphql.engine.field_configs`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlFieldConfig {
    /// The type.
    pub type_name: String,
    /// Its field.
    pub field_name: String,
    /// The whole answer is the field's value, if there is no `path`.
    pub disable_default_mapping: bool,
    /// Members that lead to the value.
    pub path: Vec<String>,
}

/// An entry of `graphql.engine.data_sources`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlDataSource {
    /// What the source understands.
    pub kind: GraphqlSourceKind,
    /// Its name, for errors.
    pub name: String,
    /// The fields that it has.
    pub root_fields: Vec<GraphqlTypeFields>,
    /// How it is reached.
    pub config: GraphqlSourceConfig,
}

/// What a source understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum GraphqlSourceKind {
    /// One HTTP request for each value.
    #[default]
    #[serde(rename = "REST")]
    Rest,
    /// GraphQL operations.
    #[serde(rename = "GraphQL")]
    Graphql,
    /// Records of topics, for subscriptions.
    Kafka,
}

/// Fields of a type.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlTypeFields {
    /// The type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its fields.
    pub fields: Vec<String>,
}

/// `config` of a source.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlSourceConfig {
    /// URL; may have variables behind its host. `tyk://` and an API's id or name stands for this API.
    pub url: String,
    /// Method of requests; empty means `GET` for REST and `POST` for GraphQL.
    pub method: String,
    /// Headers; values may have variables.
    pub headers: BTreeMap<String, String>,
    /// Parameters of the URL for REST; values may have variables.
    pub query: Vec<GraphqlQueryParameter>,
    /// Body for REST; may have variables.
    pub body: String,
    /// For GraphQL: the source is asked with `operation` instead of an operation of the gateway's own.
    pub has_operation: bool,
    /// That operation.
    pub operation: String,
    /// Its variables; texts may have variables of the gateway.
    pub variables: Value,
    /// How subscriptions are made.
    pub subscription_type: GraphqlSubscriptionKind,
    /// Subscriptions over events of HTTP are made with `POST`.
    pub sse_use_post: bool,
    /// For Kafka: brokers, each a host and a port.
    pub broker_addresses: Vec<String>,
    /// For Kafka: topics; may have variables.
    pub topics: Vec<String>,
    /// For Kafka: the consumer group; may have variables.
    pub group_id: String,
    /// For Kafka: what the gateway calls itself; may have variables.
    pub client_id: String,
    /// For Kafka: a version that Tyk knows. The gateway and the brokers agree on one.
    pub kafka_version: String,
    /// For Kafka: only records that come after the subscription.
    pub start_consuming_latest: bool,
    /// For Kafka: `BalanceStrategyRange`, `BalanceStrategyRoundRobin` or `BalanceStrategySticky`.
    pub balance_strategy: String,
    /// For Kafka: `ReadUncommitted` or `ReadCommitted`.
    pub isolation_level: String,
    /// For Kafka: the user.
    pub sasl: GraphqlKafkaSasl,
}

/// `sasl` of a Kafka source.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlKafkaSasl {
    /// The brokers want SASL/PLAIN.
    pub enable: bool,
    /// User; may have variables.
    pub user: String,
    /// Password; may have variables.
    pub password: String,
}

/// How subscriptions to a source are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum GraphqlSubscriptionKind {
    /// As `graphql-ws`.
    #[default]
    #[serde(rename = "")]
    Unset,
    /// WebSockets, in the protocol of `subscriptions-transport-ws`.
    #[serde(rename = "graphql-ws")]
    GraphqlWs,
    /// WebSockets, in the present protocol.
    #[serde(rename = "graphql-transport-ws")]
    GraphqlTransportWs,
    /// Events of HTTP.
    #[serde(rename = "sse")]
    Sse,
}

/// A parameter of the URL.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlQueryParameter {
    /// Its name.
    pub name: String,
    /// Its value, which may have variables.
    pub value: String,
}

/// `graphql.supergraph`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlSupergraph {
    /// The subgraphs.
    pub subgraphs: Vec<GraphqlSubgraphEntry>,
    /// Headers for all subgraphs that do not set them.
    pub global_headers: BTreeMap<String, String>,
    /// Each entity is asked for with a request of its own.
    pub disable_query_batching: bool,
}

/// An entry of `graphql.supergraph.subgraphs`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlSubgraphEntry {
    /// The API that is the subgraph.
    pub api_id: String,
    /// Its name.
    pub name: String,
    /// Its URL; `tyk://` and an API's id or name stands for this API.
    pub url: String,
    /// Its schema. Without one, the subgraph is left out.
    pub sdl: String,
    /// Headers for it.
    pub headers: BTreeMap<String, String>,
    /// How subscriptions are made.
    pub subscription_type: GraphqlSubscriptionKind,
    /// Subscriptions over events of HTTP are made with `POST`.
    pub sse_use_post: bool,
}

/// An entry of `graphql.type_field_configurations`: a field and its source, in version 1.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlTypeField {
    /// The type.
    pub type_name: String,
    /// Its field.
    pub field_name: String,
    /// Where the field is in an answer.
    pub mapping: GraphqlMapping,
    /// Its source.
    pub data_source: GraphqlFieldSource,
}

/// `mapping` of such an entry.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlMapping {
    /// The whole answer is the field's value.
    pub disabled: bool,
    /// Members that lead to the value, with dots between them.
    pub path: String,
}

/// `data_source` of such an entry.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlFieldSource {
    /// `HTTPJSONDataSource` or `GraphQLDataSource`; empty if the field is part of its object's answer.
    pub kind: String,
    /// How it is reached.
    pub data_source_config: GraphqlFieldSourceConfig,
}

/// `data_source_config` of such an entry.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphqlFieldSourceConfig {
    /// URL; may have variables behind its host.
    pub url: String,
    /// Method of requests.
    pub method: String,
    /// Body; may have variables.
    pub body: String,
    /// Headers; values may have variables.
    pub headers: Vec<GraphqlHeader>,
}
