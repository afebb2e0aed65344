//! A JSON object of which few members are read: kept as written, without an index, which would cost more than it saves.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// The members of an object, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(Vec<(String, Value)>);

impl Members {
    /// Parses a text; `None` if it is not an object.
    pub fn parse(text: &[u8]) -> Option<Self> {
        Self::parse_some(text, |_| true)
    }

    /// Parses a text and keeps only the wanted members; it skips the others.
    pub fn parse_some(text: &[u8], is_wanted: impl Fn(&str) -> bool) -> Option<Self> {
        // Validated once, so that the pieces need no validation.
        let mut deserializer = serde_json::Deserializer::from_str(std::str::from_utf8(text).ok()?);
        let members = deserializer.deserialize_map(MemberReader(is_wanted)).ok()?;
        deserializer.end().ok().map(|()| members)
    }

    /// The member with a name. If there are several, the last one counts, as in a [`Map`].
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find_map(|(own, value)| (own == name).then_some(value))
    }

    /// Adds members whose names are not there yet.
    pub fn complete(&mut self, others: Members) {
        for (name, value) in others.0 {
            if self.get(&name).is_none() {
                self.0.push((name, value));
            }
        }
    }
}

impl From<Map<String, Value>> for Members {
    fn from(members: Map<String, Value>) -> Self {
        Members(members.into_iter().collect())
    }
}

/// Parses the wanted members.
struct MemberReader<F>(F);

impl<'de, F: Fn(&str) -> bool> Visitor<'de> for MemberReader<F> {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members, A::Error> {
        let mut members = Vec::with_capacity(8);
        while let Some(name) = access.next_key_seed(WantedMember(&self.0))? {
            match name {
                Some(name) => members.push((name, access.next_value()?)),
                None => drop(access.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Members(members))
    }
}

/// A member's name if it is wanted.
struct WantedMember<'f, F>(&'f F);

impl<'de, F: Fn(&str) -> bool> DeserializeSeed<'de> for WantedMember<'_, F> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<F: Fn(&str) -> bool> Visitor<'_> for WantedMember<'_, F> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Option<String>, E> {
        Ok((self.0)(name).then(|| name.to_owned()))
    }
}

#[cfg(test)]
mod tests;
