//! The writer: documents of a plan. It knows our definitions, and no other gateway.

mod api;
mod consumers;
mod merge;
mod precedence;
mod settings;
mod shape;

use crate::files::NamedFiles;
use crate::plan::Plan;
use crate::report::ImportReport;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub use consumers::WrittenConsumer;

/// The organisation of everything that is written.
const ORG: &str = "default";

/// A document to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Path below the directory, with `/`.
    pub path: String,
    /// Content.
    pub text: String,
    /// Whether it has secrets that only the gateway should read.
    pub is_secret: bool,
}

/// Documents and consumers of a plan.
pub(crate) fn write(
    plan: &mut Plan,
    files: &mut NamedFiles,
    report: &mut ImportReport,
) -> (Vec<WrittenFile>, Vec<WrittenConsumer>) {
    let ids = ids(plan);
    precedence::settle(plan);
    for route in plan.routes.iter_mut().filter(|route| route.auth.lacks_groups()) {
        route.closed.push("groups of callers that are not consumers cannot be checked".to_owned());
    }
    let sockets = settings::Sockets::new(plan, files, report);
    let mut written = settings::files(plan, &sockets);
    for (route, id) in plan.routes.iter().zip(&ids) {
        let definition = api::definition(route, id, &sockets);
        if !route.closed.is_empty() {
            report.close(&route.place, id, &route.closed.join("; "));
        }
        written.push(file(format!("apis/{id}.json"), definition));
    }
    written.extend(merge::is_needed(plan).then(merge::script));
    let policy = consumers::policy(plan, &ids);
    written.extend(policy.map(|policy| file(format!("policies/{}.json", consumers::POLICY), policy)));
    (written, consumers::consumers(plan, &ids, report))
}

fn file(path: String, value: Value) -> WrittenFile {
    WrittenFile { path, text: format!("{value:#}\n"), is_secret: false }
}

/// An id for each route: its name in letters that ids and names of files may have.
fn ids(plan: &Plan) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut ids = Vec::with_capacity(plan.routes.len());
    for route in &plan.routes {
        let mut plain = String::new();
        for letter in route.name.chars().take(60) {
            let letter = if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
            if letter != '-' || !plain.ends_with('-') {
                plain.push(letter);
            }
        }
        let plain = Some(plain.trim_matches('-')).filter(|plain| !plain.is_empty()).unwrap_or("route").to_owned();
        let mut id = plain.clone();
        let mut number = 2;
        while !taken.insert(id.clone()) {
            id = format!("{plain}-{number}");
            number += 1;
        }
        ids.push(id);
    }
    ids
}

/// Sets the member at a path with dots, and makes the objects on the way.
fn put(document: &mut Value, path: &str, value: Value) {
    let (key, below) = path.split_once('.').map_or((path, None), |(key, below)| (key, Some(below)));
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    let Some(members) = document.as_object_mut() else { return };
    match below {
        Some(below) => put(members.entry(key).or_insert(Value::Null), below, value),
        None => {
            members.insert(key.to_owned(), value);
        }
    }
}

/// An object without members that say nothing: `null`, empty lists, objects and texts, `false`.
fn tidy(value: Value) -> Value {
    let is_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(_) => false,
    };
    match value {
        Value::Object(members) => {
            let members: Map<String, Value> =
                members.into_iter().map(|(key, value)| (key, tidy(value))).filter(|(_, value)| !is_nothing(value)).collect();
            Value::Object(members)
        }
        other => other,
    }
}
