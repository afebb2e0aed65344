//! JSON: every text, number and literal under its path, such as `json.items.0.name`. Members with the same name are all there.

use super::BodyFault;
use crate::budget::{InspectionBudget, TooMuchWork};
use crate::source::ValueSource;
use crate::values::ValueStore;
use serde_json::Deserializer;
use serde_json::de::SliceRead;
use std::collections::HashMap;
use std::fmt;
use tollgate_text::byte_order_mark;

/// Stands for a number in a list: no byte of a text.
const LIST: u8 = 0xff;

struct Filling<'f> {
    values: &'f mut ValueStore,
    budget: &'f mut InspectionBudget,
    path: Vec<u8>,
    /// The path with a mark in the place of each number in a list.
    shape: Vec<u8>,
    /// Shapes with lists in them, and the last path of each.
    seen: HashMap<Vec<u8>, Vec<u8>>,
    is_over: bool,
}

pub(super) fn fill(body: &[u8], values: &mut ValueStore, budget: &mut InspectionBudget) -> Result<(), BodyFault> {
    let mut filling = Filling { values, budget, path: b"json".to_vec(), shape: Vec::new(), seen: HashMap::new(), is_over: false };
    let mut reader: Deserializer<SliceRead<'_>> = Deserializer::from_slice(byte_order_mark::without(body));
    let read = serde::de::DeserializeSeed::deserialize(&mut filling, &mut reader).and_then(|()| reader.end());
    match read {
        _ if filling.is_over => Err(BodyFault::TooMuchWork),
        Ok(()) => Ok(()),
        Err(error) => Err(BodyFault::Unreadable(format!("not JSON: {error}"))),
    }
}

impl Filling<'_> {
    fn add<E: serde::de::Error>(&mut self, value: &[u8]) -> Result<(), E> {
        let added = match self.has_own_name() {
            Ok(true) => self.values.add(ValueSource::ArgsPost, &self.path, value, self.budget),
            Ok(false) => self.values.add_to_list(ValueSource::ArgsPost, &self.path, value, self.budget),
            Err(too_much) => Err(too_much),
        };
        added.map_err(|TooMuchWork| {
            self.is_over = true;
            E::custom(TooMuchWork)
        })
    }

    /// Whether rules about names must look at this path. Those that differ only in their numbers in lists say the same; a path that is there twice
    /// does not.
    fn has_own_name(&mut self) -> Result<bool, TooMuchWork> {
        if !self.shape.contains(&LIST) {
            return Ok(true);
        }
        if let Some(last) = self.seen.get_mut(&self.shape) {
            let is_twice = *last == self.path;
            last.clone_from(&self.path);
            return Ok(is_twice);
        }
        self.budget.keep(self.shape.len() + self.path.len())?;
        self.seen.insert(self.shape.clone(), self.path.clone());
        Ok(true)
    }

    /// Does something one level below. `mark` stands for the name in the shape.
    fn below<T>(&mut self, name: &str, mark: &[u8], inner: impl FnOnce(&mut Self) -> T) -> T {
        let (length, shape_length) = (self.path.len(), self.shape.len());
        self.path.push(b'.');
        self.path.extend(name.as_bytes());
        self.shape.push(b'.');
        self.shape.extend(mark);
        let made = inner(self);
        self.path.truncate(length);
        self.shape.truncate(shape_length);
        made
    }
}

impl<'de> serde::de::DeserializeSeed<'de> for &mut Filling<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> serde::de::Visitor<'de> for &mut Filling<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.add(if value { b"true" } else { b"false" })
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.add(value.to_string().as_bytes())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.add(value.to_string().as_bytes())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.add(value.to_string().as_bytes())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.add(value.as_bytes())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.add(b"")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut index = 0_usize;
        while self.below(&index.to_string(), &[LIST], |this| items.next_element_seed(this))?.is_some() {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            self.below(&name, name.as_bytes(), |this| members.next_value_seed(this))?;
        }
        Ok(())
    }
}
