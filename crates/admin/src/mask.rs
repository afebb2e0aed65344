//! Replaces secrets in documents by a mask, and puts them back into documents that come back with masks. A secret is recognised by the name
//! of its member, or by its form: so that a document with unknown members does not reveal one, more is masked than has to be.

use crate::difference::member;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// What stands in place of a secret.
pub const MASK: &str = "********";

/// Parts of the names of members whose texts are secrets.
const SECRET_NAMES: [&str; 13] = [
    "secret",
    "password",
    "passwd",
    "passphrase",
    "private_key",
    "privatekey",
    "hmac_string",
    "credential",
    "api_key",
    "apikey",
    "access_key",
    "oauth_keys",
    "signing_key",
];
/// Whole names of members whose texts are secrets. `code` is an access token in a list of tokens.
const SECRET_WORDS: [&str; 4] = ["token", "code", "authorization", "cookie"];
/// Ends of the names of members that describe a secret without having it.
const DESCRIBES: [&str; 11] =
    ["_regexp", "_regex", "_header", "_name", "_type", "_url", "_path", "_file", "_field", "_location", "_pattern"];
/// The beginnings of texts that refer to a secret elsewhere.
const REFERENCES: [&str; 7] = ["env://", "secrets://", "file://", "vault://", "consul://", "kv://", "$secret_"];

/// Knows which texts are keys of callers.
pub trait RawKeys {
    /// Whether a text is a key that a caller could use.
    fn is_raw_key(&self, text: &str) -> bool;
}

/// No text is a key.
impl RawKeys for () {
    fn is_raw_key(&self, _: &str) -> bool {
        false
    }
}

/// Masks all secrets of a document.
pub fn mask(value: &mut Value, keys: &dyn RawKeys) {
    mask_in(value, Surroundings::Open, keys);
}

/// Masks the secrets among the values of labels in Prometheus text: texts in quotes.
pub fn mask_labels(text: &str, keys: &dyn RawKeys) -> String {
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // Comments describe metrics; most lines have labels without secrets.
        if line.starts_with('#') {
            masked.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('"') {
            masked.push_str(before);
            masked.push('"');
            let end = closing_quote(after);
            let (value, behind) = after.split_at_checked(end).unwrap_or((after, ""));
            masked.push_str(if is_secret(value, Surroundings::Open, keys) { MASK } else { value });
            rest = match behind.strip_prefix('"') {
                Some(behind) => {
                    masked.push('"');
                    behind
                }
                None => behind,
            };
        }
        masked.push_str(rest);
    }
    masked
}

/// Where the quote is that closes a value; its end if there is none.
fn closing_quote(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return place,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Masks the secrets that the names of their members tell. Headers are masked by their names only, so that a document stays useful in files.
pub fn mask_named(value: &mut Value, keys: &dyn RawKeys) {
    mask_in(value, Surroundings::Named, keys);
}

/// Puts the secrets of `stored` where `document` has masks of [`mask_named`].
///
/// # Errors
/// The JSON paths of masks for which there is no secret.
pub fn unmask_named(document: &mut Value, stored: Option<&Value>, keys: &dyn RawKeys) -> Result<(), Vec<String>> {
    let mut missing = Vec::new();
    unmask_in(document, stored, "$", Surroundings::Named, keys, &mut missing);
    if missing.is_empty() { Ok(()) } else { Err(missing) }
}

/// Whether a document has a mask.
pub fn has_mask(value: &Value) -> bool {
    match value {
        Value::String(text) => text == MASK,
        Value::Array(items) => items.iter().any(has_mask),
        Value::Object(members) => members.values().any(has_mask),
        _ => false,
    }
}

/// Puts the secrets of `stored` where `document` has masks.
///
/// # Errors
/// The JSON paths of masks for which there is no secret.
pub fn unmask(document: &mut Value, stored: Option<&Value>, keys: &dyn RawKeys) -> Result<(), Vec<String>> {
    let mut missing = Vec::new();
    unmask_in(document, stored, "$", Surroundings::Open, keys, &mut missing);
    if missing.is_empty() { Ok(()) } else { Err(missing) }
}

/// What the names around a value say about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surroundings {
    Open,
    /// Open, and headers are like other members.
    Named,
    /// Headers by name, or a list of objects with a header each.
    Headers,
    Secret,
}

impl Surroundings {
    /// Inside the member with this name.
    fn below(self, name: &str) -> Self {
        if self == Surroundings::Secret {
            return self;
        }
        let name = name.to_ascii_lowercase().replace('-', "_");
        let describes = DESCRIBES.iter().any(|end| name.ends_with(end));
        let is_secret = SECRET_NAMES.iter().any(|part| name.contains(part))
            || SECRET_WORDS.contains(&name.as_str())
            || name.ends_with("_token")
            || name.ends_with("_authorization");
        if is_secret && !describes {
            Surroundings::Secret
        } else if self == Surroundings::Named {
            self
        } else if name.ends_with("headers") {
            Surroundings::Headers
        } else {
            Surroundings::Open
        }
    }

    /// Inside a member of an object in these surroundings: members of an object of headers are headers.
    fn of_member(self, name: &str) -> Self {
        match self {
            Surroundings::Headers if !matches!(name, "name" | "key" | "header_name") => Surroundings::Secret,
            _ => self.below(name),
        }
    }
}

fn mask_in(value: &mut Value, around: Surroundings, keys: &dyn RawKeys) {
    match value {
        Value::String(text) if is_secret(text, around, keys) => MASK.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_in(item, around, keys)),
        Value::Object(members) => {
            if members.keys().any(|name| keys.is_raw_key(name)) {
                *members = std::mem::take(members).into_iter().map(|(name, value)| (masked_name(name, keys), value)).collect();
            }
            let has_secret = around == Surroundings::Named && names_secret(members);
            for (name, value) in members.iter_mut() {
                let around = match name.as_str() {
                    "jwt_source" => source(value),
                    "value" if has_secret => Surroundings::Secret,
                    name => around.of_member(name),
                };
                mask_in(value, around, keys);
            }
        }
        _ => {}
    }
}

/// Whether an object is a header, or the like, whose name is that of a secret.
fn names_secret(members: &Map<String, Value>) -> bool {
    let name = ["name", "key", "header_name"].iter().find_map(|name| members.get(*name)?.as_str());
    name.is_some_and(|name| Surroundings::Named.below(name) == Surroundings::Secret)
}

fn masked_name(name: String, keys: &dyn RawKeys) -> String {
    if keys.is_raw_key(&name) { MASK.to_owned() } else { name }
}

/// A list of strings among headers has names of headers.
fn is_secret(text: &str, around: Surroundings, keys: &dyn RawKeys) -> bool {
    if text.is_empty() || REFERENCES.iter().any(|begin| text.starts_with(begin)) {
        return false;
    }
    around == Surroundings::Secret || has_credentials(text) || keys.is_raw_key(text)
}

/// `jwt_source` has the address of a key set, a public key, or a shared secret, each perhaps in base64.
fn source(value: &Value) -> Surroundings {
    let written = value.as_str().unwrap_or_default();
    let decoded = STANDARD.decode(written.trim()).unwrap_or_default();
    let is_public = |text: &[u8]| {
        [&b"http://"[..], b"https://", b"-----BEGIN PUBLIC KEY", b"-----BEGIN RSA PUBLIC KEY", b"-----BEGIN CERTIFICATE"]
            .iter()
            .any(|begin| text.starts_with(begin))
    };
    if is_public(written.as_bytes()) || is_public(&decoded) { Surroundings::Open } else { Surroundings::Secret }
}

/// Whether a text is an address with a password, or with a parameter that has a secret's name.
fn has_credentials(text: &str) -> bool {
    // An address may stand in a sentence, such as that of a problem.
    let authorities = text.split("://").skip(1).filter_map(|rest| rest.split(['/', '?', '#', ' ']).next());
    let has_password = authorities.filter_map(|authority| authority.rsplit_once('@')).any(|(user, _)| user.contains(':'));
    let query = text.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let mut pairs = query.split(['&', ';', '#']).filter_map(|pair| pair.split_once('='));
    has_password || pairs.any(|(name, value)| !value.is_empty() && Surroundings::Open.below(name) == Surroundings::Secret)
}

fn unmask_in(
    value: &mut Value,
    stored: Option<&Value>,
    path: &str,
    around: Surroundings,
    keys: &dyn RawKeys,
    missing: &mut Vec<String>,
) {
    match value {
        Value::String(text) if text == MASK => match stored {
            Some(Value::String(secret)) => secret.clone_into(text),
            _ => missing.push(path.to_owned()),
        },
        Value::Array(items) => {
            let stored = stored.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let old = partners(items, stored, around, keys);
            for (index, (item, old)) in items.iter_mut().zip(old).enumerate() {
                unmask_in(item, old, &format!("{path}[{index}]"), around, keys, missing);
            }
        }
        Value::Object(members) => {
            let stored = stored.and_then(Value::as_object);
            for (name, value) in members.iter_mut() {
                let around = around.of_member(name);
                unmask_in(
                    value,
                    stored.and_then(|stored: &Map<_, _>| stored.get(name)),
                    &member(path, name),
                    around,
                    keys,
                    missing,
                );
            }
        }
        _ => {}
    }
}

/// The stored item for each item of a list: the one that looks the same with masks, else the one at the same position if nothing was added or
/// removed. Otherwise an item could get the secret of another.
fn partners<'s>(items: &[Value], stored: &'s [Value], around: Surroundings, keys: &dyn RawKeys) -> Vec<Option<&'s Value>> {
    if !items.iter().any(has_mask) {
        return vec![None; items.len()];
    }
    let masked: Vec<Value> = stored
        .iter()
        .map(|item| {
            let mut item = item.clone();
            mask_in(&mut item, around, keys);
            item
        })
        .collect();
    let mut is_free = vec![true; stored.len()];
    let same_length = items.len() == stored.len();
    let mut look_alike = |item: &Value| {
        let (index, is_free) = is_free.iter_mut().enumerate().find(|(index, free)| **free && masked.get(*index) == Some(item))?;
        *is_free = false;
        stored.get(index)
    };
    // Items without a change come first: they must not lose their partner to one that was edited.
    let found: Vec<Option<&Value>> = items.iter().map(&mut look_alike).collect();
    let at_position = |index: usize| if same_length { stored.get(index) } else { None };
    found.into_iter().enumerate().map(|(index, found)| found.or_else(|| at_position(index))).collect()
}

#[cfg(test)]
mod tests;
