//! Finds the objects at a place of what the sources have answered so far.

use crate::completion::{ResponsePath, ResponsePathStep, index_of};
use crate::plan::PlaceStep;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Where one object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectPlace {
    /// Members and positions in the answers.
    pub raw: Vec<RawStep>,
    /// Its place in the response.
    pub path: ResponsePath,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RawStep {
    Member(String),
    Index(usize),
}

/// Whether an object is of one of some types; no types are all.
pub(crate) fn is_of(object: &Map<String, Value>, types: &[String]) -> bool {
    let own = || object.get("__typename").and_then(Value::as_str);
    types.is_empty() || own().is_some_and(|own| types.iter().any(|known| known == own))
}

/// The objects at a place, at most so many.
pub(crate) fn objects(root: &Value, steps: &[Arc<PlaceStep>], types: &[String], objects_max: usize) -> Vec<ObjectPlace> {
    let mut search = ObjectSearch { types, objects_max, found: Vec::new() };
    search.visit(root, steps, &mut Vec::new(), &mut Vec::new());
    search.found
}

struct ObjectSearch<'s> {
    types: &'s [String],
    objects_max: usize,
    found: Vec<ObjectPlace>,
}

impl ObjectSearch<'_> {
    fn visit(&mut self, value: &Value, steps: &[Arc<PlaceStep>], raw: &mut Vec<RawStep>, path: &mut ResponsePath) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    raw.push(RawStep::Index(index));
                    path.push(ResponsePathStep::Index(index));
                    self.visit(item, steps, raw, path);
                    raw.pop();
                    path.pop();
                }
            }
            Value::Object(object) => match steps.split_first() {
                None if is_of(object, self.types) && self.found.len() < self.objects_max => {
                    self.found.push(ObjectPlace { raw: raw.clone(), path: path.clone() });
                }
                Some((step, rest)) if is_of(object, &step.types) => self.descend(value, step, rest, raw, path),
                _ => {}
            },
            _ => {}
        }
    }

    fn descend(
        &mut self,
        value: &Value,
        step: &PlaceStep,
        rest: &[Arc<PlaceStep>],
        raw: &mut Vec<RawStep>,
        path: &mut ResponsePath,
    ) {
        let depth = raw.len();
        let mut current = Some(value);
        for member in &step.read {
            current = match current {
                Some(Value::Object(object)) => {
                    raw.push(RawStep::Member(member.clone()));
                    object.get(member)
                }
                Some(Value::Array(items)) => index_of(member).and_then(|index| {
                    raw.push(RawStep::Index(index));
                    items.get(index)
                }),
                _ => None,
            };
        }
        if let Some(current) = current {
            path.push(ResponsePathStep::Key(step.key.clone()));
            self.visit(current, rest, raw, path);
            path.pop();
        }
        raw.truncate(depth);
    }
}

/// The object at a place.
pub(crate) fn object_at<'v>(root: &'v Value, raw: &[RawStep]) -> Option<&'v Map<String, Value>> {
    let found = raw.iter().try_fold(root, |value, step| match step {
        RawStep::Member(member) => value.get(member),
        RawStep::Index(index) => value.get(index),
    });
    found.and_then(Value::as_object)
}

/// The same, to be changed.
pub(crate) fn object_at_mut<'v>(root: &'v mut Value, raw: &[RawStep]) -> Option<&'v mut Map<String, Value>> {
    let found = raw.iter().try_fold(root, |value, step| match step {
        RawStep::Member(member) => value.get_mut(member),
        RawStep::Index(index) => value.get_mut(index),
    });
    found.and_then(Value::as_object_mut)
}
