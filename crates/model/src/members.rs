//! A JSON object of which a few members are asked for: kept as it is written, without an index that costs more than it is used.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// The members of an object, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(Vec<(String, Value)>);

impl Members {
    /// Reads a text; `None` when it is no object.
    pub fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// The member of a name. Of several the last counts, as in a [`Map`].
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find_map(|(own, value)| (own == name).then_some(value))
    }
}

impl From<Map<String, Value>> for Members {
    fn from(members: Map<String, Value>) -> Self {
        Members(members.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests;
