//! Filters of rules and of their backends.

use super::rule_context::RuleContext;
use crate::conditions::Fault;
use crate::objects::{Cors, Filter, Header, HeaderChanges, Mirror, PathChange, Redirect, Rewrite};
use serde_json::{Map, Value, json};

/// Where a filter stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Rule,
    Backend,
}

/// Adds what filters do to a rule or to a backend. Returns whether requests must be refused, because a filter that they need is not there.
///
/// # Errors
/// A filter has a value that can't act, or does not go with another one.
pub(super) fn add(
    filters: &[Filter],
    place: Place,
    context: &mut RuleContext<'_, '_>,
    document: &mut Map<String, Value>,
) -> Result<bool, Fault> {
    let mut is_refused = false;
    let mut mirrors = Vec::new();
    for filter in filters {
        let missing = || unsupported(format!("The filter {} has no settings", filter.kind));
        match filter.kind.as_str() {
            "RequestHeaderModifier" => {
                put(document, "request_headers", headers(filter.request_header_modifier.as_ref().ok_or_else(missing)?));
            }
            "ResponseHeaderModifier" => {
                put(document, "response_headers", headers(filter.response_header_modifier.as_ref().ok_or_else(missing)?));
            }
            "RequestMirror" => mirrors.extend(mirror(filter.request_mirror.as_ref().ok_or_else(missing)?, context)),
            "RequestRedirect" if place == Place::Rule => {
                put(document, "redirect", redirect(filter.request_redirect.as_ref().ok_or_else(missing)?)?);
            }
            "URLRewrite" => put(document, "rewrite", rewrite(filter.url_rewrite.as_ref().ok_or_else(missing)?)?),
            "CORS" if place == Place::Rule => put(document, "cors", cors(filter.cors.as_ref().ok_or_else(missing)?)),
            "ExtensionRef" => {
                context.note(Fault::new("InvalidKind", "No filters by reference are supported: requests are refused"));
                is_refused = true;
            }
            other => return Err(unsupported(format!("The filter {other} is not supported here"))),
        }
    }
    if document.contains_key("redirect") && document.contains_key("rewrite") {
        return Err(Fault::new("IncompatibleFilters", "RequestRedirect and URLRewrite do not go together"));
    }
    if !mirrors.is_empty() {
        put(document, "mirrors", Value::Array(mirrors));
    }
    Ok(is_refused)
}

pub(super) fn unsupported(message: impl Into<String>) -> Fault {
    Fault::new("UnsupportedValue", message)
}

fn put(document: &mut Map<String, Value>, name: &str, value: Value) {
    document.insert(name.to_owned(), value);
}

fn headers(changes: &HeaderChanges) -> Value {
    let list = |headers: &[Header]| -> Vec<Value> {
        headers.iter().map(|header| json!({"name": header.name, "value": header.value})).collect()
    };
    json!({"set": list(&changes.set), "add": list(&changes.add), "remove": changes.remove})
}

/// `None` if the backend is invalid, which is noted: requests go on without their copy.
fn mirror(mirror: &Mirror, context: &mut RuleContext<'_, '_>) -> Option<Value> {
    let (name, is_valid) = context.backend(&mirror.backend_ref.object, mirror.backend_ref.port);
    let mut document = json!({"backend": name});
    let share = match (mirror.percent, &mirror.fraction) {
        (Some(percent), _) => Some((percent, 100)),
        (None, Some(fraction)) => Some((fraction.numerator, fraction.denominator.unwrap_or(100))),
        (None, None) => None,
    };
    if let (Some((numerator, denominator)), Value::Object(members)) = (share, &mut document) {
        put(members, "numerator", json!(numerator));
        put(members, "denominator", json!(denominator));
    }
    is_valid.then_some(document)
}

fn redirect(redirect: &Redirect) -> Result<Value, Fault> {
    let mut document = Map::new();
    if let Some(scheme) = &redirect.scheme {
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(unsupported(format!("A redirect can't have the scheme {scheme}")));
        }
        put(&mut document, "scheme", json!(scheme));
    }
    if let Some(host) = &redirect.hostname {
        put(&mut document, "host", json!(host));
    }
    if let Some(port) = redirect.port {
        put(&mut document, "port", json!(port));
    }
    let status = redirect.status_code.unwrap_or(302);
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Err(unsupported(format!("A redirect can't have the status {status}")));
    }
    put(&mut document, "status", json!(status));
    if let Some(path) = &redirect.path {
        put(&mut document, "path", path_change(path)?);
    }
    Ok(Value::Object(document))
}

fn rewrite(rewrite: &Rewrite) -> Result<Value, Fault> {
    let mut document = Map::new();
    if let Some(host) = &rewrite.hostname {
        put(&mut document, "host", json!(host));
    }
    if let Some(path) = &rewrite.path {
        put(&mut document, "path", path_change(path)?);
    }
    Ok(Value::Object(document))
}

fn path_change(change: &PathChange) -> Result<Value, Fault> {
    match change.kind.as_str() {
        "ReplaceFullPath" => Ok(json!({"full": change.replace_full_path.as_deref().unwrap_or_default()})),
        "ReplacePrefixMatch" => Ok(json!({"prefix": change.replace_prefix_match.as_deref().unwrap_or_default()})),
        other => Err(unsupported(format!("A path can't be changed by {other}"))),
    }
}

fn cors(cors: &Cors) -> Value {
    json!({
        "allow_origins": cors.allow_origins,
        "allow_methods": cors.allow_methods,
        "allow_headers": cors.allow_headers,
        "expose_headers": cors.expose_headers,
        "allow_credentials": cors.allow_credentials,
        "max_age_s": cors.max_age.unwrap_or(5),
    })
}
