//! Properties: what a plugin can ask and set beside headers and bodies. The names are those of other hosts of the interface, and the
//! gateway's own below `tollgate`. Numbers are eight bytes, the lowest first.

use crate::wasm_call::{ChangeFault, HeaderList, WasmCall};
use serde_json::{Map, Value};
use tollgate_model::session::Session;
use tollgate_plugin::{HookKind, PluginApi};

/// What properties tell of the plugin itself.
pub(crate) struct PluginFacts {
    pub hook: &'static str,
    pub name: String,
    pub api: String,
    /// What the plugin is configured with: `config_data` as JSON.
    pub configuration: Vec<u8>,
}

/// The value of a property; `None` if there is no such one.
pub(crate) fn get(path: &[&str], facts: &PluginFacts, call: Option<&WasmCall>) -> Option<Vec<u8>> {
    match path {
        ["plugin_name" | "plugin_root_id"] => return Some(facts.name.clone().into_bytes()),
        ["plugin_vm_id"] | ["tollgate", "api_id"] => return Some(facts.api.clone().into_bytes()),
        ["tollgate", "hook"] => return Some(facts.hook.as_bytes().to_vec()),
        ["tollgate", "config_data"] => return Some(facts.configuration.clone()).filter(|text| !text.is_empty()),
        _ => {}
    }
    let call = call?;
    match path {
        ["request", rest @ ..] => of_request(rest, call),
        ["response", rest @ ..] => of_response(rest, call),
        ["tollgate", rest @ ..] => of_gateway(rest, call, &call.call.api),
        _ => None,
    }
}

fn of_request(path: &[&str], call: &WasmCall) -> Option<Vec<u8>> {
    let request = &call.call.request;
    let (path_only, query) = call.url().split_once('?').unwrap_or((call.url(), ""));
    let text: &str = match path {
        ["path"] => call.url(),
        ["url_path"] => path_only,
        ["query"] => query,
        ["host"] => &request.host,
        ["scheme"] => request.scheme,
        ["method"] => call.method(),
        ["headers", name] => return call.header(HeaderList::Request, name).map(String::into_bytes),
        ["referer"] => return call.header(HeaderList::Request, "referer").map(String::into_bytes),
        ["useragent"] => return call.header(HeaderList::Request, "user-agent").map(String::into_bytes),
        ["id"] => return call.header(HeaderList::Request, "x-request-id").map(String::into_bytes),
        ["size"] => return Some(number(request.body.len())),
        _ => return None,
    };
    Some(text.as_bytes().to_vec())
}

fn of_response(path: &[&str], call: &WasmCall) -> Option<Vec<u8>> {
    match path {
        ["code"] => Some(number(usize::from(call.status()?))),
        ["headers", name] => call.header(HeaderList::Response, name).map(String::into_bytes),
        ["size"] => Some(number(call.call.response.as_ref()?.body.len())),
        _ => None,
    }
}

fn of_gateway(path: &[&str], call: &WasmCall, api: &PluginApi) -> Option<Vec<u8>> {
    let text: &str = match path {
        ["org_id"] => &api.org_id,
        ["bundle_hash"] => &api.bundle_hash,
        ["request_uri"] => &call.call.request.request_uri,
        ["params", name] => call.call.request.params.iter().find(|(known, _)| known == name).map(|(_, value)| value)?,
        ["trace_parent"] => call.call.trace_parent.as_deref()?,
        ["token"] => call.token.as_deref().or(call.call.token.as_deref())?,
        ["session"] => return session(call),
        ["meta_data", name] => return meta_data(call)?.get(*name).map(written),
        _ => return None,
    };
    Some(text.as_bytes().to_vec())
}

fn session(call: &WasmCall) -> Option<Vec<u8>> {
    if let Some(session) = &call.session {
        return Some(session.clone());
    }
    let mut document = call.call.session.as_ref()?.to_json();
    if let (Some(changed), Some(members)) = (&call.meta_data, document.as_object_mut()) {
        members.insert("meta_data".to_owned(), Value::Object(changed.clone()));
    }
    Some(document.to_string().into_bytes())
}

fn meta_data(call: &WasmCall) -> Option<&Map<String, Value>> {
    call.meta_data.as_ref().or_else(|| call.call.session.as_ref().map(|session| &session.meta_data))
}

/// A value of the metadata: texts as they are, all others as JSON.
fn written(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

fn number(number: usize) -> Vec<u8> {
    (number as u64).to_le_bytes().to_vec()
}

/// Sets a property: the session of a caller and its token in `auth_check`, values of the session's metadata after it.
pub(crate) fn set(path: &[&str], value: &[u8], call: &mut WasmCall) -> Result<(), ChangeFault> {
    call.count(value.len())?;
    let identifies = call.call.kind == HookKind::AuthCheck;
    let text = || std::str::from_utf8(value).map(str::to_owned).map_err(|_| ChangeFault::Invalid);
    match path {
        ["tollgate", "session"] if identifies => {
            Session::parse(value).map_err(|_| ChangeFault::Invalid)?;
            call.session = Some(value.to_vec());
        }
        ["tollgate", "token"] if identifies => call.token = Some(text()?),
        ["tollgate", "meta_data", name] if !identifies => {
            let session = call.call.session.as_ref().ok_or(ChangeFault::Invalid)?;
            let value = Value::String(text()?);
            call.meta_data.get_or_insert_with(|| session.meta_data.clone()).insert((*name).to_owned(), value);
        }
        _ => return Err(ChangeFault::Invalid),
    }
    Ok(())
}
