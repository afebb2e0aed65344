//! Request data that templates and filters see besides the body, as in Tyk: `_tyk_context` and `_tyk_meta`.

use crate::exchange::Exchange;
use crate::header_names::canonical_name;
use serde_json::{Map, Value};
use tollgate_access::jwt::CLAIM;
use tollgate_http::form::{cookies, pairs};

/// Tyk's `_tyk_context` of the request.
pub fn tyk_context(exchange: &Exchange<'_>) -> Map<String, Value> {
    let request = exchange.request;
    let mut context = Map::new();
    let mut headers: Map<String, Value> = Map::new();
    for (name, value) in exchange.received().iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
        let value = Value::from(String::from_utf8_lossy(value));
        let name = canonical_name(name);
        let first = format!("headers_{}", name.replace('-', "_"));
        context.entry(first).or_insert_with(|| value.clone());
        add(&mut headers, name, value);
    }
    context.insert("headers".to_owned(), headers.into());
    context.insert("headers_Host".to_owned(), String::from_utf8_lossy(request.authority).into());
    let cookies_of = exchange.received().get("cookie").and_then(|value| std::str::from_utf8(value).ok());
    for (name, value) in cookies_of.into_iter().flat_map(cookies) {
        context.insert(format!("cookies_{}", name.replace('-', "_")), value.into());
    }
    let mut form: Map<String, Value> = Map::new();
    // The body's fields come first, as in Go.
    for (name, value) in exchange.form().into_iter().chain(exchange.query()).flat_map(pairs) {
        let value = Value::from(value);
        context.entry(format!("request_data_{}", name.replace('-', "_"))).or_insert_with(|| value.clone());
        add(&mut form, name, value);
    }
    context.insert("request_data".to_owned(), form.into());
    context.insert("path".to_owned(), exchange.arrival.full_path.into());
    context.insert("path_parts".to_owned(), exchange.arrival.full_path.split('/').map(Value::from).collect());
    context.insert("remote_addr".to_owned(), exchange.arrival.client_ip.to_string().into());
    context.insert("request_id".to_owned(), exchange.arrival.request_id.to_string().into());
    if let Some(trace) = exchange.arrival.trace {
        context.insert("tyk_trace_id".to_owned(), trace.id.to_string().into());
    }
    if let Some(token) = &exchange.caller.token {
        context.insert("token".to_owned(), (&**token).into());
    }
    for (name, value) in exchange.caller.claims.iter().flat_map(|claims| claims.iter()) {
        context.insert(format!("{CLAIM}{name}"), value.into());
    }
    // What a filter has set replaces what is known.
    for (name, value) in exchange.notes.variables.as_deref().into_iter().flatten() {
        context.insert(name.clone(), value.clone());
    }
    context
}

/// Metadata of the key that authenticated the request.
pub(crate) fn tyk_meta(exchange: &Exchange<'_>) -> Option<Map<String, Value>> {
    exchange.caller.meta_data().cloned()
}

fn add(lists: &mut Map<String, Value>, name: String, value: Value) {
    if let Value::Array(list) = lists.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
        list.push(value);
    }
}
