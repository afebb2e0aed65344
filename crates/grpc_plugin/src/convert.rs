//! Calls of hooks as messages, and what their answers mean. Where Tyk would fail on an answer, so does this.

use crate::message::{
    HeaderValues, MapEntry, MiniRequestObject, Object, ObjectAnswer, Overrides, RequestAnswer, ResponseAnswer, ResponseObject,
    SessionState,
};
use crate::session;
use prost::Message;
use tollgate_plugin::{
    HookAnswer, HookCall, HookFault, HookKind, PluginApi, PluginRequest, PluginResponse, QueryBase, RequestChanges,
    ReturnOverrides, SessionChange,
};

/// Text of a refusal for which the plugin gave none.
const DEFAULT_MESSAGE: &str = "Key not authorised";

/// The metadata that names the session of a caller.
const TOKEN: &str = "token";

/// What is needed of a call to understand its answer.
pub(crate) struct AskedHook {
    kind: HookKind,
    /// The headers of the response, first lines only.
    response_headers: Vec<MapEntry>,
}

/// The message of a call.
pub(crate) fn object(call: HookCall) -> (Object, AskedHook) {
    // As in Tyk, response hooks see an empty session without a caller.
    let session = call.session.or_else(|| (call.kind == HookKind::Response).then(Box::default));
    let session = session.map(|session| Box::new(session::message(*session, call.token.as_deref())));
    let response = call.response.map(|response| response_message(response, call.raw_body_only));
    let asked = AskedHook {
        kind: call.kind,
        response_headers: response.as_ref().map(|response| response.headers.clone()).unwrap_or_default(),
    };
    let object = Object {
        hook_type: number(call.kind),
        hook_name: call.name.as_ref().to_owned(),
        metadata: session.as_ref().map(|session| session.metadata.clone()).unwrap_or_default(),
        session,
        request: Some(request_message(call.request, call.raw_body_only)),
        spec: spec(&call.api),
        response,
    };
    (object, asked)
}

fn number(kind: HookKind) -> i32 {
    match kind {
        HookKind::Pre => 1,
        HookKind::Post => 2,
        HookKind::PostKeyAuth => 3,
        HookKind::AuthCheck => 4,
        HookKind::Response => 5,
    }
}

fn spec(api: &PluginApi) -> Vec<MapEntry> {
    let entry = |key: &str, value: &str| MapEntry { key: key.to_owned(), value: value.to_owned() };
    let mut spec = vec![entry("OrgID", &api.org_id), entry("APIID", &api.id), entry("bundle_hash", &api.bundle_hash)];
    spec.extend(api.config_text.as_deref().map(|text| entry("config_data", text)));
    spec
}

fn request_message(request: PluginRequest, raw_body_only: bool) -> MiniRequestObject {
    let mut headers = firsts(request.headers);
    if !request.host.is_empty() {
        headers.push(MapEntry { key: "Host".to_owned(), value: request.host });
    }
    MiniRequestObject {
        headers,
        body: text(&request.body, raw_body_only),
        url: request.absolute_url.unwrap_or(request.url),
        params: firsts(request.params),
        return_overrides: Some(Overrides { response_code: -1, ..Overrides::default() }),
        method: request.method,
        request_uri: request.request_uri,
        scheme: request.scheme.to_owned(),
        raw_body: request.body,
        ..MiniRequestObject::default()
    }
}

/// The first value of each name, as Tyk sends them.
fn firsts(lines: Vec<(String, String)>) -> Vec<MapEntry> {
    let mut entries: Vec<MapEntry> = Vec::with_capacity(lines.len() + 1);
    for (key, value) in lines {
        if !entries.iter().any(|entry| entry.key == key) {
            entries.push(MapEntry { key, value });
        }
    }
    entries
}

/// A body that is text.
fn text(body: &[u8], raw_body_only: bool) -> String {
    if raw_body_only { String::new() } else { std::str::from_utf8(body).unwrap_or_default().to_owned() }
}

fn response_message(response: PluginResponse, raw_body_only: bool) -> ResponseObject {
    let mut multivalue_headers: Vec<HeaderValues> = Vec::with_capacity(response.headers.len());
    for (key, value) in response.headers {
        match multivalue_headers.iter_mut().find(|header| header.key == key) {
            Some(header) => header.values.push(value),
            None => multivalue_headers.push(HeaderValues { key, values: vec![value] }),
        }
    }
    let first =
        |header: &HeaderValues| MapEntry { key: header.key.clone(), value: header.values.first().cloned().unwrap_or_default() };
    ResponseObject {
        status_code: i32::from(response.status),
        body: text(&response.body, raw_body_only),
        raw_body: response.body,
        headers: multivalue_headers.iter().map(first).collect(),
        multivalue_headers,
    }
}

/// What an answer means.
pub(crate) fn answer(object: ObjectAnswer, asked: &AskedHook) -> Result<HookAnswer, HookFault> {
    if asked.kind == HookKind::Response {
        let response = object.response.ok_or_else(|| HookFault::Failed("the answer has no response".to_owned()))?;
        return Ok(HookAnswer { response: Some(response_of(response, asked)?), ..HookAnswer::default() });
    }
    let request = object.request.ok_or_else(|| HookFault::Failed("the answer has no request".to_owned()))?;
    let mut answer = HookAnswer { request: changes(request), ..HookAnswer::default() };
    if let Some(returned) = object.session.filter(|_| asked.kind == HookKind::AuthCheck) {
        let unreadable = |error| HookFault::Failed(format!("the answer's session is none: {error}"));
        let mut returned = SessionState::decode(returned).map_err(unreadable)?;
        for entry in object.metadata {
            returned.metadata.retain(|known| known.key != entry.key);
            returned.metadata.push(entry);
        }
        let token = returned.metadata.iter().find(|entry| entry.key == TOKEN);
        answer.token = token.map(|entry| entry.value.clone()).unwrap_or_default();
        answer.session = SessionChange::Whole(Box::new(session::session(returned)));
    }
    Ok(answer)
}

fn pairs(entries: Vec<MapEntry>) -> Vec<(String, String)> {
    entries.into_iter().map(|entry| (entry.key, entry.value)).collect()
}

fn changes(request: RequestAnswer) -> RequestChanges {
    let overrides = request.return_overrides.filter(|overrides| overrides.response_code > 0);
    RequestChanges {
        method: Some(request.method),
        url: Some(request.url),
        body: Some(request.raw_body),
        delete_headers: request.delete_headers,
        set_headers: pairs(request.set_headers),
        add_headers: Vec::new(),
        delete_params: request.delete_params,
        add_params: pairs(request.add_params),
        // As in Tyk, which does not read them here.
        extended_params: Vec::new(),
        query_base: QueryBase::Request,
        overrides: overrides.map(return_overrides),
    }
}

fn return_overrides(overrides: Overrides) -> ReturnOverrides {
    let Overrides { response_code, response_error, headers, override_error, response_body } = overrides;
    let is_error = response_code >= 400 && !override_error;
    let body = match (response_error, response_body) {
        (error, body) if error.is_empty() && body.is_empty() && is_error => DEFAULT_MESSAGE.to_owned(),
        (error, body) if error.is_empty() => body,
        (error, _) => error,
    };
    ReturnOverrides { status: i64::from(response_code), body, headers: pairs(headers), override_error, is_processed: false }
}

fn response_of(response: ResponseAnswer, asked: &AskedHook) -> Result<PluginResponse, HookFault> {
    let status = u16::try_from(response.status_code)
        .map_err(|_| HookFault::Failed(format!("{} is no status of a response", response.status_code)))?;
    let mut lines = response.multivalue_headers;
    if !is_same(&response.headers, &asked.response_headers) {
        lines = synchronised(response.headers, lines);
    }
    let each = |header: HeaderValues| {
        let HeaderValues { key, values } = header;
        values.into_iter().map(move |value| (key.clone(), value))
    };
    Ok(PluginResponse { status, headers: lines.into_iter().flat_map(each).collect(), body: response.raw_body })
}

/// Whether two maps are equal.
fn is_same(one: &[MapEntry], other: &[MapEntry]) -> bool {
    one.len() == other.len() && one.iter().all(|entry| other.contains(entry))
}

/// The lines after changes of the map of first values: a new name is added, a changed one replaces the first line, a missing one removes all.
fn synchronised(headers: Vec<MapEntry>, lines: Vec<HeaderValues>) -> Vec<HeaderValues> {
    let mut kept: Vec<HeaderValues> = lines.into_iter().filter(|line| headers.iter().any(|entry| entry.key == line.key)).collect();
    for MapEntry { key, value } in headers {
        match kept.iter_mut().find(|line| line.key == key) {
            Some(line) => {
                if let Some(first) = line.values.first_mut() {
                    *first = value;
                }
            }
            None => kept.push(HeaderValues { key, values: vec![value] }),
        }
    }
    kept
}

#[cfg(test)]
mod tests;
