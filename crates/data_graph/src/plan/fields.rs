//! Selections: which fields are part of an answer that is there anyway, and which need a request of their own.

use super::collect::CollectedField;
use super::entities::EntitySteps;
use super::upstream::{UpstreamSelection, typed_key, upstream_key};
use super::{
    FetchWork, FieldPlan, FieldRead, FieldShape, LeafKind, ObjectPlan, ObjectReader, ObjectWay, ObjectsAt, PlaceStep, PlanFault,
    PlannedFetch, Planner, VariantPlan,
};
use crate::field_set::{FieldSet, FieldSetItem};
use crate::graph::{EntitySource, GraphLayout, SourceKind};
use crate::template::{SourceVariable, VariableSource};
use apollo_compiler::Name;
use apollo_compiler::ast::OperationType;
use apollo_compiler::executable::{Field, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_graphql::DocumentPlace;

/// The member of an object under which the answer for one of its fields is kept. No server's member has such a name.
fn store_key(key: &str) -> String {
    format!("\0{key}")
}

/// How many types to which nothing is specific are the work of one field.
const TYPES_PER_FIELD: usize = 16;

/// The source that a field has of its own.
pub(crate) struct FieldSource {
    pub source: usize,
    /// Requests that must be complete before, beside the one that the object is from.
    pub before: Vec<usize>,
    /// Where members of the object are that the request names.
    pub object_reads: HashMap<Vec<String>, Vec<String>>,
}

impl<'a> Planner<'a> {
    /// Plans selections on the objects at a place. The ways by which they come get what they must be asked for.
    pub(super) fn selection(
        &mut self,
        place: &[Arc<PlaceStep>],
        declared: &Name,
        sets: &[&'a SelectionSet],
        ways: &mut [ObjectWay],
    ) -> Result<ObjectPlan, PlanFault> {
        let possible = self.possible_types(declared);
        self.count_work(possible.len() / TYPES_PER_FIELD)?;
        let mut steps = EntitySteps::default();
        let is_object = matches!(self.schema.types.get(declared), Some(ExtendedType::Object(_)));
        let mut variants = Vec::new();
        let mut only_type = is_object.then(|| declared.to_string());
        if is_object {
            let at = ObjectsAt { place, type_name: declared, types: &[] };
            variants.push(self.variant(&at, sets, ways, &mut steps)?);
        } else if let Some(is_told) = self.is_one_variant(declared, &possible, sets, ways) {
            let at = ObjectsAt { place, type_name: declared, types: &[] };
            variants.push(self.variant(&at, sets, ways, &mut steps)?);
            if is_told {
                ways.iter_mut().take(1).for_each(|way| way.upstream.needs_type_name = true);
            } else {
                only_type = Some(declared.to_string());
            }
        } else if let Some(variant) = self.interface_object(place, declared, sets, (ways, &mut steps))? {
            variants.push(variant);
            only_type = Some(declared.to_string());
        } else {
            self.find_types(place, ways)?;
            for concrete in possible.iter() {
                let types = [concrete.to_string()];
                let at = ObjectsAt { place, type_name: concrete, types: &types };
                variants.extend(self.fragments(&at, sets, ways, &mut steps)?);
            }
            for (index, way) in ways.iter_mut().enumerate() {
                // An interface object does not tell a type that anybody knows.
                let is_told = !self.is_interface_object(&way.reader);
                way.upstream.needs_type_name |= is_told && (index == 0 || !way.upstream.is_leaf());
            }
        }
        if ways.iter().all(|way| way.upstream.is_leaf()) {
            ways.iter_mut().take(1).for_each(|way| way.upstream.needs_type_name = true);
        }
        self.close_entities(place, steps);
        let possible = if only_type.is_some() { Arc::default() } else { possible };
        Ok(ObjectPlan { only_type, possible, variants })
    }

    /// Plans fields of objects of which nobody needs to know the type; `None` if somebody does.
    fn interface_object(
        &mut self,
        place: &[Arc<PlaceStep>],
        declared: &Name,
        sets: &[&'a SelectionSet],
        (ways, steps): (&mut [ObjectWay], &mut EntitySteps),
    ) -> Result<Option<VariantPlan>, PlanFault> {
        let is_told = ways.len() != 1 || !ways.iter().all(|way| self.is_interface_object(&way.reader));
        if is_told
            || !self.is_uniform(declared, sets)
            || self.collect(declared, sets).iter().any(|group| group.name() == "__typename")
        {
            return Ok(None);
        }
        let (own_ways, fetches) = (ways.to_vec(), self.fetches.len());
        let at = ObjectsAt { place, type_name: declared, types: &[] };
        match self.variant(&at, sets, ways, steps) {
            Err(PlanFault::Unreachable(_)) => {
                ways.clone_from_slice(&own_ways);
                *steps = EntitySteps::default();
                self.fetches.truncate(fetches);
                Ok(None)
            }
            planned => planned.map(Some),
        }
    }

    /// Plans one of the types that an abstract type can be; `None` if it does not come by any way.
    fn fragments(
        &mut self,
        at: &ObjectsAt<'_>,
        sets: &[&'a SelectionSet],
        ways: &mut [ObjectWay],
        steps: &mut EntitySteps,
    ) -> Result<Option<VariantPlan>, PlanFault> {
        let known: Vec<usize> =
            ways.iter().enumerate().filter(|(_, way)| self.knows(&way.reader, at.type_name)).map(|(index, _)| index).collect();
        self.count_field()?;
        if known.is_empty() {
            return Ok(None);
        }
        let reader = |index: &usize| {
            let mut reader = ways.get(*index)?.reader.clone();
            if let ObjectReader::Operation { type_name, .. } = &mut reader {
                *type_name = at.type_name.to_string();
            }
            Some(ObjectWay::new(reader))
        };
        let mut narrowed: Vec<ObjectWay> = known.iter().filter_map(reader).collect();
        let variant = self.variant(at, sets, &mut narrowed, steps)?;
        for (index, narrow) in known.into_iter().zip(narrowed) {
            let Some(way) = ways.get_mut(index).filter(|_| !narrow.upstream.is_leaf()) else { continue };
            if self.is_interface_object(&way.reader) {
                way.upstream.merge(narrow.upstream);
            } else {
                way.upstream.add_fragment(at.type_name, narrow.upstream);
            }
        }
        Ok(Some(variant))
    }

    /// Whether one list of fields does for all types of an interface: nothing depends on the type, and the source has the fields on the
    /// interface itself. The second is whether the source tells the type.
    fn is_one_variant(
        &mut self,
        declared: &Name,
        possible: &[Name],
        sets: &[&'a SelectionSet],
        ways: &[ObjectWay],
    ) -> Option<bool> {
        let [ObjectWay { reader, .. }] = ways else { return None };
        if !self.is_uniform(declared, sets) {
            return None;
        }
        let groups = self.collect(declared, sets);
        let is_told = !self.is_interface_object(reader);
        let mut names = groups.iter().map(CollectedField::name);
        let is_one =
            names.all(|name| if name == "__typename" { is_told } else { self.is_had_by_all(reader, declared, possible, name) });
        is_one.then_some(is_told)
    }

    /// Whether a reader's source has a field on an abstract type, and on all types that it can be there. Asked again and again for the same
    /// few fields, so it is looked up.
    fn is_had_by_all(&mut self, reader: &ObjectReader, declared: &Name, possible: &[Name], field: &'a str) -> bool {
        if !self.has_on(reader, declared, field) {
            return false;
        }
        let key = match reader {
            ObjectReader::Raw { .. } => Some((None, declared.clone(), field)),
            // What is provided depends on the place.
            ObjectReader::Operation { source, provided, .. } => {
                provided.0.is_empty().then(|| (Some(*source), declared.clone(), field))
            }
        };
        if let Some(known) = key.as_ref().and_then(|key| self.had_by_all.get(key)) {
            return *known;
        }
        let mut known = possible.iter().filter(|concrete| self.knows(reader, concrete));
        let is_had = known.all(|concrete| self.is_here(concrete, field, reader));
        self.had_by_all.extend(key.map(|key| (key, is_had)));
        is_had
    }

    fn subgraph_of(&self, reader: &ObjectReader) -> Option<&'a EntitySource> {
        match (&self.graph.layout, reader) {
            (GraphLayout::Federation(subgraphs), ObjectReader::Operation { source, .. }) => subgraphs.get(*source),
            _ => None,
        }
    }

    /// Whether a reader's source can give objects of a type.
    fn knows(&self, reader: &ObjectReader, concrete: &Name) -> bool {
        match (self.subgraph_of(reader), reader) {
            (Some(subgraph), ObjectReader::Operation { type_name, .. }) => subgraph.can_be(type_name, concrete),
            _ => true,
        }
    }

    /// Whether a reader's source has objects of which only others know the type.
    pub(super) fn is_interface_object(&self, reader: &ObjectReader) -> bool {
        match (self.subgraph_of(reader), reader) {
            (Some(subgraph), ObjectReader::Operation { type_name, .. }) => subgraph.is_interface_object(type_name),
            _ => false,
        }
    }

    fn has_on(&self, reader: &ObjectReader, declared: &Name, field: &str) -> bool {
        match (self.subgraph_of(reader), reader) {
            (Some(subgraph), ObjectReader::Operation { type_name, .. }) => {
                declared == type_name.as_str() && subgraph.resolves_alone(type_name, field)
            }
            _ => true,
        }
    }

    /// Whether a field of an object is part of the answer that the object is from.
    fn is_here(&self, type_name: &Name, field: &str, reader: &ObjectReader) -> bool {
        match (&self.graph.layout, reader) {
            (GraphLayout::Fields { owners, .. }, _) => !owners.contains_key(&(type_name.to_string(), field.to_owned())),
            (GraphLayout::Federation(subgraphs), ObjectReader::Operation { source, provided, .. }) => {
                let subgraph = subgraphs.get(*source);
                let is_provided =
                    provided.of(type_name, field).is_some() && subgraph.is_some_and(|of| of.field(type_name, field).is_some());
                is_provided || subgraph.is_some_and(|subgraph| subgraph.resolves_alone(type_name, field))
            }
            (GraphLayout::Federation(_), ObjectReader::Raw { .. }) => true,
        }
    }

    fn variant(
        &mut self,
        at: &ObjectsAt<'_>,
        sets: &[&'a SelectionSet],
        ways: &mut [ObjectWay],
        steps: &mut EntitySteps,
    ) -> Result<VariantPlan, PlanFault> {
        let groups = self.collect(at.type_name, sets);
        let mut fields = Vec::with_capacity(groups.len());
        // Fields that are here come first, so that keys find them.
        let mut later = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            if group.name().starts_with("__") {
                fields.push((index, self.introspection_field(group)?));
                continue;
            }
            let here: Vec<usize> = ways
                .iter()
                .enumerate()
                .filter(|(_, way)| self.is_here(at.type_name, group.name(), &way.reader))
                .map(|(index, _)| index)
                .collect();
            let is_final = here.is_empty() || self.may_come_from_others(at, group);
            match is_final {
                true => later.push((index, group, here)),
                false => fields.push((index, self.own_field(at, group, ways, &here)?)),
            }
        }
        for (index, group, here) in later {
            let planned = match &self.graph.layout {
                GraphLayout::Fields { owners, .. } => {
                    match owners.get(&(at.type_name.to_string(), group.name().to_owned())).copied() {
                        Some(source) => {
                            let Some(way) = ways.first_mut() else { continue };
                            let object_reads = self.object_reads(at.type_name, source, &way.reader, &mut way.upstream);
                            let reader = way.reader.clone();
                            self.fetched_field(at, group, FieldSource { source, before: Vec::new(), object_reads }, &reader)?
                        }
                        None => self.own_field(at, group, ways, &here)?,
                    }
                }
                GraphLayout::Federation(_) => self.entity_field(at, group, ways, steps, &here)?,
            };
            fields.push((index, planned));
        }
        fields.sort_by_key(|(index, _)| *index);
        Ok(VariantPlan { types: at.types.to_vec(), fields: fields.into_iter().map(|(_, field)| field).collect() })
    }

    /// Whether other subgraphs may have more of the object at a field than those that have it here.
    fn may_come_from_others(&self, at: &ObjectsAt<'_>, group: &CollectedField<'a>) -> bool {
        let is_leaf = group.first().is_none_or(|field| field.selection_set.selections.is_empty());
        let GraphLayout::Federation(subgraphs) = &self.graph.layout else { return false };
        !is_leaf && subgraphs.iter().filter(|subgraph| subgraph.resolves(at.type_name, group.name())).count() > 1
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

    /// A field that is part of the answers that its object is from. Those at the given positions have it.
    pub(super) fn own_field(
        &mut self,
        at: &ObjectsAt<'_>,
        group: &CollectedField<'a>,
        ways: &mut [ObjectWay],
        here: &[usize],
    ) -> Result<FieldPlan, PlanFault> {
        let Some(field) = group.first() else { return self.unresolved(group) };
        let readers: Vec<ObjectReader> = here.iter().filter_map(|index| Some(ways.get(*index)?.reader.clone())).collect();
        let key =
            if self.has_own_type(at, field, &readers) { typed_key(at.type_name, &group.key) } else { upstream_key(&group.key) };
        let members = match readers.first() {
            Some(ObjectReader::Operation { .. }) => vec![key.clone()],
            _ => self.mapping(at.type_name, &field.name),
        };
        let mut below: Vec<ObjectWay> =
            readers.iter().map(|reader| ObjectWay::new(self.within(at.type_name, &field.name, reader))).collect();
        let shape = self.shape(at, &members, group, &mut below)?;
        let is_leaf = matches!(shape, FieldShape::Leaf(_));
        let asked = here.iter().zip(below).enumerate();
        for (index, way) in
            asked.filter(|(number, (_, below))| if is_leaf { *number == 0 } else { !below.upstream.is_leaf() }).map(|(_, way)| way)
        {
            if let Some(own) = ways.get_mut(*index)
                && let ObjectReader::Operation { .. } = own.reader
            {
                own.upstream.add(key.clone(), field, way.upstream);
            }
        }
        self.field(group, FieldRead::Members(members), shape)
    }

    /// Whether a field of one of several types has another type in a subgraph than in the composed schema: there, the response keys of the
    /// client may not be possible, which expects the same type of all of them.
    fn has_own_type(&self, at: &ObjectsAt<'_>, field: &Field, readers: &[ObjectReader]) -> bool {
        let text = || field.definition.ty.to_string();
        let differs = |reader: &ObjectReader| {
            self.subgraph_of(reader).and_then(|of| of.field(at.type_name, &field.name)).is_some_and(|own| own.type_text != text())
        };
        !at.types.is_empty() && readers.iter().any(differs)
    }

    /// The reader of the objects at a field that is part of an answer.
    pub(super) fn within(&self, type_name: &Name, field: &str, reader: &ObjectReader) -> ObjectReader {
        match (self.subgraph_of(reader), reader) {
            (Some(subgraph), ObjectReader::Operation { source, fetch, typed_by, provided, .. }) => {
                let own = subgraph.field(type_name, field).and_then(|field| field.provides.clone());
                let provided = own.or_else(|| provided.of(type_name, field).cloned()).unwrap_or_default();
                let type_name = subgraph.returned(type_name, field).unwrap_or_default().to_owned();
                ObjectReader::Operation { source: *source, fetch: *fetch, typed_by: *typed_by, type_name, provided }
            }
            _ => reader.clone(),
        }
    }

    fn shape(
        &mut self,
        at: &ObjectsAt<'_>,
        members: &[String],
        group: &CollectedField<'a>,
        ways: &mut [ObjectWay],
    ) -> Result<FieldShape, PlanFault> {
        let Some(field) = group.first() else { return Err(PlanFault::TooLarge) };
        let inner = field.definition.ty.inner_named_type();
        let leaf = match self.schema.types.get(inner) {
            Some(ExtendedType::Enum(definition)) => {
                let values = definition.values.keys().map(ToString::to_string).collect();
                LeafKind::Enum { name: inner.to_string(), values }
            }
            Some(ExtendedType::Object(_) | ExtendedType::Interface(_) | ExtendedType::Union(_)) => {
                let step = PlaceStep { types: at.types.to_vec(), read: members.to_vec(), key: group.key.clone() };
                let place: Vec<Arc<PlaceStep>> = at.place.iter().cloned().chain([Arc::new(step)]).collect();
                return Ok(FieldShape::Object(self.selection(&place, inner, &group.sets(), ways)?));
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
        Ok(FieldShape::Leaf(leaf))
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
        reader: &ObjectReader,
    ) -> Result<FieldPlan, PlanFault> {
        let FieldSource { source, before, object_reads } = source;
        let Some(field) = group.first() else { return self.unresolved(group) };
        let fetch = self.reserve()?;
        let store = store_key(&group.key);
        let is_rest = self.kind_of(source) == SourceKind::Rest;
        let (members, within) = if is_rest {
            (self.mapping(at.type_name, &field.name), ObjectReader::Raw { fetch: Some(fetch) })
        } else {
            let type_name = field.definition.ty.inner_named_type().to_string();
            (
                vec![upstream_key(&group.key)],
                ObjectReader::Operation { source, fetch, typed_by: None, type_name, provided: FieldSet::default() },
            )
        };
        let members: Vec<String> = [store.clone()].into_iter().chain(members).collect();
        let mut ways = [ObjectWay::new(within)];
        let shape = self.shape(at, &members, group, &mut ways)?;
        let work = if is_rest {
            FetchWork::Rest { store, arguments: arguments(field), object_reads }
        } else {
            let mut root = UpstreamSelection::default();
            let [ObjectWay { upstream, .. }] = ways;
            root.add(upstream_key(&group.key), field, upstream);
            let (text, variables) = self.operation_text(OperationType::Query, &root);
            FetchWork::Operation { text, variables, store: Some(store) }
        };
        let after = before.into_iter().chain(reader.waits()).collect();
        let (place, types, key) = (at.place.to_vec(), at.types.to_vec(), group.key.clone());
        self.fill(fetch, PlannedFetch { source, place, types, after, key, work });
        self.field(group, FieldRead::Members(members), shape)
    }

    /// Makes sure that an operation's answer has the members that a REST source's request names, and says where they are.
    fn object_reads(
        &self,
        type_name: &Name,
        source: usize,
        reader: &ObjectReader,
        upstream: &mut UpstreamSelection,
    ) -> HashMap<Vec<String>, Vec<String>> {
        let (ObjectReader::Operation { .. }, Some(source)) = (reader, self.graph.sources.get(source)) else {
            return HashMap::new();
        };
        let variables = source.endpoint.templates().flat_map(|template| template.variables());
        let of_object = variables.filter(|variable| variable.scope == VariableSource::Object);
        let fields = match self.schema.types.get(type_name) {
            Some(ExtendedType::Object(object)) => &object.fields,
            _ => return HashMap::new(),
        };
        let known = of_object.filter(|variable| variable.path.first().is_some_and(|name| fields.contains_key(name.as_str())));
        known
            .map(|variable: &SourceVariable| {
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
    FieldSetItem { on: None, name: path.first().cloned().unwrap_or_default(), arguments: String::new(), fields }
}

/// The arguments of a field with the defaults of the schema.
fn arguments(field: &Field) -> Vec<(String, super::ArgumentLiteral)> {
    let mut arguments: Vec<(String, super::ArgumentLiteral)> =
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
