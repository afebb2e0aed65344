//! Ways from the subgraphs that have an object to others, by keys. Parts of a key may come from several subgraphs.

use super::{ObjectReader, ObjectWay};
use crate::field_set::{FieldSet, FieldSetItem};
use crate::graph::EntitySource;

/// Who gives a part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySupplier {
    /// One of the answers that have the object.
    Way(usize),
    /// A subgraph that the route has entered before.
    Hop(usize),
}

/// Into a subgraph by a key.
#[derive(Clone, Debug)]
pub(crate) struct KeyHop {
    pub source: usize,
    pub key: Vec<(FieldSetItem, KeySupplier)>,
}

/// How an object is found in other subgraphs.
pub(crate) struct RouteSearch<'s> {
    pub subgraphs: &'s [EntitySource],
    pub type_name: &'s str,
    pub ways: &'s [ObjectWay],
    /// Whether it is the root type, which needs no key.
    pub is_root: bool,
    /// Whether fields below those of a key may come from further subgraphs.
    pub is_deep: bool,
}

impl RouteSearch<'_> {
    /// The subgraphs that are entered to get to one, in their order; the last one is the target.
    pub(crate) fn to(&self, target: usize) -> Option<Vec<KeyHop>> {
        let mut hops: Vec<KeyHop> = Vec::new();
        loop {
            // The target first: the shortest route is wanted.
            if let Some(hop) = self.hop(target, &hops) {
                hops.push(hop);
                return Some(pruned(&hops));
            }
            let is_new = |source: &usize| *source != target && !hops.iter().any(|hop| hop.source == *source);
            let found: Vec<KeyHop> =
                (0..self.subgraphs.len()).filter(is_new).filter_map(|source| self.hop(source, &hops)).collect();
            let found: Vec<KeyHop> = found.into_iter().filter(|hop| !self.is_own(hop.source)).collect();
            if found.is_empty() {
                return None;
            }
            hops.extend(found);
        }
    }

    fn is_own(&self, subgraph: usize) -> bool {
        self.ways.iter().any(|way| matches!(way.reader, ObjectReader::Operation { source, .. } if source == subgraph))
    }

    /// A hop into a subgraph from what is known after some others.
    fn hop(&self, source: usize, known: &[KeyHop]) -> Option<KeyHop> {
        let of = self.subgraphs.get(source)?.types.get(self.type_name)?;
        if self.is_root {
            return Some(KeyHop { source, key: Vec::new() });
        }
        let of_key = |key: &FieldSet| {
            let items = key.0.iter().map(|item| Some((item.clone(), self.supplier(item, known)?)));
            items.collect::<Option<Vec<_>>>()
        };
        of.keys.iter().find_map(of_key).map(|key| KeyHop { source, key })
    }

    fn supplier(&self, item: &FieldSetItem, known: &[KeyHop]) -> Option<KeySupplier> {
        let top = FieldSetItem { fields: FieldSet::default(), ..item.clone() };
        let item = if self.is_deep { &top } else { item };
        if let Some(way) = supplying_way(self.subgraphs, self.type_name, item, self.ways) {
            return Some(KeySupplier::Way(way));
        }
        let set = FieldSet(vec![item.clone()]);
        let supplies =
            |hop: &KeyHop| self.subgraphs.get(hop.source).is_some_and(|of| of.supplies(self.type_name, &set, &FieldSet::default()));
        known.iter().position(supplies).map(KeySupplier::Hop)
    }
}

/// The first of several ways whose subgraph has a field with all below it.
pub(crate) fn supplying_way(subgraphs: &[EntitySource], type_name: &str, item: &FieldSetItem, ways: &[ObjectWay]) -> Option<usize> {
    let set = FieldSet(vec![item.clone()]);
    ways.iter().position(|way| match &way.reader {
        ObjectReader::Operation { source, provided, .. } => {
            subgraphs.get(*source).is_some_and(|subgraph| subgraph.supplies(type_name, &set, provided))
        }
        ObjectReader::Raw { .. } => false,
    })
}

/// Leaves out hops that the last one does not need.
fn pruned(hops: &[KeyHop]) -> Vec<KeyHop> {
    let mut needed = vec![false; hops.len()];
    if let Some(last) = needed.last_mut() {
        *last = true;
    }
    for (index, hop) in hops.iter().enumerate().rev() {
        if needed.get(index) != Some(&true) {
            continue;
        }
        for (_, supplier) in &hop.key {
            if let KeySupplier::Hop(before) = supplier
                && let Some(before) = needed.get_mut(*before)
            {
                *before = true;
            }
        }
    }
    let number = |index: usize| needed.iter().take(index).filter(|needed| **needed).count();
    let renumbered = |hop: &KeyHop| {
        let key = hop.key.iter().map(|(item, supplier)| match supplier {
            KeySupplier::Hop(before) => (item.clone(), KeySupplier::Hop(number(*before))),
            way => (item.clone(), *way),
        });
        KeyHop { source: hop.source, key: key.collect() }
    };
    hops.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(hop, _)| renumbered(hop)).collect()
}
