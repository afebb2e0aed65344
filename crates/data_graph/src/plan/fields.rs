//! Selections: which fields are part of an answer that is there anyway, and which need a request of their own.

use super::collect::CollectedField;
use super::entities::EntitySteps;
use super::upstream::{UpstreamSelection, upstream_key};
use super::{
    FetchWork, FieldPlan, FieldRead, FieldShape, LeafKind, ObjectPlan, PlaceStep, PlanFault, PlannedFetch, Planner, Reader, VariantPlan,
};
use crate::field_set::{FieldSet, FieldSetItem};
use crate::graph::{GraphLayout, SourceKind};
use crate::template::{TemplateVariable, VariableSource};
use apollo_compiler::Name;
use apollo_compiler::ast::OperationType;
use apollo_compiler::executable::{Field, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use std::collections::HashMap;
use tollgate_graphql::DocumentPlace;

/// The member of an object under which the answer for one of its fields is kept. No server's member has such a name.
fn store_key(key: &str) -> String {
    format!("\0{key}")
}

/// Objects whose fields are planned.
pub(crate) struct ObjectsAt<'p> {
    pub place: &'p [PlaceStep],
    pub type_name: &'p Name,
    /// Types that the plan distinguishes here; empty if it does not.
    pub types: &'p [String],
}

/// The source that a field has of its own.
pub(crate) struct FieldSource {
    pub source: usize,
    /// Requests that must be complete before, beside the one that the object is from.
    pub before: Vec<usize>,
    /// Where members of the object are that the request names.
    pub object_reads: HashMap<Vec<String>, Vec<String>>,
}

/// Where a field of an object is from.
enum FieldOrigin {
    /// The answer that the object is from.
    Here,
    /// A request of its own.
    Source(usize),
    /// Another subgraph, or the same one again.
    Entities,
}

impl<'a> Planner<'a> {
    /// Plans selections on the objects at a place; what the reader's source must be asked for is the second part.
    pub(super) fn selection(
        &mut self,
        place: &[PlaceStep],
        declared: &Name,
        sets: &[&'a SelectionSet],
        reader: &Reader,
    ) -> Result<(ObjectPlan, UpstreamSelection), PlanFault> {
        let possible = self.possible_types(declared);
        let mut steps = EntitySteps::default();
        let mut upstream = UpstreamSelection::default();
        let is_object = matches!(self.schema.types.get(declared), Some(ExtendedType::Object(_)));
        let mut variants = Vec::new();
        if is_object || self.is_one_variant(declared, &possible, sets, reader) {
            let at = ObjectsAt { place, type_name: declared, types: &[] };
            variants.push(self.variant(&at, sets, reader, &mut steps, &mut upstream)?);
            upstream.needs_type_name |= !is_object;
        } else {
            upstream.needs_type_name = true;
            for concrete in &possible {
                if !self.knows(reader, concrete) {
                    continue;
                }
                let types = [concrete.to_string()];
                let at = ObjectsAt { place, type_name: concrete, types: &types };
                let mut fragment = UpstreamSelection::default();
                let variant = self.variant(&at, sets, reader, &mut steps, &mut fragment)?;
                if !fragment.is_leaf() {
                    upstream.add_fragment(concrete, fragment);
                }
                variants.push(variant);
            }
        }
        upstream.needs_type_name |= upstream.is_leaf();
        self.close_entities(place, steps);
        let only_type = is_object.then(|| declared.to_string());
        let possible = if is_object { Vec::new() } else { possible.iter().map(ToString::to_string).collect() };
        Ok((ObjectPlan { only_type, possible, variants }, upstream))
    }

    /// Whether one list of fields does for all types of an interface: nothing depends on the type, and the source has the fields on the
    /// interface itself.
    fn is_one_variant(&self, declared: &Name, possible: &[Name], sets: &[&'a SelectionSet], reader: &Reader) -> bool {
        if !self.is_uniform(declared, sets) {
            return false;
        }
        let groups = self.collect(declared, sets);
        groups.iter().map(CollectedField::name).filter(|name| *name != "__typename").all(|name| {
            let is_here = |concrete: &Name| matches!(self.origin(concrete, name, reader), FieldOrigin::Here);
            let mut known = possible.iter().filter(|concrete| self.knows(reader, concrete));
            self.has_on(reader, declared, name) && known.all(is_here)
        })
    }

    /// Whether a reader's source can give objects of a type.
    fn knows(&self, reader: &Reader, concrete: &Name) -> bool {
        match (&self.graph.layout, reader) {
            (GraphLayout::Federation(subgraphs), Reader::Operation { source, .. }) => {
                subgraphs.get(*source).is_some_and(|subgraph| subgraph.types.contains_key(concrete.as_str()))
            }
            _ => true,
        }
    }

    fn has_on(&self, reader: &Reader, type_name: &Name, field: &str) -> bool {
        match (&self.graph.layout, reader) {
            (GraphLayout::Federation(subgraphs), Reader::Operation { source, .. }) => {
                subgraphs.get(*source).is_some_and(|subgraph| subgraph.resolves(type_name, field))
            }
            _ => true,
        }
    }

    fn origin(&self, type_name: &Name, field: &str, reader: &Reader) -> FieldOrigin {
        match (&self.graph.layout, reader) {
            (GraphLayout::Fields { owners, .. }, _) => match owners.get(&(type_name.to_string(), field.to_owned())) {
                Some(source) => FieldOrigin::Source(*source),
                None => FieldOrigin::Here,
            },
            (GraphLayout::Federation(subgraphs), Reader::Operation { source, provided, .. }) => {
                let is_here = provided.of(field).is_some()
                    || subgraphs.get(*source).is_some_and(|subgraph| subgraph.resolves_alone(type_name, field));
                if is_here { FieldOrigin::Here } else { FieldOrigin::Entities }
            }
            (GraphLayout::Federation(_), Reader::Raw { .. }) => FieldOrigin::Here,
        }
    }

    fn variant(
        &mut self,
        at: &ObjectsAt<'_>,
        sets: &[&'a SelectionSet],
        reader: &Reader,
        steps: &mut EntitySteps,
        upstream: &mut UpstreamSelection,
    ) -> Result<VariantPlan, PlanFault> {
        let groups = self.collect(at.type_name, sets);
        let mut fields = Vec::with_capacity(groups.len());
        // Fields that are here come first, so that keys find them.
        let mut later = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let planned = match self.origin(at.type_name, group.name(), reader) {
                _ if group.name().starts_with("__") => self.introspection_field(group)?,
                FieldOrigin::Here => self.own_field(at, group, reader, upstream)?,
                FieldOrigin::Source(_) | FieldOrigin::Entities => {
                    later.push(index);
                    continue;
                }
            };
            fields.push((index, planned));
        }
        for (index, group) in later.into_iter().filter_map(|index| Some((index, groups.get(index)?))) {
            let planned = match self.origin(at.type_name, group.name(), reader) {
                FieldOrigin::Source(source) => {
                    let object_reads = self.object_reads(at.type_name, source, reader, upstream);
                    self.fetched_field(at, group, FieldSource { source, before: Vec::new(), object_reads }, reader)?
                }
                _ => self.entity_field(at, group, reader, steps, upstream)?,
            };
            fields.push((index, planned));
        }
        fields.sort_by_key(|(index, _)| *index);
        Ok(VariantPlan { types: at.types.to_vec(), fields: fields.into_iter().map(|(_, field)| field).collect() })
    }

    pub(super) fn introspection_field(&mut self, group: &CollectedField<'a>) -> Result<FieldPlan, PlanFault> {
        let is_type_name = group.name() == "__typename";
        let read = if is_type_name { FieldRead::TypeName } else { FieldRead::Introspection };
        self.field(group, read, FieldShape::Leaf(LeafKind::Any))
    }

    pub(super) fn unresolved(&mut self, group: &CollectedField<'a>) -> Result<FieldPlan, PlanFault> {
        self.field(group, FieldRead::Nowhere, FieldShape::Leaf(LeafKind::Any))
    }

    fn field(&mut self, group: &CollectedField<'a>, read: FieldRead, shape: FieldShape) -> Result<FieldPlan, PlanFault> {
        self.count_field()?;
        let field = group.first().ok_or(PlanFault::TooLarge)?;
        let place = field.name.location().and_then(|span| span.line_column(&self.document.sources));
        Ok(FieldPlan {
            key: group.key.clone(),
            name: field.name.to_string(),
            ty: field.definition.ty.clone(),
            read,
            shape,
            location: place.map(|at| DocumentPlace { line: at.line, column: at.column }),
        })
    }

    /// A field that is part of the answer that its object is from.
    pub(super) fn own_field(
        &mut self,
        at: &ObjectsAt<'_>,
        group: &CollectedField<'a>,
        reader: &Reader,
        upstream: &mut UpstreamSelection,
    ) -> Result<FieldPlan, PlanFault> {
        let Some(field) = group.first() else { return self.unresolved(group) };
        let members = match reader {
            Reader::Raw { .. } => self.mapping(at.type_name, &field.name),
            Reader::Operation { .. } => vec![upstream_key(&group.key)],
        };
        let within = self.within(at.type_name, &field.name, reader);
        let (shape, selection) = self.shape(at, &members, group, &within)?;
        if let Reader::Operation { .. } = reader {
            upstream.add(upstream_key(&group.key), field, selection);
        }
        self.field(group, FieldRead::Members(members), shape)
    }

    /// The reader of the objects at a field that is part of an answer.
    fn within(&self, type_name: &Name, field: &Name, reader: &Reader) -> Reader {
        match (&self.graph.layout, reader) {
            (GraphLayout::Federation(subgraphs), Reader::Operation { source, fetch, provided }) => {
                let own = subgraphs.get(*source).and_then(|subgraph| subgraph.field(type_name, field)?.provides.clone());
                let provided = own.or_else(|| provided.of(field).cloned()).unwrap_or_default();
                Reader::Operation { source: *source, fetch: *fetch, provided }
            }
            (_, reader) => reader.clone(),
        }
    }

    fn shape(
        &mut self,
        at: &ObjectsAt<'_>,
        members: &[String],
        group: &CollectedField<'a>,
        reader: &Reader,
    ) -> Result<(FieldShape, UpstreamSelection), PlanFault> {
        let Some(field) = group.first() else { return Err(PlanFault::TooLarge) };
        let inner = field.definition.ty.inner_named_type();
        let leaf = match self.schema.types.get(inner) {
            Some(ExtendedType::Enum(definition)) => {
                let values = definition.values.keys().map(ToString::to_string).collect();
                LeafKind::Enum { name: inner.to_string(), values }
            }
            Some(ExtendedType::Object(_) | ExtendedType::Interface(_) | ExtendedType::Union(_)) => {
                let step = PlaceStep { types: at.types.to_vec(), read: members.to_vec(), key: group.key.clone() };
                let place: Vec<PlaceStep> = at.place.iter().cloned().chain([step]).collect();
                let (plan, selection) = self.selection(&place, inner, &group.sets(), reader)?;
                return Ok((FieldShape::Object(plan), selection));
            }
            _ => match inner.as_str() {
                "Int" => LeafKind::Int,
                "Float" => LeafKind::Float,
                "String" => LeafKind::String,
                "Boolean" => LeafKind::Boolean,
                "ID" => LeafKind::Id,
                _ => LeafKind::Any,
            },
        };
        Ok((FieldShape::Leaf(leaf), UpstreamSelection::default()))
    }

    /// Members of an answer's JSON that lead to a field.
    fn mapping(&self, type_name: &Name, field: &Name) -> Vec<String> {
        let GraphLayout::Fields { mappings, .. } = &self.graph.layout else { return vec![field.to_string()] };
        mappings.get(&(type_name.to_string(), field.to_string())).cloned().unwrap_or_else(|| vec![field.to_string()])
    }

    /// A field with a request of its own.
    pub(super) fn fetched_field(
        &mut self,
        at: &ObjectsAt<'_>,
        group: &CollectedField<'a>,
        source: FieldSource,
        reader: &Reader,
    ) -> Result<FieldPlan, PlanFault> {
        let FieldSource { source, before, object_reads } = source;
        let Some(field) = group.first() else { return self.unresolved(group) };
        let fetch = self.reserve()?;
        let store = store_key(&group.key);
        let is_rest = self.kind_of(source) == SourceKind::Rest;
        let (members, within) = if is_rest {
            (self.mapping(at.type_name, &field.name), Reader::Raw { fetch: Some(fetch) })
        } else {
            (vec![upstream_key(&group.key)], Reader::Operation { source, fetch, provided: FieldSet::default() })
        };
        let members: Vec<String> = [store.clone()].into_iter().chain(members).collect();
        let (shape, selection) = self.shape(at, &members, group, &within)?;
        let work = if is_rest {
            FetchWork::Rest { store, arguments: arguments(field), object_reads }
        } else {
            let mut root = UpstreamSelection::default();
            root.add(upstream_key(&group.key), field, selection);
            let (text, variables) = self.operation_text(OperationType::Query, &root);
            FetchWork::Operation { text, variables, store: Some(store) }
        };
        let after = before.into_iter().chain(reader.fetch()).collect();
        let (place, types, key) = (at.place.to_vec(), at.types.to_vec(), group.key.clone());
        self.fill(fetch, PlannedFetch { source, place, types, after, key, work });
        self.field(group, FieldRead::Members(members), shape)
    }

    /// Makes sure that an operation's answer has the members that a REST source's request names, and says where they are.
    fn object_reads(
        &self,
        type_name: &Name,
        source: usize,
        reader: &Reader,
        upstream: &mut UpstreamSelection,
    ) -> HashMap<Vec<String>, Vec<String>> {
        let (Reader::Operation { .. }, Some(source)) = (reader, self.graph.sources.get(source)) else { return HashMap::new() };
        let variables = source.endpoint.templates().flat_map(|template| template.variables());
        let of_object = variables.filter(|variable| variable.scope == VariableSource::Object);
        let fields = match self.schema.types.get(type_name) {
            Some(ExtendedType::Object(object)) => &object.fields,
            _ => return HashMap::new(),
        };
        let known = of_object.filter(|variable| variable.path.first().is_some_and(|name| fields.contains_key(name.as_str())));
        known
            .map(|variable: &TemplateVariable| {
                let input = upstream.input(type_name, &item_of(&variable.path));
                (variable.path.clone(), input.path())
            })
            .collect()
    }
}

/// The field set of members within members.
fn item_of(path: &[String]) -> FieldSetItem {
    let fields = match path.get(1..) {
        Some(rest) if !rest.is_empty() => FieldSet(vec![item_of(rest)]),
        _ => FieldSet::default(),
    };
    FieldSetItem { name: path.first().cloned().unwrap_or_default(), arguments: String::new(), fields }
}

/// The arguments of a field with the defaults of the schema.
fn arguments(field: &Field) -> Vec<(String, super::Argument)> {
    let mut arguments: Vec<(String, super::Argument)> =
        field.arguments.iter().map(|argument| (argument.name.to_string(), argument.value.as_ref().clone())).collect();
    for definition in &field.definition.arguments {
        if let Some(default) = &definition.default_value
            && !arguments.iter().any(|(name, _)| definition.name == name.as_str())
        {
            arguments.push((definition.name.to_string(), default.as_ref().clone()));
        }
    }
    arguments
}
