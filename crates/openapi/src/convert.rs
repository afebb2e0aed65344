//! Classic API definitions as OpenAPI documents, and back. Both directions use the table that serving uses; what the table makes of the result is
//! compared with what was given, so that nothing is lost in silence.

mod classic;

use serde_json::{Map, Value, json};
use tollgate_model::JsonPath;

use crate::document::Document;
use crate::extension::{EXTENSION, classic_form};
use crate::places::put;

/// A definition in the other language.
#[derive(Debug)]
pub struct ConvertedDefinition {
    /// The definition.
    pub document: Value,
    /// What has no counterpart: JSON path in what was given, and reason.
    pub notes: Vec<String>,
}

/// Members whose meaning the conversion writes elsewhere, or that mean nothing to a gateway.
const ELSEWHERE: [&str; 12] = [
    "is_oas",
    "slug",
    "auth",
    "version_data.not_versioned",
    "version_data.default_version",
    "id",
    "name",
    "date_updated",
    "org_name",
    "definition",
    "proxy.target_list",
    "auth_configs",
];

/// A classic definition as an OpenAPI document.
pub fn to_openapi(definition: &Value) -> Result<ConvertedDefinition, String> {
    let classic::Written { document, mut notes } = classic::write(definition)?;
    let parsed =
        Document::new(document.clone()).map_err(|problems| problems.first().map(ToString::to_string).unwrap_or_default())?.0;
    let form = classic_form(&parsed);
    notes.extend(
        form.problems.iter().filter(|problem| problem.is_error()).map(|problem| format!("{}: {}", problem.path, problem.message)),
    );
    missing(definition, &form.definition, &JsonPath::root(), "", &mut notes);
    Ok(ConvertedDefinition { document, notes })
}

/// An OpenAPI document as a classic definition.
pub fn to_classic(root: Value) -> Result<ConvertedDefinition, String> {
    if root.get(EXTENSION).is_none() {
        return Err(format!("$.{EXTENSION}: is missing: nothing says where the API is served; tollgate apis import adds it"));
    }
    let document = Document::new(root).map_err(|problems| problems.first().map(ToString::to_string).unwrap_or_default())?.0;
    let form = classic_form(&document);
    let mut notes: Vec<String> = form.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
    let mut definition = form.definition;
    let lists = definition.pointer_mut("/version_data/versions//extended_paths");
    for (list, what) in [("operation_validations", "validateRequest"), ("operation_mocks", "mockResponse")] {
        let entries = lists_of(&lists, list);
        if entries > 0 {
            notes.push(format!(
                "$.{EXTENSION}.middleware.operations: {what} of {entries} operations has no counterpart: it needs the document"
            ));
        }
    }
    if let Some(Value::Object(lists)) = lists {
        lists.retain(|list, _| !list.starts_with("operation_"));
    }
    // A version without a name is one that only documents have.
    if let Some(Value::Object(versions)) = definition.pointer_mut("/version_data/versions")
        && let Some(mut version) = versions.remove("")
    {
        put(&mut version, &["name"], json!("Default"));
        versions.insert("Default".to_owned(), version);
    }
    if let Value::Object(members) = &mut definition {
        members.remove("is_oas");
    }
    Ok(ConvertedDefinition { document: definition, notes })
}

fn lists_of(lists: &Option<&mut Value>, name: &str) -> usize {
    let entries = lists.as_ref().and_then(|lists| lists.get(name)).and_then(Value::as_array);
    entries.map_or(0, |entries| {
        entries.iter().filter(|entry| entry.get("skip").is_none() && entry.get("enabled") != Some(&json!(false))).count()
    })
}

/// Notes members that the form of the converted document does not have. `dotted` has no names of versions.
fn missing(given: &Value, form: &Value, at: &JsonPath, dotted: &str, notes: &mut Vec<String>) {
    let Value::Object(members) = given else { return };
    for (name, value) in members {
        let path = at.key(name);
        let dotted = if dotted.is_empty() { name.clone() } else { format!("{dotted}.{name}") };
        if is_zero(value) || ELSEWHERE.contains(&dotted.as_str()) {
            continue;
        }
        if dotted == "version_data.versions" {
            let version = value.as_object().and_then(|versions| versions.iter().next());
            if let (Some((name, version)), Some(form)) = (version, form.pointer("/versions/")) {
                missing_in_version(version, form, &path.key(name), notes);
            }
            continue;
        }
        match (value, form.get(name)) {
            (Value::Object(_), Some(other @ Value::Object(_))) => missing(value, other, &path, &dotted, notes),
            (value, Some(other)) if is_same(value, other) => {}
            _ => notes.push(format!("{path}: has no counterpart")),
        }
    }
}

fn missing_in_version(version: &Value, form: &Value, at: &JsonPath, notes: &mut Vec<String>) {
    for (name, value) in version.as_object().into_iter().flatten().filter(|(_, value)| !is_zero(value)) {
        let is_written = match name.as_str() {
            "name" | "use_extended_paths" | "override_target" | "extended_paths" => true,
            _ => form.get(name).is_some_and(|other| is_same(value, other)),
        };
        if !is_written {
            notes.push(format!("{}: has no counterpart", at.key(name)));
        }
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    let number = |value: &Value| value.as_f64();
    one == other || (number(one).is_some() && number(one) == number(other))
}

/// Whether a value says what its absence says.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_zero),
        Value::Bool(true) => false,
    }
}

/// The members of an object.
fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

#[cfg(test)]
mod tests;
