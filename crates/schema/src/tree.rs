//! JSON documents that borrow from their bytes: one allocation for each array and object. Read by serde_json's parser, so that documents, limits
//! and errors are the same as those of `serde_json::Value`.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::borrow::Cow;
use std::fmt;

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
    /// A text without its escapes.
    Text(Cow<'b, str>),
    /// An array.
    Items(Vec<JsonTree<'b>>),
    /// An object. No name occurs twice; of double ones, the last value counts. Their order is not that of the document then.
    Members(Vec<(Cow<'b, str>, JsonTree<'b>)>),
}

impl<'b> JsonTree<'b> {
    /// Reads one document. Arrays and objects may be nested 127 times.
    ///
    /// # Errors
    /// Why the bytes are not one JSON document.
    pub fn read(bytes: &'b [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
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
        Ok(JsonTree::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonTree<'de>, E> {
        Ok(JsonTree::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<JsonTree<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(JsonTree::Items(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<JsonTree<'de>, A::Error> {
        let mut members: Vec<(Cow<'de, str>, JsonTree<'de>)> = Vec::new();
        let mut has_double = false;
        while let Some(MemberName(name)) = access.next_key()? {
            has_double |= members.len() < COMPARED_MAX && members.iter().any(|(known, _)| *known == name);
            members.push((name, access.next_value()?));
        }
        if has_double || members.len() > COMPARED_MAX {
            keep_last(&mut members);
        }
        Ok(JsonTree::Members(members))
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
