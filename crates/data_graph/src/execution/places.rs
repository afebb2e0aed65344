//! Finds the objects at a place of what the sources have answered so far.

use crate::answer_value::{AnswerMembers, AnswerValue, index_of};
use crate::completion::{ResponsePath, ResponsePathStep};
use crate::plan::PlaceStep;
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
pub(crate) fn is_of(object: &AnswerMembers, types: &[String]) -> bool {
    let own = || object.get("__typename").and_then(AnswerValue::as_text);
    types.is_empty() || own().is_some_and(|own| types.iter().any(|known| known == own))
}

/// The objects at a place, at most so many.
pub(crate) fn objects(root: &AnswerValue, steps: &[Arc<PlaceStep>], types: &[String], objects_max: usize) -> Vec<ObjectPlace> {
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
    fn visit(&mut self, value: &AnswerValue, steps: &[Arc<PlaceStep>], raw: &mut Vec<RawStep>, path: &mut ResponsePath) {
        match value {
            list if list.is_list() => {
                for (index, item) in list.items().enumerate() {
                    raw.push(RawStep::Index(index));
                    path.push(ResponsePathStep::Index(index));
                    self.visit(item, steps, raw, path);
                    raw.pop();
                    path.pop();
                }
            }
            AnswerValue::Members(object) => match steps.split_first() {
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
        value: &AnswerValue,
        step: &PlaceStep,
        rest: &[Arc<PlaceStep>],
        raw: &mut Vec<RawStep>,
        path: &mut ResponsePath,
    ) {
        let depth = raw.len();
        let mut current = Some(value);
        for member in &step.read {
            current = match current {
                Some(AnswerValue::Members(object)) => {
                    raw.push(RawStep::Member(member.clone()));
                    object.get(member)
                }
                Some(list) => index_of(member).and_then(|index| {
                    let item = list.item(index);
                    item.is_some().then(|| raw.push(RawStep::Index(index)));
                    item
                }),
                None => None,
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
pub(crate) fn object_at<'v>(root: &'v AnswerValue, raw: &[RawStep]) -> Option<&'v AnswerMembers> {
    let found = raw.iter().try_fold(root, |value, step| match step {
        RawStep::Member(member) => value.member(member),
        RawStep::Index(index) => value.item(*index),
    });
    found.and_then(AnswerValue::members)
}

/// The same, to be changed.
pub(crate) fn object_at_mut<'v>(root: &'v mut AnswerValue, raw: &[RawStep]) -> Option<&'v mut AnswerMembers> {
    let found = raw.iter().try_fold(root, |value, step| match step {
        RawStep::Member(member) => value.member_mut(member),
        RawStep::Index(index) => value.item_mut(*index),
    });
    found.and_then(AnswerValue::members_mut)
}
