//! Equality of JSON values: numbers by value, objects in any order of their members. Lists of values are searched by a hash that equal values
//! share, keyed at random, so that no client can make many values share one by intent.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;

use crate::number::Exact;
use crate::tree::{JsonTree, Member, member};

/// Up to so many values are compared one by one.
const COMPARED_MAX: usize = 8;

/// Whether two values are equal.
pub(crate) fn equal(one: &JsonTree<'_>, other: &JsonTree<'_>) -> bool {
    match (one, other) {
        (JsonTree::Null, JsonTree::Null) => true,
        (JsonTree::Bool(one), JsonTree::Bool(other)) => one == other,
        (JsonTree::Number(one), JsonTree::Number(other)) => Exact::of(one) == Exact::of(other),
        (JsonTree::Items(one), JsonTree::Items(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (JsonTree::Members(one), JsonTree::Members(other)) => {
            let has_equal = |(name, value): &Member<'_>| member(other, name).is_some_and(|found| equal(value, found));
            one.len() == other.len() && one.iter().all(has_equal)
        }
        (one, other) => one.as_text().is_some_and(|text| other.as_text() == Some(text)),
    }
}

/// Steps that a comparison of a value takes: its parts, and a share of its text.
pub(crate) fn size(value: &JsonTree<'_>) -> u64 {
    match value {
        JsonTree::Items(items) => items.iter().fold(1, |sum, item| sum + size(item)),
        JsonTree::Members(members) => members.iter().fold(1, |sum, (name, value)| sum + 1 + name.len() as u64 / 64 + size(value)),
        value => 1 + value.as_text().map_or(0, |text| text.len() as u64 / 64),
    }
}

fn hash(value: &JsonTree<'_>, random: &RandomState) -> u64 {
    let mut state = random.build_hasher();
    match value {
        JsonTree::Null => 0_u8.hash(&mut state),
        JsonTree::Bool(truth) => (1_u8, truth).hash(&mut state),
        JsonTree::Number(number) => (2_u8, Exact::of(number)).hash(&mut state),
        JsonTree::Text(_) | JsonTree::Unescaped(_) => (3_u8, value.as_text()).hash(&mut state),
        JsonTree::Items(items) => {
            (4_u8, items.len()).hash(&mut state);
            items.iter().for_each(|item| hash(item, random).hash(&mut state));
        }
        JsonTree::Members(members) => {
            // A sum does not depend on the order.
            let of_member = |(name, value): &Member<'_>| random.hash_one((name.as_ref(), hash(value, random)));
            (5_u8, members.iter().map(of_member).fold(0_u64, u64::wrapping_add)).hash(&mut state);
        }
    }
    state.finish()
}

/// The indexes of the first two equal values.
pub(crate) fn duplicates(items: &[JsonTree<'_>]) -> Option<(usize, usize)> {
    let random = RandomState::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        // The next place for a value whose hash another one has.
        let mut place = hash(item, &random);
        while let Some(first) = seen.get(&place) {
            if items.get(*first).is_some_and(|first| equal(first, item)) {
                return Some((*first, index));
            }
            place = place.wrapping_add(1);
        }
        seen.insert(place, index);
    }
    None
}

/// The values of `enum`.
#[derive(Debug)]
pub(crate) struct AllowedValues {
    written: Vec<Value>,
    trees: Vec<JsonTree<'static>>,
    /// Where the values are, if there are many.
    places: HashMap<u64, Vec<usize>>,
    random: RandomState,
}

impl AllowedValues {
    pub(crate) fn new(written: &[Value]) -> Self {
        let random = RandomState::new();
        let trees: Vec<_> = written.iter().map(|value| owned(&JsonTree::of(value))).collect();
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        if trees.len() > COMPARED_MAX {
            trees.iter().enumerate().for_each(|(index, value)| places.entry(hash(value, &random)).or_default().push(index));
        }
        AllowedValues { written: written.to_vec(), trees, places, random }
    }

    pub(crate) fn has(&self, value: &JsonTree<'_>) -> bool {
        if self.places.is_empty() {
            return self.trees.iter().any(|allowed| equal(allowed, value));
        }
        let places = self.places.get(&hash(value, &self.random));
        places.into_iter().flatten().any(|place| self.trees.get(*place).is_some_and(|allowed| equal(allowed, value)))
    }

    pub(crate) fn has_text(&self, text: &str) -> bool {
        self.has(&JsonTree::Text(text))
    }

    pub(crate) fn written(&self) -> &[Value] {
        &self.written
    }

    /// Whether none of them is a list or an object.
    pub(crate) fn are_scalars(&self) -> bool {
        self.written.iter().all(|value| !value.is_array() && !value.is_object())
    }
}

fn owned(value: &JsonTree<'_>) -> JsonTree<'static> {
    match value {
        JsonTree::Null => JsonTree::Null,
        JsonTree::Bool(truth) => JsonTree::Bool(*truth),
        JsonTree::Number(number) => JsonTree::Number(number.clone()),
        JsonTree::Text(text) => JsonTree::Unescaped((*text).into()),
        JsonTree::Unescaped(text) => JsonTree::Unescaped(text.clone()),
        JsonTree::Items(items) => JsonTree::Items(items.iter().map(owned).collect()),
        JsonTree::Members(members) => {
            JsonTree::Members(members.iter().map(|(name, value)| (name.clone().into_owned().into(), owned(value))).collect())
        }
    }
}
