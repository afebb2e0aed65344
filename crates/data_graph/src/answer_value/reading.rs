//! Values as they are read from the JSON of an answer.

use super::{AnswerMembers, AnswerValue, BLOCK_ITEMS, SEARCHED_MAX};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// Most names that are shared: an object with a name of its own for everything has more.
const SHARED_NAMES_MAX: usize = 4096;

/// Makes a list, whose items never move once their block is full.
#[derive(Default)]
pub(super) struct AnswerListBuilder {
    blocks: Vec<Box<[AnswerValue]>>,
    last: Vec<AnswerValue>,
}

impl AnswerListBuilder {
    pub(super) fn of(items: impl Iterator<Item = AnswerValue>) -> AnswerValue {
        let mut list = AnswerListBuilder::default();
        items.for_each(|item| list.add(item));
        list.complete()
    }

    fn add(&mut self, item: AnswerValue) {
        if self.last.len() == BLOCK_ITEMS {
            self.blocks.push(std::mem::take(&mut self.last).into_boxed_slice());
        }
        self.last.push(item);
    }

    fn complete(mut self) -> AnswerValue {
        let last = self.last.into_boxed_slice();
        if self.blocks.is_empty() {
            return AnswerValue::Items(last);
        }
        self.blocks.push(last);
        AnswerValue::LongItems(self.blocks.into_boxed_slice())
    }
}

impl<'de> Deserialize<'de> for AnswerValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnswerSeed(&mut HashSet::new()).deserialize(deserializer)
    }
}

/// Reads a value; names that occur again are shared.
struct AnswerSeed<'n>(&'n mut HashSet<Arc<str>>);

impl AnswerSeed<'_> {
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        if self.0.len() < SHARED_NAMES_MAX {
            self.0.insert(name.clone());
        }
        name
    }
}

impl<'de> DeserializeSeed<'de> for AnswerSeed<'_> {
    type Value = AnswerValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<AnswerValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnswerSeed<'_> {
    type Value = AnswerValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<AnswerValue, E> {
        Ok(AnswerValue::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<AnswerValue, E> {
        Ok(AnswerValue::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<AnswerValue, E> {
        Ok(AnswerValue::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<AnswerValue, E> {
        Ok(AnswerValue::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<AnswerValue, E> {
        Ok(Number::from_f64(number).map_or(AnswerValue::Null, AnswerValue::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<AnswerValue, E> {
        Ok(AnswerValue::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<AnswerValue, A::Error> {
        let mut list = AnswerListBuilder::default();
        while let Some(item) = access.next_element_seed(AnswerSeed(self.0))? {
            list.add(item);
        }
        Ok(list.complete())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<AnswerValue, A::Error> {
        let mut members: Vec<(Arc<str>, AnswerValue)> = Vec::new();
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        while let Some(SharedName(name)) = access.next_key_seed(NameSeed(&mut self))? {
            let value = access.next_value_seed(AnswerSeed(self.0))?;
            let known = match members.len() > SEARCHED_MAX {
                true => {
                    if places.is_empty() {
                        places.extend(members.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)));
                    }
                    places.get(&name).copied()
                }
                false => members.iter().position(|(known, _)| *known == name),
            };
            // As in serde_json, of a name that occurs twice the last value counts.
            match known.and_then(|place| members.get_mut(place)) {
                Some((_, own)) => *own = value,
                None => {
                    if !places.is_empty() {
                        places.insert(name.clone(), members.len());
                    }
                    members.push((name, value));
                }
            }
        }
        Ok(AnswerValue::Members(AnswerMembers(members.into_boxed_slice())))
    }
}

struct SharedName(Arc<str>);

struct NameSeed<'s, 'n>(&'s mut AnswerSeed<'n>);

impl<'de> DeserializeSeed<'de> for NameSeed<'_, '_> {
    type Value = SharedName;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<SharedName, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_, '_> {
    type Value = SharedName;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<SharedName, E> {
        Ok(SharedName(self.0.shared(name)))
    }
}
