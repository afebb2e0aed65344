//! Operations of an API as tools. A call becomes a request through the API's own chain with the caller's own credentials, so that all its rules
//! and limits hold.

use crate::answer::{Answer, LinkFault, Messages, Outbound, StreamMessage};
use crate::catalogue::WITHHELD;
use crate::message::{RpcError, code, method, result, text};
use crate::operation_body::{OperationBody, encoded, plain, written};
use crate::outside::{CallerRights, OwnApis, OwnRequest};
use crate::reading::read;
use crate::terms::OperationTerms;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tollgate_openapi::{Document, Operation};
use tollgate_outbound::{CALLER_LINE, CallerLine};

/// Largest schema of a tool's arguments, in bytes of JSON. A larger one says only what the arguments are called.
const SCHEMA_BYTES_MAX: usize = 64 << 10;
/// Most operations as tools.
const TOOLS_MAX: usize = 10_000;
/// Deepest schema that is copied.
const DEPTH_MAX: usize = 64;
/// The argument with the body of a request.
const BODY: &str = "body";

/// Operations of an API.
pub(crate) struct OperationsServer {
    pub terms: OperationTerms,
    pub apis: Arc<dyn OwnApis>,
    pub time_max: Duration,
}

impl OperationsServer {
    /// Answers a message as an MCP server would.
    pub(crate) async fn send(&self, outbound: Outbound<'_>) -> Result<Answer, LinkFault> {
        let message = outbound.message;
        let id = message.get("id").cloned().unwrap_or_default();
        let document = self.apis.document(&self.terms.api);
        let missing = || LinkFault::Unreachable(format!("the API {} is not served, or has no OpenAPI document", self.terms.api));
        let document = document.ok_or_else(missing)?;
        let answer = match method(message) {
            "tools/list" => result(&id, json!({"tools": self.tools(&document)})),
            "tools/call" => match self.call(&document, message, &outbound.headers).await {
                Ok(called) => result(&id, called),
                Err(error) => error.response(&id),
            },
            _ => RpcError::new(code::METHOD_NOT_FOUND, "operations are tools, and nothing else").response(&id),
        };
        Ok(Answer { session: None, messages: Messages::One(StreamMessage::own(answer)) })
    }

    fn operations<'d>(&'d self, document: &'d Document) -> impl Iterator<Item = (String, &'d Operation)> {
        let is_chosen = |operation: &Operation, name: &str| {
            let included = self.terms.include.is_empty() || self.terms.include.iter().any(|glob| glob.is_match(name));
            let tags = || tags_of(document, operation);
            included && (self.terms.tags.is_empty() || tags().iter().any(|tag| self.terms.tags.contains(tag)))
        };
        let named = document.operations.iter().map(|operation| (tool_name(operation), operation));
        named.filter(move |(name, operation)| is_chosen(operation, name)).take(TOOLS_MAX)
    }

    /// Those of the wanted tools, by their own names, that lead to operations which a caller is refused anyway.
    pub(crate) fn refused(&self, rights: &dyn CallerRights, is_wanted: impl Fn(&str) -> bool) -> HashSet<String> {
        let (Some(access), Some(document)) = (self.apis.access(&self.terms.api), self.apis.document(&self.terms.api)) else {
            return HashSet::new();
        };
        let methods = &access.credential_headers;
        let is_shared = |method: &str| self.terms.credentials.iter().any(|(own, _)| own == method);
        // Without credentials of its own, the API lets all pass; with others, its callers have other rights.
        if methods.is_empty() || !methods.iter().all(|(method, _)| is_shared(method)) {
            return HashSet::new();
        }
        let wanted = self.operations(&document).filter(|(name, _)| is_wanted(name));
        wanted.filter(|(_, operation)| rights.refuses(&access, &operation.method, &operation.path)).map(|(name, _)| name).collect()
    }

    fn tools(&self, document: &Document) -> Vec<Value> {
        let tool = |(name, operation): (String, &Operation)| match OperationBody::of(document, operation) {
            Ok(body) => tool(document, operation, &name, body.as_ref()),
            Err(error) => json!({"name": name, WITHHELD: error.message}),
        };
        self.operations(document).map(tool).collect()
    }

    async fn call(&self, document: &Document, message: &Value, headers: &[(String, String)]) -> Result<Value, RpcError> {
        let name = text(message, &["params", "name"]).unwrap_or_default();
        let unknown = || RpcError::new(code::INVALID_PARAMS, format!("unknown tool: {name}"));
        let (_, operation) = self.operations(document).find(|(known, _)| known == name).ok_or_else(unknown)?;
        let none = Map::new();
        let arguments =
            message.get("params").and_then(|params| params.get("arguments")).and_then(Value::as_object).unwrap_or(&none);
        let request = self.request(document, operation, arguments, headers)?;
        let reply = self.apis.call(request).await.map_err(|why| RpcError::new(code::UNAVAILABLE, why))?;
        let is_error = reply.status >= 300;
        let mut said = String::from_utf8_lossy(&reply.body).into_owned();
        if is_error && said.is_empty() {
            said = format!("the API answered with status {}", reply.status);
        }
        let mut called = json!({"content": [{"type": "text", "text": said}], "isError": is_error});
        let members = called.as_object_mut();
        if let (Some(members), Ok(structured @ Value::Object(_))) = (members, read(&reply.body)) {
            members.insert("structuredContent".to_owned(), structured);
        }
        Ok(called)
    }

    fn request(
        &self,
        document: &Document,
        operation: &Operation,
        arguments: &Map<String, Value>,
        headers: &[(String, String)],
    ) -> Result<OwnRequest, RpcError> {
        let mut path = operation.path.clone();
        let mut query = Vec::new();
        let mut lines = vec![("Accept".to_owned(), "application/json, */*;q=0.5".to_owned())];
        let own = |name: &str| headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).cloned();
        let places = self.apis.access(&self.terms.api).map(|access| access.credential_headers).unwrap_or_default();
        for (method, header) in &places {
            let of_caller = self.terms.credentials.iter().find(|(known, _)| known == method).and_then(|(_, header)| own(header));
            if let Some((_, value)) = of_caller.filter(|_| !lines.iter().any(|(name, _)| name.eq_ignore_ascii_case(header))) {
                lines.push((header.clone(), value));
            }
        }
        let is_for_credentials =
            |name: &str| places.iter().chain(&self.terms.credentials).any(|(_, header)| header.eq_ignore_ascii_case(name));
        for parameter in parameters(document, operation) {
            let (Some(name), Some(place)) = (text(parameter, &["name"]), text(parameter, &["in"])) else { continue };
            let Some(value) = arguments.get(name).filter(|value| !value.is_null()) else {
                if place == "path" {
                    return Err(RpcError::new(code::INVALID_PARAMS, format!("the argument {name:?} is missing")));
                }
                continue;
            };
            match place {
                // These would lead to other operations.
                "path" if matches!(plain(value).as_str(), "" | "." | "..") => {
                    return Err(RpcError::new(code::INVALID_PARAMS, format!("the argument {name:?} cannot be {value}")));
                }
                "path" => path = path.replace(&format!("{{{name}}}"), &encoded(&plain(value))),
                "query" => match value {
                    Value::Array(values) => {
                        query.extend(values.iter().map(|value| format!("{}={}", encoded(name), encoded(&plain(value)))))
                    }
                    value => query.push(format!("{}={}", encoded(name), encoded(&plain(value)))),
                },
                // A header of credentials is the caller's own.
                "header" if !is_for_credentials(name) => {
                    lines.push((name.to_owned(), plain(value)));
                }
                _ => {}
            }
        }
        let body = match (arguments.get(BODY), OperationBody::of(document, operation)?) {
            (Some(body), Some(taken)) => {
                lines.push(("Content-Type".to_owned(), taken.content_type.to_owned()));
                taken.encoded(body)
            }
            _ => Vec::new(),
        };
        let target = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
        let (api, method, time_max) = (self.terms.api.clone(), operation.method.clone(), self.time_max);
        let told = own(CALLER_LINE).map(|(_, value)| value).unwrap_or_default();
        let CallerLine { address: client_address, loops, .. } = CallerLine::of(&told);
        Ok(OwnRequest { api, method, target, headers: lines, body, time_max, client_address, loops })
    }
}

/// The name of an operation's tool: its id, else its method and path, with the characters that names may have.
fn tool_name(operation: &Operation) -> String {
    let name = match operation.id.as_str() {
        "" => format!("{}_{}", operation.method.to_ascii_lowercase(), operation.path.trim_matches('/')),
        id => id.to_owned(),
    };
    let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    name.chars().map(fits).take(128).collect()
}

fn tags_of(document: &Document, operation: &Operation) -> Vec<String> {
    let tags = written(document, operation).and_then(|operation| operation.get("tags")).and_then(Value::as_array);
    tags.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The parameters of an operation: its own, and those of its path that it does not replace.
fn parameters<'d>(document: &'d Document, operation: &Operation) -> Vec<&'d Value> {
    let list = |value: Option<&'d Value>| {
        let all = value.and_then(|value| value.get("parameters")).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(|parameter| document.resolve(parameter)).collect::<Vec<_>>()
    };
    let mut found = list(written(document, operation));
    let key = |parameter: &Value| (parameter.get("name").cloned(), parameter.get("in").cloned());
    for common in list(document.path_item(&operation.path)) {
        if !found.iter().any(|own| key(own) == key(common)) {
            found.push(common);
        }
    }
    found
}

fn tool(document: &Document, operation: &Operation, name: &str, body: Option<&OperationBody<'_>>) -> Value {
    let empty = Value::Null;
    let about = written(document, operation).unwrap_or(&empty);
    let said = |member: &str| about.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
    let description = match (said("summary"), said("description")) {
        (Some(summary), Some(description)) => format!("{summary}\n\n{description}"),
        (one, other) => one.or(other).map_or_else(|| format!("{} {}", operation.method, operation.path), str::to_owned),
    };
    let is_safe = matches!(operation.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let mut annotations =
        json!({"readOnlyHint": is_safe, "idempotentHint": is_safe || matches!(operation.method.as_str(), "PUT" | "DELETE")});
    if operation.method == "DELETE"
        && let Some(members) = annotations.as_object_mut()
    {
        members.insert("destructiveHint".to_owned(), true.into());
    }
    json!({"name": name, "description": description, "inputSchema": arguments_schema(document, operation, body), "annotations": annotations})
}

/// The schema of a tool's arguments: the operation's parameters, and its body as one argument.
fn arguments_schema(document: &Document, operation: &Operation, body: Option<&OperationBody<'_>>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut schemas = SchemaCopy { document, needed: BTreeSet::new(), done: Map::new() };
    for parameter in parameters(document, operation) {
        let (Some(name), Some(place)) = (text(parameter, &["name"]), text(parameter, &["in"])) else { continue };
        if place == "cookie" {
            continue;
        }
        let mut schema = schemas.property(parameter.get("schema"));
        if let (Some(members), Some(description)) = (schema.as_object_mut(), parameter.get("description")) {
            members.entry("description").or_insert_with(|| description.clone());
        }
        properties.insert(name.to_owned(), schema);
        if place == "path" || parameter.get("required").and_then(Value::as_bool).unwrap_or_default() {
            required.push(name.to_owned());
        }
    }
    if let Some(body) = body {
        properties.insert(BODY.to_owned(), schemas.property(body.schema));
        required.extend(body.is_required.then(|| BODY.to_owned()));
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    let mut made = json!({"type": "object", "properties": properties});
    let definitions = schemas.definitions();
    if let Some(members) = made.as_object_mut() {
        if !required.is_empty() {
            members.insert("required".to_owned(), required.clone().into());
        }
        if !definitions.is_empty() {
            members.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    if made.to_string().len() <= SCHEMA_BYTES_MAX {
        return made;
    }
    let properties: Map<String, Value> = names.into_iter().map(|name| (name, json!({}))).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// Copies schemas out of a document, with those to which they refer.
struct SchemaCopy<'d> {
    document: &'d Document,
    needed: BTreeSet<String>,
    done: Map<String, Value>,
}

impl SchemaCopy<'_> {
    /// A copy for a member of `properties`, where clients take objects alone.
    fn property(&mut self, schema: Option<&Value>) -> Value {
        schema.filter(|schema| schema.is_object()).map_or_else(|| json!({}), |schema| self.copy(schema, 0))
    }

    fn copy(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > DEPTH_MAX {
            return json!({});
        }
        match schema {
            Value::Object(members) => {
                let mut copied: Map<String, Value> = Map::new();
                for (name, value) in members {
                    match (name.as_str(), value) {
                        ("$ref", Value::String(reference)) => {
                            let Some(target) = reference.strip_prefix("#/components/schemas/") else { return json!({}) };
                            self.needed.insert(target.to_owned());
                            copied.insert("$ref".to_owned(), format!("#/$defs/{target}").into());
                        }
                        // Of OpenAPI, not of JSON Schema.
                        ("discriminator" | "xml" | "externalDocs" | "nullable", _) => {}
                        ("example", value) => drop(copied.insert("examples".to_owned(), json!([value]))),
                        _ => drop(copied.insert(name.clone(), self.copy(value, depth + 1))),
                    }
                }
                if members.get("nullable") == Some(&Value::Bool(true))
                    && let Some(Value::String(kind)) = copied.get("type").cloned()
                {
                    copied.insert("type".to_owned(), json!([kind, "null"]));
                }
                Value::Object(copied)
            }
            Value::Array(items) => items.iter().map(|item| self.copy(item, depth + 1)).collect(),
            other => other.clone(),
        }
    }

    /// All schemas that copies refer to, and those that these refer to.
    fn definitions(mut self) -> Map<String, Value> {
        while let Some(name) = self.needed.iter().find(|name| !self.done.contains_key(*name)).cloned() {
            let target = self.document.root.get("components").and_then(|parts| parts.get("schemas")?.get(&name));
            let target = target.cloned().unwrap_or_else(|| json!({}));
            let copied = self.copy(&target, 0);
            self.done.insert(name, copied);
            if self.done.len() > 1_000 {
                break;
            }
        }
        self.done
    }
}

#[cfg(test)]
mod tests;
