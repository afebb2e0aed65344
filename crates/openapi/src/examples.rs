//! Whether a document's own examples and defaults fit its schemas. Examples mislead people and mocks, so authors want to know; requests don't
//! depend on them.

use std::collections::HashSet;

use serde_json::Value;
use tollgate_model::{JsonPath, Level, Problem};

use crate::document::{Document, METHODS};
use crate::request::{essence, is_json};
use tollgate_schema::{Budget, JsonTree, SchemaCompiler, SchemaExample, SchemaId, SchemaSide};

/// Maximum problems of one document: an author repairs the first ones first.
const PROBLEMS_MAX: usize = 50;

/// Work for one example: a document with hostile schemas must still load.
const EXAMPLE_BUDGET: Budget = Budget::brief();

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExampleKinds {
    /// `example` and `examples`.
    pub examples: bool,
    /// `default` of schemas.
    pub defaults: bool,
}

/// The examples that do not fit, each at its place.
pub fn check_examples(document: &Document, kinds: ExampleKinds, level: Level) -> Vec<Problem> {
    let mut walk = ExampleWalk {
        document,
        compiler: SchemaCompiler::with_examples(&document.root, document.dialect()),
        values: Vec::new(),
        seen: HashSet::new(),
    };
    walk.components();
    walk.paths();
    let ExampleWalk { mut compiler, mut values, .. } = walk;
    let of_schemas = compiler.take_examples().into_iter();
    values.extend(of_schemas.map(|SchemaExample { schema, value, at, is_default }| PlacedExample {
        schema,
        value,
        at,
        side: SchemaSide::Example,
        is_default,
    }));
    let (schemas, _) = compiler.finish();
    let mut problems = Vec::new();
    let mut more = 0;
    for example in values.iter().filter(|example| if example.is_default { kinds.defaults } else { kinds.examples }) {
        let Err(mismatch) = schemas.check(example.schema, &JsonTree::of(example.value), example.side, EXAMPLE_BUDGET) else {
            continue;
        };
        if problems.len() < PROBLEMS_MAX {
            let message = format!("does not fit its schema: {mismatch}");
            problems.push(Problem::new(level, example.at.to_string(), message));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        problems.push(Problem::new(level, "", format!("and {more} more examples that do not fit their schemas")));
    }
    problems
}

struct PlacedExample<'d> {
    schema: SchemaId,
    value: &'d Value,
    at: JsonPath,
    side: SchemaSide,
    is_default: bool,
}

/// Compiles all schemas of a document and collects the examples beside them.
struct ExampleWalk<'d> {
    document: &'d Document,
    compiler: SchemaCompiler<'d>,
    values: Vec<PlacedExample<'d>>,
    /// Parts that several references lead to are looked at once.
    seen: HashSet<*const Value>,
}

impl<'d> ExampleWalk<'d> {
    fn components(&mut self) {
        let at = JsonPath::root().key("components");
        let Some(components) = self.document.root.get("components") else { return };
        for (name, schema) in members(components, "schemas") {
            self.compiler.schema(schema, &at.key("schemas").key(name));
        }
        for (name, header) in members(components, "headers") {
            self.parameter(header, &at.key("headers").key(name), SchemaSide::Response);
        }
        for (name, parameter) in members(components, "parameters") {
            self.parameter(parameter, &at.key("parameters").key(name), SchemaSide::Request);
        }
        for (name, body) in members(components, "requestBodies") {
            self.content(body, &at.key("requestBodies").key(name), SchemaSide::Request);
        }
        for (name, response) in members(components, "responses") {
            self.response(response, &at.key("responses").key(name));
        }
    }

    fn paths(&mut self) {
        let at = JsonPath::root().key("paths");
        for (path, item) in members(&self.document.root, "paths") {
            let (at, Some(item)) = (at.key(path), self.document.resolve(item)) else { continue };
            self.parameters(item, &at);
            for (method, operation) in METHODS.iter().filter_map(|method| Some((method, item.get(method)?))) {
                let at = at.key(method);
                self.parameters(operation, &at);
                if let Some(body) = operation.get("requestBody") {
                    self.content(body, &at.key("requestBody"), SchemaSide::Request);
                }
                for (code, response) in members(operation, "responses") {
                    self.response(response, &at.key("responses").key(code));
                }
            }
        }
    }

    fn parameters(&mut self, of: &'d Value, at: &JsonPath) {
        let list = of.get("parameters").and_then(Value::as_array).into_iter().flatten();
        for (index, parameter) in list.enumerate() {
            self.parameter(parameter, &at.key("parameters").index(index), SchemaSide::Request);
        }
    }

    /// A parameter or header.
    fn parameter(&mut self, written: &'d Value, at: &JsonPath, side: SchemaSide) {
        self.described(written, at, side, true);
        self.content(written, at, side);
    }

    fn response(&mut self, written: &'d Value, at: &JsonPath) {
        self.content(written, at, SchemaSide::Response);
        let Some(response) = self.document.resolve(written) else { return };
        for (name, header) in members(response, "headers") {
            self.parameter(header, &at.key("headers").key(name), SchemaSide::Response);
        }
    }

    fn content(&mut self, written: &'d Value, at: &JsonPath, side: SchemaSide) {
        let Some(resolved) = self.document.resolve(written) else { return };
        for (kind, media) in members(resolved, "content") {
            let is_document = is_json(essence(kind)) || kind.contains('*') || kind.starts_with("application/x-www-form");
            self.described(media, &at.key("content").key(kind), side, is_document);
        }
    }

    /// Something with a schema and examples. A text may be an example in a form that is no JSON, unless `is_document`.
    fn described(&mut self, written: &'d Value, at: &JsonPath, side: SchemaSide, is_document: bool) {
        let Some(written) = self.document.resolve(written).filter(|written| self.seen.insert(std::ptr::from_ref(*written))) else {
            return;
        };
        let Some(schema) = written.get("schema") else { return };
        let schema = self.compiler.schema(schema, &at.key("schema"));
        let mut add = |value: &'d Value, at: JsonPath| {
            // A mock takes null as no example too.
            if !value.is_null() && (is_document || !value.is_string()) {
                self.values.push(PlacedExample { schema, value, at, side, is_default: false });
            }
        };
        if let Some(value) = written.get("example") {
            add(value, at.key("example"));
        }
        for (name, example) in members(written, "examples") {
            let value = self.document.resolve(example).and_then(|example| example.get("value"));
            if let Some(value) = value {
                add(value, at.key("examples").key(name).key("value"));
            }
        }
    }
}

fn members<'v>(of: &'v Value, name: &str) -> impl Iterator<Item = (&'v String, &'v Value)> + use<'v> {
    of.get(name).and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests;
