//! The objects that scripts get and return, as Tyk's JSON. Reading follows Go: letter case of names does not matter, and a value of another type
//! is an error.

use crate::fault::ScriptFault;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Lists of texts by name, as Go writes headers and forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TextLists(BTreeMap<String, Vec<String>>);

impl FromIterator<(String, String)> for TextLists {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(lines: I) -> Self {
        let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
        lines.into_iter().for_each(|(name, value)| lists.entry(name).or_default().push(value));
        TextLists(lists)
    }
}

/// The request of a virtual endpoint.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct VirtualRequest<'r> {
    /// Header lines, without `Host`.
    pub headers: TextLists,
    /// The body.
    pub body: &'r str,
    /// Path and query.
    #[serde(rename = "URL")]
    pub url: &'r str,
    /// Parameters of the form and of the query.
    pub params: TextLists,
    /// `http` or `https`.
    pub scheme: &'r str,
}

impl VirtualRequest<'_> {
    /// The object as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
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
