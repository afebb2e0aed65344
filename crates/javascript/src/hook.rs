//! Hooks in JavaScript: what a middleware of a script gets and returns, as Tyk's JSON.

use crate::fault::ScriptFault;
use crate::objects::{TextLists, integer, kind, object, text, texts};
use serde::Serialize;
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};
use tollgate_model::session::Session;
use tollgate_plugin::{
    HookAnswer, HookKind, PluginRequest, PluginResponse, QueryBase, RequestChanges, ReturnOverrides, SessionChange,
};

/// The request of a hook.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct HookRequest<'r> {
    headers: TextLists,
    set_headers: Empty,
    delete_headers: [u8; 0],
    body: Option<&'r str>,
    #[serde(rename = "URL")]
    url: &'r str,
    params: TextLists,
    add_params: Empty,
    extended_params: Empty,
    delete_params: [u8; 0],
    return_overrides: HookOverrides,
    ignore_body: bool,
    method: &'r str,
    #[serde(rename = "RequestURI")]
    request_uri: &'r str,
    scheme: &'r str,
}

#[derive(Default, Serialize)]
struct Empty {}

#[derive(Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct HookOverrides {
    response_code: u16,
    response_error: &'static str,
    response_body: &'static str,
    response_headers: Option<Empty>,
    override_error: bool,
}

/// The response of a hook.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct HookResponse<'r> {
    status_code: u16,
    body: &'r str,
    headers: TextLists,
    set_headers: Empty,
    delete_headers: [u8; 0],
}

/// Writes the request of a hook. `body` is `None` for response hooks.
pub fn request_json(request: &PluginRequest, body: Option<&str>) -> String {
    let host = (!request.host.is_empty()).then(|| ("Host".to_owned(), request.host.clone()));
    let document = HookRequest {
        headers: request.headers.iter().cloned().chain(host).collect(),
        set_headers: Empty {},
        delete_headers: [],
        body,
        url: &request.url,
        params: request.params.iter().cloned().collect(),
        add_params: Empty {},
        extended_params: Empty {},
        delete_params: [],
        return_overrides: HookOverrides::default(),
        ignore_body: false,
        method: &request.method,
        request_uri: &request.request_uri,
        scheme: request.scheme,
    };
    serde_json::to_string(&document).unwrap_or_default()
}

/// Writes the response of a hook.
pub fn response_json(response: &PluginResponse, body: &str) -> String {
    let document = HookResponse {
        status_code: response.status,
        body,
        headers: response.headers.iter().cloned().collect(),
        set_headers: Empty {},
        delete_headers: [],
    };
    serde_json::to_string(&document).unwrap_or_default()
}

/// Reads what a middleware returned for a request. `meta_data` is that of the session that it may change.
pub fn request_answer(result: &str, kind: HookKind, meta_data: Option<&Map<String, Value>>) -> Result<HookAnswer, ScriptFault> {
    let document: Value = parse(result)?;
    let mut answer = HookAnswer::default();
    let mut session = None;
    let mut session_meta = Map::new();
    for (name, value) in object(&document, "the result").map_err(ScriptFault::Unreadable)? {
        match name.to_ascii_lowercase().as_str() {
            "request" => answer.request = changes(value).map_err(ScriptFault::Unreadable)?,
            "session" if value.is_object() => session = Some(value),
            "sessionmeta" if value.is_object() => session_meta = value.as_object().cloned().unwrap_or_default(),
            "authvalue" => answer.token = text(value, "AuthValue").map_err(ScriptFault::Unreadable)?,
            _ => {}
        }
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

/// The name of a session for which the script gave none, as `ReturnAuthData` does not: equal sessions share their limits.
fn token_of(session: &Session) -> String {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(session).unwrap_or_default().hash(&mut hasher);
    format!("script-{:016x}", hasher.finish())
}

fn parse(result: &str) -> Result<Value, ScriptFault> {
    serde_json::from_str(result).map_err(|_| ScriptFault::Unreadable("the script's result is not JSON".to_owned()))
}

fn changes(request: &Value) -> Result<RequestChanges, String> {
    let mut changes = RequestChanges { query_base: QueryBase::Url, ..RequestChanges::default() };
    let mut keeps_body = false;
    for (name, value) in object(request, "Request")? {
        match name.to_ascii_lowercase().as_str() {
            // A body that a script leaves alone is not written.
            "body" => changes.body = Some(text(value, "Body")?.into_bytes()),
            "ignorebody" => keeps_body = truth(value, "IgnoreBody")?,
            "url" => changes.url = Some(text(value, "URL")?).filter(|url| !url.is_empty()),
            "setheaders" => changes.set_headers = texts(value, "SetHeaders")?,
            "deleteheaders" => changes.delete_headers = list(value, "DeleteHeaders")?,
            "addparams" => changes.add_params = texts(value, "AddParams")?,
            "extendedparams" => changes.extended_params = lists(value, "ExtendedParams")?,
            "deleteparams" => changes.delete_params = list(value, "DeleteParams")?,
            "returnoverrides" => changes.overrides = overrides(value)?,
            _ => {}
        }
    }
    if keeps_body {
        changes.body = None;
    }
    Ok(changes)
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
