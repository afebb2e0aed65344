//! Hooks in JavaScript: what a middleware of a script returns.

use crate::fault::ScriptFault;
use crate::objects::{integer, kind, object, text, texts};
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};
use tollgate_model::session::Session;
use tollgate_plugin::{HookAnswer, HookKind, PluginResponse, QueryBase, RequestChanges, ReturnOverrides, SessionChange};

/// Reads what a middleware returned for a request: the items that `library.js` makes of it. `meta_data` is that of the session that it may
/// change.
pub fn request_answer(result: &str, kind: HookKind, meta_data: Option<&Map<String, Value>>) -> Result<HookAnswer, ScriptFault> {
    let mut made = Returned::default();
    let mut parts = result.split('\0');
    while let (Some(kind), Some(name), Some(text)) = (parts.next(), parts.next(), parts.next()) {
        made.read(kind, name, text)?;
    }
    let Returned { mut answer, session, session_meta, keeps_body } = made;
    if keeps_body {
        answer.request.body = None;
    }
    if let Some(overrides) = &mut answer.request.overrides {
        // As in Tyk, which shows such a response to response hooks unless it comes before the caller is known.
        overrides.is_processed = matches!(kind, HookKind::PostKeyAuth | HookKind::Post);
    }
    if kind == HookKind::AuthCheck && answer.request.overrides.is_none() {
        // A script that found nobody must not let the request pass.
        let session = session.ok_or_else(|| ScriptFault::Unreadable("auth_check returned no session".to_owned()))?;
        let (session, _) = Session::parse(session.to_string().as_bytes())
            .map_err(|_| ScriptFault::Unreadable("auth_check returned an invalid session".to_owned()))?;
        if answer.token.is_empty() {
            answer.token = token_of(&session);
        }
        answer.session = SessionChange::Whole(Box::new(session));
    } else if meta_data.is_some_and(|known| *known != session_meta) {
        answer.session = SessionChange::MetaData(session_meta);
    }
    Ok(answer)
}

/// What is read of a middleware's result.
struct Returned {
    answer: HookAnswer,
    session: Option<Value>,
    session_meta: Map<String, Value>,
    keeps_body: bool,
}

impl Default for Returned {
    fn default() -> Self {
        let request = RequestChanges { query_base: QueryBase::Url, ..RequestChanges::default() };
        let answer = HookAnswer { request, ..HookAnswer::default() };
        Returned { answer, session: None, session_meta: Map::new(), keeps_body: false }
    }
}

impl Returned {
    fn read(&mut self, kind: &str, name: &str, text: &str) -> Result<(), ScriptFault> {
        let request = &mut self.answer.request;
        match kind {
            "SetHeaders" => request.set_headers.push((name.to_owned(), text.to_owned())),
            "AddParams" => request.add_params.push((name.to_owned(), text.to_owned())),
            _ => self.read_json(name, parse(text)?).map_err(ScriptFault::Unreadable)?,
        }
        Ok(())
    }

    fn read_json(&mut self, name: &str, value: Value) -> Result<(), String> {
        let request = &mut self.answer.request;
        match (name, value) {
            ("SetHeaders", value) => request.set_headers = texts(&value, name)?,
            ("AddParams", value) => request.add_params = texts(&value, name)?,
            ("DeleteHeaders", value) => request.delete_headers = list(&value, name)?,
            ("DeleteParams", value) => request.delete_params = list(&value, name)?,
            ("ExtendedParams", value) => request.extended_params = lists(&value, name)?,
            // A body that a script leaves alone is not among the items.
            ("Body", value) => request.body = Some(text(&value, name)?.into_bytes()),
            ("IgnoreBody", value) => self.keeps_body = truth(&value, name)?,
            ("URL", value) => request.url = Some(text(&value, name)?).filter(|url| !url.is_empty()),
            ("ReturnOverrides", value) => request.overrides = overrides(&value)?,
            ("AuthValue", value) => self.answer.token = text(&value, name)?,
            ("Session", value @ Value::Object(_)) => self.session = Some(value),
            ("SessionMeta", Value::Object(members)) => self.session_meta = members,
            _ => {}
        }
        Ok(())
    }
}

/// The name of a session for which the script gave none, as `ReturnAuthData` does not: equal sessions share their limits.
fn token_of(session: &Session) -> String {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(session).unwrap_or_default().hash(&mut hasher);
    format!("script-{:016x}", hasher.finish())
}

fn parse(result: &str) -> Result<Value, ScriptFault> {
    serde_json::from_str(result).map_err(|_| not_json())
}

fn not_json() -> ScriptFault {
    ScriptFault::Unreadable("the script's result is not JSON".to_owned())
}

fn overrides(value: &Value) -> Result<Option<ReturnOverrides>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let (mut made, mut error) = (ReturnOverrides::default(), String::new());
    for (name, value) in object(value, "ReturnOverrides")? {
        match name.to_ascii_lowercase().as_str() {
            "responsecode" => made.status = integer(value, "ResponseCode")?,
            "responseerror" => error = text(value, "ResponseError")?,
            "responsebody" => made.body = text(value, "ResponseBody")?,
            "responseheaders" => made.headers = texts(value, "ResponseHeaders")?,
            "overrideerror" => made.override_error = truth(value, "OverrideError")?,
            _ => {}
        }
    }
    if !error.is_empty() {
        made.body = error;
    }
    Ok((made.status != 0).then_some(made))
}

/// Reads what a middleware returned for a response: the response with its changes.
pub fn response_answer(result: &str, mut response: PluginResponse) -> Result<HookAnswer, ScriptFault> {
    let document = parse(result)?;
    let mut made = None;
    for (name, value) in object(&document, "the result").map_err(ScriptFault::Unreadable)? {
        if name.eq_ignore_ascii_case("response") {
            made = Some(value);
        }
    }
    let made = made.unwrap_or(&Value::Null);
    change_response(made, &mut response).map_err(ScriptFault::Unreadable)?;
    Ok(HookAnswer { response: Some(response), ..HookAnswer::default() })
}

fn change_response(made: &Value, response: &mut PluginResponse) -> Result<(), String> {
    let (mut set, mut deleted, mut body, mut keeps_body, mut status) = (Vec::new(), Vec::new(), String::new(), false, 0);
    for (name, value) in object(made, "Response")? {
        match name.to_ascii_lowercase().as_str() {
            "statuscode" => status = integer(value, "StatusCode")?,
            "body" => body = text(value, "Body")?,
            "isbodykept" => keeps_body = truth(value, "IsBodyKept")?,
            "setheaders" => set = texts(value, "SetHeaders")?,
            "deleteheaders" => deleted = list(value, "DeleteHeaders")?,
            _ => {}
        }
    }
    let is = |line: &(String, String), name: &str| line.0.eq_ignore_ascii_case(name);
    response.headers.retain(|line| !deleted.iter().any(|name| is(line, name)) && !set.iter().any(|(name, _)| is(line, name)));
    response.headers.extend(set);
    if !keeps_body {
        response.body = body.into_bytes();
    }
    if status != 0 {
        response.status = u16::try_from(status).map_err(|_| format!("{status} is no status code"))?;
    }
    Ok(())
}

fn truth(value: &Value, what: &str) -> Result<bool, String> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(value) => Ok(*value),
        other => Err(format!("{what} is {}, not a truth value", kind(other))),
    }
}

fn list(value: &Value, what: &str) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(|item| text(item, what)).collect(),
        other => Err(format!("{what} is {}, not a list", kind(other))),
    }
}

fn lists(value: &Value, what: &str) -> Result<Vec<(String, Vec<String>)>, String> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    object(value, what)?.iter().map(|(name, values)| Ok((name.clone(), list(values, what)?))).collect()
}
