//! Decodes a JSON value into a typed document by the rules of Go's `encoding/json`, for which the documents were written: keys
//! match in any letter case, `null` means "not set", a wrong type is an error. An error does not stop the decoder: it treats the
//! value as not set and continues, so that it finds all errors. It collects unknown fields for the caller.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::{Map, Value};

use crate::json_path::{JsonPath, PathStep};

/// Enough to diagnose a document; one with more problems is of another kind.
const MISTAKES_MAX: usize = 50;

/// Values visited to find mistakes in one document, each once per mistake: about a second. In a large document, fewer mistakes are
/// found.
const VISITS_MAX: usize = 5_000_000;

/// The result of [`decode`].
pub(crate) struct Decoded<T> {
    /// `None` if the document as a whole is unusable.
    pub(crate) value: Option<T>,
    /// Values of the wrong type.
    pub(crate) mistakes: Vec<(JsonPath, String)>,
    /// Fields that are not in `T`.
    pub(crate) unknown: Vec<(JsonPath, Value)>,
    /// Fields that occur more than once in different letter case; the exact spelling or the last one is used.
    pub(crate) repeated: Vec<JsonPath>,
}

/// Decodes `document`. The cost of a mistake is one more pass over the document.
pub(crate) fn decode<T: DeserializeOwned>(document: &Value) -> Decoded<T> {
    let mistakes_max = (VISITS_MAX / values_in(document)).clamp(1, MISTAKES_MAX);
    let mut document = Cow::Borrowed(document);
    let mut mistakes = Vec::new();
    loop {
        let mut trace = DecodeCursor::default();
        let cursor = Cursor { value: &document, trace: &mut trace };
        let (value, erased) = match T::deserialize(cursor) {
            Ok(value) => (Some(value), false),
            Err(mistake) => {
                let path = mistake.path.unwrap_or_default();
                let erased = mistakes.len() < mistakes_max && erase(document.to_mut(), &path);
                mistakes.push((path, mistake.message));
                (None, erased)
            }
        };
        if !erased {
            return Decoded { value, mistakes, unknown: trace.unknown, repeated: trace.repeated };
        }
    }
}

/// The number of values in a document, including itself.
fn values_in(document: &Value) -> usize {
    1 + match document {
        Value::Array(items) => items.iter().map(values_in).sum(),
        Value::Object(members) => members.values().map(values_in).sum(),
        _ => 0,
    }
}

/// Sets a value to "not set". False if it already is, or is the whole document.
fn erase(document: &mut Value, path: &JsonPath) -> bool {
    match path.find_mut(document) {
        Some(value) if !path.0.is_empty() && !value.is_null() => {
            *value = Value::Null;
            true
        }
        _ => false,
    }
}

/// Where the cursor is and what it passed over.
#[derive(Default)]
struct DecodeCursor {
    path: Vec<PathStep>,
    unknown: Vec<(JsonPath, Value)>,
    repeated: Vec<JsonPath>,
}

impl DecodeCursor {
    fn below(&self, key: &str) -> JsonPath {
        JsonPath(self.path.clone()).key(key)
    }
}

/// One value of the document that is decoded into a type.
struct Cursor<'v, 't> {
    value: &'v Value,
    trace: &'t mut DecodeCursor,
}

impl<'v> Cursor<'v, '_> {
    fn descend<S: DeserializeSeed<'v>>(
        trace: &mut DecodeCursor,
        step: PathStep,
        value: &'v Value,
        seed: S,
    ) -> Result<S::Value, Mistake> {
        trace.path.push(step);
        let result = seed.deserialize(Cursor { value, trace: &mut *trace });
        let result = result.map_err(|mistake| mistake.at(&trace.path));
        trace.path.pop();
        result
    }

    fn wrong_type<V: Visitor<'v>>(&self, visitor: &V) -> Mistake {
        de::Error::invalid_type(kind(self.value), visitor)
    }

    fn number<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Value::Number(number) = self.value else {
            return match self.value {
                Value::Null => visitor.visit_u64(0),
                _ => Err(self.wrong_type(&visitor)),
            };
        };
        match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(n), _, _) => visitor.visit_u64(n),
            (_, Some(n), _) => visitor.visit_i64(n),
            (_, _, Some(n)) => visitor.visit_f64(n),
            _ => Err(self.wrong_type(&visitor)),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
            self.number(visitor)
        }
    )*};
}

impl<'v> de::Deserializer<'v> for Cursor<'v, '_> {
    type Error = Mistake;

    numbers! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
    deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 }

    /// Free-form JSON: accepted unchanged.
    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.value.deserialize_any(visitor).map_err(de::Error::custom)
    }

    fn deserialize_bool<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.value {
            Value::Null => visitor.visit_bool(false),
            Value::Bool(value) => visitor.visit_bool(*value),
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    fn deserialize_str<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.value {
            Value::Null => visitor.visit_borrowed_str(""),
            Value::String(text) => visitor.visit_borrowed_str(text),
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'v>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.value {
            Value::Null => visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<u8>())),
            Value::Array(items) => visitor.visit_seq(Items { rest: items.iter().enumerate(), trace: self.trace }),
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    /// A map: its keys are data and keep their letter case.
    fn deserialize_map<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.value {
            Value::Null => visitor.visit_map(MapDeserializer::new(std::iter::empty::<(u8, u8)>())),
            Value::Object(members) => visitor.visit_map(MemberReader {
                rest: members.iter().map(|(key, value)| (key.as_str(), key.as_str(), value)).collect::<Vec<_>>().into_iter(),
                current: None,
                trace: self.trace,
            }),
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'v>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let members = match self.value {
            Value::Null => Vec::new(),
            Value::Object(members) => known_members(members, fields, self.trace),
            _ => return Err(self.wrong_type(&visitor)),
        };
        visitor.visit_map(MemberReader { rest: members.into_iter(), current: None, trace: self.trace })
    }

    /// A choice of words; not set is the word "".
    fn deserialize_enum<V: Visitor<'v>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.value {
            Value::Null => visitor.visit_enum("".into_deserializer()),
            Value::String(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => Err(de::Error::invalid_type(kind(self.value), &"a string")),
        }
    }

    serde::forward_to_deserialize_any! { <V: Visitor<'v>>
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// A member of an object: the field it goes to, the key as written, the value.
type DecodedMember<'v> = (&'v str, &'v str, &'v Value);

/// The members that are set and that the type knows, each once.
fn known_members<'v>(
    members: &'v Map<String, Value>,
    fields: &'static [&'static str],
    trace: &mut DecodeCursor,
) -> Vec<DecodedMember<'v>> {
    let mut known: Vec<DecodedMember<'v>> = Vec::with_capacity(members.len());
    for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let exact = fields.iter().find(|field| *field == key);
        let field = exact.or_else(|| fields.iter().find(|f| f.eq_ignore_ascii_case(key)));
        let Some(field) = field else {
            trace.unknown.push((trace.below(key), value.clone()));
            continue;
        };
        match known.iter_mut().find(|(name, _, _)| name == field) {
            None => known.push((field, key, value)),
            Some(first) => {
                trace.repeated.push(trace.below(key));
                if first.1 != *field {
                    *first = (field, key, value);
                }
            }
        }
    }
    known
}

struct Items<'v, 't, I: Iterator<Item = (usize, &'v Value)>> {
    rest: I,
    trace: &'t mut DecodeCursor,
}

impl<'v, I: Iterator<Item = (usize, &'v Value)>> SeqAccess<'v> for Items<'v, '_, I> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'v>>(&mut self, seed: S) -> Result<Option<S::Value>, Mistake> {
        let Some((index, value)) = self.rest.next() else {
            return Ok(None);
        };
        Cursor::descend(self.trace, PathStep::Index(index), value, seed).map(Some)
    }
}

struct MemberReader<'v, 't> {
    rest: std::vec::IntoIter<DecodedMember<'v>>,
    current: Option<(&'v str, &'v Value)>,
    trace: &'t mut DecodeCursor,
}

impl<'v> MapAccess<'v> for MemberReader<'v, '_> {
    type Error = Mistake;

    fn next_key_seed<S: DeserializeSeed<'v>>(&mut self, seed: S) -> Result<Option<S::Value>, Mistake> {
        let Some((field, key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.current = Some((key, value));
        seed.deserialize(field.into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'v>>(&mut self, seed: S) -> Result<S::Value, Mistake> {
        let (key, value) = self.current.take().unwrap_or(("", &Value::Null));
        Cursor::descend(self.trace, PathStep::Key(key.to_owned()), value, seed)
    }
}

/// A value of the wrong type, in words that operators know.
#[derive(Debug)]
struct Mistake {
    path: Option<JsonPath>,
    message: String,
}

impl Mistake {
    /// The innermost caller knows best where it happened.
    fn at(mut self, path: &[PathStep]) -> Mistake {
        self.path.get_or_insert_with(|| JsonPath(path.to_vec()));
        self
    }

    fn not_a(found: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        let found = match found {
            // Error texts do not repeat values: they may be secrets.
            Unexpected::Str(_) => "a string".to_owned(),
            Unexpected::Bool(value) => value.to_string(),
            Unexpected::Unsigned(value) => value.to_string(),
            Unexpected::Signed(value) => value.to_string(),
            Unexpected::Float(value) => value.to_string(),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "an object".to_owned(),
            other => other.to_string(),
        };
        let expected = expected.to_string();
        let expected = match expected.as_str() {
            "u16" => "a whole number from 0 to 65535",
            "u32" => "a whole number from 0 to 4294967295",
            "u64" | "usize" => "a whole number of at least 0",
            "i64" => "a whole number",
            "f64" => "a number",
            "a boolean" => "true or false",
            "a sequence" => "a list",
            "a map" => "an object",
            "path string" => "a string",
            other if other.starts_with("struct ") => "an object",
            other => other,
        };
        de::Error::custom(format_args!("must be {expected}, not {found}"))
    }
}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Mistake {
        Mistake { path: None, message: message.to_string() }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake::not_a(found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
        Mistake::not_a(found, expected)
    }

    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> Mistake {
        let words: Vec<String> = expected.iter().filter(|word| !word.is_empty()).map(|word| format!("{word:?}")).collect();
        de::Error::custom(format_args!("must be one of {}, not {found:?}", words.join(", ")))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

fn kind(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(n), _, _) => Unexpected::Unsigned(n),
            (_, Some(n), _) => Unexpected::Signed(n),
            (_, _, n) => Unexpected::Float(n.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

#[cfg(test)]
mod tests;
