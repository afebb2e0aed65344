//! Messages are read within a bound of memory: text of many small values takes many times its length there.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

use crate::weight::{MEMBER, WEIGHT_MAX};
use tollgate_text::byte_order_mark;

/// Text of this length can't become more than allowed: the shortest value has two bytes.
const HARMLESS: usize = WEIGHT_MAX / (size_of::<Value>() / 2);

/// Why a message cannot be read.
#[derive(Debug)]
pub(crate) enum ReadFault {
    NotJson(serde_json::Error),
    TooHeavy,
}

impl fmt::Display for ReadFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadFault::NotJson(error) => write!(formatter, "no JSON: {error}"),
            ReadFault::TooHeavy => write!(formatter, "more than {} MiB of memory", WEIGHT_MAX >> 20),
        }
    }
}

/// Reads a message.
pub(crate) fn read(text: &[u8]) -> Result<Value, ReadFault> {
    let text = byte_order_mark::without(text);
    if text.len() <= HARMLESS {
        return serde_json::from_slice(text).map_err(ReadFault::NotJson);
    }
    let left = Cell::new(Some(WEIGHT_MAX));
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = Weighed(&left).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| if left.get().is_none() { ReadFault::TooHeavy } else { ReadFault::NotJson(error) })
}

/// What is left of the memory; `None` once there was too little.
#[derive(Clone, Copy)]
struct Weighed<'l>(&'l Cell<Option<usize>>);

impl Weighed<'_> {
    fn take<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.0.get().and_then(|left| left.checked_sub(bytes));
        self.0.set(left);
        left.map(|_| ()).ok_or_else(|| E::custom("too much"))
    }

    fn value<E: Error>(self, inner: usize, value: impl Into<Value>) -> Result<Value, E> {
        self.take(size_of::<Value>() + inner)?;
        Ok(value.into())
    }
}

impl<'de> DeserializeSeed<'de> for Weighed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Weighed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.value(0, Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.value(0, value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.value(0, value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.value(0, value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.value(0, Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.value(value.len(), value)
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.value(value.len(), value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.take(size_of::<Value>())?;
        let mut read = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            read.push(item);
        }
        Ok(Value::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.take(size_of::<Value>())?;
        let mut read = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            self.take(MEMBER + name.len())?;
            read.insert(name, members.next_value_seed(self)?);
        }
        Ok(Value::Object(read))
    }
}

#[cfg(test)]
mod tests {
    use super::{HARMLESS, ReadFault, read};
    use serde_json::{Value, json};

    #[test]
    fn what_is_read_is_the_same_and_what_is_too_heavy_is_not_read() {
        let long = "x".repeat(HARMLESS);
        let message = json!({"a": [null, true, -1, 1, 1.5, "\u{1F600}", {"b": []}], "long": long});
        assert_eq!(read(message.to_string().as_bytes()).unwrap(), message);
        assert_eq!(read(b"{\"a\": 1}").unwrap(), json!({"a": 1}));
        let zeros = format!("[{}0]", "0,".repeat(HARMLESS));
        assert!(matches!(read(zeros.as_bytes()), Err(ReadFault::TooHeavy)));
        let members: Value = (0..HARMLESS / 3).map(|n| (n.to_string(), json!(n))).collect::<serde_json::Map<_, _>>().into();
        assert!(matches!(read(members.to_string().as_bytes()), Err(ReadFault::TooHeavy)));
        for broken in [format!("{message}x"), format!("{{\"a\": \"{long}"), format!("[\"{long}\",]")] {
            assert!(matches!(read(broken.as_bytes()), Err(ReadFault::NotJson(_))));
        }
    }
}
