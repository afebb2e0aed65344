//! The requests of a planned fetch, one for each object, or one for all.

use super::places::{ObjectPlace, object_at, objects};
use super::{Execution, SentRequest, SourceRequest, extensions, path_of};
use crate::answer_value::{AnswerMembers, AnswerValue, index_of};
use crate::graph::SourceEndpoint;
use crate::plan::{ArgumentLiteral, EntityInput, FetchWork, InputField, PlannedFetch};
use crate::template::{SourceVariable, TemplateValues, VariableSource};
use apollo_compiler::ast::Value as LiteralValue;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Most objects of one fetch; all of them are in the memory anyway.
const OBJECTS_MAX: usize = 100_000;

/// What a request says, without its number.
#[derive(Clone, PartialEq, Eq, Hash)]
struct RequestText {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// The values for the templates of one request.
struct ObjectValues<'v> {
    arguments: &'v Map<String, Value>,
    object: Option<&'v AnswerMembers>,
    object_reads: &'v HashMap<Vec<String>, Vec<String>>,
    headers: &'v HashMap<String, String>,
    texts: &'v HashMap<String, String>,
}

impl TemplateValues for ObjectValues<'_> {
    fn value(&self, variable: &SourceVariable) -> Option<Value> {
        let (first, rest) = variable.path.split_first()?;
        match variable.scope {
            VariableSource::Arguments => follow(self.arguments.get(first)?, rest).cloned(),
            VariableSource::Headers => self.headers.get(first).cloned().map(Value::String),
            VariableSource::Object => {
                let path = self.object_reads.get(&variable.path).unwrap_or(&variable.path);
                let (first, rest) = path.split_first()?;
                self.object?.get(first)?.at(rest).map(AnswerValue::to_json)
            }
        }
    }

    fn literal<'t>(&'t self, text: &'t str) -> &'t str {
        self.texts.get(text).map_or(text, String::as_str)
    }
}

impl Execution {
    /// Makes the requests of a fetch; returns how many there are.
    pub(super) fn make_requests(&mut self, index: usize, fetch: &PlannedFetch) -> usize {
        let places = objects(&self.data, &fetch.place, &fetch.types, OBJECTS_MAX);
        if places.is_empty() {
            return 0;
        }
        let graph = self.graph.clone();
        let Some(source) = graph.sources.get(fetch.source) else { return 0 };
        let mut requests: Vec<(RequestText, Vec<Vec<ObjectPlace>>)> = Vec::new();
        match &fetch.work {
            FetchWork::Rest { arguments, object_reads, .. } => {
                let arguments: Map<String, Value> =
                    arguments.iter().filter_map(|(name, value)| Some((name.clone(), self.argument(value)?))).collect();
                let is_safe = matches!(source.endpoint.method.as_str(), "GET" | "HEAD");
                let mut known: HashMap<RequestText, usize> = HashMap::new();
                for place in places {
                    let text = self.rest_request(&source.endpoint, &arguments, object_reads, object_at(&self.data, &place.raw));
                    match known.get(&text).filter(|_| is_safe).and_then(|at| requests.get_mut(*at)) {
                        Some((_, objects)) => objects.iter_mut().for_each(|objects| objects.push(place.clone())),
                        None => {
                            known.insert(text.clone(), requests.len());
                            requests.push((text, vec![vec![place]]));
                        }
                    }
                }
            }
            FetchWork::Operation { text, variables, .. } => {
                let request = self.operation_request(&source.endpoint, text, self.variables_of(variables));
                requests.push((request, vec![places]));
            }
            FetchWork::Entities { text, variables, inputs } => {
                let (representations, objects) = self.representations(places, inputs);
                let size = if graph.batches_entities { representations.len().max(1) } else { 1 };
                for (values, objects) in representations.chunks(size).zip(objects.chunks(size)) {
                    let mut variables = self.variables_of(variables);
                    variables.insert("representations".to_owned(), Value::Array(values.to_vec()));
                    requests.push((self.operation_request(&source.endpoint, text, variables), objects.to_vec()));
                }
            }
        }
        self.send(index, fetch, requests)
    }

    fn send(&mut self, index: usize, fetch: &PlannedFetch, requests: Vec<(RequestText, Vec<Vec<ObjectPlace>>)>) -> usize {
        let mut sent = 0;
        for (text, objects) in requests {
            if self.requests >= self.limits.requests_max {
                let message = format!("The query needs more than {} requests", self.limits.requests_max);
                let path = path_of(objects.first().and_then(|objects| objects.first()), &fetch.key);
                self.fault(message, path, extensions("LIMIT_EXCEEDED", &self.source_name(fetch.source)));
                break;
            }
            self.requests += 1;
            sent += 1;
            let id = self.requests as u64;
            let RequestText { method, url, headers, body } = text;
            self.ready.push_back(SourceRequest { id, source: fetch.source, method, url, headers, body });
            self.sent.insert(id, SentRequest { fetch: index, objects });
        }
        sent
    }

    pub(super) fn source_name(&self, source: usize) -> String {
        self.graph.sources.get(source).map(|source| source.name.clone()).unwrap_or_default()
    }

    fn variables_of(&self, names: &[String]) -> Map<String, Value> {
        names.iter().filter_map(|name| Some((name.clone(), self.variables.get(name)?.clone()))).collect()
    }

    /// The value of an argument; `None` if it is a variable without one.
    fn argument(&self, argument: &ArgumentLiteral) -> Option<Value> {
        Some(match argument {
            LiteralValue::Variable(name) => self.variables.get(name.as_str())?.clone(),
            LiteralValue::Null => Value::Null,
            LiteralValue::Enum(name) => Value::String(name.to_string()),
            LiteralValue::String(text) => Value::String(text.clone()),
            LiteralValue::Boolean(value) => Value::Bool(*value),
            LiteralValue::Int(number) => number.as_str().parse().unwrap_or(Value::Null),
            LiteralValue::Float(number) => number.as_str().parse().unwrap_or(Value::Null),
            LiteralValue::List(items) => items.iter().map(|item| self.argument(item).unwrap_or_default()).collect(),
            LiteralValue::Object(members) => {
                Value::Object(members.iter().filter_map(|(name, value)| Some((name.to_string(), self.argument(value)?))).collect())
            }
        })
    }

    fn rest_request(
        &self,
        endpoint: &SourceEndpoint,
        arguments: &Map<String, Value>,
        object_reads: &HashMap<Vec<String>, Vec<String>>,
        object: Option<&AnswerMembers>,
    ) -> RequestText {
        let values = ObjectValues { arguments, object, object_reads, headers: &self.context.headers, texts: &self.context.texts };
        let body = if endpoint.body.is_empty() { Vec::new() } else { endpoint.body.render(&values).into_bytes() };
        let (url, headers) = (url(endpoint, &values, &[]), self.headers(endpoint, &values));
        RequestText { method: endpoint.method.clone(), url, headers, body }
    }

    fn operation_request(&self, endpoint: &SourceEndpoint, text: &str, variables: Map<String, Value>) -> RequestText {
        let (arguments, object_reads) = (Map::new(), HashMap::new());
        let values = ObjectValues {
            arguments: &arguments,
            object: None,
            object_reads: &object_reads,
            headers: &self.context.headers,
            texts: &self.context.texts,
        };
        let headers = self.headers(endpoint, &values);
        let method = endpoint.method.clone();
        if method == "GET" {
            let variables = Value::Object(variables).to_string();
            let url = url(endpoint, &values, &[("query", text), ("variables", &variables)]);
            return RequestText { method, url, headers, body: Vec::new() };
        }
        let body = match variables.is_empty() {
            true => json!({"query": text}),
            false => json!({"query": text, "variables": variables}),
        };
        RequestText { method, url: url(endpoint, &values, &[]), headers, body: body.to_string().into_bytes() }
    }

    fn headers(&self, endpoint: &SourceEndpoint, values: &ObjectValues<'_>) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let own = endpoint.headers.iter().map(|(name, value)| (name.clone(), value.render(values)));
        // As in Tyk, a header without a value is left out.
        headers.extend(own.filter(|(_, value)| !value.is_empty()));
        let json = "application/json".to_owned();
        let defaults = [("Accept".to_owned(), json.clone()), ("Content-Type".to_owned(), json)];
        for (name, value) in self.context.common_headers.iter().cloned().chain(defaults) {
            if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                headers.push((name, value));
            }
        }
        headers
    }

    /// What a subgraph is given to find objects: each object once, with all its places.
    fn representations(
        &self,
        places: Vec<ObjectPlace>,
        inputs: &HashMap<String, EntityInput>,
    ) -> (Vec<Value>, Vec<Vec<ObjectPlace>>) {
        let (mut values, mut objects): (Vec<Value>, Vec<Vec<ObjectPlace>>) = (Vec::new(), Vec::new());
        let mut known: HashMap<String, usize> = HashMap::new();
        for place in places {
            let Some(value) = object_at(&self.data, &place.raw).and_then(|object| representation(object, inputs)) else { continue };
            let at = *known.entry(value.to_string()).or_insert_with(|| {
                values.push(value);
                objects.push(Vec::new());
                objects.len() - 1
            });
            if let Some(objects) = objects.get_mut(at) {
                objects.push(place);
            }
        }
        (values, objects)
    }
}

/// `None` if the object has no key, or no type of the request.
fn representation(object: &AnswerMembers, inputs: &HashMap<String, EntityInput>) -> Option<Value> {
    let own = object.get("__typename").and_then(AnswerValue::as_text);
    let input = match own.and_then(|own| inputs.get(own)) {
        Some(input) => input,
        // Objects of the only possible type need not say it.
        None => inputs.values().next().filter(|input| own.is_none() || input.is_any)?,
    };
    let mut members = Map::from_iter([("__typename".to_owned(), Value::String(input.type_name.clone()))]);
    for field in &input.fields {
        // A field that is required may be null, if the answer says so. A key may not.
        let value = object.get(&field.read)?;
        if value.is_null() && field.is_key {
            return None;
        }
        members.insert(field.name.clone(), renamed(value, &field.fields));
    }
    Some(Value::Object(members))
}

/// A value with the names of the subgraph.
fn renamed(value: &AnswerValue, fields: &[InputField]) -> Value {
    match value {
        _ if fields.is_empty() => value.to_json(),
        list if list.is_list() => list.items().map(|item| renamed(item, fields)).collect(),
        AnswerValue::Members(object) => {
            let own_type = object.get("__typename").filter(|_| fields.iter().any(|field| field.is_conditional));
            let mut members = Map::from_iter(own_type.map(|own| ("__typename".to_owned(), own.to_json())));
            for field in fields {
                match object.get(&field.read) {
                    None if field.is_conditional => {}
                    value => {
                        let value = value.map_or(Value::Null, |value| renamed(value, &field.fields));
                        members.insert(field.name.clone(), value);
                    }
                }
            }
            Value::Object(members)
        }
        value => value.to_json(),
    }
}

fn url(endpoint: &SourceEndpoint, values: &ObjectValues<'_>, further: &[(&str, &str)]) -> String {
    let mut url = endpoint.url.render(values);
    let own = endpoint
        .query
        .iter()
        .flat_map(|(name, value)| value.render_all(values).into_iter().map(move |value| (name.as_str(), value)));
    let further = further.iter().map(|(name, value)| (*name, (*value).to_owned()));
    for (index, (name, value)) in own.chain(further).enumerate() {
        url.push(if index == 0 { '?' } else { '&' });
        write_form(name, &mut url);
        url.push('=');
        write_form(&value, &mut url);
    }
    url
}

/// The value that members of an argument lead to. `[0]` is the first item of a list.
fn follow<'v>(value: &'v Value, members: &[String]) -> Option<&'v Value> {
    members.iter().try_fold(value, |value, member| match value {
        Value::Object(object) => object.get(member),
        Value::Array(items) => items.get(index_of(member)?),
        _ => None,
    })
}

/// What a name or value of a query may have as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn write_form(text: &str, out: &mut String) {
    out.extend(utf8_percent_encode(text, PLAIN));
}
