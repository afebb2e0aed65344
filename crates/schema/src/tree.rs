//! JSON documents that borrow from their bytes: one allocation for each array and object, and 24 bytes for each value: twelve times a list of
//! digits, and up to three times that while a long list grows. Read by serde_json's parser, so that documents, limits and errors are the same as those of `serde_json::Value`.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::fmt;
use tollgate_text::byte_order_mark;

/// Up to so many members each name is compared with all others; above, names are sorted to find double ones.
const COMPARED_MAX: usize = 16;

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTree<'b> {
    /// `null`
    Null,
    /// `true` and `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text that has no escapes.
    Text(&'b str),
    /// A text without its escapes.
    Unescaped(Box<str>),
    /// An array.
    Items(Box<[JsonTree<'b>]>),
    /// An object. No name occurs twice; of double ones, the last value counts. More than [`COMPARED_MAX`] are sorted by their names.
    Members(Box<[Member<'b>]>),
}

/// A member of an object.
pub type Member<'b> = (Cow<'b, str>, JsonTree<'b>);

impl<'b> JsonTree<'b> {
    /// Reads one document. Arrays and objects may be nested 127 times.
    ///
    /// # Errors
    /// Why the bytes are not one JSON document.
    pub fn read(bytes: &'b [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(byte_order_mark::without(bytes))
    }

    /// The text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            JsonTree::Text(text) => Some(text),
            JsonTree::Unescaped(text) => Some(text),
            _ => None,
        }
    }

    /// A member of an object.
    pub fn member(&self, name: &str) -> Option<&JsonTree<'b>> {
        match self {
            JsonTree::Members(members) => member(members, name),
            _ => None,
        }
    }

    /// The same value, borrowed from another form.
    pub fn of(value: &'b Value) -> Self {
        match value {
            Value::Null => JsonTree::Null,
            Value::Bool(truth) => JsonTree::Bool(*truth),
            Value::Number(number) => JsonTree::Number(number.clone()),
            Value::String(text) => JsonTree::Text(text),
            Value::Array(items) => JsonTree::Items(items.iter().map(JsonTree::of).collect()),
            Value::Object(members) => {
                let mut members: Box<[Member<'b>]> =
                    members.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), JsonTree::of(value))).collect();
                if members.len() > COMPARED_MAX {
                    members.sort_by(|(one, _), (other, _)| one.cmp(other));
                }
                JsonTree::Members(members)
            }
        }
    }
}

/// The member of a name.
pub(crate) fn member<'t, 'b>(members: &'t [Member<'b>], name: &str) -> Option<&'t JsonTree<'b>> {
    let place = match members.len() {
        0..=COMPARED_MAX => members.iter().position(|(known, _)| known == name)?,
        _ => members.binary_search_by(|(known, _)| known.as_ref().cmp(name)).ok()?,
    };
    members.get(place).map(|(_, value)| value)
}

impl<'de> Deserialize<'de> for JsonTree<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = JsonTree<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<JsonTree<'de>, E> {
        Ok(JsonTree::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<JsonTree<'de>, E> {
        Ok(JsonTree::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<JsonTree<'de>, E> {
        Ok(JsonTree::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<JsonTree<'de>, E> {
        Ok(JsonTree::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<JsonTree<'de>, E> {
        Ok(Number::from_f64(number).map_or(JsonTree::Null, JsonTree::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<JsonTree<'de>, E> {
        Ok(JsonTree::Text(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonTree<'de>, E> {
        Ok(JsonTree::Unescaped(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<JsonTree<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(JsonTree::Items(items.into_boxed_slice()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<JsonTree<'de>, A::Error> {
        let mut members: Vec<Member<'de>> = Vec::new();
        let mut has_double = false;
        while let Some(MemberName(name)) = access.next_key()? {
            has_double |= members.len() < COMPARED_MAX && members.iter().any(|(known, _)| *known == name);
            members.push((name, access.next_value()?));
        }
        if has_double || members.len() > COMPARED_MAX {
            keep_last(&mut members);
        }
        Ok(JsonTree::Members(members.into_boxed_slice()))
    }
}

/// Sorts members by their names and keeps the last of each name.
fn keep_last(members: &mut Vec<(Cow<'_, str>, JsonTree<'_>)>) {
    // Stable, and reversed: the last comes first.
    members.reverse();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members.dedup_by(|(later, _), (kept, _)| later == kept);
}

struct MemberName<'b>(Cow<'b, str>);

impl<'de> Deserialize<'de> for MemberName<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = MemberName<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<MemberName<'de>, E> {
        Ok(MemberName(Cow::Borrowed(name)))
    }

    fn visit_str<E>(self, name: &str) -> Result<MemberName<'de>, E> {
        Ok(MemberName(Cow::Owned(name.to_owned())))
    }
}

#[cfg(test)]
mod tests;
