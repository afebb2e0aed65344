//! Data graphs: from a definition to the sources of its fields. Reads `graphql.engine`, `graphql.supergraph`, and
//! `graphql.type_field_configurations` of version 1.

use super::kafka;
use super::kafka::ConsumerTerms;
use crate::graphql::GraphqlProblem;
use quick_cache::sync::Cache;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tollgate_data_graph::{
    DataGraph, ExecutionLimits, FieldMapping, FieldOwner, GraphFault, GraphNotes, GraphSource, OperationPlan, PlanFault,
    SourceDefinition, SourceKind, SourceTemplateFault,
};
use tollgate_federation::{CompositionFinding, SubgraphText, Supergraph, compose};
use tollgate_graphql::{CheckedOperation, GraphqlSchema, KnownDocument};
use tollgate_model::api::{
    GraphqlDataSource, GraphqlDefinition, GraphqlEngine, GraphqlMode, GraphqlRules, GraphqlSourceKind, GraphqlSubgraphEntry,
    GraphqlSubscriptionKind, GraphqlTypeField,
};

/// Most plans that are kept for one API. A plan takes about as much memory as its document.
const PLANS_MAX: usize = 1_000;

/// What executes the queries of an API.
pub struct ExecutedGraph {
    pub graph: Arc<DataGraph>,
    /// The client's headers that sources are asked with, in lower case.
    pub header_names: Vec<String>,
    /// Headers for every source that does not set them.
    pub common_headers: Vec<(String, String)>,
    pub limits: ExecutionLimits,
    /// Longest time for one request to a source.
    pub time_max: Duration,
    /// How subscriptions are made, by source.
    pub subscriptions: Vec<SubscriptionTerms>,
    plans: Cache<PlanKey, (KnownDocument, Arc<OperationPlan>)>,
}

/// How subscriptions to a source are made.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionTerms {
    pub kind: GraphqlSubscriptionKind,
    /// Events of HTTP are asked for with POST.
    pub uses_post: bool,
    /// The source has topics of Kafka.
    pub kafka: Option<Arc<ConsumerTerms>>,
}

/// What a plan depends on. The document is told by its address, and is kept as long as the plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PlanKey {
    document: usize,
    operation: Option<String>,
    conditions: Vec<(String, bool)>,
}

/// A schema's text, and where it is from.
pub(crate) struct SchemaSource {
    pub path: &'static str,
    pub text: String,
    pub supergraph: Option<Supergraph>,
    pub notes: Vec<GraphqlProblem>,
}

/// The schema that requests are checked against; that of a supergraph is composed.
pub(crate) fn schema_source(graphql: &GraphqlDefinition) -> Result<SchemaSource, Vec<GraphqlProblem>> {
    if graphql.execution_mode != GraphqlMode::Supergraph {
        let path = if graphql.schema.is_empty() && graphql.is_subgraph() { "$.graphql.subgraph.sdl" } else { "$.graphql.schema" };
        return Ok(SchemaSource { path, text: graphql.request_schema().to_owned(), supergraph: None, notes: Vec::new() });
    }
    let subgraphs = &graphql.supergraph.subgraphs;
    let texts: Vec<SubgraphText<'_>> =
        with_schema(subgraphs).map(|(_, subgraph)| SubgraphText { name: name_of(subgraph), sdl: &subgraph.sdl }).collect();
    if texts.is_empty() {
        return Err(vec![GraphqlProblem::new("$.graphql.supergraph.subgraphs", "has no subgraph with a schema (sdl)")]);
    }
    let told = |finding: &CompositionFinding| told(finding, subgraphs);
    let (supergraph, notes) = compose(&texts).map_err(|findings| findings.iter().map(told).collect::<Vec<_>>())?;
    let mut notes: Vec<GraphqlProblem> = notes.iter().map(told).collect();
    let left_out = subgraphs.iter().enumerate().filter(|(_, subgraph)| subgraph.sdl.trim().is_empty());
    notes.extend(left_out.map(|(index, subgraph)| {
        let message = format!("{} has no schema (sdl), and is left out", name_of(subgraph));
        GraphqlProblem::new(format!("$.graphql.supergraph.subgraphs[{index}]"), message)
    }));
    let text = supergraph.schema.clone();
    Ok(SchemaSource { path: "$.graphql.supergraph", text, supergraph: Some(supergraph), notes })
}

fn with_schema(subgraphs: &[GraphqlSubgraphEntry]) -> impl Iterator<Item = (usize, &GraphqlSubgraphEntry)> {
    subgraphs.iter().enumerate().filter(|(_, subgraph)| !subgraph.sdl.trim().is_empty())
}

fn name_of(subgraph: &GraphqlSubgraphEntry) -> &str {
    if subgraph.name.is_empty() { &subgraph.api_id } else { &subgraph.name }
}

fn told(finding: &CompositionFinding, subgraphs: &[GraphqlSubgraphEntry]) -> GraphqlProblem {
    let index = finding.subgraph.as_ref().and_then(|name| subgraphs.iter().position(|subgraph| name_of(subgraph) == name));
    let path = match index {
        Some(index) => format!("$.graphql.supergraph.subgraphs[{index}].sdl"),
        None => "$.graphql.supergraph.subgraphs".to_owned(),
    };
    GraphqlProblem::new(path, finding.to_string())
}

impl ExecutedGraph {
    pub fn compile(
        graphql: &GraphqlDefinition,
        rules: &GraphqlRules,
        schema: &GraphqlSchema,
        supergraph: Option<&Supergraph>,
        notes: &mut Vec<GraphqlProblem>,
    ) -> Result<Self, Vec<GraphqlProblem>> {
        let (graph, subscriptions, headers) = match supergraph {
            Some(supergraph) => {
                let terms = &graphql.supergraph;
                let headers = terms.global_headers.iter().map(|(name, value)| (name.clone(), value.clone()));
                let headers = headers.chain([("X-Tyk-Parent-Request-Id".to_owned(), "$tyk_context.request_id".to_owned())]);
                let sources = subgraph_sources(&terms.subgraphs)?;
                let subscriptions = with_schema(&terms.subgraphs).map(|(_, subgraph)| SubscriptionTerms {
                    kind: subgraph.subscription_type,
                    uses_post: subgraph.sse_use_post,
                    kafka: None,
                });
                let graph = DataGraph::of_supergraph(sources, supergraph, !terms.disable_query_batching);
                (graph, subscriptions.collect(), headers.collect())
            }
            None => {
                let headers = graphql.engine.global_headers.iter().map(|header| (header.key.clone(), header.value.clone()));
                let (graph, subscriptions) = of_fields(graphql, schema, notes)?;
                (graph, subscriptions, headers.collect())
            }
        };
        let or = |value: usize, default| if value == 0 { default } else { value };
        Ok(ExecutedGraph {
            header_names: graph.header_names().into_iter().collect(),
            graph: Arc::new(graph),
            common_headers: headers,
            limits: ExecutionLimits {
                requests_max: or(rules.source_requests_max, 1_000),
                bytes_max: or(rules.source_bytes_max, 32 << 20),
            },
            time_max: Duration::from_millis(if rules.source_time_max_ms == 0 { 30_000 } else { rules.source_time_max_ms }),
            subscriptions,
            plans: Cache::new(PLANS_MAX),
        })
    }

    /// The texts in which the request's variables are replaced.
    pub fn texts_with_variables(&self) -> Vec<String> {
        let common = self.common_headers.iter().map(|(_, value)| value.clone());
        self.graph.header_texts().into_iter().chain(common).filter(|text| text.contains('$')).collect()
    }

    /// The plan of an operation of a document.
    pub(super) fn plan(
        &self,
        schema: &GraphqlSchema,
        document: &KnownDocument,
        operation: CheckedOperation<'_>,
        conditions: Vec<(String, bool)>,
    ) -> Result<Arc<OperationPlan>, PlanFault> {
        let key = PlanKey { document: Arc::as_ptr(document).addr(), operation: operation.name().map(str::to_owned), conditions };
        if let Some((_, plan)) = self.plans.get(&key) {
            return Ok(plan);
        }
        let plan = Arc::new(OperationPlan::new(&self.graph, schema, operation, &key.conditions.iter().cloned().collect())?);
        self.plans.insert(key, (document.clone(), plan.clone()));
        Ok(plan)
    }
}

fn subgraph_sources(subgraphs: &[GraphqlSubgraphEntry]) -> Result<Vec<GraphSource>, Vec<GraphqlProblem>> {
    let mut problems = Vec::new();
    let mut sources = Vec::new();
    for (index, subgraph) in with_schema(subgraphs) {
        let headers = pairs(&subgraph.headers);
        let definition = SourceDefinition { url: &subgraph.url, headers: &headers, ..Default::default() };
        let at = format!("$.graphql.supergraph.subgraphs[{index}]");
        match source(name_of(subgraph), SourceKind::Graphql, definition) {
            Ok(source) => sources.push(source),
            Err((field, message)) => problems.push(GraphqlProblem::new(format!("{at}.{field}"), message)),
        }
    }
    if problems.is_empty() { Ok(sources) } else { Err(problems) }
}

fn source(name: &str, kind: SourceKind, definition: SourceDefinition<'_>) -> Result<GraphSource, (&'static str, String)> {
    if !["http://", "https://", "tyk://"].iter().any(|scheme| definition.url.starts_with(scheme)) {
        return Err(("url", format!("{:?} is no URL of http, https or tyk", definition.url)));
    }
    GraphSource::new(name, kind, definition).map_err(|(field, SourceTemplateFault(message))| (field, message))
}

fn pairs(headers: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// What the entries of an engine, or of version 1, amount to.
#[derive(Default)]
struct FieldSources {
    sources: Vec<GraphSource>,
    subscriptions: Vec<SubscriptionTerms>,
    owners: Vec<FieldOwner>,
    /// Where each owner is in the definition.
    places: Vec<String>,
    mappings: Vec<FieldMapping>,
    problems: Vec<GraphqlProblem>,
}

fn of_fields(
    graphql: &GraphqlDefinition,
    schema: &GraphqlSchema,
    notes: &mut Vec<GraphqlProblem>,
) -> Result<(DataGraph, Vec<SubscriptionTerms>), Vec<GraphqlProblem>> {
    let mut fields = FieldSources::default();
    fields.add_engine(&graphql.engine);
    fields.check_kafka(schema);
    if graphql.is_first_version() {
        graphql.type_field_configurations.iter().enumerate().for_each(|(index, entry)| fields.add_first_version(index, entry));
    }
    let FieldSources { sources, subscriptions, owners, places, mappings, problems } = fields;
    if !problems.is_empty() {
        return Err(problems);
    }
    let made = DataGraph::of_fields(schema, sources, &owners, &mappings);
    let place = |index: usize| places.get(index).cloned().unwrap_or_default();
    let (graph, GraphNotes { unowned, unknown }) = made.map_err(|faults| {
        let told = |GraphFault { index, message }| GraphqlProblem::new(place(index), message);
        faults.into_iter().map(told).collect::<Vec<_>>()
    })?;
    notes.extend(
        unknown
            .into_iter()
            .map(|GraphFault { index, message }| GraphqlProblem::new(place(index), format!("{message}: it is never asked for"))),
    );
    if !unowned.is_empty() {
        notes.push(GraphqlProblem::new(
            "$.graphql.engine.data_sources",
            format!("no source has {}: always null", unowned.join(", ")),
        ));
    }
    Ok((graph, subscriptions))
}

impl FieldSources {
    fn add_engine(&mut self, engine: &GraphqlEngine) {
        for (index, entry) in engine.data_sources.iter().enumerate() {
            let at = format!("$.graphql.engine.data_sources[{index}]");
            let position = self.sources.len();
            match data_source(entry) {
                Ok((source, kafka)) => {
                    self.sources.push(source);
                    let (kind, uses_post) = (entry.config.subscription_type, entry.config.sse_use_post);
                    self.subscriptions.push(SubscriptionTerms { kind, uses_post, kafka });
                }
                Err((field, message)) => {
                    self.problems.push(GraphqlProblem::new(format!("{at}.{field}"), message));
                    continue;
                }
            }
            for (index, of_type) in entry.root_fields.iter().enumerate() {
                for field in &of_type.fields {
                    let place = format!("{at}.root_fields[{index}]");
                    self.own(FieldOwner { type_name: of_type.type_name.clone(), field: field.clone(), source: position }, place);
                }
            }
        }
        for config in &engine.field_configs {
            if config.disable_default_mapping || !config.path.is_empty() {
                let path = config.path.clone();
                self.mappings.push(FieldMapping { type_name: config.type_name.clone(), field: config.field_name.clone(), path });
            }
        }
    }

    /// Kafka gives records as they come, and nothing to those who only ask once.
    fn check_kafka(&mut self, schema: &GraphqlSchema) {
        let root = schema.definition().schema_definition.subscription.as_ref().map(|name| name.as_str());
        for (owner, place) in self.owners.iter().zip(&self.places) {
            let is_kafka = self.subscriptions.get(owner.source).is_some_and(|terms| terms.kafka.is_some());
            if is_kafka && root != Some(owner.type_name.as_str()) {
                let message = format!("Kafka is a source of subscriptions, and {} is not their type", owner.type_name);
                self.problems.push(GraphqlProblem::new(place.clone(), message));
            }
        }
    }

    fn own(&mut self, owner: FieldOwner, place: String) {
        self.owners.push(owner);
        self.places.push(place);
    }

    fn add_first_version(&mut self, index: usize, entry: &GraphqlTypeField) {
        let at = format!("$.graphql.type_field_configurations[{index}]");
        let (type_name, field) = (entry.type_name.clone(), entry.field_name.clone());
        if entry.mapping.disabled || !entry.mapping.path.is_empty() {
            let steps = entry.mapping.path.split('.').filter(|step| !step.is_empty());
            let path = if entry.mapping.disabled { Vec::new() } else { steps.map(str::to_owned).collect() };
            self.mappings.push(FieldMapping { type_name: type_name.clone(), field: field.clone(), path });
        }
        let kind = match entry.data_source.kind.as_str() {
            "" => return,
            "HTTPJSONDataSource" => SourceKind::Rest,
            "GraphQLDataSource" => SourceKind::Graphql,
            other => {
                let message = format!("{other} is not supported: only HTTPJSONDataSource and GraphQLDataSource");
                return self.problems.push(GraphqlProblem::new(format!("{at}.data_source.kind"), message));
            }
        };
        let config = &entry.data_source.data_source_config;
        let headers: Vec<(&str, &str)> = config.headers.iter().map(|header| (header.key.as_str(), header.value.as_str())).collect();
        let definition = SourceDefinition {
            method: &config.method,
            url: &config.url,
            headers: &headers,
            body: &config.body,
            ..Default::default()
        };
        match source(&format!("{type_name}.{field}"), kind, definition) {
            Ok(source) => {
                self.sources.push(source);
                self.subscriptions.push(SubscriptionTerms::default());
            }
            Err((field, message)) => {
                return self.problems.push(GraphqlProblem::new(format!("{at}.data_source.data_source_config.{field}"), message));
            }
        }
        self.own(FieldOwner { type_name, field, source: self.sources.len() - 1 }, at);
    }
}

/// A field of a source, and what is wrong with it.
type SourceFieldProblem = (String, String);

/// The source of an entry, and its consumer if it is Kafka; `Err` is the field and what is wrong with it.
fn data_source(entry: &GraphqlDataSource) -> Result<(GraphSource, Option<Arc<ConsumerTerms>>), SourceFieldProblem> {
    if entry.kind == GraphqlSourceKind::Kafka {
        return kafka::source(entry).map(|(source, terms)| (source, Some(terms)));
    }
    asked_source(entry).map(|source| (source, None))
}

fn asked_source(entry: &GraphqlDataSource) -> Result<GraphSource, SourceFieldProblem> {
    let config = &entry.config;
    let headers = pairs(&config.headers);
    let query: Vec<(&str, &str)> = config.query.iter().map(|pair| (pair.name.as_str(), pair.value.as_str())).collect();
    let definition =
        SourceDefinition { method: &config.method, url: &config.url, query: &query, headers: &headers, body: &config.body };
    let in_config = |(field, message): (&'static str, String)| (format!("config.{field}"), message);
    match entry.kind {
        GraphqlSourceKind::Rest | GraphqlSourceKind::Kafka => source(&entry.name, SourceKind::Rest, definition).map_err(in_config),
        // The answer to an operation of the definition's own is read like that of a REST source.
        GraphqlSourceKind::Graphql if config.has_operation => {
            let body = json!({"query": config.operation, "variables": config.variables}).to_string();
            let method = if config.method.is_empty() { "POST" } else { &config.method };
            source(&entry.name, SourceKind::Rest, SourceDefinition { method, body: &body, query: &[], ..definition })
                .map_err(in_config)
        }
        GraphqlSourceKind::Graphql => {
            source(&entry.name, SourceKind::Graphql, SourceDefinition { query: &[], body: "", ..definition }).map_err(in_config)
        }
    }
}
