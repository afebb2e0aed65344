//! A place inside a JSON document: `$.version_data.versions["1.0"].paths.ignored[0]`.

use std::fmt;

use serde_json::Value;

/// One step down into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathStep {
    Key(String),
    Index(usize),
}

/// Steps from the root of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonPath(pub(crate) Vec<PathStep>);

impl JsonPath {
    /// The document itself.
    pub fn root() -> JsonPath {
        JsonPath::default()
    }

    /// Parses a path of keys separated by dots; keys that contain dots are not supported.
    pub fn of(dotted: &str) -> JsonPath {
        dotted.split('.').fold(JsonPath::root(), |path, key| path.key(key))
    }

    /// A member of the object at this place.
    pub fn key(&self, key: &str) -> JsonPath {
        self.then(PathStep::Key(key.to_owned()))
    }

    /// An item of the list at this place.
    pub fn index(&self, index: usize) -> JsonPath {
        self.then(PathStep::Index(index))
    }

    /// The first steps of this path.
    pub fn start(&self, steps: usize) -> JsonPath {
        JsonPath(self.0.iter().take(steps).cloned().collect())
    }

    /// Whether the last step is one of these keys.
    pub fn ends_with_any(&self, keys: &[&str]) -> bool {
        matches!(self.0.last(), Some(PathStep::Key(last)) if keys.contains(&last.as_str()))
    }

    /// Whether the keys of this path, without its list positions, equal `dotted`. A `*` in `dotted` matches any key, and a
    /// `**` at its end any number of keys.
    pub(crate) fn matches(&self, dotted: &str) -> bool {
        let mut wanted = dotted.split('.');
        for step in &self.0 {
            let PathStep::Key(key) = step else { continue };
            match wanted.next() {
                Some("**") => return true,
                Some(want) if want == "*" || want.eq_ignore_ascii_case(key) => {}
                _ => return false,
            }
        }
        wanted.next().is_none()
    }

    pub(crate) fn find_mut<'v>(&self, document: &'v mut Value) -> Option<&'v mut Value> {
        self.0.iter().try_fold(document, |value, step| match (step, value) {
            (PathStep::Key(key), Value::Object(members)) => members.get_mut(key),
            (PathStep::Index(index), Value::Array(items)) => items.get_mut(*index),
            _ => None,
        })
    }

    /// The texts of all paths from the root to this one.
    pub(crate) fn places(&self) -> impl Iterator<Item = String> {
        let steps = self.0.iter().scan("$".to_owned(), |place, step| {
            place.push_str(&step.to_string());
            Some(place.clone())
        });
        std::iter::once("$".to_owned()).chain(steps)
    }

    /// The place of `below` inside this one.
    pub(crate) fn join(&self, below: &JsonPath) -> JsonPath {
        JsonPath(self.0.iter().chain(&below.0).cloned().collect())
    }

    fn then(&self, step: PathStep) -> JsonPath {
        let mut steps = self.0.clone();
        steps.push(step);
        JsonPath(steps)
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|step| step.fmt(f))
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Index(index) => write!(f, "[{index}]"),
            PathStep::Key(key) if is_plain(key) => write!(f, ".{key}"),
            PathStep::Key(key) => write!(f, "[{key:?}]"),
        }
    }
}

fn is_plain(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests;
