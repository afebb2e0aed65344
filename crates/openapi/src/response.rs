//! Validation of responses against an operation of a document: status, headers, and bodies in JSON. What the document does not describe fits,
//! unless it must be described.

use std::sync::Arc;

use serde_json::Value;
use tollgate_model::{JsonPath, Problem};

use crate::document::{Document, Operation};
use crate::request::{essence, is_json};
use tollgate_schema::{Budget, JsonTree, SchemaCompiler, SchemaId, SchemaSide, Schemas, Streamed};

/// Compiles the responses of operations of one document; they share their schemas.
pub struct ResponseCompiler<'d> {
    document: &'d Document,
    compiler: SchemaCompiler<'d>,
    rules: Vec<Vec<DescribedResponse>>,
}

/// What responses of one operation must fit.
#[derive(Debug)]
pub struct ResponseRules {
    schemas: Arc<Schemas>,
    responses: Vec<DescribedResponse>,
}

/// What one response must fit.
#[derive(Debug)]
struct DescribedResponse {
    statuses: Statuses,
    headers: Vec<DescribedHeader>,
    /// Content types with their schemas; empty if no body is described.
    content: Vec<(String, Option<SchemaId>)>,
}

/// The statuses that a description is for, the most specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Statuses {
    One(u16),
    /// Those of a hundred, such as `2XX`.
    Class(u16),
    /// `default`.
    Others,
}

#[derive(Debug)]
struct DescribedHeader {
    name: String,
    required: bool,
    schema: Option<SchemaId>,
}

/// What the body of a response is checked against.
#[derive(Debug, Clone)]
pub struct ResponseCheck {
    schemas: Arc<Schemas>,
    body: Option<SchemaId>,
}

/// Why a body does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfitBody {
    why: String,
    is_exhausted: bool,
}

impl UnfitBody {
    /// A reason.
    pub fn new(why: String) -> Self {
        UnfitBody { why, is_exhausted: false }
    }

    fn too_much_work() -> Self {
        UnfitBody { why: "response body takes too long to validate".to_owned(), is_exhausted: true }
    }

    /// Whether it may fit, and finding out would take too much work.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

impl std::fmt::Display for UnfitBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl<'d> ResponseCompiler<'d> {
    /// A compiler for a document.
    pub fn new(document: &'d Document) -> Self {
        ResponseCompiler { document, compiler: document.schemas(), rules: Vec::new() }
    }

    /// Compiles an operation, and returns its index in the result of [`ResponseCompiler::finish`].
    pub fn add(&mut self, operation: &Operation) -> usize {
        let method = operation.method.to_lowercase();
        let at = JsonPath::root().key("paths").key(&operation.path).key(&method).key("responses");
        let written = self.document.path_item(&operation.path).and_then(|item| item.get(&method)?.get("responses")?.as_object());
        let mut responses: Vec<DescribedResponse> = Vec::new();
        for (code, response) in written.into_iter().flatten() {
            let (Some(statuses), Some(response)) = (Statuses::parse(code), self.document.resolve(response)) else { continue };
            responses.push(self.response(statuses, response, &at.key(code)));
        }
        responses.sort_by_key(|response| response.statuses);
        self.rules.push(responses);
        self.rules.len() - 1
    }

    fn response(&mut self, statuses: Statuses, written: &'d Value, at: &JsonPath) -> DescribedResponse {
        let members = |name: &str| written.get(name).and_then(Value::as_object).into_iter().flatten();
        let mut headers = Vec::new();
        for (name, header) in members("headers") {
            // The specification ignores it there.
            let Some(header) = self.document.resolve(header).filter(|_| !name.eq_ignore_ascii_case("content-type")) else {
                continue;
            };
            let schema = header.get("schema");
            let schema = schema.map(|schema| self.compiler.schema(schema, &at.key("headers").key(name).key("schema")));
            headers.push(DescribedHeader {
                name: name.clone(),
                required: header.get("required") == Some(&Value::Bool(true)),
                schema,
            });
        }
        let mut content = Vec::new();
        for (kind, media) in members("content") {
            let at = at.key("content").key(kind).key("schema");
            content.push((kind.clone(), media.get("schema").map(|schema| self.compiler.schema(schema, &at))));
        }
        DescribedResponse { statuses, headers, content }
    }

    /// The rules in the order in which they were added, with the problems of their schemas.
    pub fn finish(self) -> (Vec<Arc<ResponseRules>>, Vec<Problem>) {
        let (schemas, problems) = self.compiler.finish();
        let schemas = Arc::new(schemas);
        let rules = self.rules.into_iter().map(|responses| Arc::new(ResponseRules { schemas: schemas.clone(), responses }));
        (rules.collect(), problems)
    }
}

impl Statuses {
    fn parse(code: &str) -> Option<Self> {
        if code == "default" {
            return Some(Statuses::Others);
        }
        let class = code.strip_suffix("XX").or_else(|| code.strip_suffix("xx"));
        match class {
            Some(class) => Some(Statuses::Class(class.parse().ok()?)),
            None => Some(Statuses::One(code.parse().ok()?)),
        }
    }

    fn has(self, status: u16) -> bool {
        match self {
            Statuses::One(own) => own == status,
            Statuses::Class(class) => status / 100 == class,
            Statuses::Others => true,
        }
    }
}

impl ResponseRules {
    /// Checks status and headers. `Ok(None)` for a status that the document does not describe, and need not.
    pub fn check_head(
        &self,
        status: u16,
        must_be_described: bool,
        header: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<ResponseCheck>, String> {
        let Some(response) = self.responses.iter().find(|response| response.statuses.has(status)) else {
            return if must_be_described { Err(format!("status {status} is not described")) } else { Ok(None) };
        };
        for described in &response.headers {
            described.check(header(&described.name), &self.schemas)?;
        }
        let kind = header("Content-Type").unwrap_or_default();
        let body = match (response.content.is_empty(), response.media(&kind)) {
            (true, _) => None,
            (false, Some(schema)) => schema,
            // A response without a body has no type.
            (false, None) if kind.is_empty() => None,
            (false, None) => return Err(format!("header Content-Type has unexpected value {kind:?}")),
        };
        let body = body.filter(|_| is_json(essence(&kind)));
        Ok(Some(ResponseCheck { schemas: self.schemas.clone(), body }))
    }
}

impl ResponseCheck {
    /// Whether the body must be read.
    pub fn reads_body(&self) -> bool {
        self.body.is_some()
    }

    /// Checks a body.
    pub fn check_body(&self, body: &[u8], budget: Budget) -> Result<(), UnfitBody> {
        let Some(schema) = self.body else { return Ok(()) };
        let schemas = &self.schemas;
        match schemas.fits_json(schema, body, SchemaSide::Response, budget) {
            Streamed::Fits => return Ok(()),
            Streamed::TooMuchWork => return Err(UnfitBody::too_much_work()),
            Streamed::Unfit => {}
        }
        let value = JsonTree::read(body).map_err(|error| UnfitBody::new(format!("response body is not valid JSON: {error}")))?;
        schemas.check(schema, &value, SchemaSide::Response, budget).map_err(|mismatch| {
            let name = schemas.name(schema);
            let space = if name.is_empty() { "" } else { " " };
            let why = format!("response body doesn't match schema{space}{name}: {mismatch}");
            UnfitBody { why, is_exhausted: mismatch.is_exhausted() }
        })
    }
}

impl DescribedResponse {
    /// The schema of a content type: of the type itself first, then of ranges. The outer option: whether the type is described.
    fn media(&self, content_type: &str) -> Option<Option<SchemaId>> {
        let essence = essence(content_type);
        let named = |name: &str| {
            let own = self.content.iter().find(|(kind, _)| crate::request::essence(kind).eq_ignore_ascii_case(name));
            own.map(|(_, schema)| *schema)
        };
        let range = || named(&format!("{}/*", essence.split_once('/')?.0));
        named(essence).or_else(range).or_else(|| named("*/*"))
    }
}

impl DescribedHeader {
    fn check(&self, value: Option<String>, schemas: &Schemas) -> Result<(), String> {
        let about = |why: String| format!("header {} has an error: {why}", self.name);
        match (value, self.schema) {
            (None, _) if self.required => Err(about("value is required but missing".to_owned())),
            (None, _) | (_, None) => Ok(()),
            (Some(text), Some(schema)) => {
                let value = schemas.decode(schema, &text).map_err(about)?;
                schemas
                    .check(schema, &JsonTree::of(&value), SchemaSide::Response, Budget::of_body(text.len()))
                    .map_err(|mismatch| about(mismatch.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests;
