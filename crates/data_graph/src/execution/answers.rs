//! What becomes of the answers of sources: their values become part of the objects that they are for, their errors errors of the response.

use super::places::{ObjectPlace, object_at_mut};
use super::{Execution, SentRequest, SourceAnswer, SourceFailure, extensions, path_of};
use crate::answer_value::AnswerValue;
use crate::completion::{ResponsePath, ResponsePathStep};
use crate::plan::{FetchWork, client_key};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tollgate_text::byte_order_mark;

/// The answer of a server that understands GraphQL.
#[derive(Deserialize, Default)]
#[serde(default)]
struct OperationAnswer {
    data: Option<AnswerValue>,
    errors: Vec<SourceError>,
}

/// One of its errors.
#[derive(Deserialize, Default)]
#[serde(default)]
struct SourceError {
    message: String,
    path: Vec<Value>,
    extensions: Option<Value>,
}

/// Why an answer has no value.
enum AnswerFault {
    Failed(SourceFailure),
    Status(u16),
    NotJson,
    NotGraphql,
}

impl Execution {
    pub(super) fn take(&mut self, sent: SentRequest, answer: Result<SourceAnswer, SourceFailure>) {
        let plan = self.plan.clone();
        let Some(fetch) = plan.fetches.get(sent.fetch) else { return };
        let taken = match &fetch.work {
            FetchWork::Rest { store, .. } => rest_value(answer).and_then(|value| self.store(&sent.objects, store, value)),
            FetchWork::Operation { store, .. } => operation_answer(answer).and_then(|answer| {
                self.take_errors(&sent, answer.errors, &fetch.key, 0);
                match (store, answer.data) {
                    (_, None | Some(AnswerValue::Null)) => Ok(()),
                    (Some(store), Some(data)) => self.store(&sent.objects, store, data),
                    (None, Some(data)) => self.merge(&sent.objects, std::iter::once(data)),
                }
            }),
            FetchWork::Entities { .. } => operation_answer(answer).and_then(|mut answer| {
                self.take_errors(&sent, answer.errors, &fetch.key, 2);
                let entities = answer.data.as_mut().and_then(|data| data.member_mut("_entities"));
                let entities = entities.and_then(|entities| std::mem::replace(entities, AnswerValue::Null).into_items());
                entities.map_or(Ok(()), |(_, entities)| self.merge(&sent.objects, entities))
            }),
        };
        if let Err(fault) = taken {
            let object = sent.objects.first().and_then(|objects| objects.first());
            self.fail(fetch.source, path_of(object, &fetch.key), &fault);
        }
    }

    fn fail(&mut self, source: usize, path: ResponsePath, fault: &AnswerFault) {
        let name = self.source_name(source);
        let (code, what) = match fault {
            AnswerFault::Failed(SourceFailure::Unavailable) => ("SOURCE_UNAVAILABLE", "does not answer".to_owned()),
            AnswerFault::Failed(SourceFailure::Timeout) => ("SOURCE_TIMEOUT", "did not answer in time".to_owned()),
            AnswerFault::Failed(SourceFailure::TooLarge) => ("SOURCE_ANSWER", "answered with more than is allowed".to_owned()),
            AnswerFault::Failed(SourceFailure::TooSlow) => ("SUBSCRIBER_SLOW", "had events that were not read in time".to_owned()),
            AnswerFault::Failed(SourceFailure::Unsendable) => ("SOURCE_REQUEST", "cannot be asked with these values".to_owned()),
            AnswerFault::Status(status) => ("SOURCE_STATUS", format!("answered with status {status}")),
            AnswerFault::NotJson => ("SOURCE_ANSWER", "did not answer with JSON".to_owned()),
            AnswerFault::NotGraphql => ("SOURCE_ANSWER", "did not answer with a GraphQL response".to_owned()),
        };
        let mut extensions = extensions(code, &name);
        if let (AnswerFault::Status(status), Some(Value::Object(members))) = (fault, &mut extensions) {
            members.insert("status".to_owned(), Value::from(*status));
        }
        self.fault(format!("The source {name:?} {what}"), path, extensions);
    }

    /// Keeps a value under a name in each object.
    fn store(&mut self, objects: &[Vec<ObjectPlace>], name: &str, value: AnswerValue) -> Result<(), AnswerFault> {
        let name: Arc<str> = name.into();
        let places: Vec<&ObjectPlace> = objects.iter().flatten().collect();
        self.count_copies(&value, places.len())?;
        for_each_copy(&places, value, |place, value| {
            if let Some(object) = object_at_mut(&mut self.data, &place.raw) {
                object.set(&name, value);
            }
        });
        Ok(())
    }

    /// Adds the members of each value to the objects that it is for.
    fn merge(&mut self, objects: &[Vec<ObjectPlace>], values: impl Iterator<Item = AnswerValue>) -> Result<(), AnswerFault> {
        for (places, value) in objects.iter().zip(values) {
            let places: Vec<&ObjectPlace> = places.iter().collect();
            self.count_copies(&value, places.len())?;
            for_each_copy(&places, value, |place, value| {
                if let (Some(object), AnswerValue::Members(members)) = (object_at_mut(&mut self.data, &place.raw), value) {
                    object.merge(members);
                }
            });
        }
        Ok(())
    }

    /// A value that several objects get takes memory for each.
    fn count_copies(&mut self, value: &AnswerValue, places: usize) -> Result<(), AnswerFault> {
        if places > 1 {
            let copied = value.json_bytes().saturating_mul(places - 1);
            self.bytes = self.bytes.saturating_add(copied);
        }
        if self.bytes > self.limits.bytes_max { Err(AnswerFault::Failed(SourceFailure::TooLarge)) } else { Ok(()) }
    }

    /// Notes the errors of a source under the path that they have in the response. `skipped` are the first steps of their paths, which name
    /// an entity.
    fn take_errors(&mut self, sent: &SentRequest, errors: Vec<SourceError>, key: &str, skipped: usize) {
        for error in errors {
            let entity = if skipped > 0 { error.path.get(1).and_then(Value::as_u64) } else { None };
            let index = entity.and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
            let steps: Vec<ResponsePathStep> = error.path.get(skipped..).unwrap_or_default().iter().map_while(step).collect();
            // The value is missing at each place that has the object.
            for object in sent.objects.get(index).into_iter().flatten() {
                let path = match steps.is_empty() {
                    true => path_of(Some(object), key),
                    false => object.path.iter().chain(&steps).cloned().collect(),
                };
                self.fault(error.message.clone(), path, error.extensions.clone());
            }
        }
    }
}

/// Gives a value to each place; the last one gets the value itself.
fn for_each_copy(places: &[&ObjectPlace], value: AnswerValue, mut give: impl FnMut(&ObjectPlace, AnswerValue)) {
    if let Some((last, others)) = places.split_last() {
        others.iter().for_each(|place| give(place, value.clone()));
        give(last, value);
    }
}

/// A step of a source's path, with the client's response key.
fn step(value: &Value) -> Option<ResponsePathStep> {
    match value {
        Value::String(key) => client_key(key).map(|key| ResponsePathStep::Key(key.to_owned())),
        value => value.as_u64().and_then(|index| usize::try_from(index).ok()).map(ResponsePathStep::Index),
    }
}

fn rest_value(answer: Result<SourceAnswer, SourceFailure>) -> Result<AnswerValue, AnswerFault> {
    let answer = answer.map_err(AnswerFault::Failed)?;
    if answer.status >= 400 {
        return Err(AnswerFault::Status(answer.status));
    }
    if answer.body.trim_ascii().is_empty() {
        return Ok(AnswerValue::Null);
    }
    serde_json::from_slice(byte_order_mark::without(&answer.body)).map_err(|_| AnswerFault::NotJson)
}

fn operation_answer(answer: Result<SourceAnswer, SourceFailure>) -> Result<OperationAnswer, AnswerFault> {
    let answer = answer.map_err(AnswerFault::Failed)?;
    // Servers send errors of GraphQL with statuses of errors, too.
    let read = serde_json::from_slice::<OperationAnswer>(byte_order_mark::without(&answer.body)).ok();
    match read.filter(|read| read.data.is_some() || !read.errors.is_empty()) {
        Some(read) => Ok(read),
        None if answer.status >= 400 => Err(AnswerFault::Status(answer.status)),
        None => Err(AnswerFault::NotGraphql),
    }
}
