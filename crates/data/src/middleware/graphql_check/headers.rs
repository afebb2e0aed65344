//! Headers for the upstream of a GraphQL API, by Tyk's rules, and its errors as GraphQL errors.

use crate::exchange::Exchange;
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::middleware::bodies::{BodyMaker, MadeResponseBody};
use crate::response_chain::ResponseHead;
use crate::template::{ValueTemplate, VariableScope};
use serde_json::{Value, json};
use std::sync::Arc;
use tollgate_http::is_value;
use tollgate_model::api::GraphqlProxy;
use tollgate_model::is_framing_header;
use tollgate_text::byte_order_mark;

/// What Tyk's engine says about an upstream that does not answer in GraphQL.
const UNRESOLVED: &str = "unable to resolve";

/// `request_headers` and `request_headers_rewrite`.
pub(super) struct UpstreamHeaders {
    /// Whether a header of the client takes the place of one of these.
    client_first: bool,
    set: Vec<(Arc<str>, ValueTemplate)>,
    rules: Vec<HeaderRule>,
}

struct HeaderRule {
    name: Arc<str>,
    value: ValueTemplate,
    /// Removes the header unless it has the value; otherwise the header gets the value.
    removes: bool,
}

impl UpstreamHeaders {
    pub(super) fn new(written: &GraphqlProxy, scope: VariableScope<'_>) -> Self {
        let set = written.request_headers.iter().filter(|(name, _)| !is_framing_header(name));
        let rules = written.request_headers_rewrite.iter().filter(|(name, _)| !is_framing_header(name));
        UpstreamHeaders {
            client_first: written.features.use_immutable_headers,
            set: set.map(|(name, value)| (name.as_str().into(), ValueTemplate::new(value, scope))).collect(),
            rules: rules
                .map(|(name, rule)| HeaderRule {
                    name: name.as_str().into(),
                    value: ValueTemplate::new(&rule.value, scope),
                    removes: rule.remove,
                })
                .collect(),
        }
    }

    pub(super) fn header_names(&self, names: &mut HeaderNames) {
        let set = self.set.iter().map(|(name, value)| (name, value));
        for (name, value) in set.chain(self.rules.iter().map(|rule| (&rule.name, &rule.value))) {
            names.add(name);
            value.header_names(names);
        }
    }

    /// Changes the request's headers. A value that a variable makes invalid for a header line is skipped.
    pub(super) fn apply(&self, exchange: &mut Exchange<'_>) {
        for (name, value) in &self.set {
            let value = value.render(exchange).into_bytes();
            let has_own = exchange.outgoing.edits.current(&exchange.request.headers, name).is_some();
            let change = match has_own {
                true if self.client_first => continue,
                true => HeaderChange::Add(name.clone(), value.clone()),
                false => HeaderChange::Set(name.clone(), value.clone()),
            };
            if is_value(&value) {
                change.apply(&exchange.request.headers, &mut exchange.outgoing.edits);
            }
        }
        for rule in &self.rules {
            let value = rule.value.render(exchange).into_bytes();
            let current = exchange.outgoing.edits.current(&exchange.request.headers, &rule.name);
            let change = match (rule.removes, current) {
                (_, Some(current)) if current == value.as_slice() => continue,
                (true, None) => continue,
                (true, Some(_)) => HeaderChange::Remove(rule.name.clone()),
                (false, _) if !is_value(&value) => continue,
                (false, _) => HeaderChange::Set(rule.name.clone(), value),
            };
            change.apply(&exchange.request.headers, &mut exchange.outgoing.edits);
        }
    }
}

/// Makes GraphQL responses of errors that are none: their body becomes the extensions of an error.
pub(super) struct ErrorExtensions;

impl BodyMaker for ErrorExtensions {
    fn applies(&self, head: &ResponseHead<'_>) -> bool {
        head.status() >= 400
    }

    fn make(&self, body: Result<&[u8], String>, _: bool) -> Result<Option<MadeResponseBody>, String> {
        // Its own form is the best that there is.
        let Ok(body) = body else { return Ok(None) };
        let extensions = match serde_json::from_slice::<Value>(byte_order_mark::without(body)) {
            Ok(Value::Object(members)) if members.contains_key("errors") => return Ok(None),
            Ok(object @ Value::Object(_)) => object,
            Ok(other) => json!({ "body": other }),
            Err(_) => json!({ "body": String::from_utf8_lossy(body) }),
        };
        let response = json!({"errors": [{"message": UNRESOLVED, "extensions": extensions}]});
        let headers = vec![("Content-Type".to_owned(), b"application/json".to_vec())];
        Ok(Some(MadeResponseBody { body: response.to_string().into_bytes(), headers }))
    }
}
