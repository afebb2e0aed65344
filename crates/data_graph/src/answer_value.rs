//! Values of answers while a query is executed. They take 24 bytes each, where `serde_json::Value` takes 72: names of members are shared, lists and
//! objects have no room to spare, and long lists are read in blocks, so that they never move.

mod reading;

use reading::AnswerListBuilder;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Items of a block of a long list.
const BLOCK_ITEMS: usize = 1024;
/// Objects with at most so many members are searched one by one.
const SEARCHED_MAX: usize = 32;

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnswerValue {
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    Items(Box<[AnswerValue]>),
    /// Blocks of [`BLOCK_ITEMS`], but for the last one.
    LongItems(Box<[Box<[AnswerValue]>]>),
    Members(AnswerMembers),
}

/// The members of an object, in the order in which they came. No name occurs twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AnswerMembers(Box<[(Arc<str>, AnswerValue)]>);

impl AnswerValue {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, AnswerValue::Null)
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self, AnswerValue::Items(_) | AnswerValue::LongItems(_))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            AnswerValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn members(&self) -> Option<&AnswerMembers> {
        match self {
            AnswerValue::Members(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn members_mut(&mut self) -> Option<&mut AnswerMembers> {
        match self {
            AnswerValue::Members(members) => Some(members),
            _ => None,
        }
    }

    /// A member of an object.
    pub(crate) fn member(&self, name: &str) -> Option<&AnswerValue> {
        self.members()?.get(name)
    }

    pub(crate) fn member_mut(&mut self, name: &str) -> Option<&mut AnswerValue> {
        self.members_mut()?.get_mut(name)
    }

    /// The items of a list; none of any other value.
    pub(crate) fn items(&self) -> impl Iterator<Item = &AnswerValue> {
        let (short, long): (&[AnswerValue], &[Box<[AnswerValue]>]) = match self {
            AnswerValue::Items(items) => (items, &[]),
            AnswerValue::LongItems(blocks) => (&[], blocks),
            _ => (&[], &[]),
        };
        short.iter().chain(long.iter().flatten())
    }

    pub(crate) fn item(&self, index: usize) -> Option<&AnswerValue> {
        match self {
            AnswerValue::Items(items) => items.get(index),
            AnswerValue::LongItems(blocks) => blocks.get(index / BLOCK_ITEMS)?.get(index % BLOCK_ITEMS),
            _ => None,
        }
    }

    pub(crate) fn item_mut(&mut self, index: usize) -> Option<&mut AnswerValue> {
        match self {
            AnswerValue::Items(items) => items.get_mut(index),
            AnswerValue::LongItems(blocks) => blocks.get_mut(index / BLOCK_ITEMS)?.get_mut(index % BLOCK_ITEMS),
            _ => None,
        }
    }

    /// The items of a list, one after the other, and their number; `None` for any other value.
    pub(crate) fn into_items(self) -> Option<(usize, impl Iterator<Item = AnswerValue>)> {
        let (short, long) = match self {
            AnswerValue::Items(items) => (items, Box::default()),
            AnswerValue::LongItems(blocks) => (Box::default(), blocks),
            _ => return None,
        };
        let count = short.len() + long.iter().map(|block| block.len()).sum::<usize>();
        Some((count, short.into_iter().chain(long.into_iter().flatten())))
    }

    /// The value that members of an object lead to. `[0]` is the first item of a list.
    pub(crate) fn at(&self, members: &[String]) -> Option<&AnswerValue> {
        members.iter().try_fold(self, |value, member| match value {
            AnswerValue::Members(members) => members.get(member),
            list => list.item(index_of(member)?),
        })
    }

    /// About as many bytes as it has in JSON.
    pub(crate) fn json_bytes(&self) -> usize {
        match self {
            AnswerValue::Text(text) => text.len() + 3,
            AnswerValue::Members(members) => {
                2 + members.0.iter().map(|(name, value)| name.len() + 3 + value.json_bytes()).sum::<usize>()
            }
            list if list.is_list() => 2 + list.items().map(AnswerValue::json_bytes).sum::<usize>(),
            _ => 2,
        }
    }

    /// The value as part of a request.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            AnswerValue::Null => Value::Null,
            AnswerValue::Bool(truth) => Value::Bool(*truth),
            AnswerValue::Number(number) => Value::Number(number.clone()),
            AnswerValue::Text(text) => Value::from(&**text),
            AnswerValue::Members(members) => {
                Value::Object(members.0.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect())
            }
            list => list.items().map(AnswerValue::to_json).collect(),
        }
    }
}

/// The position that a step such as `[0]` names.
pub(crate) fn index_of(member: &str) -> Option<usize> {
    member.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

impl AnswerMembers {
    pub(crate) fn get(&self, name: &str) -> Option<&AnswerValue> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut AnswerValue> {
        self.0.iter_mut().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// Sets a member.
    pub(crate) fn set(&mut self, name: &Arc<str>, value: AnswerValue) {
        match self.get_mut(name) {
            Some(own) => *own = value,
            None => self.add(vec![(name.clone(), value)]),
        }
    }

    fn add(&mut self, new: Vec<(Arc<str>, AnswerValue)>) {
        let mut all = std::mem::take(&mut self.0).into_vec();
        all.reserve_exact(new.len());
        all.extend(new);
        self.0 = all.into_boxed_slice();
    }

    /// Adds the members of another object. Objects that both have become one, and so do their lists of objects.
    pub(crate) fn merge(&mut self, further: AnswerMembers) {
        if self.0.is_empty() {
            *self = further;
            return;
        }
        // One by one, large objects would take the square of their size.
        let places: HashMap<Arc<str>, usize> = match self.0.len() > SEARCHED_MAX {
            true => self.0.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect(),
            false => HashMap::new(),
        };
        let mut new = Vec::new();
        for (name, value) in further.0 {
            let place = match places.is_empty() {
                true => self.0.iter().position(|(known, _)| *known == name),
                false => places.get(&name).copied(),
            };
            match place.and_then(|place| self.0.get_mut(place)) {
                Some((_, own)) => own.merge(value),
                None => new.push((name, value)),
            }
        }
        if !new.is_empty() {
            self.add(new);
        }
    }
}

impl AnswerValue {
    /// Adds what another source says of the same value.
    fn merge(&mut self, further: AnswerValue) {
        match (&mut *self, further) {
            (AnswerValue::Members(own), AnswerValue::Members(further)) => own.merge(further),
            // What one source does not have, another may have given.
            (own, AnswerValue::Null) if !own.is_null() => {}
            (own, further) if own.is_list() && further.is_list() => {
                let count = own.items().count();
                match further.into_items() {
                    Some((further_count, items)) if further_count == count => {
                        for (index, further) in items.enumerate() {
                            if let (Some(AnswerValue::Members(own)), AnswerValue::Members(further)) = (own.item_mut(index), further)
                            {
                                own.merge(further);
                            }
                        }
                    }
                    Some((_, items)) => *own = AnswerListBuilder::of(items),
                    None => {}
                }
            }
            (own, further) => *own = further,
        }
    }
}

impl Serialize for AnswerValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AnswerValue::Null => serializer.serialize_unit(),
            AnswerValue::Bool(truth) => serializer.serialize_bool(*truth),
            AnswerValue::Number(number) => number.serialize(serializer),
            AnswerValue::Text(text) => serializer.serialize_str(text),
            AnswerValue::Members(members) => {
                let mut map = serializer.serialize_map(Some(members.0.len()))?;
                for (name, value) in &members.0 {
                    map.serialize_entry(&**name, value)?;
                }
                map.end()
            }
            list => serializer.collect_seq(list.items()),
        }
    }
}

#[cfg(test)]
mod tests;
