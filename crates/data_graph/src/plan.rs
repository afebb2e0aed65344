//! Plans: which requests an operation needs, in which order, and how the response is made of their answers. Conditions of `@skip` and
//! `@include` are decided in a plan, so an operation has one plan for each combination of their values.

mod collect;
mod entities;
mod fields;
mod routes;
mod upstream;

use crate::field_set::FieldSet;
use crate::graph::{DataGraph, SourceKind};
use apollo_compiler::ast::{Type, Value as LiteralValue};
use apollo_compiler::executable::{Directive, SelectionSet};
use apollo_compiler::{ExecutableDocument, Name, Schema};
use collect::CollectedField;
use fields::FieldSource;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use tollgate_graphql::{CheckedOperation, DocumentPlace, GraphqlSchema};
use upstream::UpstreamSelection;
pub(crate) use upstream::client_key;

/// Most fields of a plan. A type with many implementations can make a plan larger than its operation.
const FIELDS_MAX: usize = 20_000;
/// Most requests of a plan, not counting how often each is made.
const FETCHES_MAX: usize = 1_000;

/// Most sources of a field of the root type that are compared. Each of them is planned.
const PREFERENCES_MAX: usize = 4;

/// How an operation is executed.
pub struct OperationPlan {
    pub(crate) fetches: Vec<PlannedFetch>,
    pub(crate) root: ObjectPlan,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFault {
    /// The operation has too many fields or needs too many requests.
    TooLarge,
    /// No subgraph can give this field for the objects that have it.
    Unreachable(String),
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanFault::TooLarge => f.write_str("the query needs too many requests"),
            PlanFault::Unreachable(field) => write!(f, "no subgraph has {field} for the objects of this query"),
        }
    }
}

/// One request to a source, made for each object at a place.
pub(crate) struct PlannedFetch {
    pub source: usize,
    pub place: Vec<Arc<PlaceStep>>,
    /// Types of the objects that it is made for; empty for all.
    pub types: Vec<String>,
    /// Requests that must be complete before.
    pub after: Vec<usize>,
    /// Response key of the first field that is missing if it fails.
    pub key: String,
    pub work: FetchWork,
}

pub(crate) enum FetchWork {
    /// A REST request for one field.
    Rest {
        /// Member of the object that gets the answer.
        store: String,
        arguments: Vec<(String, ArgumentLiteral)>,
        /// Where members of the object are that the request names, if not under their own names.
        object_reads: HashMap<Vec<String>, Vec<String>>,
    },
    /// An operation whose data becomes part of the object.
    Operation {
        text: String,
        variables: Vec<String>,
        /// Member of the object that gets the data; the object itself if there is none.
        store: Option<String>,
    },
    /// Fields of entities, for all objects at once.
    Entities {
        text: String,
        variables: Vec<String>,
        /// By the name that objects have for their type.
        inputs: HashMap<String, EntityInput>,
    },
}

/// What a subgraph is given to find an object.
pub(crate) struct EntityInput {
    /// The name that the subgraph has for the type.
    pub type_name: String,
    /// Whether objects whose type is not told yet are meant.
    pub is_any: bool,
    pub fields: Vec<InputField>,
}

/// A value of an argument: as it is written, with variables, or the default of the schema.
pub(crate) type ArgumentLiteral = LiteralValue;

/// A field that a subgraph is given to find an object, and where it is in the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputField {
    pub name: String,
    pub read: String,
    /// Without it, there is no object.
    pub is_key: bool,
    /// Whether only objects of some types have it.
    pub is_conditional: bool,
    pub fields: Vec<InputField>,
}

/// One step from an object to the objects at one of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaceStep {
    /// Types of the object that the step leaves; empty for all.
    pub types: Vec<String>,
    /// Members that lead to the field's value.
    pub read: Vec<String>,
    /// Response key of the field.
    pub key: String,
}

/// What the response has of an object.
pub(crate) struct ObjectPlan {
    /// Name of the type, where there is only one.
    pub only_type: Option<String>,
    /// All types that are possible here, if there are several.
    pub possible: Arc<[Name]>,
    pub variants: Vec<VariantPlan>,
}

/// What the response has of an object of some types.
pub(crate) struct VariantPlan {
    /// Empty for all types.
    pub types: Vec<String>,
    pub fields: Vec<FieldPlan>,
}

pub(crate) struct FieldPlan {
    pub key: String,
    pub name: String,
    pub ty: Type,
    pub read: FieldRead,
    pub shape: FieldShape,
    pub location: Option<DocumentPlace>,
}

/// Where a field's value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldRead {
    TypeName,
    /// `__schema` and `__type`.
    Introspection,
    /// Members of the object that lead to it.
    Members(Vec<String>),
    /// No source has it.
    Nowhere,
}

pub(crate) enum FieldShape {
    Leaf(LeafKind),
    Object(ObjectPlan),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeafKind {
    Int,
    Float,
    String,
    Boolean,
    Id,
    Enum {
        name: String,
        values: Vec<String>,
    },
    /// A scalar of the schema's own.
    Any,
}

/// What the objects at a place are read from.
#[derive(Clone)]
pub(crate) enum ObjectReader {
    /// The answer of a REST source, or the root.
    Raw { fetch: Option<usize> },
    /// An operation's answer.
    Operation {
        source: usize,
        fetch: usize,
        /// The request that tells the type of the objects, if the subgraph itself does not know it.
        typed_by: Option<usize>,
        /// The type that the subgraph has here.
        type_name: String,
        /// External fields that the subgraph has here nonetheless.
        provided: FieldSet,
    },
}

/// Objects whose fields are planned.
pub(crate) struct ObjectsAt<'p> {
    pub place: &'p [Arc<PlaceStep>],
    pub type_name: &'p Name,
    /// Types that the plan distinguishes here; empty if it does not.
    pub types: &'p [String],
}

/// One of the answers that have the objects at a place, and what it is asked for there. Where several subgraphs have the same objects, only
/// those are asked that are needed.
#[derive(Clone)]
pub(crate) struct ObjectWay {
    pub reader: ObjectReader,
    pub upstream: UpstreamSelection,
}

impl ObjectWay {
    pub(crate) fn new(reader: ObjectReader) -> Self {
        ObjectWay { reader, upstream: UpstreamSelection::default() }
    }
}

impl ObjectReader {
    fn fetch(&self) -> Option<usize> {
        match self {
            ObjectReader::Raw { fetch } => *fetch,
            ObjectReader::Operation { fetch, .. } => Some(*fetch),
        }
    }

    /// The requests after which the objects are there, with their types.
    fn waits(&self) -> impl Iterator<Item = usize> + use<> {
        let typed_by = if let ObjectReader::Operation { typed_by, .. } = self { *typed_by } else { None };
        [self.fetch(), typed_by].into_iter().flatten()
    }
}

pub(crate) struct Planner<'a> {
    pub graph: &'a DataGraph,
    pub schema: &'a Schema,
    pub document: &'a ExecutableDocument,
    pub operation: &'a apollo_compiler::executable::Operation,
    pub conditions: &'a HashMap<String, bool>,
    /// Planned requests; those that are being planned are `None`.
    pub fetches: Vec<Option<PlannedFetch>>,
    pub fields: usize,
    /// Types that an interface or union can be, as they were asked for.
    pub possible: HashMap<Name, Arc<[Name]>>,
    /// Whether a source has a field on all types that an abstract type can be there, as it was asked for.
    pub had_by_all: HashMap<(Option<usize>, Name, &'a str), bool>,
}

impl OperationPlan {
    /// Plans an operation. `conditions` are the values of the variables that [`OperationPlan::conditions`] names.
    pub fn new(
        graph: &DataGraph,
        schema: &GraphqlSchema,
        operation: CheckedOperation<'_>,
        conditions: &HashMap<String, bool>,
    ) -> Result<Self, PlanFault> {
        let mut planner = Planner::new(graph, schema, operation, conditions);
        let root = planner.root()?;
        Ok(OperationPlan { fetches: needed(planner.fetches), root })
    }

    /// The variables on which the plan of an operation depends.
    pub fn conditions(operation: CheckedOperation<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let document = operation.document();
        let fragments = document.fragments.values().map(|fragment| &fragment.selection_set);
        for set in fragments.chain([&operation.definition().selection_set]) {
            note_conditions(set, &mut names);
        }
        names.sort();
        names.dedup();
        names
    }

    /// Number of different requests.
    pub fn fetches(&self) -> usize {
        self.fetches.len()
    }
}

/// The requests that were planned in the end, with new numbers.
fn needed(fetches: Vec<Option<PlannedFetch>>) -> Vec<PlannedFetch> {
    let mut numbers = Vec::with_capacity(fetches.len());
    let mut next = 0;
    for fetch in &fetches {
        numbers.push(fetch.is_some().then_some(next));
        next += usize::from(fetch.is_some());
    }
    let mut needed: Vec<PlannedFetch> = fetches.into_iter().flatten().collect();
    for fetch in &mut needed {
        fetch.after = fetch.after.iter().filter_map(|before| numbers.get(*before).copied().flatten()).collect();
    }
    needed
}

fn note_conditions(set: &SelectionSet, names: &mut Vec<String>) {
    use apollo_compiler::executable::Selection;
    for selection in &set.selections {
        let directives: Vec<&Directive> = selection.directives().iter().map(AsRef::as_ref).collect();
        for directive in directives.iter().filter(|directive| matches!(directive.name.as_str(), "skip" | "include")) {
            if let Some(LiteralValue::Variable(name)) = directive.specified_argument_by_name("if").map(AsRef::as_ref) {
                names.push(name.to_string());
            }
        }
        match selection {
            Selection::Field(field) => note_conditions(&field.selection_set, names),
            Selection::InlineFragment(fragment) => note_conditions(&fragment.selection_set, names),
            // Fragments are looked at one by one.
            Selection::FragmentSpread(_) => {}
        }
    }
}

impl<'a> Planner<'a> {
    fn new(
        graph: &'a DataGraph,
        schema: &'a GraphqlSchema,
        operation: CheckedOperation<'a>,
        conditions: &'a HashMap<String, bool>,
    ) -> Self {
        Planner {
            graph,
            schema: schema.definition(),
            document: operation.document(),
            operation: operation.definition(),
            conditions,
            fetches: Vec::new(),
            fields: 0,
            possible: HashMap::new(),
            had_by_all: HashMap::new(),
        }
    }

    fn root(&mut self) -> Result<ObjectPlan, PlanFault> {
        let root_type = self.operation.selection_set.ty.clone();
        let groups = self.collect(&root_type, &[&self.operation.selection_set]);
        let is_serial = self.operation.is_mutation();
        let mut fields = Vec::new();
        // Fields of one source become one operation; of mutations, only neighbours do.
        let mut open: Vec<RootOperation> = Vec::new();
        for group in groups {
            let place = RootPlace { root_type: &root_type, is_serial };
            let field = self.root_field(&place, &group, &mut open)?;
            fields.push(field);
        }
        for operation in open {
            self.close_root(operation);
        }
        let variants = vec![VariantPlan { types: Vec::new(), fields }];
        Ok(ObjectPlan { only_type: Some(root_type.to_string()), possible: Arc::default(), variants })
    }

    fn root_field(
        &mut self,
        place: &RootPlace<'_>,
        group: &CollectedField<'a>,
        open: &mut Vec<RootOperation>,
    ) -> Result<FieldPlan, PlanFault> {
        let raw = ObjectReader::Raw { fetch: None };
        let name = group.name();
        if name.starts_with("__") {
            return self.introspection_field(group);
        }
        let candidates = self.root_sources(place.root_type, name);
        let Some(first) = candidates.first().copied() else { return self.unresolved(group) };
        let before: Vec<usize> = if place.is_serial { (0..self.fetches.len()).collect() } else { Vec::new() };
        if self.kind_of(first) == SourceKind::Rest {
            let closed = if place.is_serial { std::mem::take(open) } else { Vec::new() };
            closed.into_iter().for_each(|operation| self.close_root(operation));
            let at = ObjectsAt { place: &[], type_name: place.root_type, types: &[] };
            return self.fetched_field(&at, group, FieldSource { source: first, before, object_reads: HashMap::new() }, &raw);
        }
        let reused = open.iter().map(|operation| operation.source).find(|source| candidates.contains(source));
        if place.is_serial {
            if reused.is_none() {
                std::mem::take(open).into_iter().for_each(|operation| self.close_root(operation));
            }
            // A change is made once.
            return self.root_field_of(place, group, open, &[reused.unwrap_or(first)], &before);
        }
        let mut sources = candidates.clone();
        sources.sort_by_key(|source| Some(*source) != reused);
        let is_leaf = group.first().is_none_or(|field| field.selection_set.selections.is_empty());
        let most = if is_leaf { 1 } else { sources.len() };
        if most > 1 {
            self.prefer(place, group, open, &mut sources);
        }
        // One subgraph is best. If it does not lead to all fields, others are asked for the same object.
        for count in 1..=most {
            let (fetches, known) = (self.fetches.len(), open.clone());
            match self.root_field_of(place, group, open, sources.get(..count).unwrap_or_default(), &before) {
                Err(PlanFault::Unreachable(_)) if count < most => {
                    self.fetches.truncate(fetches);
                    *open = known;
                }
                planned => return planned,
            }
        }
        self.unresolved(group)
    }

    /// Puts the source first from which a field takes the fewest requests.
    fn prefer(&mut self, place: &RootPlace<'_>, group: &CollectedField<'a>, open: &[RootOperation], sources: &mut [usize]) {
        let (fetches, fields) = (self.fetches.len(), self.fields);
        let mut best: Option<(usize, usize)> = None;
        for (index, source) in sources.iter().enumerate().take(PREFERENCES_MAX) {
            let planned = self.root_field_of(place, group, &mut open.to_vec(), &[*source], &[]);
            let is_new = !open.iter().any(|operation| operation.source == *source);
            // Those that are filled, and the operation itself, which is filled last.
            let count = self.fetches.iter().skip(fetches).flatten().count() + usize::from(is_new);
            self.fetches.truncate(fetches);
            self.fields = fields;
            if planned.is_ok() && best.is_none_or(|(_, known)| count < known) {
                best = Some((index, count));
            }
            if planned.is_ok() && count <= usize::from(is_new) {
                break;
            }
        }
        if let Some((index, _)) = best {
            sources.get_mut(..=index).into_iter().for_each(|first| first.rotate_right(1));
        }
    }

    /// A field of the root type from the operations of some sources.
    fn root_field_of(
        &mut self,
        place: &RootPlace<'_>,
        group: &CollectedField<'a>,
        open: &mut Vec<RootOperation>,
        sources: &[usize],
        before: &[usize],
    ) -> Result<FieldPlan, PlanFault> {
        let mut ways = Vec::new();
        for source in sources {
            if !open.iter().any(|operation| operation.source == *source) {
                let (fetch, after, key) = (self.reserve()?, before.to_vec(), group.key.clone());
                open.push(RootOperation { source: *source, fetch, selection: UpstreamSelection::default(), after, key });
            }
            if let Some(operation) = open.iter_mut().find(|operation| operation.source == *source) {
                let (provided, type_name) = (FieldSet::default(), place.root_type.to_string());
                let reader =
                    ObjectReader::Operation { source: *source, fetch: operation.fetch, typed_by: None, type_name, provided };
                ways.push(ObjectWay { reader, upstream: std::mem::take(&mut operation.selection) });
            }
        }
        let at = ObjectsAt { place: &[], type_name: place.root_type, types: &[] };
        let all: Vec<usize> = (0..ways.len()).collect();
        let planned = self.own_field(&at, group, &mut ways, &all)?;
        for (source, way) in sources.iter().zip(ways) {
            if let Some(operation) = open.iter_mut().find(|operation| operation.source == *source) {
                operation.selection = way.upstream;
            }
        }
        Ok(planned)
    }

    fn close_root(&mut self, operation: RootOperation) {
        let RootOperation { source, fetch, selection, after, key } = operation;
        // It was one of several that have a field, and not needed.
        if selection.is_leaf() {
            return;
        }
        let (text, variables) = self.operation_text(self.operation.operation_type, &selection);
        let work = FetchWork::Operation { text, variables, store: None };
        self.fill(fetch, PlannedFetch { source, place: Vec::new(), types: Vec::new(), after, key, work });
    }

    /// The sources that have a field of a root type.
    fn root_sources(&self, root_type: &Name, field: &str) -> Vec<usize> {
        match &self.graph.layout {
            crate::graph::GraphLayout::Fields { owners, .. } => {
                owners.get(&(root_type.to_string(), field.to_owned())).copied().into_iter().collect()
            }
            crate::graph::GraphLayout::Federation(subgraphs) => {
                let has = |subgraph: &crate::graph::EntitySource| subgraph.resolves(root_type, field);
                subgraphs.iter().enumerate().filter(|(_, subgraph)| has(subgraph)).map(|(index, _)| index).collect()
            }
        }
    }

    fn kind_of(&self, source: usize) -> SourceKind {
        self.graph.sources.get(source).map_or(SourceKind::Rest, |source| source.kind)
    }

    fn reserve(&mut self) -> Result<usize, PlanFault> {
        if self.fetches.len() >= FETCHES_MAX {
            return Err(PlanFault::TooLarge);
        }
        self.fetches.push(None);
        Ok(self.fetches.len() - 1)
    }

    fn fill(&mut self, fetch: usize, planned: PlannedFetch) {
        if let Some(slot) = self.fetches.get_mut(fetch) {
            *slot = Some(planned);
        }
    }

    /// Counts work that is not a field.
    fn count_work(&mut self, count: usize) -> Result<(), PlanFault> {
        self.fields += count;
        if self.fields > FIELDS_MAX { Err(PlanFault::TooLarge) } else { Ok(()) }
    }

    fn count_field(&mut self) -> Result<(), PlanFault> {
        self.count_work(1)
    }
}

struct RootPlace<'n> {
    root_type: &'n Name,
    is_serial: bool,
}

/// An operation of a source that gets further fields of the root type.
#[derive(Clone)]
struct RootOperation {
    source: usize,
    fetch: usize,
    selection: UpstreamSelection,
    after: Vec<usize>,
    key: String,
}

#[cfg(test)]
mod tests;
