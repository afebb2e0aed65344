//! Which subgraphs can be reached from an object, by keys, and what can be gathered on the way.

use apollo_compiler::Name;
use apollo_compiler::collections::{HashMap, IndexSet};

use super::{ROOTS, Way};
use crate::field_set::SelectedField;
use crate::merge::Merged;
use crate::source::{SourceField, SourceKey, SubgraphSource};

/// Which subgraphs can be reached from where.
pub(super) struct Reachable<'s> {
    pub(super) sources: &'s [SubgraphSource],
    pub(super) merged: &'s Merged,
    /// By type: for each subgraph that has it, the subgraphs that are reached from there.
    known: HashMap<Name, HashMap<usize, IndexSet<usize>>>,
}

impl<'s> Reachable<'s> {
    pub(super) fn new(sources: &'s [SubgraphSource], merged: &'s Merged) -> Self {
        let mut reach = Reachable { sources, merged, known: HashMap::default() };
        for (name, ty) in &merged.schema.types {
            if !ty.is_object() || ty.is_built_in() {
                continue;
            }
            let holders: Vec<usize> = (0..sources.len()).filter(|source| reach.has(*source, name)).collect();
            let is_root = ROOTS.contains(&name.as_str());
            let from = |source: usize| if is_root { holders.iter().copied().collect() } else { IndexSet::from_iter([source]) };
            let all = holders.iter().map(|source| (*source, from(*source))).collect();
            reach.known.insert(name.clone(), all);
        }
        reach
    }

    /// Follows keys until nothing new is reached. What is reached only grows, and a round without growth ends it.
    pub(super) fn complete(&mut self) {
        let names: Vec<Name> = self.known.keys().cloned().collect();
        let mut grows = true;
        while grows {
            grows = false;
            for name in &names {
                let holders: Vec<usize> = self.known.get(name).map(|of| of.keys().copied().collect()).unwrap_or_default();
                for source in holders.iter().copied() {
                    let before = self.from(name, source).cloned().unwrap_or_default();
                    let after = self.closed(name, before.clone(), source, &[]);
                    if after.len() > before.len() {
                        grows = true;
                        self.known.entry(name.clone()).or_default().insert(source, after);
                    }
                }
            }
        }
    }

    pub(super) fn from(&self, ty: &Name, source: usize) -> Option<&IndexSet<usize>> {
        self.known.get(ty)?.get(&source)
    }

    /// What is reached from an object of a type that comes by a way.
    pub(super) fn by_way(&self, ty: &Name, way: Way<'_>) -> IndexSet<usize> {
        let known = self.from(ty, way.source).cloned().unwrap_or_else(|| IndexSet::from_iter([way.source]));
        if way.provided.is_empty() { known } else { self.closed(ty, known, way.source, way.provided) }
    }

    /// Adds to a set of subgraphs those that the keys lead to that can be made in the set.
    fn closed(&self, ty: &Name, mut reached: IndexSet<usize>, source: usize, provided: &[SelectedField]) -> IndexSet<usize> {
        let holders: Vec<usize> = self.known.get(ty).map(|of| of.keys().copied().collect()).unwrap_or_default();
        loop {
            let leads = |to: &usize| {
                self.keys(*to, ty).any(|key| key.is_resolvable && self.gathers(&key.set.selected, ty, &reached, source, provided))
            };
            let found: Vec<usize> = holders.iter().copied().filter(|to| !reached.contains(to)).filter(leads).collect();
            if found.is_empty() {
                return reached;
            }
            reached.extend(found);
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
        reached: &IndexSet<usize>,
        source: usize,
        provided: &[SelectedField],
    ) -> bool {
        fields.iter().filter(|field| self.applies(field, ty)).all(|field| {
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
        let Some(of) = self.field(source, ty, &field.name) else { return false };
        self.possible(source, of.definition.ty.inner_named_type()).into_iter().all(|object| {
            let only_this = IndexSet::from_iter([source]);
            let reached = self.from(object, source).unwrap_or(&only_this);
            self.gathers(&field.selected, object, reached, source, provided)
        })
    }

    /// Whether a field of a set is selected for objects of a type: its parent is the type or one of its interfaces and unions.
    pub(super) fn applies(&self, field: &SelectedField, ty: &Name) -> bool {
        field.parent == *ty || self.merged.schema.get_object(&field.parent).is_none()
    }

    /// The object types that a type of a subgraph can stand for.
    pub(super) fn possible(&self, source: usize, ty: &str) -> Vec<&'s Name> {
        let Some(of) = self.sources.get(source) else { return Vec::new() };
        if of.types.get(ty).is_some_and(|ty| ty.is_interface_object) {
            let objects = self.merged.schema.types.iter().filter(|(_, object)| {
                object.is_object() && self.merged.interfaces_with_objects(object.name()).iter().any(|interface| interface == ty)
            });
            return objects.map(|(name, _)| name).collect();
        }
        let known = of.possible_types(ty).iter();
        known.filter_map(|name| self.merged.schema.types.get_key_value(name).map(|(name, _)| name)).collect()
    }
}
