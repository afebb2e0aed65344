//! Which subgraphs can be reached from an object, by keys, and what can be gathered on the way.

use std::cell::{Cell, RefCell};

use apollo_compiler::Name;
use apollo_compiler::collections::{HashMap, HashSet};

use super::{ROOTS, STEPS_MAX, Way};
use crate::field_set::SelectedField;
use crate::merge::Merged;
use crate::source::{SourceField, SourceKey, SubgraphSource};

/// Which subgraphs can be reached from where.
pub(super) struct Reachable<'s> {
    pub(super) sources: &'s [SubgraphSource],
    pub(super) merged: &'s Merged,
    /// By type: for each subgraph that has it, the subgraphs that are reached from there.
    known: HashMap<Name, HashMap<usize, Vec<usize>>>,
    /// The implementations of interfaces that some subgraph has as objects.
    implementations: HashMap<&'s Name, Vec<&'s Name>>,
    /// Each interface and union with an object type that some subgraph knows to be one of its types.
    subtypes: HashSet<(&'s Name, &'s Name)>,
    /// Whether all below a field of a set can be had: by the field, the type that has it, and the subgraph that resolves it.
    gathered: RefCell<HashMap<(*const SelectedField, Name, usize), bool>>,
    steps: Cell<usize>,
}

impl<'s> Reachable<'s> {
    pub(super) fn new(sources: &'s [SubgraphSource], merged: &'s Merged) -> Self {
        let mut implementations: HashMap<&Name, Vec<&Name>> = HashMap::default();
        for name in merged.schema.types.keys() {
            for interface in merged.interfaces_with_objects(name) {
                implementations.entry(interface).or_default().push(name);
            }
        }
        let mut subtypes: HashSet<(&Name, &Name)> = sources.iter().flat_map(SubgraphSource::subtypes).collect();
        subtypes.extend(implementations.iter().flat_map(|(interface, objects)| objects.iter().map(|object| (*interface, *object))));
        let (known, gathered, steps) = (HashMap::default(), RefCell::default(), Cell::new(0));
        let mut reach = Reachable { sources, merged, known, implementations, subtypes, gathered, steps };
        for (name, ty) in &merged.schema.types {
            if !ty.is_object() || ty.is_built_in() {
                continue;
            }
            let holders: Vec<usize> = (0..sources.len()).filter(|source| reach.has(*source, name)).collect();
            let is_root = ROOTS.contains(&name.as_str());
            let from = |source: usize| if is_root { holders.to_vec() } else { vec![source] };
            let all = holders.iter().map(|source| (*source, from(*source))).collect();
            reach.known.insert(name.clone(), all);
        }
        reach
    }

    /// Follows keys until nothing new is reached. What is reached only grows, and a round without growth ends it.
    pub(super) fn complete(&mut self) {
        let names: Vec<Name> = self.known.keys().cloned().collect();
        let mut grows = true;
        while grows && !self.is_exhausted() {
            grows = false;
            for name in &names {
                grows |= self.complete_type(name);
            }
        }
    }

    /// Whether more subgraphs are reached than before.
    fn complete_type(&mut self, name: &Name) -> bool {
        let holders: Vec<usize> = self.known.get(name).map(|of| of.keys().copied().collect()).unwrap_or_default();
        let mut grows = false;
        for source in holders {
            let before = self.from(name, source).cloned().unwrap_or_default();
            let count = before.len();
            let after = self.closed(name, before, source, &[]);
            if after.len() > count {
                grows = true;
                self.known.entry(name.clone()).or_default().insert(source, after);
                self.gathered.get_mut().clear();
            }
        }
        grows
    }

    /// Counts work.
    pub(super) fn step(&self, count: usize) {
        self.steps.set(self.steps.get().saturating_add(count));
    }

    /// Whether the work is more than what subgraphs of people need.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > STEPS_MAX
    }

    pub(super) fn from(&self, ty: &Name, source: usize) -> Option<&Vec<usize>> {
        self.known.get(ty)?.get(&source)
    }

    /// What is reached from an object of a type that comes by a way.
    pub(super) fn by_way(&self, ty: &Name, way: Way<'_>) -> Vec<usize> {
        let known = self.from(ty, way.source).cloned().unwrap_or_else(|| vec![way.source]);
        if way.provided.is_empty() { known } else { self.closed(ty, known, way.source, way.provided) }
    }

    /// Adds to a set of subgraphs those that the keys lead to that can be made in the set.
    fn closed(&self, ty: &Name, mut reached: Vec<usize>, source: usize, provided: &[SelectedField]) -> Vec<usize> {
        let mut open: Vec<usize> = self.known.get(ty).map(|of| of.keys().copied().collect()).unwrap_or_default();
        let mut is_reached: HashSet<usize> = reached.iter().copied().collect();
        loop {
            open.retain(|to| !is_reached.contains(to));
            self.step(open.len());
            let leads = |to: &usize| {
                self.keys(*to, ty).any(|key| key.is_resolvable && self.gathers(&key.set.selected, ty, &reached, source, provided))
            };
            let found: Vec<usize> = open.iter().copied().filter(leads).collect();
            if found.is_empty() || self.is_exhausted() {
                return reached;
            }
            for to in found {
                if is_reached.contains(&to) {
                    continue;
                }
                let further = self.from(ty, to).into_iter().flatten().copied();
                reached.extend(std::iter::once(to).chain(further).filter(|source| is_reached.insert(*source)));
            }
        }
    }

    /// Whether a subgraph has objects of a type, by itself or as an interface object.
    pub(super) fn has(&self, source: usize, ty: &str) -> bool {
        let Some(of) = self.sources.get(source) else { return false };
        of.types.contains_key(ty) || self.interface_objects(source, ty).next().is_some()
    }

    /// The interfaces of an object type that the subgraph has as objects.
    fn interface_objects(&self, source: usize, ty: &str) -> impl Iterator<Item = &'s Name> {
        let sources = self.sources;
        let interfaces = self.merged.interfaces_with_objects(ty).iter();
        interfaces.filter(move |interface| {
            sources.get(source).and_then(|of| of.types.get(*interface)).is_some_and(|ty| ty.is_interface_object)
        })
    }

    pub(super) fn keys(&self, source: usize, ty: &str) -> impl Iterator<Item = &'s SourceKey> {
        let types = self.sources.get(source).map(|source| &source.types);
        let own = types.and_then(|types| types.get(ty)).into_iter();
        let of_interfaces =
            self.interface_objects(source, ty).filter_map(move |interface| types.and_then(|types| types.get(interface)));
        own.chain(of_interfaces).flat_map(|ty| &ty.keys)
    }

    pub(super) fn field(&self, source: usize, ty: &str, field: &str) -> Option<&'s SourceField> {
        let types = &self.sources.get(source)?.types;
        let own = types.get(ty).and_then(|ty| ty.fields.get(field));
        own.or_else(|| self.interface_objects(source, ty).find_map(|interface| types.get(interface)?.fields.get(field)))
    }

    pub(super) fn resolved(&self, source: usize, ty: &str, field: &str) -> Option<&'s SourceField> {
        self.field(source, ty, field).filter(|field| field.is_resolved())
    }

    /// Whether the fields can be had from the subgraphs reached. A field set is not deep, which limits the recursion.
    pub(super) fn gathers(
        &self,
        fields: &[SelectedField],
        ty: &Name,
        reached: &[usize],
        source: usize,
        provided: &[SelectedField],
    ) -> bool {
        fields.iter().filter(|field| self.applies(field, ty)).all(|field| {
            self.step(reached.len());
            let here = provided.iter().find(|of| of.name == field.name);
            if here.is_some_and(|of| self.below(field, ty, source, &of.selected)) {
                return true;
            }
            reached.iter().any(|from| self.resolved(*from, ty, &field.name).is_some() && self.below(field, ty, *from, &[]))
        })
    }

    /// Whether a subgraph that resolves a field has a way to all that is selected below it.
    fn below(&self, field: &SelectedField, ty: &Name, source: usize, provided: &[SelectedField]) -> bool {
        if field.selected.is_empty() {
            return true;
        }
        // Without this, a nested key would be followed into each subgraph at each level.
        let id = (std::ptr::from_ref(field), ty.clone(), source);
        if provided.is_empty()
            && let Some(gathers) = self.gathered.borrow().get(&id)
        {
            return *gathers;
        }
        let Some(of) = self.field(source, ty, &field.name) else { return false };
        let gathers = self.possible(source, of.definition.ty.inner_named_type()).into_iter().all(|object| {
            let only_this = [source];
            let reached = self.from(object, source).map_or(only_this.as_slice(), Vec::as_slice);
            self.gathers(&field.selected, object, reached, source, provided)
        });
        if provided.is_empty() {
            self.gathered.borrow_mut().insert(id, gathers);
        }
        gathers
    }

    /// Whether a field of a set is selected for objects of a type: its parent is the type or one of its interfaces and unions.
    pub(super) fn applies(&self, field: &SelectedField, ty: &Name) -> bool {
        field.parent == *ty || self.subtypes.contains(&(&field.parent, ty))
    }

    /// The object types that a type of a subgraph can stand for.
    pub(super) fn possible(&self, source: usize, ty: &Name) -> Vec<&'s Name> {
        let Some(of) = self.sources.get(source) else { return Vec::new() };
        if of.types.get(ty).is_some_and(|ty| ty.is_interface_object) {
            return self.implementations.get(ty).cloned().unwrap_or_default();
        }
        of.possible_types(ty).iter().collect()
    }
}
