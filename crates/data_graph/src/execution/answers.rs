//! What becomes of the answers of sources: their values become part of the objects that they are for, their errors errors of the response.

use super::places::{ObjectPlace, object_at_mut};
use super::{Execution, SentRequest, SourceAnswer, SourceFailure, extensions, path_of};
use crate::completion::{ResponsePath, ResponsePathStep};
use crate::plan::{FetchWork, client_key};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The answer of a server that understands GraphQL.
#[derive(Deserialize, Default)]
#[serde(default)]
struct OperationAnswer {
    data: Option<Value>,
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
            FetchWork::Rest { store, .. } => rest_value(answer).map(|value| self.store(&sent.objects, store, value)),
            FetchWork::Operation { store, .. } => operation_answer(answer).map(|answer| {
                self.take_errors(&sent, answer.errors, &fetch.key, 0);
                match (store, answer.data) {
                    (_, None | Some(Value::Null)) => {}
                    (Some(store), Some(data)) => self.store(&sent.objects, store, data),
                    (None, Some(data)) => self.merge(&sent.objects, vec![data]),
                }
            }),
            FetchWork::Entities { .. } => operation_answer(answer).map(|mut answer| {
                self.take_errors(&sent, answer.errors, &fetch.key, 2);
                if let Some(Value::Array(entities)) =
                    answer.data.as_mut().and_then(|data| data.get_mut("_entities")).map(Value::take)
                {
                    self.merge(&sent.objects, entities);
                }
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
    fn store(&mut self, objects: &[Vec<ObjectPlace>], name: &str, value: Value) {
        for place in objects.iter().flatten() {
            if let Some(object) = object_at_mut(&mut self.data, &place.raw) {
                object.insert(name.to_owned(), value.clone());
            }
        }
    }

    /// Adds the members of each value to the objects that it is for.
    fn merge(&mut self, objects: &[Vec<ObjectPlace>], values: Vec<Value>) {
        for (places, value) in objects.iter().zip(values) {
            let Value::Object(members) = value else { continue };
            for place in places {
                if let Some(object) = object_at_mut(&mut self.data, &place.raw) {
                    merge_members(object, members.clone());
                }
            }
        }
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

/// A step of a source's path, with the client's response key.
fn step(value: &Value) -> Option<ResponsePathStep> {
    match value {
        Value::String(key) => client_key(key).map(|key| ResponsePathStep::Key(key.to_owned())),
        value => value.as_u64().and_then(|index| usize::try_from(index).ok()).map(ResponsePathStep::Index),
    }
}

fn rest_value(answer: Result<SourceAnswer, SourceFailure>) -> Result<Value, AnswerFault> {
    let answer = answer.map_err(AnswerFault::Failed)?;
    if answer.status >= 400 {
        return Err(AnswerFault::Status(answer.status));
    }
    if answer.body.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&answer.body).map_err(|_| AnswerFault::NotJson)
}

fn operation_answer(answer: Result<SourceAnswer, SourceFailure>) -> Result<OperationAnswer, AnswerFault> {
    let answer = answer.map_err(AnswerFault::Failed)?;
    // Servers send errors of GraphQL with statuses of errors, too.
    let read = serde_json::from_slice::<OperationAnswer>(&answer.body).ok();
    match read.filter(|read| read.data.is_some() || !read.errors.is_empty()) {
        Some(read) => Ok(read),
        None if answer.status >= 400 => Err(AnswerFault::Status(answer.status)),
        None => Err(AnswerFault::NotGraphql),
    }
}

/// Adds members to an object. Objects that both have become one.
fn merge_members(object: &mut Map<String, Value>, members: Map<String, Value>) {
    for (name, value) in members {
        match (object.get_mut(&name), value) {
            (Some(Value::Object(own)), Value::Object(further)) => merge_members(own, further),
            (Some(Value::Array(own)), Value::Array(further)) if own.len() == further.len() => {
                for (own, further) in own.iter_mut().zip(further) {
                    if let (Value::Object(own), Value::Object(further)) = (own, further) {
                        merge_members(own, further);
                    }
                }
            }
            // What one source does not have, another may have given.
            (Some(own), Value::Null) if !own.is_null() => {}
            (_, value) => {
                object.insert(name, value);
            }
        }
    }
}
