//! The objects that scripts get and return, as Tyk's JSON. Reading follows Go: letter case of names does not matter, and a value of another type
//! is an error.

use crate::fault::ScriptFault;
use crate::sandbox::Argument;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tollgate_plugin::{PluginRequest, PluginResponse};

/// The request of a hook. Response hooks see no body.
pub fn request_argument(request: PluginRequest, shows_body: bool) -> Argument {
    let PluginRequest { method, scheme, url, absolute_url, request_uri, mut headers, host, params, body } = request;
    // As in Tyk, response hooks see the URL at the upstream.
    let url = absolute_url.filter(|_| !shows_body).unwrap_or(url);
    if !host.is_empty() {
        headers.push(("Host".to_owned(), host));
    }
    let body = shows_body.then(|| lossy(body));
    let members = [lists(&headers), lists(&params), url, method, request_uri, scheme.to_owned()];
    Argument::Members(members.into_iter().chain(body).collect())
}

/// The response of a hook.
pub fn response_argument(response: &PluginResponse) -> Argument {
    let body = String::from_utf8_lossy(&response.body).into_owned();
    Argument::Members(vec![lists(&response.headers), response.status.to_string(), body])
}

/// The request of a virtual endpoint.
#[derive(Debug, Default)]
pub struct VirtualRequest {
    /// Header lines, without `Host`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// Path and query.
    pub url: String,
    /// Parameters of the form and of the query.
    pub params: Vec<(String, String)>,
    /// `http` or `https`.
    pub scheme: &'static str,
}

impl VirtualRequest {
    /// What the script gets.
    pub fn into_argument(self) -> Argument {
        Argument::Members(vec![lists(&self.headers), lists(&self.params), self.url, self.scheme.to_owned(), self.body])
    }
}

/// Bytes as text; others than UTF-8 become replacement characters.
fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Lists of texts by name as JSON, sorted as Go writes headers and forms.
fn lists(lines: &[(String, String)]) -> String {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    lines.iter().for_each(|(name, value)| lists.entry(name).or_default().push(value));
    serde_json::to_string(&lists).unwrap_or_default()
}

/// What the function of a virtual endpoint returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VirtualAnswer {
    /// Status code; 0 if there is none.
    pub code: i64,
    /// Body.
    pub body: String,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// The caller's `meta_data`; `None` when it is `null` or missing.
    pub session_meta: Option<Map<String, Value>>,
}

impl VirtualAnswer {
    /// Reads what `TykJsResponse` returns.
    pub fn parse(text: &str) -> Result<Self, ScriptFault> {
        let unreadable = |why: String| ScriptFault::Unreadable(why);
        let document: Value =
            serde_json::from_str(text).map_err(|_| unreadable("the script's result is not that of TykJsResponse".to_owned()))?;
        let document = object(&document, "the result").map_err(unreadable)?;
        let mut answer = VirtualAnswer::default();
        for (name, value) in document {
            match name.to_ascii_lowercase().as_str() {
                "response" if !value.is_null() => answer.read(value).map_err(unreadable)?,
                "sessionmeta" if !value.is_null() => {
                    answer.session_meta = Some(object(value, "SessionMeta").map_err(unreadable)?.clone());
                }
                _ => {}
            }
        }
        Ok(answer)
    }

    fn read(&mut self, response: &Value) -> Result<(), String> {
        for (name, value) in object(response, "Response")? {
            match name.to_ascii_lowercase().as_str() {
                "code" => self.code = integer(value, "Code")?,
                "body" => self.body = text(value, "Body")?,
                "headers" => self.headers = texts(value, "Headers")?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// What scripts see of their API: `config` of requests.
pub fn spec(org_id: &str, api_id: &str, config_data: Option<&Value>) -> String {
    let mut spec = Map::new();
    spec.insert("OrgID".to_owned(), org_id.into());
    spec.insert("APIID".to_owned(), api_id.into());
    if let Some(data) = config_data {
        spec.insert("config_data".to_owned(), data.clone());
    }
    Value::Object(spec).to_string()
}

pub(crate) fn object<'v>(value: &'v Value, what: &str) -> Result<&'v Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{what} is {}, not an object", kind(value)))
}

pub(crate) fn text(value: &Value, what: &str) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        other => Err(format!("{what} is {}, not a text", kind(other))),
    }
}

pub(crate) fn integer(value: &Value, what: &str) -> Result<i64, String> {
    match value {
        Value::Null => Ok(0),
        other => other.as_i64().ok_or_else(|| format!("{what} is {}, not a whole number", kind(other))),
    }
}

pub(crate) fn texts(value: &Value, what: &str) -> Result<Vec<(String, String)>, String> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    object(value, what)?.iter().map(|(name, value)| Ok((name.clone(), text(value, &format!("{what}[{name:?}]"))?))).collect()
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
