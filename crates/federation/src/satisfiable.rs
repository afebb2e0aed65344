//! Whether every query that the composed schema allows can be answered: wherever an object is returned, all other fields of its type must be
//! reachable, by keys that are known there. Where several subgraphs return the same object, one of them must lead to the field. The search goes
//! over types and the subgraphs that return them, not over queries, and its work is limited.

use apollo_compiler::Name;
use apollo_compiler::collections::{HashMap, HashSet, IndexMap, IndexSet};

use crate::field_set::SelectedField;
use crate::finding::FindingList;
use crate::merge::Merged;
use crate::source::{SourceField, SubgraphSource};
use reachable::Reachable;

mod reachable;

/// Most steps of a search: a second or two. 100 entities that are in each of 30 subgraphs take 1.3 million; only schemas that are made for
/// it take more than this.
const STEPS_MAX: usize = 50_000_000;

const ROOTS: [&str; 3] = ["Query", "Mutation", "Subscription"];

/// Checks all paths from the root types.
pub(crate) fn check(sources: &[SubgraphSource], merged: &Merged, findings: &mut FindingList) {
    let mut reach = Reachable::new(sources, merged);
    reach.complete();
    let mut search = PathSearch::new(&reach);
    for root in ROOTS {
        let Some((name, _)) = merged.schema.types.get_key_value(root) else { continue };
        // From one root type, all subgraphs are reached.
        if let Some(source) = (0..sources.len()).find(|source| reach.has(*source, root)) {
            search.add(ReturnedObject { ty: name, ways: vec![Way { source, provided: &[] }], from: None });
        }
    }
    while let Some(object) = search.open.pop() {
        search.visit(&object, findings);
        if reach.is_exhausted() {
            findings.error(
                None,
                "the subgraphs depend on each other in so many ways that it cannot be checked whether all fields are reachable",
            );
            return;
        }
    }
}

/// How an object can come: the subgraph that returns it, and the external fields that this subgraph resolves there.
#[derive(Clone, Copy)]
struct Way<'s> {
    source: usize,
    provided: &'s [SelectedField],
}

/// What tells two ways apart. No two provided sets that are not empty are at one place.
type WayId = (usize, *const SelectedField);

impl Way<'_> {
    fn id(&self) -> WayId {
        (self.source, if self.provided.is_empty() { std::ptr::null() } else { self.provided.as_ptr() })
    }
}

/// An object of a type, and all ways by which it can come.
struct ReturnedObject<'s> {
    ty: &'s Name,
    ways: Vec<Way<'s>>,
    /// The field that returns it, with its parent.
    from: Option<(&'s Name, &'s Name)>,
}

/// The search.
struct PathSearch<'r, 's> {
    reach: &'r Reachable<'s>,
    /// The sets of subgraphs that are reached from somewhere, each once.
    sets: IndexSet<Vec<usize>>,
    /// Which of the sets is reached from an object of a type that comes by a way.
    reached: HashMap<(&'s Name, WayId), usize>,
    /// Objects that were seen, by type. If nothing is provided, ways are the same that reach the same subgraphs.
    seen: HashMap<&'s Name, Vec<Vec<WayId>>>,
    /// The returned types and ways of fields whose objects were added.
    expanded: HashSet<Vec<(&'s Name, WayId)>>,
    /// Fields that were reported.
    told: HashSet<(&'s Name, &'s Name)>,
    open: Vec<ReturnedObject<'s>>,
}

impl<'r, 's> PathSearch<'r, 's> {
    fn new(reach: &'r Reachable<'s>) -> Self {
        PathSearch {
            reach,
            sets: IndexSet::default(),
            reached: HashMap::default(),
            seen: HashMap::default(),
            expanded: HashSet::default(),
            told: HashSet::default(),
            open: Vec::new(),
        }
    }

    /// The set of subgraphs that are reached, by its number.
    fn set(&mut self, ty: &'s Name, way: Way<'s>) -> usize {
        if let Some(set) = self.reached.get(&(ty, way.id())) {
            return *set;
        }
        let mut members = self.reach.by_way(ty, way);
        members.sort_unstable();
        let (set, _) = self.sets.insert_full(members);
        self.reached.insert((ty, way.id()), set);
        set
    }

    /// Adds an object, unless one was seen that can come by some of the same ways only: all that leads further from there, does from here.
    fn add(&mut self, mut object: ReturnedObject<'s>) {
        let mut ids: IndexMap<WayId, Way<'s>> = IndexMap::default();
        for way in &object.ways {
            let set = self.set(object.ty, *way);
            ids.insert((set, way.id().1), *way);
        }
        ids.sort_unstable_keys();
        let seen = self.seen.entry(object.ty).or_default();
        self.reach.step(seen.len());
        if seen.iter().any(|seen| seen.iter().all(|way| ids.contains_key(way))) {
            return;
        }
        seen.push(ids.keys().copied().collect());
        object.ways = ids.into_values().collect();
        self.open.push(object);
    }

    fn visit(&mut self, object: &ReturnedObject<'s>, findings: &mut FindingList) {
        let reach = self.reach;
        let Some(definition) = reach.merged.schema.get_object(object.ty) else { return };
        let sets: Vec<usize> = object.ways.iter().map(|way| self.set(object.ty, *way)).collect();
        for (name, field) in &definition.fields {
            let mut next: Vec<(&'s Name, Way<'s>)> = Vec::new();
            let mut failing = None;
            for (way, set) in object.ways.iter().zip(&sets) {
                let Some(reached) = self.sets.get_index(*set) else { continue };
                reach.step(reached.len());
                let before = next.len();
                self.follow(object.ty, name, *way, reached, &mut next);
                if next.len() == before {
                    failing = Some(*way);
                }
            }
            // If another subgraph has the field for the same object, plans ask that one.
            if let Some(failing) = failing
                && self.told.insert((object.ty, name))
                && next.is_empty()
            {
                self.tell(object, name, failing, findings);
            }
            let is_leaf = reach.merged.schema.types.get(field.ty.inner_named_type()).is_none_or(|ty| ty.is_leaf());
            if !is_leaf {
                self.expand(object.ty, name, next);
            }
        }
    }

    /// The ways by which a field of an object comes, if the object comes by a way.
    fn follow(&self, ty: &Name, name: &Name, way: Way<'s>, reached: &[usize], next: &mut Vec<(&'s Name, Way<'s>)>) {
        let reach = self.reach;
        let provided = way.provided.iter().find(|provided| provided.name == *name && reach.applies(provided, ty));
        if let Some((provided, field)) = provided.and_then(|provided| Some((provided, reach.field(way.source, ty, name)?))) {
            next.push((field.definition.ty.inner_named_type(), Way { source: way.source, provided: &provided.selected }));
        }
        for source in reached.iter().copied() {
            let Some(field) = reach.resolved(source, ty, name) else { continue };
            let returned = field.definition.ty.inner_named_type();
            if self.requirements_met(ty, field, source, way, reached) && self.type_is_known(returned, source) {
                let provided = field.provides.as_ref().map(|provides| provides.selected.as_slice()).unwrap_or_default();
                next.push((returned, Way { source, provided }));
            }
        }
    }

    /// A field that requires others is asked for with a representation: there must be a key, and the others must be known before.
    fn requirements_met(&self, ty: &Name, field: &SourceField, source: usize, way: Way<'s>, reached: &[usize]) -> bool {
        let Some(requires) = &field.requires else { return true };
        let reach = self.reach;
        let gathers = |fields: &[SelectedField]| reach.gathers(fields, ty, reached, way.source, way.provided);
        let is_root = ROOTS.contains(&ty.as_str());
        gathers(&requires.selected)
            && (is_root || reach.keys(source, ty).any(|key| key.is_resolvable && gathers(&key.set.selected)))
    }

    /// What an interface object is, only a subgraph with the interface knows.
    fn type_is_known(&self, returned: &Name, source: usize) -> bool {
        let reach = self.reach;
        let of = |source: usize| reach.sources.get(source).and_then(|of| of.types.get(returned));
        if !of(source).is_some_and(|ty| ty.is_interface_object) {
            return true;
        }
        let Some(object) = reach.possible(source, returned).first().copied() else { return true };
        // Until the type is known, only keys of the interface itself lead anywhere.
        let others = (0..reach.sources.len()).filter_map(of).filter(|ty| ty.definition.is_interface());
        let mut keys = others.flat_map(|ty| &ty.keys).filter(|key| key.is_resolvable);
        keys.any(|key| reach.gathers(&key.set.selected, object, &[source], source, &[]))
    }

    /// Adds the objects that a field returns.
    fn expand(&mut self, ty: &'s Name, name: &'s Name, next: Vec<(&'s Name, Way<'s>)>) {
        let mut ids: Vec<(&'s Name, WayId)> = next.iter().map(|(returned, way)| (*returned, way.id())).collect();
        ids.sort_unstable();
        if !self.expanded.insert(ids) {
            return;
        }
        let mut objects: IndexMap<&'s Name, Vec<Way<'s>>> = IndexMap::default();
        for (returned, way) in next {
            let possible = self.reach.possible(way.source, returned);
            self.reach.step(possible.len());
            possible.into_iter().for_each(|object| objects.entry(object).or_default().push(way));
        }
        for (object, ways) in objects {
            self.add(ReturnedObject { ty: object, ways, from: Some((ty, name)) });
        }
    }

    /// Reports a field that cannot be reached.
    fn tell(&self, object: &ReturnedObject<'s>, name: &Name, way: Way<'s>, findings: &mut FindingList) {
        let reach = self.reach;
        let ty = object.ty;
        let first = (0..reach.sources.len()).find(|source| reach.resolved(*source, ty, name).is_some());
        let declared = first.and_then(|first| reach.resolved(first, ty, name));
        let place = declared.and_then(SourceField::place);
        let origin = match object.from {
            Some((parent, field)) => format!("`{parent}.{field}` of the subgraph `{}`", self.name(way.source)),
            None => format!("the subgraph `{}`", self.name(way.source)),
        };
        let interface = declared
            .map(|field| field.definition.ty.inner_named_type())
            .filter(|returned| !first.is_some_and(|first| self.type_is_known(returned, first)));
        let why = match (interface, declared.and_then(|field| field.requires.as_ref())) {
            (Some(interface), _) => {
                format!("it is the interface object `{interface}`, and no key leads to a subgraph that knows which type it is")
            }
            (None, Some(requires)) => format!("neither its requirement `{}` nor a key for it can be had from there", requires.text),
            (None, None) => "no key that leads here can be had from there".to_owned(),
        };
        let message = format!("`{ty}.{name}` cannot be reached where {origin} returns `{ty}`: {why}");
        findings.error_of(self.name(first.unwrap_or(way.source)), place, message);
    }

    fn name(&self, source: usize) -> &'s str {
        self.reach.sources.get(source).map(|source| source.name.as_str()).unwrap_or_default()
    }
}
