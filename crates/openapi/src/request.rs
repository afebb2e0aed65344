//! Validation of requests against an operation of a document: its parameters and its body. The texts for clients are those of Tyk's validator.

use std::borrow::Cow;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tollgate_model::{JsonPath, Problem};

use crate::document::{Document, Operation};
use crate::multipart;
use crate::parameter::Parameter;
use crate::parameter_path::ParameterPath;
use crate::request_parts::{RequestMismatch, RequestParts, WrittenParameters};
use tollgate_schema::{Budget, JsonTree, Mismatch, SchemaCompiler, SchemaId, SchemaSide, Schemas, Shape, Streamed};

/// Compiles operations of one document; they share their schemas.
pub struct RulesCompiler<'d> {
    document: &'d Document,
    compiler: SchemaCompiler<'d>,
    rules: Vec<Unfinished>,
}

/// What requests of one operation must fit.
#[derive(Debug)]
pub struct OperationRules {
    schemas: Arc<Schemas>,
    rules: Unfinished,
}

/// An operation's rules, before the schemas are complete.
#[derive(Debug)]
struct Unfinished {
    path: ParameterPath,
    parameters: Vec<Parameter>,
    body: Option<BodyRules>,
}

#[derive(Debug)]
struct BodyRules {
    required: bool,
    content: Vec<(String, Option<SchemaId>)>,
}

impl<'d> RulesCompiler<'d> {
    /// A compiler for a document.
    pub fn new(document: &'d Document) -> Self {
        RulesCompiler { document, compiler: document.schemas(), rules: Vec::new() }
    }

    /// Compiles an operation, and returns its index in the result of [`RulesCompiler::finish`].
    pub fn add(&mut self, operation: &Operation) -> usize {
        let document = self.document;
        let item = document.path_item(&operation.path);
        let at = JsonPath::root().key("paths").key(&operation.path);
        let method = operation.method.to_lowercase();
        let written = item.and_then(|item| item.get(&method));
        let list = |value: Option<&'d Value>| {
            value.and_then(|value| value.get("parameters")?.as_array()).map(Vec::as_slice).unwrap_or_default()
        };
        let own = list(written);
        let is_replaced = |shared: &Value| {
            let identity = document.resolve(shared).and_then(Parameter::identity);
            own.iter().any(|own| document.resolve(own).and_then(Parameter::identity) == identity)
        };
        let mut parameters = Vec::new();
        for (index, shared) in list(item).iter().enumerate().filter(|(_, shared)| !is_replaced(shared)) {
            parameters.extend(Parameter::new(shared, &at.key("parameters").index(index), document, &mut self.compiler));
        }
        let at = at.key(&method);
        for (index, own) in own.iter().enumerate() {
            parameters.extend(Parameter::new(own, &at.key("parameters").index(index), document, &mut self.compiler));
        }
        let body = written.and_then(|written| document.resolve(written.get("requestBody")?));
        let body = body.map(|body| {
            let content = body.get("content").and_then(Value::as_object).into_iter().flatten();
            let at = at.key("requestBody").key("content");
            let content = content
                .map(|(kind, media)| {
                    (kind.clone(), media.get("schema").map(|schema| self.compiler.schema(schema, &at.key(kind).key("schema"))))
                })
                .collect();
            BodyRules { required: body.get("required") == Some(&Value::Bool(true)), content }
        });
        self.rules.push(Unfinished { path: ParameterPath::new(&operation.path), parameters, body });
        self.rules.len() - 1
    }

    /// The rules in the order in which they were added, with the problems of their schemas.
    pub fn finish(self) -> (Vec<Arc<OperationRules>>, Vec<Problem>) {
        let (schemas, problems) = self.compiler.finish();
        let schemas = Arc::new(schemas);
        let rules = self.rules.into_iter().map(|rules| Arc::new(OperationRules { schemas: schemas.clone(), rules }));
        (rules.collect(), problems)
    }
}

impl OperationRules {
    /// Whether the body must be read.
    pub fn reads_body(&self) -> bool {
        self.rules.body.as_ref().is_some_and(|body| body.required || !body.content.is_empty())
    }

    /// Checks the parameters.
    pub fn check_parameters<'r>(&'r self, request: &RequestParts<'r>) -> Result<(), RequestMismatch> {
        if self.rules.parameters.is_empty() {
            return Ok(());
        }
        let written =
            WrittenParameters { path: self.rules.path.values(request.path), query: query(request.query), header: request.header };
        self.rules.parameters.iter().try_for_each(|parameter| parameter.check(&written, &self.schemas))
    }

    /// Checks the body.
    pub fn check_body(&self, content_type: &str, body: &[u8], budget: Budget) -> Result<(), RequestMismatch> {
        let Some(rules) = &self.rules.body else { return Ok(()) };
        rules.check(content_type, body, &self.schemas, budget).map_err(|why| match why {
            BodyMismatch::Reason(reason) => RequestMismatch::new(format!("request body has an error: {reason}")),
            BodyMismatch::TooMuchWork => RequestMismatch::too_much_work("request body takes too long to validate".to_owned()),
        })
    }
}

impl BodyRules {
    fn check(&self, content_type: &str, body: &[u8], schemas: &Schemas, budget: Budget) -> Result<(), BodyMismatch> {
        if body.is_empty() {
            return if self.required { Err("value is required but missing".to_owned().into()) } else { Ok(()) };
        }
        if self.content.is_empty() {
            return Ok(());
        }
        let Some(schema) = self.media(content_type) else {
            return Err(format!("header Content-Type has unexpected value {content_type:?}").into());
        };
        let Some(schema) = schema else { return Ok(()) };
        let undecoded = |why: String| format!("failed to decode request body: {why}");
        if is_json(essence(content_type)) {
            match schemas.fits_json(schema, body, SchemaSide::Request, budget) {
                Streamed::Fits => return Ok(()),
                Streamed::TooMuchWork => return Err(BodyMismatch::TooMuchWork),
                Streamed::Unfit => {}
            }
            let value = JsonTree::read(body).map_err(|error| undecoded(error.to_string()))?;
            return check_value(schema, &value, schemas, budget);
        }
        let value = decoded(content_type, body, schema, schemas).map_err(undecoded)?;
        check_value(schema, &JsonTree::of(&value), schemas, budget)
    }

    /// The schema of a content type: of the whole type first, then of the type without parameters, then of ranges.
    fn media(&self, content_type: &str) -> Option<Option<SchemaId>> {
        let named = |name: &str| self.content.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(name)).map(|(_, schema)| *schema);
        if content_type.is_empty() {
            return named("*/*");
        }
        let essence = essence(content_type);
        let range = || named(&format!("{}/*", essence.split_once('/')?.0));
        let without_parameters = || {
            self.content
                .iter()
                .find(|(kind, _)| kind.contains(';') && crate::request::essence(kind).eq_ignore_ascii_case(essence))
                .map(|(_, schema)| *schema)
        };
        named(content_type).or_else(|| named(essence)).or_else(without_parameters).or_else(range).or_else(|| named("*/*"))
    }
}

/// Why a body does not fit.
enum BodyMismatch {
    Reason(String),
    /// It may fit, and finding out would take too much work.
    TooMuchWork,
}

impl From<String> for BodyMismatch {
    fn from(reason: String) -> Self {
        BodyMismatch::Reason(reason)
    }
}

fn check_value(schema: SchemaId, value: &JsonTree<'_>, schemas: &Schemas, budget: Budget) -> Result<(), BodyMismatch> {
    schemas.check(schema, value, SchemaSide::Request, budget).map_err(|mismatch: Mismatch| {
        if mismatch.is_exhausted() {
            return BodyMismatch::TooMuchWork;
        }
        let name = schemas.name(schema);
        format!("doesn't match schema{}{name}: {mismatch}", if name.is_empty() { "" } else { " " }).into()
    })
}

/// A content type without its parameters.
pub(crate) fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Whether a content type is one of JSON's.
pub(crate) fn is_json(essence: &str) -> bool {
    let suffix = essence.len().checked_sub("+json".len()).and_then(|start| essence.get(start..));
    essence.eq_ignore_ascii_case("application/json") || suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("+json"))
}

fn decoded(content_type: &str, body: &[u8], schema: SchemaId, schemas: &Schemas) -> Result<Value, String> {
    let kind = essence(content_type).to_ascii_lowercase();
    match kind.as_str() {
        "application/x-www-form-urlencoded" => {
            let text = std::str::from_utf8(body).map_err(|_| "not UTF-8".to_owned())?;
            form(query(text), schema, schemas)
        }
        "multipart/form-data" => {
            let parts = multipart::parts(content_type, body)?;
            let mut pairs = Vec::new();
            for part in parts {
                pairs.push((
                    part.name,
                    Cow::Owned(String::from_utf8_lossy(part.content).into_owned()),
                    is_json(essence(&part.content_type)),
                ));
            }
            multipart_value(pairs, schema, schemas)
        }
        kind if kind.starts_with("text/") || kind == "application/octet-stream" || schemas.accepts_text(schema) => {
            schemas.decode(schema, &String::from_utf8_lossy(body))
        }
        kind => Err(format!("unsupported content type {kind:?}")),
    }
}

/// Names and values of a form or query, decoded. Those with broken escapes are left as they are written.
pub fn query(text: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(name, value)| (unescaped(name), unescaped(value))).collect()
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['+', '%']) {
        return Cow::Borrowed(text);
    }
    let spaced = text.replace('+', " ");
    Cow::Owned(percent_decode_str(&spaced).decode_utf8().map(Cow::into_owned).unwrap_or(spaced))
}

fn form(pairs: Vec<(Cow<'_, str>, Cow<'_, str>)>, schema: SchemaId, schemas: &Schemas) -> Result<Value, String> {
    multipart_value(pairs.into_iter().map(|(name, value)| (name.into_owned(), value, false)).collect(), schema, schemas)
}

fn multipart_value(pairs: Vec<(String, Cow<'_, str>, bool)>, schema: SchemaId, schemas: &Schemas) -> Result<Value, String> {
    let mut members = Map::new();
    for (name, text, is_json) in pairs {
        let property = schemas.property(schema, &name);
        let shape = property.map_or(Shape::Single, |property| schemas.shape(property));
        let at = |why: String| format!("path {name}: {why}");
        let parsed = || serde_json::from_str(&text).map_err(|error| at(error.to_string()));
        let item = |schema: Option<SchemaId>| match schema {
            _ if is_json => parsed(),
            Some(schema) => schemas.decode(schema, &text).map_err(at),
            None => Ok(Value::String(text.clone().into_owned())),
        };
        match shape {
            Shape::List if !is_json => {
                let value = item(property.and_then(|property| schemas.items(property)))?;
                match members.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new())) {
                    Value::Array(items) => items.push(value),
                    other => *other = value,
                }
            }
            Shape::Object => drop(members.insert(name.clone(), parsed()?)),
            _ => drop(members.insert(name.clone(), item(property)?)),
        }
    }
    Ok(Value::Object(members))
}

#[cfg(test)]
mod tests;
