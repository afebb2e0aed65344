//! Whether every query that the composed schema allows can be answered: from each place where a subgraph returns an object, all other fields
//! of the object must be reachable, by keys that are known there. The search goes over pairs of a type and a subgraph, not over queries, so
//! that its work is limited by the sizes of the schemas.

use apollo_compiler::Name;
use apollo_compiler::collections::{HashMap, HashSet, IndexSet};

use crate::field_set::SelectedField;
use crate::finding::FindingList;
use crate::merge::Merged;
use crate::source::{SourceField, SourceKey, SubgraphSource};

/// Checks all paths from the root types.
pub(crate) fn check(sources: &[SubgraphSource], merged: &Merged, findings: &mut FindingList) {
    let mut reach = Reachable::new(sources, merged);
    reach.complete();
    let mut walk = PathSearch {
        reach: &reach,
        expanded: HashSet::default(),
        seen: HashSet::default(),
        told: HashSet::default(),
        open: Vec::new(),
    };
    for root in ROOTS {
        for source in 0..sources.len() {
            if reach.has(source, root) {
                let Some((name, _)) = merged.schema.types.get_key_value(root) else { continue };
                walk.add(ReturnedObject { ty: name, source, provided: &[], from: None });
            }
        }
    }
    while let Some(place) = walk.open.pop() {
        walk.visit(place, findings);
    }
}

const ROOTS: [&str; 3] = ["Query", "Mutation", "Subscription"];

/// Which subgraphs can be reached from where.
struct Reachable<'s> {
    sources: &'s [SubgraphSource],
    merged: &'s Merged,
    /// By type: for each subgraph that has it, the subgraphs that are reached from there.
    known: HashMap<Name, HashMap<usize, IndexSet<usize>>>,
}

/// An object of a type as a subgraph returns it. The name of the type is the composed schema's.
#[derive(Clone, Copy)]
struct ReturnedObject<'s> {
    ty: &'s Name,
    source: usize,
    /// External fields that the subgraph resolves here.
    provided: &'s [SelectedField],
    /// The field that returns it, and its parent.
    from: Option<(&'s Name, &'s Name)>,
}

impl<'s> Reachable<'s> {
    fn new(sources: &'s [SubgraphSource], merged: &'s Merged) -> Self {
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
    fn complete(&mut self) {
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

    fn from(&self, ty: &Name, source: usize) -> Option<&IndexSet<usize>> {
        self.known.get(ty)?.get(&source)
    }

    /// What is reached from a place.
    fn at_place(&self, place: ReturnedObject<'s>) -> IndexSet<usize> {
        let known = self.from(place.ty, place.source).cloned().unwrap_or_else(|| IndexSet::from_iter([place.source]));
        if place.provided.is_empty() { known } else { self.closed(place.ty, known, place.source, place.provided) }
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
    fn has(&self, source: usize, ty: &str) -> bool {
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

    fn keys(&self, source: usize, ty: &str) -> impl Iterator<Item = &'s SourceKey> {
        let types = self.sources.get(source).map(|source| &source.types);
        let own = types.and_then(|types| types.get(ty)).into_iter();
        let of_interfaces =
            self.interface_objects(source, ty).filter_map(move |interface| types.and_then(|types| types.get(interface)));
        own.chain(of_interfaces).flat_map(|ty| &ty.keys)
    }

    fn field(&self, source: usize, ty: &str, field: &str) -> Option<&'s SourceField> {
        let types = &self.sources.get(source)?.types;
        let own = types.get(ty).and_then(|ty| ty.fields.get(field));
        own.or_else(|| self.interface_objects(source, ty).find_map(|interface| types.get(interface)?.fields.get(field)))
    }

    fn resolved(&self, source: usize, ty: &str, field: &str) -> Option<&'s SourceField> {
        self.field(source, ty, field).filter(|field| field.is_resolved())
    }

    /// Whether the fields can be had from the subgraphs reached. A field set is not deep, which limits the recursion.
    fn gathers(
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
    fn applies(&self, field: &SelectedField, ty: &Name) -> bool {
        field.parent == *ty || self.merged.schema.get_object(&field.parent).is_none()
    }

    /// The object types that a type of a subgraph can stand for.
    fn possible(&self, source: usize, ty: &str) -> Vec<&'s Name> {
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

/// The search.
struct PathSearch<'r, 's> {
    reach: &'r Reachable<'s>,
    /// Places that were seen: type, subgraph and what is provided there.
    seen: HashSet<(&'s Name, usize, *const SelectedField)>,
    /// Types that a field returns, as far as their possible types were added.
    expanded: HashSet<(&'s Name, usize, *const SelectedField)>,
    /// Fields that were reported.
    told: HashSet<(&'s Name, &'s Name)>,
    open: Vec<ReturnedObject<'s>>,
}

impl<'s> PathSearch<'_, 's> {
    fn add(&mut self, place: ReturnedObject<'s>) {
        if self.seen.insert((place.ty, place.source, provided_id(place.provided))) {
            self.open.push(place);
        }
    }

    fn visit(&mut self, place: ReturnedObject<'s>, findings: &mut FindingList) {
        let reach = self.reach;
        let Some(object) = reach.merged.schema.get_object(place.ty) else { return };
        let reached = reach.at_place(place);
        for name in object.fields.keys() {
            let mut is_found = false;
            if let Some(provided) =
                place.provided.iter().find(|provided| provided.name == *name && reach.applies(provided, place.ty))
            {
                is_found = true;
                self.expand(place, name, place.source, &provided.selected, findings);
            }
            for source in reached.iter().copied() {
                let Some(field) = reach.resolved(source, place.ty, name) else { continue };
                if !self.requirements_met(place, field, source, &reached) {
                    continue;
                }
                is_found = true;
                let provided = field.provides.as_ref().map(|provides| provides.selected.as_slice()).unwrap_or_default();
                self.expand(place, name, source, provided, findings);
            }
            if !is_found && self.told.insert((place.ty, name)) {
                self.tell(place, name, findings);
            }
        }
    }

    /// A field that requires others is asked for with a representation: there must be a key, and the others must be known before.
    fn requirements_met(&self, place: ReturnedObject<'s>, field: &SourceField, source: usize, reached: &IndexSet<usize>) -> bool {
        let Some(requires) = &field.requires else { return true };
        let reach = self.reach;
        let gathers = |fields: &[SelectedField]| reach.gathers(fields, place.ty, reached, place.source, place.provided);
        let is_root = ROOTS.contains(&place.ty.as_str());
        gathers(&requires.selected)
            && (is_root || reach.keys(source, place.ty).any(|key| key.is_resolvable && gathers(&key.set.selected)))
    }

    /// Adds the objects that a field returns.
    fn expand(
        &mut self,
        place: ReturnedObject<'s>,
        name: &'s Name,
        source: usize,
        provided: &'s [SelectedField],
        findings: &mut FindingList,
    ) {
        let reach = self.reach;
        let Some(field) = reach.field(source, place.ty, name) else { return };
        let ty = field.definition.ty.inner_named_type();
        if !self.expanded.insert((ty, source, provided_id(provided))) {
            return;
        }
        let possible = reach.possible(source, ty);
        let is_interface_object = |of: &SubgraphSource| of.types.get(ty).is_some_and(|ty| ty.is_interface_object);
        if reach.sources.get(source).is_some_and(is_interface_object) {
            self.type_is_known(ty, source, &possible, (place.ty, name), findings);
        }
        for object in possible {
            self.add(ReturnedObject { ty: object, source, provided, from: Some((place.ty, name)) });
        }
    }

    /// What an interface object is, only a subgraph with the interface knows.
    fn type_is_known(
        &self,
        interface: &Name,
        source: usize,
        possible: &[&'s Name],
        from: (&Name, &Name),
        findings: &mut FindingList,
    ) {
        let reach = self.reach;
        let knows = |of: &usize| {
            reach
                .sources
                .get(*of)
                .and_then(|of| of.types.get(interface))
                .is_some_and(|ty| ty.definition.is_interface() && !ty.keys.is_empty())
        };
        let reached = possible.first().and_then(|object| reach.from(object, source));
        if !reached.is_some_and(|reached| reached.iter().any(knows)) {
            let message = format!(
                "`{}.{}` returns `{interface}` as an interface object, and no key leads to a subgraph that knows which type it is",
                from.0, from.1
            );
            findings.error_of(self.name(source), None, message);
        }
    }

    fn tell(&self, place: ReturnedObject<'s>, name: &Name, findings: &mut FindingList) {
        let reach = self.reach;
        let holders: Vec<usize> =
            (0..reach.sources.len()).filter(|source| reach.resolved(*source, place.ty, name).is_some()).collect();
        let first = holders.first().copied();
        let origin = match place.from {
            Some((parent, field)) => format!("`{parent}.{field}` of the subgraph `{}`", self.name(place.source)),
            None => format!("the subgraph `{}`", self.name(place.source)),
        };
        let requires = first.and_then(|first| reach.resolved(first, place.ty, name)?.requires.as_ref());
        let why = match requires {
            Some(requires) => format!("neither its requirement `{}` nor a key for it can be had from there", requires.text),
            None => "no key that leads here can be had from there".to_owned(),
        };
        let message = format!("`{}.{name}` cannot be reached where {origin} returns `{}`: {why}", place.ty, place.ty);
        let declared = first.and_then(|first| reach.field(first, place.ty, name));
        findings.error_of(self.name(first.unwrap_or(place.source)), declared.and_then(SourceField::place), message);
    }

    fn name(&self, source: usize) -> &'s str {
        self.reach.sources.get(source).map(|source| source.name.as_str()).unwrap_or_default()
    }
}

/// What tells one provided set from another: where it is. No two sets that are not empty share a place.
fn provided_id(provided: &[SelectedField]) -> *const SelectedField {
    if provided.is_empty() { std::ptr::null() } else { provided.as_ptr() }
}
