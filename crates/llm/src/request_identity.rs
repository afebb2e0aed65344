//! What tells requests apart whose answers may differ: all that a request says, in one order, but for who asks and how the answer is sent.

use crate::client::ClientApi;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use tollgate_text::byte_order_mark;

/// Members of a request that change nothing of what is answered: who asks, how the provider finds its cache, and whether the answer is a stream.
const OTHER: [&str; 8] = [
    "user",
    "safety_identifier",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "stream",
    "stream_options",
];

/// The identity of a request. Requests whose members are in another order have the same one.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestIdentity {
    members: BTreeMap<String, Canon>,
}

/// A value whose members are sorted. None is there twice: two readers could understand it in two ways.
#[derive(Clone, Debug, PartialEq)]
enum Canon {
    /// `null`, a truth or a number, as text.
    Scalar(String),
    Text(String),
    Items(Vec<Canon>),
    Members(BTreeMap<String, Canon>),
}

impl RequestIdentity {
    /// Reads a request; `None` if it is no object, or has a member twice.
    pub fn read(body: &[u8]) -> Option<Self> {
        match serde_json::from_slice(byte_order_mark::without(body)).ok()? {
            Canon::Members(mut members) => {
                OTHER.iter().for_each(|name| drop(members.remove(*name)));
                Some(RequestIdentity { members })
            }
            _ => None,
        }
    }

    /// Leaves out the model, which its reader knows by another name.
    #[must_use]
    pub fn without_model(mut self) -> Self {
        self.members.remove("model");
        self
    }

    /// The randomness that it asks for.
    pub fn temperature(&self) -> Option<f64> {
        let number = |members: &BTreeMap<String, Canon>| match members.get("temperature")? {
            Canon::Scalar(number) => number.parse().ok(),
            _ => None,
        };
        // Google's API has it in a member, which has two names.
        let within = ["generationConfig", "generation_config"].iter().find_map(|name| match self.members.get(*name)? {
            Canon::Members(members) => number(members),
            _ => None,
        });
        number(&self.members).or(within)
    }

    /// Takes out the text of the last message, if that is the user's and a text alone.
    pub fn take_question(&mut self, api: ClientApi) -> Option<String> {
        let (name, content) = match api {
            ClientApi::OpenAiResponses => ("input", "content"),
            ClientApi::Gemini => ("contents", "parts"),
            ClientApi::OpenAiChat | ClientApi::AnthropicMessages => ("messages", "content"),
        };
        let messages = match self.members.get_mut(name)? {
            Canon::Items(messages) => messages,
            text @ Canon::Text(_) if api == ClientApi::OpenAiResponses => return text.take_text(),
            _ => return None,
        };
        let Canon::Members(last) = messages.last_mut()? else { return None };
        let is_of_user = |role: &Canon| matches!(role, Canon::Text(role) if role == "user");
        if !last.get("role").map_or(api == ClientApi::Gemini, is_of_user) {
            return None;
        }
        match last.get_mut(content)? {
            text @ Canon::Text(_) => text.take_text(),
            Canon::Items(parts) => match parts.as_mut_slice() {
                [Canon::Members(part)] => part.get_mut("text")?.take_text(),
                _ => None,
            },
            _ => None,
        }
    }

    /// As bytes, which no other identity has.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_members(&self.members, &mut out);
        out
    }
}

impl Canon {
    fn take_text(&mut self) -> Option<String> {
        match std::mem::replace(self, Canon::Scalar("null".to_owned())) {
            Canon::Text(text) => Some(text),
            other => {
                *self = other;
                None
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Canon::Scalar(text) => out.extend_from_slice(text.as_bytes()),
            Canon::Text(text) => write_text(text, out),
            Canon::Items(items) => {
                out.push(b'[');
                for item in items {
                    item.write(out);
                    out.push(b',');
                }
                out.push(b']');
            }
            Canon::Members(members) => write_members(members, out),
        }
    }
}

fn write_members(members: &BTreeMap<String, Canon>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (name, value) in members {
        write_text(name, out);
        value.write(out);
        out.push(b',');
    }
    out.push(b'}');
}

/// With its length before it, so that no text can look like several.
fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\"{}:", text.len()).as_bytes());
    out.extend_from_slice(text.as_bytes());
}

impl<'de> Deserialize<'de> for Canon {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(CanonVisitor)
    }
}

struct CanonVisitor;

impl<'de> Visitor<'de> for CanonVisitor {
    type Value = Canon;

    fn expecting(&self, what: &mut fmt::Formatter<'_>) -> fmt::Result {
        what.write_str("a JSON value without double members")
    }

    fn visit_unit<E>(self) -> Result<Canon, E> {
        Ok(Canon::Scalar("null".to_owned()))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Canon, E> {
        Ok(Canon::Scalar(truth.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Canon, E> {
        Ok(Canon::Scalar(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Canon, E> {
        Ok(Canon::Scalar(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Canon, E> {
        Ok(Canon::Scalar(format!("{number:?}")))
    }

    fn visit_str<E>(self, text: &str) -> Result<Canon, E> {
        Ok(Canon::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Canon, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = source.next_element()? {
            items.push(item);
        }
        Ok(Canon::Items(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Canon, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = source.next_entry::<String, Canon>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member is there twice"));
            }
        }
        Ok(Canon::Members(members))
    }
}

#[cfg(test)]
mod tests;
