//! What settings do to bodies: `proxy`, and schemas.

use super::KrakendReader;
use super::settings::{Level, present};
use crate::node::Node;
use crate::plan::{BodyEdit, BodyShape, PlannedRoute};
use serde_json::Value;

/// The schema for requests of the endpoint that is read, if there is one that needs no other documents.
pub(super) fn schema(level: Level, reader: &KrakendReader<'_>) -> Option<Value> {
    let schema =
        typed(&reader.endpoint, "validation/json-schema").filter(|schema| level == Level::Endpoint && schema.is_object())?;
    refers_to_itself(schema).then(|| schema.clone())
}

/// Whether a schema has all that it refers to.
fn refers_to_itself(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().all(|(key, below)| match below.as_str() {
            Some(text) if key == "$ref" => text.starts_with('#'),
            _ => refers_to_itself(below),
        }),
        Value::Array(items) => items.iter().all(refers_to_itself),
        _ => true,
    }
}

/// What is done with responses. Shadows are told where backends are.
pub(super) fn proxy(node: &Node, level: Level, routes: &mut [&mut PlannedRoute], reader: &mut KrakendReader<'_>) {
    for field in node.members() {
        let place = reader.place(field.line);
        let title = format!("extra_config.proxy.{}", field.key);
        match field.key.as_str() {
            "static" if level == Level::Endpoint && is_added(&field.node) => {
                field.node.get("data").settle();
                let data = typed(&reader.endpoint, "proxy").and_then(|proxy| proxy.get("static")?.get("data")?.as_object());
                let Some(added) = data.cloned() else {
                    reader.report.not_carried(&place, title, "the data is no object in JSON");
                    continue;
                };
                for route in routes.iter_mut() {
                    let shape = route.shape.get_or_insert_with(BodyShape::default);
                    shape.added.extend(added.iter().map(|(name, value)| (name.clone(), value.clone())));
                }
                reader.report.approximated(
                    &place,
                    title,
                    "is added to what the backend answers; without an answer, there is nothing",
                );
            }
            "flatmap_filter" if level == Level::Backend || routes.iter().any(|route| route.merge.is_some()) => {
                match edits(&field.node) {
                    Ok(edits) => {
                        // They take the place of what else selects members.
                        for shape in routes.iter_mut().map(|route| route.shape.get_or_insert_with(BodyShape::default)) {
                            shape.allowed.clear();
                            shape.denied.clear();
                            shape.renamed.clear();
                            shape.edits.clone_from(&edits);
                        }
                        reader.report.carried(&place, title);
                    }
                    Err(why) => reader.report.unprotected(&place, title, why),
                }
            }
            "shadow" | "sequential" => {
                field.node.is_true();
                reader.report.carried(&place, title);
            }
            _ => reader.report.not_carried(&place, title, "has no counterpart"),
        }
    }
}

/// Whether data is for responses that backends answer with.
fn is_added(node: &Node) -> bool {
    let strategy = node.get("strategy");
    strategy.is_empty() || !strategy.word(&["always", "success", "complete"]).is_empty()
}

/// Operations of a `flatmap_filter`.
fn edits(list: &Node) -> Result<Vec<BodyEdit>, String> {
    let length = |path: &String| path.split('.').count();
    // A longer path begins where the first is found, a shorter one at the top.
    let is_one_place = |from: &String, to: &String| {
        let known = if length(to) < length(from) { 0 } else { length(from).saturating_sub(1) };
        to.split('.').skip(known).all(|part| part != "*")
    };
    let has_index = |path: &String| path.split('.').any(|part| part.parse::<usize>().is_ok());
    let mut edits = Vec::new();
    for operation in list.objects() {
        let (kind, paths) = (operation.get("type").word(&["del", "move", "append"]), operation.get("args").texts());
        let edit = match (kind, paths.as_slice()) {
            _ if paths.iter().any(has_index) => None,
            ("del", names) => {
                edits.extend(names.iter().cloned().map(BodyEdit::Remove));
                continue;
            }
            ("move", [from, to, ..]) if is_one_place(from, to) => Some(BodyEdit::Move { from: from.clone(), to: to.clone() }),
            ("append", [from, to, ..]) if !from.contains('*') && !to.contains('*') => {
                Some(BodyEdit::Append { from: from.clone(), to: to.clone() })
            }
            _ => None,
        };
        let edit =
            edit.ok_or_else(|| format!("the operation {kind} {} has no counterpart; none of them is applied", paths.join(" ")))?;
        edits.push(edit);
    }
    Ok(edits)
}

/// The setting of that name of the endpoint that is read, with the types of its values.
fn typed<'e>(endpoint: &'e Value, name: &str) -> Option<&'e Value> {
    let settings = endpoint.get("extra_config")?.as_object()?;
    settings.iter().find(|(key, _)| present(key) == name).map(|(_, setting)| setting)
}
