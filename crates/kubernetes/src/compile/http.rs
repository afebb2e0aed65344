//! Rules of HTTPRoutes.

use super::filters::{Place, add, unsupported};
use super::rule_context::RuleContext;
use crate::conditions::Fault;
use crate::objects::{BackendRef, HttpMatch, HttpRule, NamedMatch, Retry, SessionPersistence, Timeouts};
use serde_json::{Map, Value, json};

/// How often a request is sent again if a rule has retries and does not say how often.
const USUAL_RETRIES: u32 = 1;
/// More would not help, and are not accepted by the gateway.
const RETRIES_MAX: u32 = 100;
/// A fault of the backend is one that another try may not have.
const USUAL_RETRY_STATUSES: [u16; 4] = [500, 502, 503, 504];

/// One rule of the document.
///
/// # Errors
/// The rule can't act, and is left out.
pub(super) fn rule(rule: &HttpRule, context: &mut RuleContext<'_, '_>) -> Result<Value, Fault> {
    let mut document = Map::new();
    if let Some(name) = &rule.name {
        document.insert("name".to_owned(), json!(name));
    }
    let matches = rule.matches.iter().map(match_document).collect::<Result<Vec<_>, _>>()?;
    document.insert("matches".to_owned(), Value::Array(matches));
    let is_refused = add(&rule.filters, Place::Rule, context, &mut document)?;
    if let Some(timeouts) = timeouts(&rule.timeouts)? {
        document.insert("timeouts".to_owned(), timeouts);
    }
    if let Some(retry) = &rule.retry {
        document.insert("retries".to_owned(), retries(retry)?);
    }
    if let Some(sticky) = rule.session_persistence.as_ref().map(sticky).transpose()? {
        document.insert("sticky".to_owned(), sticky);
    }
    let backends = backends(&rule.backend_refs, context)?;
    if is_refused {
        document.remove("redirect");
    } else {
        document.insert("backends".to_owned(), Value::Array(backends));
    }
    Ok(Value::Object(document))
}

/// The backends of a rule, with what is done to the requests of each.
///
/// # Errors
/// A filter of one can't act.
pub(super) fn backends(references: &[BackendRef], context: &mut RuleContext<'_, '_>) -> Result<Vec<Value>, Fault> {
    let mut backends = Vec::with_capacity(references.len());
    for reference in references {
        let (mut name, _) = context.backend(&reference.object, reference.port);
        let mut backend = Map::new();
        if add(&reference.filters, Place::Backend, context, &mut backend)? {
            name = format!("invalid:{name}");
        }
        backend.insert("backend".to_owned(), json!(name));
        backend.insert("weight".to_owned(), json!(reference.weight));
        backends.push(Value::Object(backend));
    }
    Ok(backends)
}

fn match_document(written: &HttpMatch) -> Result<Value, Fault> {
    let mut document = Map::new();
    if let Some(path) = &written.path {
        let value = path.value.as_deref().unwrap_or("/");
        let kind = match path.kind.as_deref().unwrap_or("PathPrefix") {
            "Exact" => "exact",
            "PathPrefix" => "prefix",
            "RegularExpression" => "regex",
            other => return Err(unsupported(format!("Paths can't be matched by {other}"))),
        };
        document.insert("path".to_owned(), json!({kind: value}));
    }
    if let Some(method) = &written.method {
        document.insert("method".to_owned(), json!(method));
    }
    for (name, list) in [("headers", &written.headers), ("query", &written.query_params)] {
        if !list.is_empty() {
            document.insert(name.to_owned(), Value::Array(named(list)?));
        }
    }
    Ok(Value::Object(document))
}

/// Headers or parameters. Of several with one name, the first counts.
///
/// # Errors
/// One is of an unknown type.
pub(super) fn named(list: &[NamedMatch]) -> Result<Vec<Value>, Fault> {
    let mut found: Vec<Value> = Vec::with_capacity(list.len());
    let mut names: Vec<String> = Vec::with_capacity(list.len());
    for written in list {
        let kind = match written.kind.as_deref().unwrap_or("Exact") {
            "Exact" => "exact",
            "RegularExpression" => "regex",
            other => return Err(unsupported(format!("`{}` can't be matched by {other}", written.name))),
        };
        let name = written.name.to_ascii_lowercase();
        if !names.contains(&name) {
            found.push(json!({"name": written.name, kind: written.value}));
            names.push(name);
        }
    }
    Ok(found)
}

fn timeouts(written: &Timeouts) -> Result<Option<Value>, Fault> {
    let mut document = Map::new();
    for (name, duration) in [("request_ms", &written.request), ("backend_request_ms", &written.backend_request)] {
        if let Some(duration) = duration {
            document.insert(name.to_owned(), json!(milliseconds(duration)?));
        }
    }
    Ok((!document.is_empty()).then_some(Value::Object(document)))
}

fn retries(written: &Retry) -> Result<Value, Fault> {
    let statuses = if written.codes.is_empty() { USUAL_RETRY_STATUSES.as_slice() } else { written.codes.as_slice() };
    let mut document = json!({"attempts": written.attempts.unwrap_or(USUAL_RETRIES).min(RETRIES_MAX), "statuses": statuses});
    if let (Some(backoff), Value::Object(members)) = (&written.backoff, &mut document) {
        members.insert("backoff_ms".to_owned(), json!(milliseconds(backoff)?));
    }
    Ok(document)
}

/// # Errors
/// It is of another type than by cookie.
pub(super) fn sticky(written: &SessionPersistence) -> Result<Value, Fault> {
    let kind = written.kind.as_deref().unwrap_or("Cookie");
    if kind != "Cookie" {
        return Err(unsupported(format!("Sessions can't be kept by {kind}")));
    }
    let absolute_ms = written.absolute_timeout.as_deref().map_or(Ok(0), milliseconds)?;
    Ok(
        json!({"cookie": written.session_name.as_deref().unwrap_or("tollgate-session"), "absolute_timeout_s": absolute_ms.div_ceil(1000)}),
    )
}

/// A duration such as `1h30m` or `500ms`.
pub(super) fn milliseconds(written: &str) -> Result<u64, Fault> {
    let fault = || unsupported(format!("`{written}` is no duration"));
    let mut rest = written;
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit()).ok_or_else(fault)?;
        let (number, after) = rest.split_at_checked(digits).ok_or_else(fault)?;
        let unit = after.find(|character: char| character.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(unit).ok_or_else(fault)?;
        let factor = match unit {
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1000,
            "ms" => 1,
            _ => return Err(fault()),
        };
        let number: u64 = number.parse().map_err(|_| fault())?;
        sum = sum.saturating_add(number.saturating_mul(factor));
        rest = after;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests;
