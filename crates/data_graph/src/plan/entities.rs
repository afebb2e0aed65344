//! Fields of objects that other subgraphs have. An object is found there by a key; where no key is shared, over subgraphs in between.

use super::collect::CollectedField;
use super::fields::ObjectsAt;
use super::upstream::UpstreamSelection;
use super::{FetchWork, FieldPlan, InputField, PlaceStep, PlanFault, PlannedFetch, Planner, Reader};
use crate::field_set::{FieldSet, FieldSetItem};
use crate::graph::{EntitySource, GraphLayout};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Requests for fields of the objects at one place.
#[derive(Default)]
pub(crate) struct EntitySteps(Vec<EntityStep>);

/// A request to one subgraph.
struct EntityStep {
    source: usize,
    /// How many steps are before it at this place.
    stage: usize,
    fetch: usize,
    after: BTreeSet<usize>,
    key: String,
    types: Vec<EntityStepType>,
}

struct EntityStepType {
    type_name: String,
    inputs: Vec<InputField>,
    selection: UpstreamSelection,
}

/// From one subgraph to another by a key.
struct KeyHop {
    source: usize,
    key: FieldSet,
}

impl InputField {
    /// Members that lead to the innermost of nested fields.
    pub(crate) fn path(&self) -> Vec<String> {
        let rest = self.fields.first().map(InputField::path).unwrap_or_default();
        [self.read.clone()].into_iter().chain(rest).collect()
    }
}

impl<'a> Planner<'a> {
    /// A field of another subgraph, or one for which the same subgraph needs fields of others.
    pub(super) fn entity_field(
        &mut self,
        at: &ObjectsAt<'_>,
        group: &CollectedField<'a>,
        reader: &Reader,
        steps: &mut EntitySteps,
        upstream: &mut UpstreamSelection,
    ) -> Result<FieldPlan, PlanFault> {
        let mut entry = EntityEntry { at, reader, steps, upstream, depth: 0 };
        let step = self.enter(&mut entry, group.name(), &group.key)?;
        let unreachable = || PlanFault::Unreachable(format!("{}.{}", at.type_name, group.name()));
        let entered = steps.0.get_mut(step).ok_or_else(unreachable)?;
        let within = Reader::Operation { source: entered.source, fetch: entered.fetch, provided: FieldSet::default() };
        let mut selection = std::mem::take(&mut entered.of_type(at.type_name).selection);
        let planned = self.own_field(at, group, &within, &mut selection)?;
        if let Some(entered) = steps.0.get_mut(step) {
            entered.of_type(at.type_name).selection = selection;
        }
        Ok(planned)
    }

    /// Plans the way to a subgraph that has a field; returns the step that gets it.
    fn enter(&mut self, entry: &mut EntityEntry<'_, '_>, field: &str, key: &str) -> Result<usize, PlanFault> {
        let graph = self.graph;
        let (GraphLayout::Federation(subgraphs), Reader::Operation { source: here, .. }) = (&graph.layout, entry.reader) else {
            return Err(PlanFault::Unreachable(field.to_owned()));
        };
        let type_name = entry.at.type_name.as_str();
        // Fields that need fields that need fields: a cycle of them has no plan.
        if entry.depth > subgraphs.len() + 8 {
            return Err(PlanFault::Unreachable(format!("{type_name}.{field}")));
        }
        let mut candidates: Vec<usize> = (0..subgraphs.len()).collect();
        candidates.retain(|index| subgraphs.get(*index).is_some_and(|subgraph| subgraph.resolves(type_name, field)));
        // A subgraph that is asked anyway comes first.
        candidates.sort_by_key(|index| !entry.steps.0.iter().any(|step| step.source == *index));
        for source in candidates {
            let Some(subgraph) = subgraphs.get(source) else { continue };
            let Some(hops) = hops(subgraphs, type_name, *here, source) else { continue };
            let requires = subgraph.field(type_name, field).and_then(|field| field.requires.clone());
            let (mut inputs, mut after) = (Vec::new(), BTreeSet::new());
            let mut stage = 0;
            if let Some(required) = &requires {
                for item in &required.0 {
                    let (input, from) = self.require(entry, item)?;
                    inputs.push(input);
                    if let Some((fetch, from_stage)) = from {
                        after.insert(fetch);
                        stage = stage.max(from_stage + 1);
                    }
                }
            }
            return self.follow(entry, &hops, HopTarget { key, inputs, after, stage });
        }
        Err(PlanFault::Unreachable(format!("{type_name}.{field}")))
    }

    /// Makes sure that a field is there before a step that needs it; also returns the request that it is from, unless it is here.
    fn require(
        &mut self,
        entry: &mut EntityEntry<'_, '_>,
        item: &FieldSetItem,
    ) -> Result<(InputField, Option<(usize, usize)>), PlanFault> {
        let type_name = entry.at.type_name.clone();
        if let (GraphLayout::Federation(subgraphs), Reader::Operation { source, provided, .. }) = (&self.graph.layout, entry.reader)
            && (provided.of(&item.name).is_some()
                || subgraphs.get(*source).is_some_and(|here| here.resolves_alone(&type_name, &item.name)))
        {
            return Ok((entry.upstream.input(&type_name, item), None));
        }
        entry.depth += 1;
        let step = self.enter(entry, &item.name, &item.name)?;
        entry.depth -= 1;
        let step = entry.steps.0.get_mut(step).ok_or(PlanFault::TooLarge)?;
        let (fetch, stage) = (step.fetch, step.stage);
        Ok((step.of_type(&type_name).selection.input(&type_name, item), Some((fetch, stage))))
    }

    /// Adds the steps of a way; the last one is that of the target.
    fn follow(&mut self, entry: &mut EntityEntry<'_, '_>, hops: &[KeyHop], target: HopTarget<'_>) -> Result<usize, PlanFault> {
        let type_name = entry.at.type_name.to_string();
        let mut previous: Option<usize> = None;
        let mut target = Some(target);
        for (index, hop) in hops.iter().enumerate() {
            let (mut inputs, mut after, mut stage) = (Vec::new(), BTreeSet::new(), 0);
            match previous.and_then(|step| entry.steps.0.get_mut(step)) {
                None => inputs.extend(hop.key.0.iter().map(|item| entry.upstream.input(&type_name, item))),
                Some(step) => {
                    after.insert(step.fetch);
                    stage = step.stage + 1;
                    let selection = &mut step.of_type(&type_name).selection;
                    inputs.extend(hop.key.0.iter().map(|item| selection.input(&type_name, item)));
                }
            }
            let mut key = type_name.as_str();
            if index + 1 == hops.len()
                && let Some(target) = target.take()
            {
                inputs.extend(target.inputs);
                after.extend(target.after);
                stage = stage.max(target.stage);
                key = target.key;
            }
            after.extend(entry.reader.fetch());
            previous = Some(self.step(entry.steps, hop.source, stage, key)?);
            if let Some(step) = previous.and_then(|step| entry.steps.0.get_mut(step)) {
                step.after.extend(after);
                let of_type = step.of_type(&type_name);
                inputs.into_iter().for_each(|input| {
                    if !of_type.inputs.contains(&input) {
                        of_type.inputs.push(input);
                    }
                });
            }
        }
        previous.ok_or(PlanFault::Unreachable(type_name))
    }

    fn step(&mut self, steps: &mut EntitySteps, source: usize, stage: usize, key: &str) -> Result<usize, PlanFault> {
        if let Some(at) = steps.0.iter().position(|step| step.source == source && step.stage == stage) {
            return Ok(at);
        }
        let fetch = self.reserve()?;
        steps.0.push(EntityStep { source, stage, fetch, after: BTreeSet::new(), key: key.to_owned(), types: Vec::new() });
        Ok(steps.0.len() - 1)
    }

    /// Writes the requests for entities at a place.
    pub(super) fn close_entities(&mut self, place: &[PlaceStep], steps: EntitySteps) {
        for step in steps.0 {
            let mut selection = UpstreamSelection::default();
            let mut inputs: HashMap<String, Vec<InputField>> = HashMap::new();
            for of_type in step.types {
                selection.add_fragment(&of_type.type_name, of_type.selection);
                inputs.insert(of_type.type_name, of_type.inputs);
            }
            let (text, variables) = self.entities_text(&selection);
            let work = FetchWork::Entities { text, variables, inputs };
            let after = step.after.into_iter().collect();
            self.fill(
                step.fetch,
                PlannedFetch { source: step.source, place: place.to_vec(), types: Vec::new(), after, key: step.key, work },
            );
        }
    }
}

impl EntityStep {
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

/// The objects at a place on their way to another subgraph.
struct EntityEntry<'p, 's> {
    at: &'p ObjectsAt<'p>,
    reader: &'p Reader,
    steps: &'s mut EntitySteps,
    /// What the subgraph that has the objects is asked for.
    upstream: &'s mut UpstreamSelection,
    depth: usize,
}

/// What the last step of a way gets besides its key.
struct HopTarget<'k> {
    key: &'k str,
    inputs: Vec<InputField>,
    after: BTreeSet<usize>,
    stage: usize,
}

/// The shortest way from one subgraph to another, or back into the same one.
fn hops(subgraphs: &[EntitySource], type_name: &str, from: usize, to: usize) -> Option<Vec<KeyHop>> {
    let key_between = |from: usize, to: usize| {
        let (from, to) = (subgraphs.get(from)?, subgraphs.get(to)?);
        to.types.get(type_name)?.keys.iter().find(|key| from.supplies(type_name, key)).cloned()
    };
    let mut came_from: HashMap<usize, (usize, FieldSet)> = HashMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(current) = queue.pop_front() {
        for next in 0..subgraphs.len() {
            if came_from.contains_key(&next) || (next == from && next != to) {
                continue;
            }
            let Some(key) = key_between(current, next) else { continue };
            came_from.insert(next, (current, key));
            if next == to {
                return Some(way(&came_from, from, to));
            }
            queue.push_back(next);
        }
    }
    None
}

fn way(came_from: &HashMap<usize, (usize, FieldSet)>, from: usize, to: usize) -> Vec<KeyHop> {
    let mut hops = Vec::new();
    let mut current = to;
    while let Some((previous, key)) = came_from.get(&current) {
        hops.push(KeyHop { source: current, key: key.clone() });
        current = *previous;
        if current == from || hops.len() > came_from.len() {
            break;
        }
    }
    hops.reverse();
    hops
}
