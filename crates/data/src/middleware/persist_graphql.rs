//! Endpoints that stand for one GraphQL operation each. Reads `persist_graphql`. The upstream gets a POST to its own path, with the entry's
//! operation and variables; the client's body is not sent on. Values of variables may contain `$path.name`, the segment that `{name}` of the
//! entry's path matches, and context variables; unlike in Tyk, whatever a client writes there stays inside its text.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::template::{ValueTemplate, VariableScope};
use serde_json::{Map, Value, json};
use tollgate_http::path::Path;
use tollgate_model::api::PersistedOperation;

pub(super) struct PersistGraphql {
    by_endpoint: EndpointList<StoredOperation>,
}

struct StoredOperation {
    document: String,
    variables: Vec<(String, VariableTemplate)>,
    /// Names in the entry's path, and the position of each segment.
    segments: Vec<(String, usize)>,
}

/// A JSON value whose texts may have variables.
enum VariableTemplate {
    Constant(Value),
    Text(ValueTemplate),
    List(Vec<VariableTemplate>),
    Object(Vec<(String, VariableTemplate)>),
}

impl PersistGraphql {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.persist_graphql;
        let by_endpoint = source
            .checked_endpoints("persist_graphql", entries, |source, entry| StoredOperation::new(entry, source.variable_scope()));
        if by_endpoint.is_empty() { None } else { Some(Box::new(PersistGraphql { by_endpoint })) }
    }
}

impl StoredOperation {
    /// Compiles an entry; `Err` is the field and the reason.
    fn new(entry: &PersistedOperation, scope: VariableScope<'_>) -> Result<Self, (&'static str, String)> {
        if entry.operation.trim().is_empty() {
            return Err(("operation", "is empty".to_owned()));
        }
        let name = |(position, segment): (usize, &str)| {
            let name = segment.strip_prefix('{')?.strip_suffix('}')?;
            Some((format!("$path.{name}"), position))
        };
        let mut segments: Vec<_> = entry.path.trim_start_matches('/').split('/').enumerate().filter_map(name).collect();
        // A name that begins with another one must not be replaced by half.
        segments.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let variables = members(&entry.variables, scope);
        Ok(StoredOperation { document: entry.operation.clone(), variables, segments })
    }

    fn body(&self, exchange: &Exchange<'_>) -> Vec<u8> {
        let path = exchange.path_behind_listen();
        let at: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let variables: Map<String, Value> =
            self.variables.iter().map(|(name, template)| (name.clone(), self.render(template, exchange, &at))).collect();
        json!({"query": self.document, "variables": variables}).to_string().into_bytes()
    }

    fn render(&self, template: &VariableTemplate, exchange: &Exchange<'_>, path: &[&str]) -> Value {
        match template {
            VariableTemplate::Constant(value) => value.clone(),
            VariableTemplate::List(items) => items.iter().map(|item| self.render(item, exchange, path)).collect(),
            VariableTemplate::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), self.render(value, exchange, path))).collect())
            }
            VariableTemplate::Text(text) => {
                let rendered = text.render(exchange);
                let segments = self.segments.iter();
                let replaced = segments.fold(rendered.to_string(), |text, (name, position)| {
                    text.replace(name, path.get(*position).copied().unwrap_or_default())
                });
                Value::String(replaced)
            }
        }
    }
}

fn members(written: &Map<String, Value>, scope: VariableScope<'_>) -> Vec<(String, VariableTemplate)> {
    written.iter().map(|(name, value)| (name.clone(), VariableTemplate::new(value, scope))).collect()
}

impl VariableTemplate {
    fn new(value: &Value, scope: VariableScope<'_>) -> Self {
        match value {
            Value::String(text) if text.contains('$') => VariableTemplate::Text(ValueTemplate::new(text, scope)),
            Value::Array(items) => VariableTemplate::List(items.iter().map(|item| VariableTemplate::new(item, scope)).collect()),
            Value::Object(written) => VariableTemplate::Object(members(written, scope)),
            value => VariableTemplate::Constant(value.clone()),
        }
    }
}

impl Middleware for PersistGraphql {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add("Content-Type");
        // Variables may use any.
        names.add_all();
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some(operation) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        // The client's body must be out of the way before another one takes its place.
        if let Err(step) = exchange.read_body() {
            return step;
        }
        let body = operation.body(exchange);
        exchange.replace_body(body);
        exchange.outgoing.edits.set(&exchange.request.headers, "Content-Type", b"application/json");
        exchange.method = "POST".into();
        exchange.url.path = Path::plain("/");
        exchange.url.listen_bytes = 0;
        Step::Next
    }
}
