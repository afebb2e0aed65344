//! What a call has changed, as the gateway's hooks return it.

use crate::header_changes::{HeaderChanges, Lines};
use crate::wasm_call::{LocalReply, WasmCall};
use tollgate_model::session::Session;
use tollgate_plugin::{HookAnswer, HookFault, HookKind, PluginResponse, QueryBase, RequestChanges, ReturnOverrides, SessionChange};

/// The answer of a call that ended.
pub(crate) fn answer(call: WasmCall) -> Result<HookAnswer, HookFault> {
    if call.call.kind == HookKind::Response {
        return Ok(HookAnswer { response: Some(response(call)?), ..HookAnswer::default() });
    }
    if let Some(reply) = call.reply {
        return Ok(HookAnswer { request: ended(reply)?, ..HookAnswer::default() });
    }
    let session = match (call.session, call.meta_data) {
        (Some(session), _) => SessionChange::Whole(Box::new(parsed(&session)?)),
        (None, Some(meta_data)) => SessionChange::MetaData(meta_data),
        (None, None) => SessionChange::Kept,
    };
    let mut request = header_changes(call.request);
    request.method = call.method;
    request.url = call.url;
    request.body = call.body;
    Ok(HookAnswer { request, session, token: call.token.unwrap_or_default(), response: None })
}

fn parsed(session: &[u8]) -> Result<Session, HookFault> {
    let fault = |problems: Vec<tollgate_model::Problem>| {
        HookFault::Failed(problems.first().map_or_else(|| "the session is invalid".to_owned(), ToString::to_string))
    };
    Session::parse(session).map(|(session, _)| session).map_err(fault)
}

fn header_changes(changes: HeaderChanges) -> RequestChanges {
    let mut request = RequestChanges { query_base: QueryBase::Url, ..RequestChanges::default() };
    for header in changes.into_changed() {
        let mut values = header.values.into_iter();
        match values.next() {
            None => request.delete_headers.push(header.name),
            Some(first) => {
                request.add_headers.extend(values.map(|value| (header.name.clone(), value)));
                request.set_headers.push((header.name, first));
            }
        }
    }
    request
}

fn ended(reply: LocalReply) -> Result<RequestChanges, HookFault> {
    let body = String::from_utf8(reply.body).map_err(|_| HookFault::Failed("the body of the response is no text".to_owned()))?;
    let overrides =
        ReturnOverrides { status: reply.status, body, headers: reply.headers, override_error: true, is_processed: false };
    Ok(RequestChanges { overrides: Some(overrides), ..RequestChanges::default() })
}

fn response(call: WasmCall) -> Result<PluginResponse, HookFault> {
    let before = call.call.response.unwrap_or_default();
    if let Some(reply) = call.reply {
        let status = u16::try_from(reply.status).map_err(|_| HookFault::Failed(format!("{} is no status", reply.status)))?;
        return Ok(PluginResponse { status, headers: with_type(reply.headers), body: reply.body });
    }
    Ok(PluginResponse {
        status: call.status.unwrap_or(before.status),
        headers: call.response.applied_to(before.headers),
        body: call.body.unwrap_or(before.body),
    })
}

/// A response without a type is plain text, as one that ends a request.
fn with_type(mut headers: Lines) -> Lines {
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".to_owned(), "text/plain; charset=utf-8".to_owned()));
    }
    headers
}
