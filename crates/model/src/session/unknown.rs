//! Keeps the unknown fields of a document, so that writing it back loses nothing.

use serde_json::{Map, Value};

use crate::json_path::{JsonPath, PathStep};

/// A document, or a part of one, that keeps unknown fields in their place.
pub(crate) trait KeepsUnknown {
    /// The place for unknown fields of the object at `place` below this one.
    fn extra_at(&mut self, place: &[PathStep]) -> Option<&mut Map<String, Value>>;

    /// Stores the fields that decoding did not know.
    fn keep(&mut self, unknown: Vec<(JsonPath, Value)>) {
        for (path, value) in unknown {
            if let Some((PathStep::Key(name), place)) = path.0.split_last()
                && let Some(extra) = self.extra_at(place)
            {
                extra.insert(name.clone(), value);
            }
        }
    }
}
