//! A JSON Schema of a typed document, found out by reading one: the type is handed zeros and says with each what it expected. So the
//! schema says what is read, and nothing that has to be kept up to date.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

/// Documents do not go deeper; a type that holds itself ends here.
const DEPTH_MAX: usize = 24;

/// The schema of a type whose fields all may be left out. `null` means "not set" everywhere, and unknown members are allowed.
///
/// # Errors
///
/// A type that takes no zeros.
pub(crate) fn schema_of<T: DeserializeOwned>() -> Result<Value, Error> {
    let mut schema = Value::Null;
    T::deserialize(Probe { schema: &mut schema, depth: 0 })?;
    Ok(schema)
}

/// Stands for one value, and takes down what is asked of it.
struct Probe<'s> {
    schema: &'s mut Value,
    depth: usize,
}

impl Probe<'_> {
    fn note(&mut self, kind: &str) {
        *self.schema = json!({ "type": [kind, "null"] });
    }

    fn note_members(&mut self, kind: &str, name: &str, members: Value) {
        *self.schema = json!({ "type": [kind, "null"], name: members });
    }
}

macro_rules! probes {
    ($($kind:literal $visit:ident $zero:expr => $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
            self.note($kind);
            visitor.$visit($zero)
        }
    )*)*};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    probes! {
        "boolean" visit_bool false => deserialize_bool;
        "integer" visit_u64 0 => deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        "integer" visit_i64 0 => deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64;
        "number" visit_f64 0.0 => deserialize_f32 deserialize_f64;
        "string" visit_str "" => deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
            deserialize_identifier;
    }

    /// Free-form JSON.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        *self.schema = json!(true);
        visitor.visit_unit()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        let mut items = json!(true);
        let value = visitor.visit_seq(Once { schema: &mut items, depth: self.depth, is_over: self.depth >= DEPTH_MAX })?;
        self.note_members("array", "items", items);
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _: &'static str, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        let mut members = json!(true);
        let value = visitor.visit_map(Once { schema: &mut members, depth: self.depth, is_over: self.depth >= DEPTH_MAX })?;
        self.note_members("object", "additionalProperties", members);
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut properties = Map::new();
        let fields = if self.depth >= DEPTH_MAX { &[] } else { fields };
        let value =
            visitor.visit_map(Members { fields: fields.iter(), name: "", properties: &mut properties, depth: self.depth })?;
        self.note_members("object", "properties", properties.into());
        Ok(value)
    }

    /// A word; those that mean something are examples, because some types take any other as well.
    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.note_members("string", "examples", json!(variants));
        let first: StrDeserializer<'_, Error> = variants.first().copied().unwrap_or_default().into_deserializer();
        visitor.visit_enum(first)
    }
}

/// One item of a list, or one member of a map.
struct Once<'s> {
    schema: &'s mut Value,
    depth: usize,
    is_over: bool,
}

impl Once<'_> {
    fn probe(&mut self) -> Probe<'_> {
        Probe { schema: self.schema, depth: self.depth + 1 }
    }
}

impl<'de> SeqAccess<'de> for Once<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(None);
        }
        seed.deserialize(self.probe()).map(Some)
    }
}

impl<'de> MapAccess<'de> for Once<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(None);
        }
        seed.deserialize(self.probe()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.probe())
    }
}

/// The fields of a struct.
struct Members<'s> {
    fields: std::slice::Iter<'static, &'static str>,
    name: &'static str,
    properties: &'s mut Map<String, Value>,
    depth: usize,
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some(name) = self.fields.next() else { return Ok(None) };
        self.name = name;
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let schema = self.properties.entry(self.name).or_insert(Value::Null);
        seed.deserialize(Probe { schema, depth: self.depth + 1 })
            .map_err(|error| de::Error::custom(format!("{}: {error}", self.name)))
    }
}

#[cfg(test)]
mod tests;
