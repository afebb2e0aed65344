//! SecurityPolicy: a policy, whose access rights name APIs by their objects.

use super::conversion::{entries, unquote};
use super::names::{API_KINDS, TykNames};
use super::references::encoded;
use crate::objects::{Key, Object, ResourceKind, TykSettings};
use serde_json::{Map, Value, json};

/// A policy as it is compiled.
pub(in crate::compile) struct TykPolicy<'c> {
    pub object: &'c Object<TykSettings>,
    pub id: String,
    /// `Err` says why it is not changed.
    pub document: Result<Value, String>,
    /// The APIs that are there and that it grants.
    pub apis: Vec<(ResourceKind, Key)>,
    /// Those that are not there.
    pub missing: Vec<Key>,
}

/// Compiles a policy. An API that is not there has the right under the id that it would have, so that a policy never grants more for it.
pub(super) fn policy<'c>(names: &TykNames<'c>, object: &'c Object<TykSettings>, id: &str) -> TykPolicy<'c> {
    let mut policy = TykPolicy { object, id: id.to_owned(), document: Ok(Value::Null), apis: Vec::new(), missing: Vec::new() };
    policy.document = document(names, &mut policy);
    policy
}

fn document(names: &TykNames<'_>, policy: &mut TykPolicy<'_>) -> Result<Value, String> {
    let Object { metadata, spec: settings, .. } = policy.object;
    let context = names.context(metadata, settings)?;
    let mut document = settings.0.clone();
    document.remove("contextRef");
    document.insert("id".to_owned(), json!(policy.id));
    if let Some(org) = context.and_then(|context| names.organisation(context)) {
        document.insert("org_id".to_owned(), json!(org));
    }
    let listed = document.remove("access_rights_array");
    let mapped = document.remove("access_rights");
    let mapped = mapped.as_ref().and_then(Value::as_object).into_iter().flatten().map(|(id, right)| (Some(id.as_str()), right));
    let mut rights = Map::new();
    for (id, right) in mapped.chain(entries(listed.as_ref()).iter().map(|right| (None, right))) {
        let (id, right) = access_right(names, policy, id, right)?;
        rights.insert(id, right);
    }
    document.insert("access_rights".to_owned(), Value::Object(rights));
    Ok(Value::Object(document))
}

/// One access right with the id of its API.
fn access_right(
    names: &TykNames<'_>,
    policy: &mut TykPolicy<'_>,
    id: Option<&str>,
    written: &Value,
) -> Result<(String, Value), String> {
    let mut right = written.as_object().cloned().unwrap_or_default();
    let mut take = |name: &str| match right.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (name, namespace, kind, written_id) = (take("name"), take("namespace"), take("kind"), take("api_id"));
    let written_id = Some(written_id).filter(|id| !id.is_empty()).or_else(|| id.map(str::to_owned));
    let id = if name.is_empty() {
        written_id.ok_or("spec.access_rights_array: an entry has neither a name nor an api_id")?
    } else {
        let namespace = if namespace.is_empty() { &policy.object.metadata.namespace } else { &namespace };
        let key = Key::new(namespace, &name);
        let kind = API_KINDS.into_iter().find(|known| known.name() == kind).unwrap_or(ResourceKind::ApiDefinition);
        match names.api_of_kind(kind, &key) {
            Some(id) => {
                policy.apis.push((kind, key));
                id.to_owned()
            }
            None => {
                let id = encoded(&key);
                policy.missing.push(key);
                id
            }
        }
    };
    right.insert("api_id".to_owned(), json!(id));
    let mut right = Value::Object(right);
    unquote_limits(&mut right)?;
    Ok((id, right))
}

/// Limits of methods and primitives have texts in place of numbers.
fn unquote_limits(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Array(entries) => entries.iter_mut().try_for_each(unquote_limits),
        Value::Object(members) => {
            if let Some(limit) = members.get_mut("limit") {
                for name in ["rate", "per"] {
                    unquote(limit.get_mut(name), &format!("spec.access_rights_array: the limit's {name}"))?;
                }
            }
            members.values_mut().try_for_each(unquote_limits)
        }
        _ => Ok(()),
    }
}
