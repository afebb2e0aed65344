//! Finds the protections of requests and responses that a definition requires and Tollgate does not support. An API is not served
//! without its protection; the code that loads it enforces that.

use serde_json::Value;

use super::{ApiDefinition, VersionInfo};
use crate::json_path::JsonPath;

/// One protection that a definition requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingProtection {
    /// One of [`PROTECTIONS`](super::PROTECTIONS).
    pub field: &'static str,
    /// Its place, as in [`crate::Problem::path`].
    pub path: String,
}

impl ApiDefinition {
    /// The unsupported protections of this definition. Disabled ones, and those of unreachable versions, do not count.
    pub fn missing_protections(&self) -> Vec<MissingProtection> {
        let mut missing = Vec::new();
        let mut add = |field, at: JsonPath| missing.push(MissingProtection { field, path: at.to_string() });
        if let Some((hook, index)) = self.unsupported_hook() {
            add("custom_middleware", JsonPath::of("custom_middleware").key(hook).index(index));
        }
        for (name, version) in self.reachable_versions().filter(|(_, version)| version.use_extended_paths) {
            let at = JsonPath::of("version_data.versions").key(name).key("extended_paths");
            for (list, entries) in version.extended_paths.missing() {
                let counts = |entry: &Value| is_in_effect(entry) && (list != "validate_request" || is_true(entry, "enabled"));
                if let Some(index) = entries.iter().position(counts) {
                    add(list, at.key(list).index(index));
                }
            }
        }
        missing
    }

    /// The versions that receive requests.
    fn reachable_versions(&self) -> impl Iterator<Item = (&String, &VersionInfo)> {
        let data = &self.version_data;
        let only = (self.definition.enabled || data.not_versioned).then(|| data.unversioned());
        let is_reachable =
            move |version: &VersionInfo| only.is_none_or(|only| only.is_some_and(|only| std::ptr::eq(only, version)));
        data.versions.iter().filter(move |(_, version)| is_reachable(version))
    }
}

/// Whether an entry of a list is enabled.
pub(super) fn is_in_effect(entry: &Value) -> bool {
    !is_true(entry, "disabled")
}

fn is_true(object: &Value, name: &str) -> bool {
    member(object, name).and_then(Value::as_bool).unwrap_or_default()
}

/// A member by its name in any letter case, as in Go.
fn member<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    let members = object.as_object()?;
    members.get(name).or_else(|| members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
}

#[cfg(test)]
mod tests;
