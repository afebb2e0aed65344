//! Fields of objects that other subgraphs have. An object is found there by a key; where no key is shared, over subgraphs in between.

use super::collect::CollectedField;
use super::routes::{KeyHop, KeySupplier, RouteSearch, supplying_way};
use super::upstream::UpstreamSelection;
use super::{
    EntityInput, FetchWork, FieldPlan, InputField, ObjectReader, ObjectWay, ObjectsAt, PlaceStep, PlanFault, PlannedFetch, Planner,
};
use crate::field_set::{FieldSet, FieldSetItem};
use crate::graph::{EntitySource, GraphLayout};
use apollo_compiler::Name;
use apollo_compiler::ast::OperationType;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How many copied fields are the work of one that is planned.
const COPIES_PER_FIELD: usize = 16;

/// Requests for fields of the objects at one place.
#[derive(Clone, Default)]
pub(crate) struct EntitySteps(Vec<EntityStep>);

/// A request to one subgraph.
#[derive(Clone)]
struct EntityStep {
    source: usize,
    /// How many steps are before it at this place.
    stage: usize,
    fetch: usize,
    /// Whether the objects are those of the root type, which need no key.
    is_root: bool,
    after: BTreeSet<usize>,
    key: String,
    types: Vec<EntityStepType>,
}

#[derive(Clone)]
struct EntityStepType {
    type_name: String,
    inputs: Vec<InputField>,
    selection: UpstreamSelection,
}

/// What a step needs of others before it.
#[derive(Default)]
struct StepNeeds {
    inputs: Vec<InputField>,
    after: BTreeSet<usize>,
    stage: usize,
}

impl InputField {
    /// Members that lead to the innermost of nested fields.
    pub(crate) fn path(&self) -> Vec<String> {
        let rest = self.fields.first().map(InputField::path).unwrap_or_default();
        [self.read.clone()].into_iter().chain(rest).collect()
    }
}

/// The objects at a place on their way to another subgraph.
struct EntityEntry<'p, 's> {
    at: &'p ObjectsAt<'p>,
    ways: &'s mut [ObjectWay],
    steps: &'s mut EntitySteps,
    /// Response key of the field that all of it is for.
    key: &'p str,
    depth: usize,
}

impl EntityEntry<'_, '_> {
    /// What one of the ways, or a step, is asked for.
    fn upstream(&mut self, supplier: KeySupplier) -> Option<&mut UpstreamSelection> {
        match supplier {
            KeySupplier::Way(way) => self.ways.get_mut(way).map(|way| &mut way.upstream),
            KeySupplier::Hop(step) => self.steps.0.get_mut(step).map(|step| &mut step.of_type(self.at.type_name).selection),
        }
    }
}

/// What is planned at a place before a choice that may turn out wrong.
struct PlanMark {
    ways: Vec<ObjectWay>,
    steps: EntitySteps,
    fetches: usize,
    is_kept: bool,
}

impl PlanMark {
    /// Without a choice, nothing is kept.
    fn new(planner: &mut Planner<'_>, ways: &[ObjectWay], steps: &EntitySteps, is_kept: bool) -> Result<Self, PlanFault> {
        let fetches = planner.fetches.len();
        if !is_kept {
            return Ok(PlanMark { ways: Vec::new(), steps: EntitySteps::default(), fetches, is_kept });
        }
        // Copies are work, too.
        let size: usize = ways.iter().map(|way| way.upstream.size()).sum();
        let of_steps: usize = steps.0.iter().flat_map(|step| &step.types).map(|of_type| of_type.selection.size()).sum();
        planner.count_work((size + of_steps) / COPIES_PER_FIELD)?;
        Ok(PlanMark { ways: ways.to_vec(), steps: steps.clone(), fetches, is_kept })
    }

    fn restore(&self, planner: &mut Planner<'_>, ways: &mut [ObjectWay], steps: &mut EntitySteps) {
        if self.is_kept {
            ways.clone_from_slice(&self.ways);
            steps.clone_from(&self.steps);
            planner.fetches.truncate(self.fetches);
        }
    }
}

/// Whether a subgraph has all that is below a field of a set.
fn has_below(subgraph: &EntitySource, type_name: &str, item: &FieldSetItem) -> bool {
    let provides = subgraph.field(type_name, &item.name).and_then(|field| field.provides.clone()).unwrap_or_default();
    subgraph.supplies(subgraph.returned(type_name, &item.name).unwrap_or_default(), &item.fields, &provides)
}

impl<'a> Planner<'a> {
    fn subgraphs(&self) -> &'a [EntitySource] {
        match &self.graph.layout {
            GraphLayout::Federation(subgraphs) => subgraphs,
            GraphLayout::Fields { .. } => &[],
        }
    }

    /// A field that other subgraphs have, or for which the same subgraph needs fields of others. `here` are the ways that have it themselves.
    pub(super) fn entity_field(
        &mut self,
        at: &ObjectsAt<'_>,
        group: &CollectedField<'a>,
        ways: &mut [ObjectWay],
        steps: &mut EntitySteps,
        here: &[usize],
    ) -> Result<FieldPlan, PlanFault> {
        let is_leaf = group.first().is_none_or(|field| field.selection_set.selections.is_empty());
        let mut fault = PlanFault::Unreachable(format!("{}.{}", at.type_name, group.name()));
        let candidates = self.candidates(at, group.name(), ways, steps, here);
        let before = PlanMark::new(self, ways, steps, here.len().min(1) + candidates.len() > 1)?;
        if !here.is_empty() {
            match self.own_field(at, group, ways, here) {
                Err(PlanFault::Unreachable(field)) => fault = PlanFault::Unreachable(field),
                planned => return planned,
            }
        }
        // One subgraph is best. If it does not lead to all fields, others are asked for the same object.
        let mut chosen = Vec::new();
        for source in candidates {
            if is_leaf {
                chosen.clear();
            }
            chosen.push(source);
            before.restore(self, ways, steps);
            match self.field_of(at, group, ways, steps, (here, &chosen)) {
                Err(PlanFault::Unreachable(field)) => fault = PlanFault::Unreachable(field),
                planned => return planned,
            }
        }
        Err(fault)
    }

    /// The subgraphs that have a field; one that is asked anyway comes first.
    fn candidates(&self, at: &ObjectsAt<'_>, field: &str, ways: &[ObjectWay], steps: &EntitySteps, here: &[usize]) -> Vec<usize> {
        let is_here = |source: usize| {
            let mut own = here.iter().filter_map(|index| ways.get(*index));
            own.any(|way| matches!(way.reader, ObjectReader::Operation { source: known, .. } if known == source))
        };
        let resolves = |(source, subgraph): (usize, &EntitySource)| {
            (subgraph.resolves(at.type_name, field) && !is_here(source)).then_some(source)
        };
        let mut found: Vec<usize> = self.subgraphs().iter().enumerate().filter_map(resolves).collect();
        found.sort_by_key(|source| !steps.0.iter().any(|step| step.source == *source));
        found
    }

    /// The field from its own ways and some other subgraphs.
    fn field_of(
        &mut self,
        at: &ObjectsAt<'_>,
        group: &CollectedField<'a>,
        ways: &mut [ObjectWay],
        steps: &mut EntitySteps,
        (here, sources): (&[usize], &[usize]),
    ) -> Result<FieldPlan, PlanFault> {
        let mut entered = Vec::new();
        for source in sources {
            let before = PlanMark::new(self, ways, steps, sources.len() > 1)?;
            let mut entry = EntityEntry { at, ways, steps, key: &group.key, depth: 0 };
            match self.enter(&mut entry, group.name(), *source) {
                Ok(step) => entered.push(step),
                Err(PlanFault::Unreachable(_)) => before.restore(self, ways, steps),
                Err(fault) => return Err(fault),
            }
        }
        if entered.is_empty() {
            return Err(PlanFault::Unreachable(format!("{}.{}", at.type_name, group.name())));
        }
        let mut all: Vec<ObjectWay> = here.iter().filter_map(|index| ways.get_mut(*index).map(take_way)).collect();
        for step in &entered {
            let Some(step) = steps.0.get_mut(*step) else { continue };
            let reader = step.reader(at.type_name);
            all.push(ObjectWay { reader, upstream: std::mem::take(&mut step.of_type(at.type_name).selection) });
        }
        let numbers: Vec<usize> = (0..all.len()).collect();
        let planned = self.own_field(at, group, &mut all, &numbers)?;
        let mut all = all.into_iter();
        for (index, way) in here.iter().zip(all.by_ref()) {
            if let Some(own) = ways.get_mut(*index) {
                own.upstream = way.upstream;
            }
        }
        for (step, way) in entered.iter().zip(all) {
            if let Some(step) = steps.0.get_mut(*step) {
                step.of_type(at.type_name).selection = way.upstream;
            }
        }
        Ok(planned)
    }

    /// Plans the way to a subgraph that has a field; returns the step that gets it.
    fn enter(&mut self, entry: &mut EntityEntry<'_, '_>, field: &str, source: usize) -> Result<usize, PlanFault> {
        self.count_field()?;
        let subgraphs = self.subgraphs();
        let type_name = entry.at.type_name.clone();
        let unreachable = || PlanFault::Unreachable(format!("{type_name}.{field}"));
        // Fields that need fields that need fields: a cycle of them has no plan.
        if entry.depth > subgraphs.len() + 8 {
            return Err(unreachable());
        }
        let is_root = self.is_query(&type_name);
        let search = |is_deep| RouteSearch { subgraphs, type_name: &type_name, ways: entry.ways, is_root, is_deep }.to(source);
        let hops = search(false).or_else(|| search(true)).ok_or_else(unreachable)?;
        let mut needs = StepNeeds::default();
        let requires = subgraphs.get(source).and_then(|subgraph| subgraph.field(&type_name, field)?.requires.clone());
        for item in requires.iter().flat_map(|required| &required.0) {
            if item.on.as_deref().is_none_or(|on| type_name == on) {
                self.require(entry, item, &mut needs)?;
            }
        }
        self.follow(entry, &hops, needs)
    }

    fn is_query(&self, type_name: &str) -> bool {
        self.schema.schema_definition.query.as_ref().is_some_and(|query| query.as_str() == type_name)
    }

    /// Makes sure that a field is there before a step that needs it.
    fn require(&mut self, entry: &mut EntityEntry<'_, '_>, item: &FieldSetItem, needs: &mut StepNeeds) -> Result<(), PlanFault> {
        let (type_name, subgraphs) = (entry.at.type_name.clone(), self.subgraphs());
        if let Some(way) = supplying_way(subgraphs, &type_name, item, entry.ways) {
            return self.require_of(entry, item, KeySupplier::Way(way), needs);
        }
        let has = |index: &usize| subgraphs.get(*index).is_some_and(|subgraph| subgraph.resolves(&type_name, &item.name));
        let has_all = |index: usize| subgraphs.get(index).is_some_and(|subgraph| has_below(subgraph, &type_name, item));
        let mut candidates: Vec<usize> = (0..subgraphs.len()).filter(has).collect();
        candidates.sort_by_key(|index| (!has_all(*index), !entry.steps.0.iter().any(|step| step.source == *index)));
        // A subgraph that has all comes before one of the ways that has a part.
        let is_partial = !candidates.first().is_some_and(|first| has_all(*first));
        let top = FieldSetItem { fields: FieldSet::default(), ..item.clone() };
        let way = supplying_way(subgraphs, &type_name, &top, entry.ways).filter(|_| is_partial);
        let mut fault = PlanFault::Unreachable(format!("{type_name}.{}", item.name));
        for supplier in way.map(Ok).into_iter().chain(candidates.into_iter().map(Err)) {
            let supplier = match supplier {
                Ok(way) => Ok(KeySupplier::Way(way)),
                Err(source) => {
                    entry.depth += 1;
                    let entered = self.enter(entry, &item.name, source);
                    entry.depth -= 1;
                    entered.map(KeySupplier::Hop)
                }
            };
            match supplier.and_then(|supplier| self.require_of(entry, item, supplier, needs)) {
                Err(PlanFault::Unreachable(field)) => fault = PlanFault::Unreachable(field),
                required => return required,
            }
        }
        Err(fault)
    }

    /// Takes a field from one of the ways, or from a step; what that subgraph does not have below it, from others.
    fn require_of(
        &mut self,
        entry: &mut EntityEntry<'_, '_>,
        item: &FieldSetItem,
        supplier: KeySupplier,
        needs: &mut StepNeeds,
    ) -> Result<(), PlanFault> {
        let (at, depth) = (entry.at, entry.depth);
        let reader = match supplier {
            KeySupplier::Way(way) => entry.ways.get(way).map(|way| way.reader.clone()),
            KeySupplier::Hop(step) => entry.steps.0.get(step).map(|step| {
                needs.stage = needs.stage.max(step.stage + 1);
                step.reader(at.type_name)
            }),
        };
        let reader = reader.ok_or(PlanFault::TooLarge)?;
        needs.after.extend(reader.waits());
        let set = FieldSet(vec![item.clone()]);
        let is_whole = match &reader {
            ObjectReader::Operation { source, provided, .. } => self
                .subgraphs()
                .get(*source)
                .is_some_and(|subgraph| subgraph.supplies(at.type_name, &set, provided) || has_below(subgraph, at.type_name, item)),
            ObjectReader::Raw { .. } => true,
        };
        let upstream = entry.upstream(supplier).ok_or(PlanFault::TooLarge)?;
        if is_whole {
            needs.inputs.push(upstream.input(at.type_name, item));
            return Ok(());
        }
        let mut input = upstream.input(at.type_name, &FieldSetItem { fields: FieldSet::default(), ..item.clone() });
        let within = self.within(at.type_name, &item.name, &reader);
        let (nested, selection) = self.require_below(at, item, &input.read, ObjectWay::new(within), depth)?;
        input.fields = nested.inputs;
        needs.after.extend(nested.after);
        entry.upstream(supplier).ok_or(PlanFault::TooLarge)?.add_below(&input.read, selection);
        needs.inputs.push(input);
        Ok(())
    }

    /// Makes sure that fields below a field are there.
    fn require_below(
        &mut self,
        at: &ObjectsAt<'_>,
        item: &FieldSetItem,
        read: &str,
        way: ObjectWay,
        depth: usize,
    ) -> Result<(StepNeeds, UpstreamSelection), PlanFault> {
        let unreachable = || PlanFault::Unreachable(format!("{}.{}", at.type_name, item.name));
        let ObjectReader::Operation { type_name, .. } = &way.reader else { return Err(unreachable()) };
        // Of which type objects of an abstract type are is not known here.
        let type_name = Name::new(type_name).ok().filter(|name| self.schema.get_object(name).is_some()).ok_or_else(unreachable)?;
        let step = PlaceStep { types: at.types.to_vec(), read: vec![read.to_owned()], key: item.name.clone() };
        let place: Vec<Arc<PlaceStep>> = at.place.iter().cloned().chain([Arc::new(step)]).collect();
        let below = ObjectsAt { place: &place, type_name: &type_name, types: &[] };
        let (mut ways, mut steps, mut needs) = ([way], EntitySteps::default(), StepNeeds::default());
        let mut entry = EntityEntry { at: &below, ways: &mut ways, steps: &mut steps, key: &item.name, depth: depth + 1 };
        for field in &item.fields.0 {
            self.require(&mut entry, field, &mut needs)?;
        }
        self.close_entities(&place, steps);
        let [way] = ways;
        Ok((needs, way.upstream))
    }

    /// Adds the steps of a way; the last one is that of the target.
    fn follow(&mut self, entry: &mut EntityEntry<'_, '_>, hops: &[KeyHop], target: StepNeeds) -> Result<usize, PlanFault> {
        let type_name = entry.at.type_name.to_string();
        let mut entered: Vec<usize> = Vec::with_capacity(hops.len());
        let mut target = Some(target);
        for (index, hop) in hops.iter().enumerate() {
            let is_last = index + 1 == hops.len();
            let further = if is_last { target.take().unwrap_or_default() } else { StepNeeds::default() };
            if further.inputs.is_empty()
                && let Some(known) = entry.steps.0.iter().position(|step| step.source == hop.source && step.is_by_key(&type_name))
            {
                entered.push(known);
                continue;
            }
            let mut needs = self.needs_of(entry, hop, &entered)?;
            needs.inputs.extend(further.inputs);
            needs.after.extend(further.after);
            needs.stage = needs.stage.max(further.stage);
            if needs.after.is_empty() {
                needs.after.extend(entry.ways.first().into_iter().flat_map(|way| way.reader.waits()));
            }
            let key = entry.key;
            entered.push(self.step(entry.steps, hop, needs, (key, &type_name))?);
        }
        entered.last().copied().ok_or(PlanFault::Unreachable(type_name))
    }

    /// What a hop needs for its key.
    fn needs_of(&mut self, entry: &mut EntityEntry<'_, '_>, hop: &KeyHop, entered: &[usize]) -> Result<StepNeeds, PlanFault> {
        let mut needs = StepNeeds::default();
        for (item, supplier) in &hop.key {
            let supplier = match supplier {
                KeySupplier::Way(way) => KeySupplier::Way(*way),
                KeySupplier::Hop(before) => KeySupplier::Hop(entered.get(*before).copied().ok_or(PlanFault::TooLarge)?),
            };
            self.require_of(entry, item, supplier, &mut needs)?;
        }
        needs.inputs.iter_mut().for_each(|input| input.is_key = true);
        Ok(needs)
    }

    fn step(
        &mut self,
        steps: &mut EntitySteps,
        hop: &KeyHop,
        needs: StepNeeds,
        (key, type_name): (&str, &str),
    ) -> Result<usize, PlanFault> {
        let fits =
            |step: &EntityStep| step.source == hop.source && step.stage == needs.stage && step.fits(type_name, &needs.inputs);
        let at = match steps.0.iter().position(fits) {
            Some(at) => at,
            None => {
                let (fetch, is_root) = (self.reserve()?, self.is_query(type_name));
                let (source, stage, key) = (hop.source, needs.stage, key.to_owned());
                steps.0.push(EntityStep { source, stage, fetch, is_root, after: BTreeSet::new(), key, types: Vec::new() });
                steps.0.len() - 1
            }
        };
        if let Some(step) = steps.0.get_mut(at) {
            step.after.extend(needs.after);
            let of_type = step.of_type(type_name);
            for input in needs.inputs {
                if !of_type.inputs.contains(&input) {
                    of_type.inputs.push(input);
                }
            }
        }
        Ok(at)
    }

    /// Has the types of objects told by a subgraph that knows them, where those that have the objects do not.
    pub(super) fn find_types(&mut self, place: &[Arc<PlaceStep>], ways: &mut [ObjectWay]) -> Result<(), PlanFault> {
        let Some(unknown) = ways.iter().position(|way| self.is_interface_object(&way.reader)) else { return Ok(()) };
        let teller = match ways.iter().position(|way| !self.is_interface_object(&way.reader)).and_then(|way| ways.get_mut(way)) {
            Some(way) => {
                way.upstream.needs_type_name = true;
                way.reader.fetch()
            }
            None => match ways.get_mut(unknown) {
                Some(way) => Some(self.type_fetch(place, way)?),
                None => None,
            },
        };
        for way in ways {
            if let ObjectReader::Operation { typed_by, .. } = &mut way.reader {
                *typed_by = teller;
            }
        }
        Ok(())
    }

    fn type_fetch(&mut self, place: &[Arc<PlaceStep>], way: &mut ObjectWay) -> Result<usize, PlanFault> {
        let subgraphs = self.subgraphs();
        let ObjectReader::Operation { source: here, type_name, provided, .. } = &way.reader else {
            return Err(PlanFault::Unreachable("__typename".to_owned()));
        };
        let own = subgraphs.get(*here);
        let key_of = |subgraph: &EntitySource| {
            let known = subgraph.types.get(type_name).filter(|known| !known.is_interface_object)?;
            known.keys.iter().find(|key| own.is_some_and(|own| own.supplies(type_name, key, provided))).cloned()
        };
        let found = subgraphs.iter().enumerate().find_map(|(source, subgraph)| Some((source, key_of(subgraph)?)));
        let (source, key) = found.ok_or_else(|| PlanFault::Unreachable(format!("{type_name}.__typename")))?;
        let type_name = type_name.clone();
        let after = way.reader.waits().collect();
        let inputs = key.0.iter().map(|item| InputField { is_key: true, ..way.upstream.input(&type_name, item) });
        let input = EntityInput { type_name: type_name.clone(), is_any: true, fields: inputs.collect() };
        let mut selection = UpstreamSelection::default();
        selection.add_fragment(&type_name, UpstreamSelection::type_name());
        let (text, variables) = self.entities_text(&selection);
        let work = FetchWork::Entities { text, variables, inputs: HashMap::from([(type_name.clone(), input)]) };
        let fetch = self.reserve()?;
        let key = place.last().map(|step| step.key.clone()).unwrap_or_default();
        self.fill(fetch, PlannedFetch { source, place: place.to_vec(), types: Vec::new(), after, key, work });
        Ok(fetch)
    }

    /// Writes the requests for entities at a place.
    pub(super) fn close_entities(&mut self, place: &[Arc<PlaceStep>], steps: EntitySteps) {
        // A subgraph that could have been asked, but is not needed, is not.
        for step in steps.0.into_iter().filter(|step| step.types.iter().any(|of_type| !of_type.selection.is_leaf())) {
            let (source, key, after) = (step.source, step.key, step.after.into_iter().collect());
            let work = if step.is_root {
                let mut selection = UpstreamSelection::default();
                step.types.into_iter().for_each(|of_type| selection.merge(of_type.selection));
                let (text, variables) = self.operation_text(OperationType::Query, &selection);
                FetchWork::Operation { text, variables, store: None }
            } else {
                self.entities_work(source, step.types)
            };
            self.fill(step.fetch, PlannedFetch { source, place: place.to_vec(), types: Vec::new(), after, key, work });
        }
    }

    fn entities_work(&self, source: usize, types: Vec<EntityStepType>) -> FetchWork {
        let mut selection = UpstreamSelection::default();
        let mut inputs: HashMap<String, EntityInput> = HashMap::new();
        for of_type in types.into_iter().filter(|of_type| !of_type.selection.is_leaf()) {
            let own = self
                .subgraphs()
                .get(source)
                .map_or(of_type.type_name.as_str(), |subgraph| subgraph.name_of(&of_type.type_name))
                .to_owned();
            selection.add_fragment(&own, of_type.selection);
            inputs.insert(of_type.type_name, EntityInput { type_name: own, is_any: false, fields: of_type.inputs });
        }
        let (text, variables) = self.entities_text(&selection);
        FetchWork::Entities { text, variables, inputs }
    }
}

fn take_way(way: &mut ObjectWay) -> ObjectWay {
    ObjectWay { reader: way.reader.clone(), upstream: std::mem::take(&mut way.upstream) }
}

impl EntityStep {
    /// The reader of objects of a type that come by this step.
    fn reader(&self, type_name: &str) -> ObjectReader {
        let (provided, type_name) = (FieldSet::default(), type_name.to_owned());
        ObjectReader::Operation { source: self.source, fetch: self.fetch, typed_by: None, type_name, provided }
    }

    /// Whether objects of a type are found by their key alone.
    fn is_by_key(&self, type_name: &str) -> bool {
        let known = self.types.iter().find(|known| known.type_name == type_name);
        known.is_some_and(|known| known.inputs.iter().all(|input| input.is_key))
    }

    /// Whether further fields can be given for objects of a type: no two of the same name that differ.
    fn fits(&self, type_name: &str, inputs: &[InputField]) -> bool {
        let known = self.types.iter().find(|known| known.type_name == type_name);
        let differs = |known: &InputField| inputs.iter().any(|input| input.name == known.name && input != known);
        known.is_none_or(|known| !known.inputs.iter().any(differs))
    }

    fn of_type(&mut self, type_name: &str) -> &mut EntityStepType {
        let at = self.types.iter().position(|known| known.type_name == type_name).unwrap_or_else(|| {
            let selection = UpstreamSelection::default();
            self.types.push(EntityStepType { type_name: type_name.to_owned(), inputs: Vec::new(), selection });
            self.types.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the position is that of an element")]
        &mut self.types[at]
    }
}
