//! APIs as servers of a federation: where they read the caller's credentials, and why one cannot be used as it is meant.

use serde_json::Value;
use std::sync::Arc;
use tollgate_data::snapshot::CompiledApi;
use tollgate_model::api::{ApiDefinition, AuthMethod};
use tollgate_model::{JsonPath, Level, Problem};

/// The headers in which an API reads credentials, by method. A signature is for one request: it cannot be sent with another.
pub(super) fn credential_headers(definition: &ApiDefinition) -> Vec<(String, String)> {
    let methods = definition.auth_methods().filter(|method| *method != AuthMethod::Hmac);
    let headers =
        methods.filter_map(|method| Some((method.config_name().to_owned(), definition.places(method).header()?.to_owned())));
    headers.collect()
}

/// Reports servers of federations that name an API which is not there, has no document, or gets no credentials.
pub(super) fn check(apis: &[Arc<CompiledApi>], problems: &mut Vec<Problem>) {
    for federation in apis {
        let servers = federation.raw.get("tollgate").and_then(|own| own.get("mcp")?.get("servers")?.as_array());
        for (index, server) in servers.into_iter().flatten().enumerate() {
            let Some(id) = server.get("api").and_then(Value::as_str).filter(|id| !id.is_empty()) else { continue };
            let why = match apis.iter().find(|api| api.id == id) {
                None => format!("there is no API with the id {id:?}: the federation {:?} has no tools of it", federation.id),
                Some(api) if api.openapi.is_none() => {
                    format!("the API {id:?} has no OpenAPI document: the federation {:?} has no tools of it", federation.id)
                }
                Some(api) => match without_credentials(federation, api) {
                    Some(method) => format!(
                        "the API {id:?} asks for credentials ({method}) that clients of the federation {:?} do not send in a header: their calls are \
                         refused there",
                        federation.id
                    ),
                    None => continue,
                },
            };
            let at = JsonPath::of("tollgate.mcp.servers").index(index).key("api");
            problems.push(Problem::new(Level::Warning, at.to_string(), why));
        }
    }
}

/// The first method of an API for which clients of a federation have no credentials, if all its methods must accept a request.
fn without_credentials<'a>(federation: &CompiledApi, api: &'a CompiledApi) -> Option<&'a str> {
    let is_set = |of: &CompiledApi, name: &str| of.raw.get(name) == Some(&Value::Bool(true));
    let has_alternatives =
        api.raw.get("tollgate").and_then(|own| own.get("auth_alternatives")?.as_array()).is_some_and(|all| !all.is_empty());
    if has_alternatives {
        return None;
    }
    if is_set(api, "enable_signature_checking") {
        return Some(AuthMethod::Hmac.config_name());
    }
    let passed = if is_set(federation, "strip_auth_data") { &[][..] } else { federation.credential_headers.as_slice() };
    let unmet = api.credential_headers.iter().find(|(method, _)| !passed.iter().any(|(own, _)| own == method));
    unmet.map(|(method, _)| method.as_str())
}
