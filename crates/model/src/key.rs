//! The texts of keys: how they are created, parsed, hashed and looked up. Independent of sessions and stores.

use crate::hexadecimal;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

mod murmur;

/// `{"` in Base64: the start of a key that contains its organisation and function.
const CARRIER_PREFIX: &str = "ey";
/// Number of hexadecimal digits at the end of an organisation's key.
const RANDOM_DIGITS: usize = 32;
/// Number of hexadecimal digits of an organisation's identifier from a database.
const DATABASE_ID_DIGITS: usize = 24;

/// `hash_key_function`: the format of new keys, and how keys are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyFunction {
    /// Not configured: plain keys, hashed as by `murmur32`.
    #[default]
    #[serde(rename = "")]
    Plain,
    /// MurmurHash3, 32 bits, as Tyk computes it: the last bytes of a key may not count. Hashes of different keys collide easily.
    Murmur32,
    /// The first 64 bits of `murmur128`.
    Murmur64,
    /// MurmurHash3, 128 bits, in its variant for 64-bit machines.
    Murmur128,
    /// SHA-256.
    Sha256,
}

/// The content of a structured key.
#[derive(Default)]
struct Carrier {
    org: Option<String>,
    id: Option<String>,
    h: Option<String>,
}

impl KeyFunction {
    /// The function with this `name` in a configuration or a key.
    pub fn from_name(name: &str) -> Option<KeyFunction> {
        [KeyFunction::Plain, KeyFunction::Murmur32, KeyFunction::Murmur64, KeyFunction::Murmur128, KeyFunction::Sha256]
            .into_iter()
            .find(|function| function.name() == name)
    }

    /// Its name in configurations and keys; empty for [`KeyFunction::Plain`].
    pub fn name(self) -> &'static str {
        match self {
            KeyFunction::Plain => "",
            KeyFunction::Murmur32 => "murmur32",
            KeyFunction::Murmur64 => "murmur64",
            KeyFunction::Murmur128 => "murmur128",
            KeyFunction::Sha256 => "sha256",
        }
    }

    /// Whether different keys easily have one hash: it has 32 bits, and leaves out up to three bytes at the end.
    pub fn is_weak(self) -> bool {
        matches!(self, KeyFunction::Plain | KeyFunction::Murmur32)
    }

    /// The hash of a text in lower case hexadecimal: 8, 16, 32 or 64 digits.
    pub fn hash(self, text: &str) -> String {
        self.hash_bytes(text.as_bytes())
    }

    /// Like [`KeyFunction::hash`], for any bytes.
    pub fn hash_bytes(self, bytes: &[u8]) -> String {
        match self {
            KeyFunction::Plain | KeyFunction::Murmur32 => format!("{:08x}", murmur::murmur3_32_unfinished(bytes)),
            KeyFunction::Murmur64 => format!("{:016x}", murmur::murmur3_128(bytes).0),
            KeyFunction::Murmur128 => {
                let (first, second) = murmur::murmur3_128(bytes);
                format!("{first:016x}{second:016x}")
            }
            KeyFunction::Sha256 => hexadecimal(&Sha256::digest(bytes)),
        }
    }
}

/// A new key of `org` from 16 random bytes.
pub fn generate(org: &str, function: KeyFunction, random: [u8; 16]) -> String {
    token(org, &hexadecimal(&random), function)
}

/// The custom key `id` of `org`. If `id` already starts with the organisation, it is not added again.
pub fn custom(org: &str, id: &str, function: KeyFunction) -> String {
    token(org, id.strip_prefix(org).unwrap_or(id), function)
}

/// The organisation of a key, `None` if it names none. For a plain key, it is guessed from the format.
pub fn org_of(token: &str) -> Option<String> {
    if let Some(org) = carrier(token).and_then(|carrier| carrier.org) {
        return Some(org);
    }
    let before_random = token.len().checked_sub(RANDOM_DIGITS).and_then(|at| token.split_at_checked(at));
    if let Some((org, random)) = before_random
        && !org.is_empty()
        && is_hexadecimal(random)
    {
        return Some(org.to_owned());
    }
    database_org(token).map(str::to_owned)
}

/// The organisation that a plain key begins with, if its identifier comes from a database.
fn database_org(token: &str) -> Option<&str> {
    let (org, rest) = token.split_at_checked(DATABASE_ID_DIGITS)?;
    (!rest.is_empty() && is_hexadecimal(org)).then_some(org)
}

/// The `id` of a key within its organisation, `None` for a plain key.
pub fn id_of(token: &str) -> Option<String> {
    carrier(token)?.id
}

/// The function that a key names: `None` if it names none, [`KeyFunction::Murmur32`] if it names an unknown one.
pub fn function_of(token: &str) -> Option<KeyFunction> {
    let name = carrier(token)?.h?;
    Some(KeyFunction::from_name(&name).unwrap_or(KeyFunction::Murmur32))
}

/// The hash of a key as the control API shows it: by the function that the key names, otherwise by `default`. Tyk's own default is
/// always [`KeyFunction::Plain`], whatever `hash_key_function` says.
pub fn hash(token: &str, default: KeyFunction) -> String {
    function_of(token).unwrap_or(default).hash(token)
}

/// The hash that earlier versions of the gateway gave a key: the complete MurmurHash3 instead of Tyk's. `None` if it is the same.
pub fn former_hash(token: &str) -> Option<String> {
    let is_weak = function_of(token).unwrap_or_default().is_weak();
    is_weak.then(|| format!("{:08x}", murmur::murmur3_32(token.as_bytes())))
}

/// The keys that a presented text may mean, in Tyk's order: [`custom`] with the first of `functions`, the text itself, [`custom`]
/// with the other functions. `functions` are `hash_key_function` followed by `hash_key_function_fallback`. Without any, only the
/// text itself remains, as `disable_key_actions_by_username` requires.
pub fn candidates(token: &str, org: &str, functions: &[KeyFunction]) -> Vec<String> {
    let is_whole = carrier(token).and_then(|carrier| carrier.org).as_deref().or_else(|| database_org(token)) == Some(org);
    let Some((function, fallbacks)) = functions.split_first().filter(|_| !is_whole) else {
        return vec![token.to_owned()];
    };
    let others = fallbacks.iter().map(|function| custom(org, token, *function));
    let mut candidates = Vec::with_capacity(functions.len() + 1);
    for candidate in [custom(org, token, *function), token.to_owned()].into_iter().chain(others) {
        if !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    }
    candidates
}

/// The digest under which a key is stored: unlike Tyk's short hashes, it is unique.
pub fn digest(token: &str) -> [u8; 32] {
    blake3::hash(token.as_bytes()).into()
}

fn token(org: &str, id: &str, function: KeyFunction) -> String {
    match function {
        KeyFunction::Plain => [org, id].concat(),
        _ => {
            let [org, id] = [org, id].map(|text| serde_json::Value::from(text).to_string());
            STANDARD.encode(format!(r#"{{"org":{org},"id":{id},"h":"{}"}}"#, function.name()))
        }
    }
}

/// The content of a structured key, `None` for a plain key. As lenient as Tyk: of several members with one name the first counts, a member
/// that is no text counts as absent, and an object that ends too early or too late counts as far as it goes.
fn carrier(token: &str) -> Option<Carrier> {
    if !token.starts_with(CARRIER_PREFIX) {
        return None;
    }
    let content = STANDARD.decode(token).ok()?;
    let mut carrier = Carrier::default();
    let _ = serde_json::Deserializer::from_slice(&content).deserialize_map(&mut carrier);
    Some(carrier)
}

impl<'de> Visitor<'de> for &mut Carrier {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = [false; 3];
        let [has_org, has_id, has_function] = &mut seen;
        while let Some(name) = members.next_key::<String>()? {
            let (place, is_seen) = match name.as_str() {
                "org" => (&mut self.org, &mut *has_org),
                "id" => (&mut self.id, &mut *has_id),
                "h" => (&mut self.h, &mut *has_function),
                _ => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = members.next_value::<serde_json::Value>()?;
            if !std::mem::replace(is_seen, true) {
                *place = value.as_str().map(str::to_owned);
            }
        }
        Ok(())
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
