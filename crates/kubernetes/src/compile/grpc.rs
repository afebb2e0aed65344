//! Rules of GRPCRoutes: a method is a path of two segments.

use super::filters::{Place, add, unsupported};
use super::http::{backends, named, sticky};
use super::rule_context::RuleContext;
use crate::conditions::Fault;
use crate::objects::{GrpcMatch, GrpcMethod, GrpcRule};
use serde_json::{Map, Value, json};

/// One rule of the document.
///
/// # Errors
/// The rule can't act, and is left out.
pub(super) fn rule(rule: &GrpcRule, context: &mut RuleContext<'_, '_>) -> Result<Value, Fault> {
    let mut document = Map::new();
    if let Some(name) = &rule.name {
        document.insert("name".to_owned(), json!(name));
    }
    let matches = rule.matches.iter().map(match_document).collect::<Result<Vec<_>, _>>()?;
    document.insert("matches".to_owned(), Value::Array(matches));
    let is_refused = add(&rule.filters, Place::Rule, context, &mut document)?;
    if let Some(sticky) = rule.session_persistence.as_ref().map(sticky).transpose()? {
        document.insert("sticky".to_owned(), sticky);
    }
    let backends = backends(&rule.backend_refs, context)?;
    if !is_refused {
        document.insert("backends".to_owned(), Value::Array(backends));
    }
    Ok(Value::Object(document))
}

fn match_document(written: &GrpcMatch) -> Result<Value, Fault> {
    let mut document = Map::new();
    if let Some(path) = written.method.as_ref().map(path).transpose()?.flatten() {
        document.insert("path".to_owned(), path);
    }
    if !written.headers.is_empty() {
        document.insert("headers".to_owned(), Value::Array(named(&written.headers)?));
    }
    Ok(Value::Object(document))
}

fn path(written: &GrpcMethod) -> Result<Option<Value>, Fault> {
    let given = |text: &'_ Option<String>| text.clone().filter(|text| !text.is_empty());
    let (service, method) = (given(&written.service), given(&written.method));
    Ok(match (written.kind.as_deref().unwrap_or("Exact"), service, method) {
        (_, None, None) => None,
        ("Exact", Some(service), Some(method)) => Some(json!({"exact": format!("/{service}/{method}")})),
        ("Exact", Some(service), None) => Some(json!({"prefix": format!("/{service}/")})),
        ("Exact", None, Some(method)) => Some(json!({"regex": format!("/[^/]+/{}", escaped(&method))})),
        ("RegularExpression", service, method) => {
            let part = |text: Option<String>| text.map_or_else(|| "[^/]+".to_owned(), |text| format!("(?:{text})"));
            Some(json!({"regex": format!("/{}/{}", part(service), part(method))}))
        }
        (other, ..) => return Err(unsupported(format!("Methods can't be matched by {other}"))),
    })
}

/// A name as a regular expression.
fn escaped(name: &str) -> String {
    let escape = |character: char| if character.is_ascii_alphanumeric() || character == '_' { None } else { Some('\\') };
    name.chars().flat_map(|character| escape(character).into_iter().chain(Some(character))).collect()
}
