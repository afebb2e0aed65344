//! What a data graph is made of: sources, and which of them has which field.

mod entities;

pub(crate) use entities::EntitySource;

use crate::template::{SourceTemplate, SourceTemplateFault, TemplateKind, VariableSource};
use apollo_compiler::schema::ExtendedType;
use percent_encoding::percent_decode_str;
use std::collections::{BTreeSet, HashMap};
use tollgate_federation::Supergraph;
use tollgate_graphql::GraphqlSchema;

/// A schema's fields and where their values are from.
pub struct DataGraph {
    pub(crate) sources: Vec<GraphSource>,
    pub(crate) layout: GraphLayout,
    /// Whether subgraphs are asked for several entities at once.
    pub(crate) batches_entities: bool,
}

/// A type and a field of it.
pub(crate) type FieldName = (String, String);

/// Which source has which field.
pub(crate) enum GraphLayout {
    /// Fields name their source; all other fields are part of the answer that their object is from.
    Fields {
        owners: HashMap<FieldName, usize>,
        /// Members of an answer's JSON that lead to a field's value, where it is not the member of the field's name.
        mappings: HashMap<FieldName, Vec<String>>,
    },
    /// The sources are subgraphs, in their order; objects are found in other subgraphs by their keys.
    Federation(Vec<EntitySource>),
}

/// A server that is asked.
pub struct GraphSource {
    /// Its name, for errors.
    pub name: String,
    /// What it understands.
    pub kind: SourceKind,
    pub(crate) endpoint: SourceEndpoint,
}

/// What a source understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// One request for each value.
    Rest,
    /// Operations.
    Graphql,
}

/// How a source is reached, as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceDefinition<'d> {
    /// Method of requests; empty means GET for REST and POST for GraphQL.
    pub method: &'d str,
    /// URL with its query. The path may have variables.
    pub url: &'d str,
    /// Further parameters of the query: names, and values with variables.
    pub query: &'d [(&'d str, &'d str)],
    /// Headers: names, and values with variables.
    pub headers: &'d [(&'d str, &'d str)],
    /// The body with variables, for REST.
    pub body: &'d str,
}

pub(crate) struct SourceEndpoint {
    pub method: String,
    pub url: SourceTemplate,
    pub query: Vec<(String, SourceTemplate)>,
    pub headers: Vec<(String, SourceTemplate)>,
    pub body: SourceTemplate,
}

/// The source of a field.
#[derive(Clone, Debug)]
pub struct FieldOwner {
    /// Name of the type.
    pub type_name: String,
    /// Name of the field.
    pub field: String,
    /// Position of the source.
    pub source: usize,
}

/// Where a field's value is in the JSON of an answer.
#[derive(Clone, Debug)]
pub struct FieldMapping {
    /// Name of the type.
    pub type_name: String,
    /// Name of the field.
    pub field: String,
    /// Members that lead to the value; `[0]` is the first item of a list. Empty for the whole.
    pub path: Vec<String>,
}

/// What is wrong with a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphFault {
    /// Position of the owner or mapping.
    pub index: usize,
    /// What is wrong.
    pub message: String,
}

/// What has no effect in a graph.
#[derive(Debug, Default)]
pub struct GraphNotes {
    /// Fields of root types that have no source: they are null.
    pub unowned: Vec<String>,
    /// Owners of fields that the schema does not have.
    pub unknown: Vec<GraphFault>,
}

impl GraphSource {
    /// Reads a definition; `Err` is the field and what is wrong with it.
    pub fn new(
        name: &str,
        kind: SourceKind,
        definition: SourceDefinition<'_>,
    ) -> Result<Self, (&'static str, SourceTemplateFault)> {
        let (url, own_query) = definition.url.split_once('?').unwrap_or((definition.url, ""));
        let own = own_query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let own: Vec<(String, String)> = own.map(|(name, value)| (decoded(name), decoded(value))).collect();
        let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let values = |field, pairs: &[(&str, &str)]| {
            let read = |(name, value): &(&str, &str)| Ok(((*name).to_owned(), parse(field, value, TemplateKind::Value)?));
            pairs.iter().map(read).collect::<Result<Vec<_>, _>>()
        };
        let mut query = values("url", &own)?;
        query.extend(values("query", definition.query)?);
        let method = match (definition.method, kind) {
            ("", SourceKind::Rest) => "GET".to_owned(),
            ("", SourceKind::Graphql) => "POST".to_owned(),
            (method, _) => method.to_ascii_uppercase(),
        };
        let endpoint = SourceEndpoint {
            method,
            url: parse("url", url, TemplateKind::Url)?,
            query,
            headers: values("headers", definition.headers)?,
            body: parse("body", definition.body, TemplateKind::Body)?,
        };
        if kind == SourceKind::Graphql && endpoint.templates().any(|template| template.uses(VariableSource::Object)) {
            return Err(("url", SourceTemplateFault("only REST sources have variables of objects".to_owned())));
        }
        Ok(GraphSource { name: name.to_owned(), kind, endpoint })
    }
}

impl SourceEndpoint {
    pub(crate) fn templates(&self) -> impl Iterator<Item = &SourceTemplate> {
        let values = self.query.iter().chain(&self.headers).map(|(_, template)| template);
        [&self.url, &self.body].into_iter().chain(values)
    }
}

impl DataGraph {
    /// A graph whose fields name their source, and what has no effect in it.
    pub fn of_fields(
        schema: &GraphqlSchema,
        sources: Vec<GraphSource>,
        owned: &[FieldOwner],
        mapped: &[FieldMapping],
    ) -> Result<(Self, GraphNotes), Vec<GraphFault>> {
        let (mut faults, mut unknown) = (Vec::new(), Vec::new());
        let mut owners: HashMap<FieldName, usize> = HashMap::new();
        for (index, owner) in owned.iter().enumerate() {
            let name = (owner.type_name.clone(), owner.field.clone());
            let message = match has_field(schema, &owner.type_name, &owner.field) {
                // Nobody can ask for it.
                Err(message) => {
                    unknown.push(GraphFault { index, message });
                    continue;
                }
                Ok(()) if owners.get(&name).is_some_and(|source| *source != owner.source) => {
                    format!("{}.{} has two sources", owner.type_name, owner.field)
                }
                Ok(()) => {
                    owners.insert(name, owner.source);
                    continue;
                }
            };
            faults.push(GraphFault { index, message });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        // A mapping of a field that does not exist maps nothing.
        let mappings = mapped.iter().map(|field| ((field.type_name.clone(), field.field.clone()), field.path.clone())).collect();
        let notes = GraphNotes { unowned: unowned(schema, &owners), unknown };
        Ok((DataGraph { sources, layout: GraphLayout::Fields { owners, mappings }, batches_entities: true }, notes))
    }

    /// A graph of subgraphs; the sources have their order. Entities are asked for together if `batches_entities`, else one by one.
    pub fn of_supergraph(sources: Vec<GraphSource>, supergraph: &Supergraph, batches_entities: bool) -> Self {
        let subgraphs = EntitySource::all(supergraph);
        DataGraph { sources, layout: GraphLayout::Federation(subgraphs), batches_entities }
    }

    /// The sources.
    pub fn sources(&self) -> &[GraphSource] {
        &self.sources
    }

    /// Names of the client's headers that an execution may ask for, in lower case.
    pub fn header_names(&self) -> BTreeSet<String> {
        let variables = self.sources.iter().flat_map(|source| source.endpoint.templates()).flat_map(SourceTemplate::variables);
        let headers = variables.filter(|variable| variable.scope == VariableSource::Headers);
        headers.flat_map(|variable| variable.path.iter().cloned()).collect()
    }

    /// Parts of header values in which the caller may replace variables of its own.
    pub fn header_texts(&self) -> BTreeSet<String> {
        let headers = self.sources.iter().flat_map(|source| &source.endpoint.headers);
        headers.flat_map(|(_, template)| template.literals()).map(str::to_owned).collect()
    }
}

/// Fields of root types without a source.
fn unowned(schema: &GraphqlSchema, owners: &HashMap<FieldName, usize>) -> Vec<String> {
    let definition = schema.definition();
    let roots = &definition.schema_definition;
    let mut names = Vec::new();
    for root in [&roots.query, &roots.mutation, &roots.subscription].into_iter().flatten() {
        let Some(object) = definition.get_object(root.as_str()) else { continue };
        let is_unowned = |field: &&apollo_compiler::Name| !owners.contains_key(&(root.to_string(), field.to_string()));
        names.extend(object.fields.keys().filter(is_unowned).map(|field| format!("{}.{field}", root.as_str())));
    }
    names
}

fn parse(field: &'static str, text: &str, kind: TemplateKind) -> Result<SourceTemplate, (&'static str, SourceTemplateFault)> {
    SourceTemplate::parse(text, kind).map_err(|fault| (field, fault))
}

/// A name or value of a URL's query as it is meant.
fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn has_field(schema: &GraphqlSchema, type_name: &str, field: &str) -> Result<(), String> {
    let fields = match schema.definition().types.get(type_name) {
        None => return Err(format!("the schema has no type {type_name}")),
        Some(ExtendedType::Object(object)) => &object.fields,
        Some(ExtendedType::Interface(interface)) => &interface.fields,
        Some(_) => return Err(format!("{type_name} has no fields")),
    };
    if fields.contains_key(field) { Ok(()) } else { Err(format!("{type_name} has no field {field}")) }
}
