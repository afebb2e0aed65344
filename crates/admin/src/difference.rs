//! What differs between two versions of a document, in the order of its members. Values are short enough to be kept in a log.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Differences that are kept; whoever changes more replaces the document rather than edits it.
pub const DIFFERENCES_MAX: usize = 50;
/// Characters of a value that are kept.
const VALUE_CHARS_MAX: usize = 200;

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// JSON path of the value.
    pub path: String,
    /// The value before; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The value after; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

/// The first differences, and the number of the others.
pub fn differences(old: &Value, new: &Value) -> (Vec<Difference>, usize) {
    let mut found = FoundDifferences::default();
    found.compare("$", Some(old), Some(new));
    (found.first, found.others)
}

#[derive(Default)]
struct FoundDifferences {
    first: Vec<Difference>,
    others: usize,
}

impl FoundDifferences {
    fn compare(&mut self, path: &str, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (old, new) if old == new => {}
            (Some(Value::Object(old)), Some(Value::Object(new))) => {
                let removed = old.keys().filter(|name| !new.contains_key(*name));
                for name in new.keys().chain(removed) {
                    self.compare(&member(path, name), old.get(name), new.get(name));
                }
            }
            (Some(Value::Array(old)), Some(Value::Array(new))) => {
                for index in 0..old.len().max(new.len()) {
                    self.compare(&format!("{path}[{index}]"), old.get(index), new.get(index));
                }
            }
            (old, new) if self.first.len() < DIFFERENCES_MAX => {
                self.first.push(Difference { path: path.to_owned(), old: old.map(short), new: new.map(short) });
            }
            _ => self.others += 1,
        }
    }
}

/// The path of a member; names other than plain ones are quoted, as in the gateway's other messages.
pub(crate) fn member(path: &str, name: &str) -> String {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_plain { format!("{path}.{name}") } else { format!("{path}[{}]", Value::from(name)) }
}

/// A value, cut if it is long. Objects and lists become text then.
fn short(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        _ => return value.clone(),
    };
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => Value::from(format!("{}…", text.get(..end).unwrap_or_default())),
        None => value.clone(),
    }
}

#[cfg(test)]
mod tests;
