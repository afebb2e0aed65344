//! What GraphQL requests to an API are checked against and executed with.

#[cfg_attr(not(feature = "graphql"), path = "graphql/execution_absent.rs")]
mod execution;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "the tests ask only for its refusals")]
mod execution_absent;
mod graph_client;
mod socket_inspector;
mod socket_messages;
mod socket_rights;
mod told_facts;

pub use execution::{Consumers, ExecutedGraph, GraphServer, GraphTerms};
pub use graph_client::GraphClient;
pub use socket_inspector::SocketInspector;
pub use socket_rights::SocketRights;
pub use told_facts::{TOLD_HEADER, ToldFacts};

use std::sync::Arc;
use tollgate_graphql::{DocumentCache, DocumentLimits, GraphqlSchema, KnownDocument, SchemaFault, SchemaRules};
use tollgate_model::api::{GraphqlDefinition, GraphqlRules};

/// The schema of an API, its limits, and the documents that were checked.
pub struct GraphqlApi {
    pub schema: GraphqlSchema,
    pub limits: DocumentLimits,
    pub documents: DocumentCache,
    /// What executes the queries, if the gateway does.
    pub executed: Option<ExecutedGraph>,
    /// Notes about the definition, for whoever loads it.
    pub notes: Vec<GraphqlProblem>,
}

/// What is wrong with a definition, or worth a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphqlProblem {
    /// Its place in the definition.
    pub path: String,
    pub message: String,
}

impl GraphqlProblem {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        GraphqlProblem { path: path.into(), message: message.into() }
    }
}

/// What a [`GraphqlApi`] is made of, as a digest.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct GraphqlSource([u8; 32]);

impl GraphqlSource {
    pub fn new(graphql: &GraphqlDefinition, rules: &GraphqlRules) -> Self {
        GraphqlSource(*blake3::hash(format!("{graphql:?} {rules:?}").as_bytes()).as_bytes())
    }
}

impl GraphqlApi {
    /// Compiles a definition; `Err` is what is wrong with it.
    pub fn compile(graphql: &GraphqlDefinition, rules: &GraphqlRules) -> Result<Self, Vec<GraphqlProblem>> {
        let limits = limits_of(rules);
        let source = execution::schema_source(graphql)?;
        let schema_rules = SchemaRules { is_subgraph: graphql.is_subgraph() };
        let at = |fault: &SchemaFault| GraphqlProblem::new(source.path, fault.to_string());
        let compiled = GraphqlSchema::compile(&source.text, schema_rules);
        let (schema, faults) = compiled.map_err(|faults| faults.iter().map(at).collect::<Vec<_>>())?;
        let no_effect =
            |fault: &SchemaFault| GraphqlProblem::new(source.path, format!("{fault}: the directive has no effect here"));
        let mut notes: Vec<GraphqlProblem> = source.notes.iter().cloned().chain(faults.iter().map(no_effect)).collect();
        let executed = match graphql.is_executed() {
            true => Some(ExecutedGraph::compile(graphql, rules, &schema, source.supergraph.as_ref(), &mut notes)?),
            false => None,
        };
        Ok(GraphqlApi { schema, limits, documents: DocumentCache::default(), executed, notes })
    }

    /// What is known about a document; it is checked if nothing is.
    pub fn known(&self, text: &str) -> KnownDocument {
        self.documents.get(text).unwrap_or_else(|| self.check(text))
    }

    /// Checks a document that is not known yet, and remembers the result.
    pub fn check(&self, text: &str) -> KnownDocument {
        let known: KnownDocument = Arc::new(self.schema.check(text, &self.limits));
        self.documents.put(text, known.clone());
        known
    }
}

fn limits_of(rules: &GraphqlRules) -> DocumentLimits {
    let or = |value: usize, default| if value == 0 { default } else { value };
    DocumentLimits {
        tokens_max: or(rules.tokens_max, 10_000),
        depth_max: or(rules.levels_max, 64),
        fields_max: if rules.fields_max == 0 { 10_000 } else { rules.fields_max },
        aliases_max: if rules.aliases_max == 0 { 500 } else { rules.aliases_max },
    }
}
