//! In place of data graphs, in a gateway that is built without GraphQL. No API with GraphQL is loaded, so nothing is executed.

use super::{GraphqlApi, GraphqlProblem};
use crate::api_call::ApiCallQueue;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use tollgate_engine::LocalConnector;
use tollgate_graphql::GraphqlSchema;
use tollgate_model::api::{GraphqlDefinition, GraphqlRules};
use tollgate_outbound::{CallClient, Shares};
use tollgate_tls::TlsSettings;

/// No schema: none is looked for.
pub(super) struct SchemaSource {
    pub path: &'static str,
    pub text: String,
    pub supergraph: Option<Infallible>,
    pub notes: Vec<GraphqlProblem>,
}

/// Why an API with GraphQL cannot be loaded.
pub(super) fn schema_source(_: &GraphqlDefinition) -> Result<SchemaSource, Vec<GraphqlProblem>> {
    let message = "this gateway was built without `graphql`: APIs with GraphQL cannot be loaded";
    Err(vec![GraphqlProblem::new("$.graphql.enabled", message)])
}

/// No data graph.
pub enum ExecutedGraph {}

impl ExecutedGraph {
    pub fn compile(
        _: &GraphqlDefinition,
        _: &GraphqlRules,
        _: &GraphqlSchema,
        _: Option<&Infallible>,
        _: &mut Vec<GraphqlProblem>,
    ) -> Result<Self, Vec<GraphqlProblem>> {
        Err(Vec::new())
    }

    pub fn texts_with_variables(&self) -> Vec<String> {
        match *self {}
    }
}

/// What queries would be executed with.
pub struct GraphTerms {
    pub name: String,
    pub api: Arc<GraphqlApi>,
    pub tls: TlsSettings,
    pub credentials: Option<String>,
    pub client: Arc<CallClient>,
    pub memory: Arc<Shares>,
    pub api_calls: Option<Arc<ApiCallQueue>>,
    pub consumers: Consumers,
}

/// No consumers of Kafka.
#[derive(Clone, Default)]
pub struct Consumers;

/// No server.
pub struct GraphServer(pub Arc<GraphTerms>);

impl GraphServer {
    pub fn connector(self: Arc<Self>) -> LocalConnector {
        Arc::new(|| Err(io::Error::from(io::ErrorKind::Unsupported)))
    }
}

#[cfg(test)]
mod tests {
    use super::schema_source;
    use tollgate_model::api::GraphqlDefinition;

    #[test]
    fn a_gateway_without_graphql_names_the_feature() {
        let refused = schema_source(&GraphqlDefinition::default()).map(|_| ()).expect_err("nothing can be loaded");
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].path, "$.graphql.enabled");
        assert!(refused[0].message.contains("built without `graphql`"), "{}", refused[0].message);
    }
}
