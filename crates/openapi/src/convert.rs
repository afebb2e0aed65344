//! Classic API definitions as OpenAPI documents, and back. Both directions use the table that serving uses; what the table makes of the result is
//! compared with what was given, so that nothing is lost in silence.

mod authentication;
mod classic;
mod endpoints;
mod sections;

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
    /// What the result does not do any more, and the definition does: JSON path in what was given, and reason. The result may be more open.
    pub losses: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Members whose meaning the conversion writes elsewhere, or that mean nothing to a gateway.
const ELSEWHERE: [&str; 18] = [
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
    "created_at",
    "updated_at",
    "auth_provider",
    "session_provider",
    "notifications",
    "tollgate",
];

/// Methods that a classic definition may enable, and their entries in `auth_configs`.
const METHOD_CONFIGS: [(&str, &str); 6] = [
    ("use_standard_auth", "authToken"),
    ("enable_jwt", "jwt"),
    ("use_basic_auth", "basic"),
    ("use_oauth2", "oauth"),
    ("use_openid", "oidc"),
    ("enable_signature_checking", "hmac"),
];

/// A classic definition as an OpenAPI document.
pub fn to_openapi(definition: &Value) -> Result<ConvertedDefinition, String> {
    let classic::WrittenDefinition { document, mut losses, notes } = classic::write(definition)?;
    let parsed =
        Document::new(document.clone()).map_err(|problems| problems.first().map(ToString::to_string).unwrap_or_default())?.0;
    let form = classic_form(&parsed);
    losses.extend(
        form.problems.iter().filter(|problem| problem.is_error()).map(|problem| format!("{}: {}", problem.path, problem.message)),
    );
    missing(definition, &form.definition, &JsonPath::root(), "", &mut losses);
    missing_in_methods(definition, &form.definition, &mut losses);
    Ok(ConvertedDefinition { document, losses, notes })
}

/// An OpenAPI document as a classic definition.
pub fn to_classic(root: Value) -> Result<ConvertedDefinition, String> {
    if root.get(EXTENSION).is_none() {
        return Err(format!("$.{EXTENSION}: is missing: nothing says where the API is served; tollgate apis import adds it"));
    }
    let document = Document::new(root).map_err(|problems| problems.first().map(ToString::to_string).unwrap_or_default())?.0;
    let form = classic_form(&document);
    let mut losses: Vec<String> = form.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
    let mut definition = form.definition;
    let lists = definition.pointer_mut("/version_data/versions//extended_paths");
    for (list, what) in
        [("operation_validations", "validateRequest"), ("operation_mocks", "mockResponse"), ("operation_scopes", "scopeCheck")]
    {
        let entries = lists_of(&lists, list);
        if entries > 0 {
            losses.push(format!(
                "$.{EXTENSION}.middleware.operations: {what} of {entries} operations has no counterpart: it needs the document"
            ));
        }
    }
    if let Some(Value::Object(lists)) = lists {
        lists.retain(|list, _| !list.starts_with("operation_"));
    }
    if definition.pointer("/tollgate/validate_responses").is_some() {
        losses.push("$.x-tollgate.validate_responses: has no counterpart: it needs the document".to_owned());
        if let Some(Value::Object(own)) = definition.get_mut("tollgate") {
            own.remove("validate_responses");
        }
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
    Ok(ConvertedDefinition { document: definition, losses, notes: Vec::new() })
}

fn lists_of(lists: &Option<&mut Value>, name: &str) -> usize {
    let entries = lists.as_ref().and_then(|lists| lists.get(name)).and_then(Value::as_array);
    entries.map_or(0, |entries| {
        let acts = |entry: &&Value| {
            entry.get("skip").is_none()
                && entry.get("enabled") != Some(&json!(false))
                && entry.get("alternatives").is_none_or(|alternatives| !is_zero(alternatives))
        };
        entries.iter().filter(acts).count()
    })
}

/// Notes members that the form of the converted document does not have. `dotted` has no names of versions.
fn missing(given: &Value, form: &Value, at: &JsonPath, dotted: &str, losses: &mut Vec<String>) {
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
                missing_in_version(version, form, &path.key(name), losses);
            }
            continue;
        }
        match (value, form.get(name)) {
            (Value::Object(_), Some(other @ Value::Object(_))) => missing(value, other, &path, &dotted, losses),
            (value, Some(other)) if covers(other, value) => {}
            _ => losses.push(format!("{path}: has no counterpart")),
        }
    }
}

fn missing_in_version(version: &Value, form: &Value, at: &JsonPath, losses: &mut Vec<String>) {
    for (name, value) in version.as_object().into_iter().flatten().filter(|(_, value)| !is_zero(value)) {
        let is_written = match name.as_str() {
            // Entries without a counterpart are in the document's own extension.
            "name" | "use_extended_paths" | "override_target" | "extended_paths" => true,
            _ => form.get(name).is_some_and(|other| covers(other, value)),
        };
        if !is_written {
            losses.push(format!("{}: has no counterpart", at.key(name)));
        }
    }
}

/// Where enabled methods look for credentials.
fn missing_in_methods(definition: &Value, form: &Value, losses: &mut Vec<String>) {
    if definition.get("use_keyless") == Some(&json!(true)) {
        return;
    }
    let is_on = |method: &str| definition.get(method) == Some(&json!(true));
    for (_, name) in METHOD_CONFIGS.iter().filter(|(method, _)| is_on(method)) {
        let own = definition.get("auth_configs").and_then(|configs| configs.get(name)).map(|config| (config, "$.auth_configs"));
        let Some((given, at)) = own.or_else(|| Some((definition.get("auth")?, "$.auth"))) else { continue };
        let written = form.get("auth_configs").and_then(|configs| configs.get(name)).unwrap_or(&Value::Null);
        for (member, value) in members(Some(given)).filter(|(member, value)| !is_zero(value) && member.as_str() != "name") {
            // The other name of a source that is off.
            let is_off = match member.as_str() {
                "param_name" => given.get("use_param") != Some(&json!(true)),
                "cookie_name" => given.get("use_cookie") != Some(&json!(true)),
                "auth_header_name" => given.get("disable_header") == Some(&json!(true)),
                "signature" => given.get("validate_signature") != Some(&json!(true)),
                _ => false,
            };
            if !is_off && !written.get(member).is_some_and(|written| covers(written, value)) {
                let place = if at == "$.auth" { format!("{at}.{member}") } else { format!("{at}.{name}.{member}") };
                losses.push(format!("{place}: has no counterpart"));
            }
        }
    }
}

/// Whether a value says everything that the given one says.
fn covers(written: &Value, given: &Value) -> bool {
    match (written, given) {
        (_, given) if is_zero(given) => true,
        (Value::Object(written), Value::Object(given)) => {
            given.iter().all(|(name, value)| is_zero(value) || written.get(name).is_some_and(|written| covers(written, value)))
        }
        (Value::Array(written), Value::Array(given)) => {
            written.len() == given.len() && written.iter().zip(given).all(|(written, given)| covers(written, given))
        }
        (written, given) => written == given || (written.as_f64().is_some() && written.as_f64() == given.as_f64()),
    }
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
