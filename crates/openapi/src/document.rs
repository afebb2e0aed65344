//! An OpenAPI document as it was read: its version, its operations, and its problems. Schemas are compiled elsewhere, and only those that are
//! needed.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use tollgate_model::{JsonPath, Level, Problem, json_document};

use tollgate_schema::{DEPTH_MAX, Dialect, SchemaCompiler};
use tollgate_text::{byte_order_mark, yaml};

use crate::places::at_pointer;

mod references;

/// Methods of a path item, in the order of the specification.
pub(crate) const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Version of the specification that a document follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 3.0: schemas are a dialect of their own, with `nullable`.
    V3_0,
    /// 3.1: schemas are JSON Schema 2020-12.
    V3_1,
}

/// An OpenAPI document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The document as it was written.
    pub root: Value,
    /// Its version.
    pub version: Version,
    /// Its operations; the most specific paths come first.
    pub operations: Vec<Operation>,
}

/// One operation: a method of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Its `operationId`; empty if it has none.
    pub id: String,
    /// The path with its parameters in braces.
    pub path: String,
    /// The method in upper case.
    pub method: String,
}

/// Whether a document is an OpenAPI or Swagger document.
pub fn is_openapi(document: &Value) -> bool {
    document.get("openapi").is_some() || document.get("swagger").is_some()
}

/// Parses JSON or YAML.
pub fn read_text(text: &[u8]) -> Result<Value, String> {
    let text = byte_order_mark::without(text);
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
        return json_document::from_slice(text).map_err(|error| format!("not valid JSON: {error}"));
    }
    let text = std::str::from_utf8(text).map_err(|error| format!("not UTF-8: {error}"))?;
    let value = yaml::read(text)?;
    if value.is_object() { Ok(value) } else { Err("neither a JSON object nor a YAML mapping".to_owned()) }
}

impl Document {
    /// Reads a parsed document. The result is the document with its lesser problems, or all its problems.
    pub fn new(root: Value) -> Result<(Document, Vec<Problem>), Vec<Problem>> {
        let mut problems = Vec::new();
        let version = match version(&root) {
            Ok(version) => version,
            Err(problem) => return Err(vec![problem]),
        };
        references::check(&root, &mut problems);
        let operations = operations(&root, &mut problems);
        let document = Document { root, version, operations };
        if problems.iter().any(Problem::is_error) { Err(problems) } else { Ok((document, problems)) }
    }

    /// A compiler for its schemas.
    pub(crate) fn schemas(&self) -> SchemaCompiler<'_> {
        SchemaCompiler::new(&self.root, self.dialect())
    }

    /// What its schemas mean.
    pub(crate) fn dialect(&self) -> Dialect {
        match self.version {
            Version::V3_0 => Dialect::OpenApi3_0,
            Version::V3_1 => Dialect::OpenApi3_1,
        }
    }

    /// The operation with an id.
    pub fn operation(&self, id: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// The value behind a value that may be a reference, and its place. `None` if the reference leads nowhere.
    pub fn resolve<'d>(&'d self, value: &'d Value) -> Option<&'d Value> {
        let mut value = value;
        // A chain of references is as long as the document is deep at most; loops were refused when it was read.
        for _ in 0..DEPTH_MAX {
            match value.get("$ref").and_then(Value::as_str) {
                Some(reference) => value = at_pointer(&self.root, reference)?.0,
                None => return Some(value),
            }
        }
        None
    }

    /// The path item of a path.
    pub fn path_item(&self, path: &str) -> Option<&Value> {
        self.resolve(self.root.get("paths")?.get(path)?)
    }
}

fn version(root: &Value) -> Result<Version, Problem> {
    let error = |member: &str, message: String| Problem::new(Level::Error, JsonPath::root().key(member).to_string(), message);
    let Some(version) = root.get("openapi") else {
        let swagger = root.get("swagger").is_some();
        let message = if swagger { "Swagger 2; convert it to OpenAPI 3 first" } else { "is missing: not an OpenAPI document" };
        return Err(error(if swagger { "swagger" } else { "openapi" }, message.to_owned()));
    };
    let written = version.as_str().unwrap_or_default();
    let is = |minor: &str| written == minor || written.strip_prefix(minor).is_some_and(|rest| rest.starts_with('.'));
    match () {
        () if is("3.0") => Ok(Version::V3_0),
        () if is("3.1") => Ok(Version::V3_1),
        () => Err(error("openapi", format!("must be 3.0 or 3.1, not {version}"))),
    }
}

/// All operations, sorted by the specificity of their paths.
fn operations(root: &Value, problems: &mut Vec<Problem>) -> Vec<Operation> {
    let mut operations = Vec::new();
    let paths = JsonPath::root().key("paths");
    let mut ids: HashMap<String, String> = HashMap::new();
    let mut forms: BTreeMap<(String, String), String> = BTreeMap::new();
    let items = match root.get("paths") {
        None => return operations,
        Some(Value::Object(items)) => items,
        Some(_) => {
            problems.push(Problem::new(Level::Error, paths.to_string(), "must be an object"));
            return operations;
        }
    };
    for (path, item) in items.iter().filter(|(path, _)| !path.starts_with("x-")) {
        let at = paths.key(path);
        if !path.starts_with('/') {
            problems.push(Problem::new(Level::Error, at.to_string(), "must start with a slash"));
            continue;
        }
        let item = item.get("$ref").and_then(Value::as_str).and_then(|to| at_pointer(root, to)).map_or(item, |(item, _)| item);
        let Value::Object(members) = item else {
            problems.push(Problem::new(Level::Error, at.to_string(), "must be an object"));
            continue;
        };
        for (method, operation) in METHODS.iter().filter_map(|method| Some((method, members.get(*method)?))) {
            let at = at.key(method);
            let Value::Object(members) = operation else {
                problems.push(Problem::new(Level::Error, at.to_string(), "must be an object"));
                continue;
            };
            let id = members.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
            if !id.is_empty()
                && let Some(first) = ids.insert(id.clone(), at.to_string())
            {
                let message = format!("{id} is also the id of {first}: middleware could apply to either");
                problems.push(Problem::new(Level::Error, at.key("operationId").to_string(), message));
            }
            let method = method.to_uppercase();
            if let Some(first) = forms.insert((form(path), method.clone()), path.clone()) {
                let message = format!("matches the same requests as {first}: the first of the two in order of names answers them");
                problems.push(Problem::new(Level::Warning, at.to_string(), message));
            }
            operations.push(Operation { id, path: path.clone(), method });
        }
    }
    operations.sort_by(|a, b| specificity(&a.path).cmp(&specificity(&b.path)).then_with(|| a.path.cmp(&b.path)));
    operations
}

/// A path with the names of its parameters removed.
fn form(path: &str) -> String {
    let mut form = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        form.push_str(before);
        form.push_str("{}");
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    form + rest
}

/// Sorts more specific paths first: more segments, then more literal characters, then fewer parameters.
pub(crate) fn specificity(path: &str) -> (std::cmp::Reverse<usize>, std::cmp::Reverse<usize>, usize) {
    let form = form(path);
    let parameters = form.matches("{}").count();
    let literal = form.len() - 2 * parameters;
    (std::cmp::Reverse(form.matches('/').count()), std::cmp::Reverse(literal), parameters)
}

#[cfg(test)]
mod tests;
