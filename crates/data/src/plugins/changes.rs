//! Applies what a hook returned to the request, after checks: a plugin can't inject lines, frame messages or reach another API's upstream.

use super::{BadChange, HEADER_BYTES_MAX, URL_BYTES_MAX};
use crate::exchange::{Exchange, Redirect, Step, SubstituteResponse};
use crate::header_change::HeaderChange;
use crate::header_names::canonical_name;
use crate::refusal;
use crate::url::Url;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tollgate_http::form::{encode_form, pairs};
use tollgate_http::path::{self, Path};
use tollgate_http::{is_token, is_value};
use tollgate_model::is_framing_header;
use tollgate_plugin::{QueryBase, RequestChanges, ReturnOverrides};

/// Longest method that a hook may set; the longest registered one has 17 letters.
const METHOD_BYTES_MAX: usize = 64;

/// Applies the changes of a hook to the request.
pub(super) fn apply(changes: &RequestChanges, exchange: &mut Exchange<'_>) -> Result<(), BadChange> {
    apply_body(changes, exchange)?;
    apply_headers(changes, exchange)?;
    apply_url(changes, exchange)?;
    if let Some(method) = changes.method.as_deref().filter(|method| !method.is_empty() && *method != exchange.method) {
        if method.len() > METHOD_BYTES_MAX || !is_token(method.as_bytes()) || method == "CONNECT" {
            return Err(BadChange("the method is invalid".to_owned()));
        }
        exchange.method = Cow::Owned(method.to_owned());
    }
    Ok(())
}

fn apply_body(changes: &RequestChanges, exchange: &mut Exchange<'_>) -> Result<(), BadChange> {
    let Some(body) = &changes.body else { return Ok(()) };
    if body.len() > exchange.arrival.settings.sizes.body_bytes_max {
        return Err(BadChange(format!("the body has more than {} bytes", exchange.arrival.settings.sizes.body_bytes_max)));
    }
    if body != exchange.body_in_coding() {
        exchange.replace_body(body.clone());
    }
    Ok(())
}

fn apply_headers(changes: &RequestChanges, exchange: &mut Exchange<'_>) -> Result<(), BadChange> {
    check_lines(changes.set_headers.iter().chain(&changes.add_headers))?;
    let (headers, edits) = (&exchange.request.headers, &mut exchange.outgoing.edits);
    // As in Go, which writes the headers that frame a message itself.
    for name in changes.delete_headers.iter().filter(|name| !is_framing_header(name)) {
        edits.remove(headers, name);
    }
    for (name, value) in changes.set_headers.iter().filter(|(name, _)| !is_framing_header(name)) {
        edits.set(headers, &canonical_name(name), value.as_bytes());
    }
    for (name, value) in changes.add_headers.iter().filter(|(name, _)| !is_framing_header(name)) {
        edits.add(&canonical_name(name), value.as_bytes());
    }
    Ok(())
}

/// Checks names, values and size of header lines.
pub(super) fn check_lines<'a>(lines: impl IntoIterator<Item = &'a (String, String)> + Clone) -> Result<(), BadChange> {
    let bytes: usize = lines.clone().into_iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > HEADER_BYTES_MAX {
        return Err(BadChange(format!("the headers have more than {HEADER_BYTES_MAX} bytes")));
    }
    let bad = lines.into_iter().find(|(name, value)| !is_token(name.as_bytes()) || !is_value(value.as_bytes()));
    match bad {
        Some((name, _)) => Err(BadChange(format!("the header {name:?} is invalid"))),
        None => Ok(()),
    }
}

/// Applies changes of path and query. A path that is not below the API's listen path is one of the API's upstream all the same, as in Tyk.
fn apply_url(changes: &RequestChanges, exchange: &mut Exchange<'_>) -> Result<(), BadChange> {
    let changes_params = !changes.delete_params.is_empty() || !changes.add_params.is_empty() || !changes.extended_params.is_empty();
    let url = changes.url.as_deref().filter(|url| *url != exchange.uri());
    if url.is_none() && !changes_params {
        return Ok(());
    }
    let before = exchange.query().unwrap_or_default().to_owned();
    let mut query = before.clone();
    if let Some(url) = url {
        let new = NewUrl::parse(url)?;
        if new.path != exchange.url.path.raw {
            set_path(new.path, exchange)?;
        }
        query = new.query.to_owned();
        if let Some(api) = new.api {
            exchange.decisions.redirected = Some(Redirect::Loop(api.to_owned()));
        }
    }
    let base = match changes.query_base {
        QueryBase::Request => &before,
        QueryBase::Url => &query,
    };
    let wanted = changed_query(base, changes);
    // As in Tyk, a query that means the same is not written again.
    if wanted != parameters(&query) {
        query = encoded(&wanted);
    }
    if query.len() > URL_BYTES_MAX || !query.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(BadChange("the query is invalid".to_owned()));
    }
    exchange.url.query = Some(query).filter(|query| !query.is_empty()).map(Cow::Owned);
    Ok(())
}

/// A URL that a hook returned: a path, or absolute.
struct NewUrl<'u> {
    /// Id or name of the API that `tyk://` names.
    api: Option<&'u str>,
    path: &'u str,
    query: &'u str,
}

impl<'u> NewUrl<'u> {
    fn parse(url: &'u str) -> Result<Self, BadChange> {
        let invalid = || BadChange(format!("the URL {:?} is invalid", url.chars().take(200).collect::<String>()));
        if url.len() > URL_BYTES_MAX || url.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(BadChange("the URL is too long or has control characters".to_owned()));
        }
        let (scheme, rest) = match url.split_once("://") {
            Some((scheme @ ("http" | "https" | "tyk"), rest)) => (Some(scheme), rest),
            _ => (None, url),
        };
        let start = if scheme.is_some() { rest.find(['/', '?']).unwrap_or(rest.len()) } else { 0 };
        let (authority, target) = rest.split_at_checked(start).ok_or_else(invalid)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let api = (scheme == Some("tyk")).then_some(authority);
        if api == Some("") {
            return Err(invalid());
        }
        match path {
            "" if scheme.is_some() => Ok(NewUrl { api, path: "/", query }),
            path if path.starts_with('/') => Ok(NewUrl { api, path, query }),
            _ => Err(invalid()),
        }
    }
}

fn set_path(raw: &str, exchange: &mut Exchange<'_>) -> Result<(), BadChange> {
    let invalid = || BadChange("the path is invalid".to_owned());
    let decoded = Path::new(Cow::Borrowed(raw)).ok_or_else(invalid)?.decoded.into_owned();
    let cleaned = if exchange.arrival.settings.routing.skip_url_cleaning { None } else { path::clean(&decoded) };
    let is_plain = cleaned.is_none() && raw.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'\\' | b'"'));
    let written = if is_plain { raw.to_owned() } else { path::encode(&cleaned.unwrap_or(decoded)) };
    let path = Path::new(Cow::Owned(written)).ok_or_else(invalid)?;
    let listen_path = exchange.api.listen_path.as_str();
    let listen_bytes = if path.decoded.starts_with(listen_path) { listen_path.len() } else { 0 };
    exchange.url = Url { path, listen_bytes, query: exchange.url.query.take() };
    Ok(())
}

/// Parameters by name, as Go's `url.Values`.
type QueryChanges = BTreeMap<String, Vec<String>>;

fn parameters(query: &str) -> QueryChanges {
    let mut parameters = QueryChanges::new();
    for (name, value) in pairs(query) {
        parameters.entry(name).or_default().push(value);
    }
    parameters
}

fn changed_query(query: &str, changes: &RequestChanges) -> QueryChanges {
    let mut parameters = parameters(query);
    for name in &changes.delete_params {
        parameters.remove(name);
    }
    for (name, value) in &changes.add_params {
        parameters.insert(name.clone(), vec![value.clone()]);
    }
    for (name, values) in &changes.extended_params {
        parameters.entry(name.clone()).or_default().extend(values.iter().cloned());
    }
    parameters
}

/// A query in the order of names, as Go writes it.
fn encoded(parameters: &QueryChanges) -> String {
    let each = |(name, values): (&String, &Vec<String>)| {
        let name = encode_form(name);
        values.iter().map(|value| format!("{name}={}", encode_form(value))).collect::<Vec<_>>()
    };
    parameters.iter().flat_map(each).collect::<Vec<_>>().join("&")
}

/// Ends the request with the response that a hook returned.
pub(super) fn end(overrides: &ReturnOverrides, identifies: bool, exchange: &mut Exchange<'_>) -> Result<Step, BadChange> {
    let status = u16::try_from(overrides.status).ok().filter(|status| (200..=599).contains(status));
    let status = status.ok_or_else(|| BadChange(format!("{} is no status of a response", overrides.status)))?;
    check_lines(&overrides.headers)?;
    if overrides.body.len() > exchange.arrival.settings.sizes.body_bytes_max {
        return Err(BadChange(format!("the body has more than {} bytes", exchange.arrival.settings.sizes.body_bytes_max)));
    }
    let lines = overrides.headers.iter().filter(|(name, _)| !is_framing_header(name));
    if status >= 400 && !overrides.override_error {
        // As in Tyk, the error itself decides about its type.
        for (name, value) in lines.filter(|(name, _)| !name.eq_ignore_ascii_case("content-type")) {
            let change = HeaderChange::Set(canonical_name(name).into(), value.as_bytes().to_vec());
            exchange.response.changes.push(change);
        }
        return Ok(Step::Refuse(refusal::of_plugin(status, overrides.body.clone(), identifies)));
    }
    if overrides.is_processed {
        let mut headers: Vec<_> = lines.map(|(name, value)| (canonical_name(name), value.clone().into_bytes())).collect();
        let has_body = !matches!(status, 204 | 304);
        if has_body && !headers.iter().any(|(name, _)| name == "Content-Type") {
            headers.push(("Content-Type".to_owned(), sniffed(&overrides.body).as_bytes().to_vec()));
        }
        let body = if has_body { overrides.body.clone().into_bytes() } else { Vec::new() };
        return Ok(Step::Respond(Box::new(SubstituteResponse::of_script(status, headers, body))));
    }
    let outgoing = exchange.begin_reply(status);
    lines.for_each(|(name, value)| outgoing.edits.add(&canonical_name(name), value.as_bytes()));
    if !matches!(status, 204 | 304) {
        outgoing.body.extend_from_slice(overrides.body.as_bytes());
        if !overrides.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            outgoing.edits.add("Content-Type", sniffed(&overrides.body).as_bytes());
        }
    }
    exchange.decisions.records_reply = true;
    Ok(Step::Reply)
}

/// The type of a text without one, as far as Go finds it for what plugins return.
fn sniffed(body: &str) -> &'static str {
    let start = body.trim_ascii_start().get(..14).unwrap_or(body.trim_ascii_start()).to_ascii_lowercase();
    match start {
        start if start.starts_with("<!doctype html") || start.starts_with("<html") => "text/html; charset=utf-8",
        start if start.starts_with("<?xml") => "text/xml; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests;
