//! Requests that scripts send, and their responses, as Tyk's JSON.

use crate::limits::BATCH_REQUESTS_MAX;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A request that a script sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpCall {
    /// The method.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// The response to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpReply {
    /// The status code.
    pub status: u16,
    /// Header lines, with names in Go's canonical form.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What forms escape besides all that is no letter and no digit.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b' ');

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct ScriptRequest {
    method: Option<String>,
    body: Option<String>,
    headers: Option<Map<String, Value>>,
    domain: Option<String>,
    resource: Option<String>,
    form_data: Option<Map<String, Value>>,
}

/// Reads the argument of `TykMakeHttpRequest`.
pub(crate) fn read(text: &str) -> Result<HttpCall, String> {
    let value = folded(text, &["Method", "Body", "Headers", "Domain", "Resource", "FormData"])?;
    let request: ScriptRequest = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let body = request.body.filter(|body| !body.is_empty()).map_or_else(|| form(&texts(request.form_data)), Ok)?;
    Ok(HttpCall {
        method: method(request.method),
        url: request.domain.unwrap_or_default() + request.resource.as_deref().unwrap_or_default(),
        headers: texts(request.headers)?,
        body: body.into_bytes(),
    })
}

/// Writes the result of `TykMakeHttpRequest`, whose members exist under two names.
pub(crate) fn write_reply(reply: &HttpReply) -> String {
    let (headers, body) = (lists(&reply.headers), String::from_utf8_lossy(&reply.body));
    let document =
        TykReply { code: reply.status, body: &body, headers: &headers, code_2: reply.status, body_2: &body, headers_2: &headers };
    serde_json::to_string(&document).unwrap_or_default()
}

#[derive(Serialize)]
struct TykReply<'r> {
    #[serde(rename = "Code")]
    code: u16,
    #[serde(rename = "Body")]
    body: &'r str,
    #[serde(rename = "Headers")]
    headers: &'r BTreeMap<&'r str, Vec<&'r str>>,
    #[serde(rename = "code")]
    code_2: u16,
    #[serde(rename = "body")]
    body_2: &'r str,
    #[serde(rename = "headers")]
    headers_2: &'r BTreeMap<&'r str, Vec<&'r str>>,
}

/// The argument of `TykBatchRequest`.
pub(crate) struct HttpBatch {
    pub calls: Vec<HttpCall>,
    pub in_turn: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TykBatch {
    requests: Option<Vec<Value>>,
    suppress_parallel_execution: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TykBatchEntry {
    method: Option<String>,
    headers: Option<Map<String, Value>>,
    body: Option<String>,
    relative_url: Option<String>,
}

#[derive(Serialize)]
struct TykBatchReply<'r> {
    relative_url: &'r str,
    code: u16,
    headers: Option<BTreeMap<&'r str, Vec<&'r str>>>,
    body: Cow<'r, str>,
}

impl HttpBatch {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let value = folded(text, &["requests", "suppress_parallel_execution"])?;
        let batch: TykBatch = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let entries = batch.requests.unwrap_or_default();
        if entries.len() > BATCH_REQUESTS_MAX {
            return Err(format!("a batch has at most {BATCH_REQUESTS_MAX} requests"));
        }
        let calls: Result<Vec<_>, String> = entries.into_iter().map(batched).collect();
        Ok(HttpBatch { calls: calls?, in_turn: batch.suppress_parallel_execution.unwrap_or(false) })
    }

    /// Writes the result, in the order of the requests. One without a response has the status 0, as in Tyk.
    pub(crate) fn write_replies(&self, replies: &[Option<HttpReply>]) -> String {
        let units: Vec<TykBatchReply<'_>> = self
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| match replies.get(index).and_then(Option::as_ref) {
                Some(reply) => TykBatchReply {
                    relative_url: &call.url,
                    code: reply.status,
                    headers: Some(lists(&reply.headers)),
                    body: String::from_utf8_lossy(&reply.body),
                },
                None => TykBatchReply { relative_url: "", code: 0, headers: None, body: Cow::Borrowed("") },
            })
            .collect();
        serde_json::to_string(&units).unwrap_or_default()
    }
}

fn batched(entry: Value) -> Result<HttpCall, String> {
    let entry: TykBatchEntry = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    Ok(HttpCall {
        method: method(entry.method),
        // Go cuts a fragment off here, but not in `TykMakeHttpRequest`, where `#` is a part of the path.
        url: entry.relative_url.unwrap_or_default().split('#').next().unwrap_or_default().to_owned(),
        headers: texts(entry.headers)?,
        body: entry.body.unwrap_or_default().into_bytes(),
    })
}

/// Go sends GET when there is no method.
fn method(method: Option<String>) -> String {
    method.filter(|method| !method.is_empty()).unwrap_or_else(|| "GET".to_owned())
}

/// An object whose members have these names, if only letter case differs: Go ignores it.
fn folded(text: &str, names: &[&str]) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(members) = value else { return Err("is no object".to_owned()) };
    let rename =
        |name: String| names.iter().find(|known| known.eq_ignore_ascii_case(&name)).map_or(name, |known| (*known).to_owned());
    Ok(members.into_iter().map(|(name, value)| (rename(name), value)).collect::<Map<_, _>>().into())
}

fn texts(members: Option<Map<String, Value>>) -> Result<Vec<(String, String)>, String> {
    let text = |(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        Value::Null => Ok((name, String::new())),
        _ => Err(format!("{name:?} is no text")),
    };
    members.unwrap_or_default().into_iter().map(text).collect()
}

/// A form, sorted by name as Go writes it; an error of its members is passed on.
fn form(members: &Result<Vec<(String, String)>, String>) -> Result<String, String> {
    let mut members = members.clone()?;
    members.sort();
    let escaped = |text: &str| utf8_percent_encode(text, FORM).to_string().replace(' ', "+");
    Ok(members.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect::<Vec<_>>().join("&"))
}

fn lists(headers: &[(String, String)]) -> BTreeMap<&str, Vec<&str>> {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    headers.iter().for_each(|(name, value)| lists.entry(name).or_default().push(value));
    lists
}
