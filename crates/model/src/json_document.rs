//! JSON documents that are nested deeper than serde_json reads at once, 127 levels: schemas in each other have two levels each. What people write
//! and keep is read here; what clients of APIs send is not.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};
use tollgate_text::byte_order_mark;

/// Maximum nesting of a document: each level needs some of the stack of whoever walks it.
pub const DEPTH_MAX: usize = 600;

/// Levels that one parser reads, less than the 127 that it allows.
const PARSER_LEVELS: usize = 100;

/// Steps of a path that an error names.
const STEPS_MAX: usize = 20;

/// Parses a document.
///
/// # Errors
/// What serde_json says, or where the document is nested too deep.
pub fn from_slice<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    let text = byte_order_mark::without(text);
    match serde_json::from_slice(text) {
        Err(error) if is_too_deep(&error) => {
            let mut parser = serde_json::Deserializer::from_slice(text);
            let value =
                DeepValue { place: &NestedPlace { above: None, step: NestedStep::Root }, depth: 0 }.deserialize(&mut parser)?;
            parser.end()?;
            serde_json::from_value(value)
        }
        outcome => outcome,
    }
}

fn is_too_deep(error: &serde_json::Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("recursion limit exceeded")
}

/// Where a value is; kept on the stack, and only read for an error.
struct NestedPlace<'p> {
    above: Option<&'p NestedPlace<'p>>,
    step: NestedStep<'p>,
}

enum NestedStep<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl fmt::Display for NestedPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps: Vec<&NestedStep<'_>> =
            std::iter::successors(Some(self), |place| place.above).map(|place| &place.step).collect();
        steps.reverse();
        for step in steps.iter().take(STEPS_MAX) {
            match step {
                NestedStep::Root => f.write_str("$")?,
                NestedStep::Key(key) if key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                    write!(f, ".{key}")?
                }
                NestedStep::Key(key) => write!(f, "[{key:?}]")?,
                NestedStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        if steps.len() > STEPS_MAX { f.write_str("...") } else { Ok(()) }
    }
}

/// A value at a depth.
struct DeepValue<'p> {
    place: &'p NestedPlace<'p>,
    depth: usize,
}

impl DeepValue<'_> {
    fn below<'s>(&'s self, step: NestedStep<'s>) -> NestedPlace<'s> {
        NestedPlace { above: Some(self.place), step }
    }
}

impl<'de> DeserializeSeed<'de> for DeepValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Value, D::Error> {
        if self.depth > DEPTH_MAX {
            return Err(Error::custom(format!("nested deeper than {DEPTH_MAX} levels at {}", self.place)));
        }
        if self.depth == 0 || !self.depth.is_multiple_of(PARSER_LEVELS) {
            return parser.deserialize_any(self);
        }
        // A fresh parser counts its levels anew.
        let text: &RawValue = serde::Deserialize::deserialize(parser)?;
        let mut parser = serde_json::Deserializer::from_str(text.get());
        parser.deserialize_any(self).map_err(Error::custom)
    }
}

impl<'de> Visitor<'de> for DeepValue<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let place = self.below(NestedStep::Index(items.len()));
            match access.next_element_seed(DeepValue { place: &place, depth: self.depth + 1 })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            let place = self.below(NestedStep::Key(&name));
            let member = access.next_value_seed(DeepValue { place: &place, depth: self.depth + 1 })?;
            members.insert(name, member);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests;
