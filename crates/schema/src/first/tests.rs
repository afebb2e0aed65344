use serde_json::json;
use tollgate_model::Problem;

use super::*;
use crate::compile::SchemaCompiler;
use crate::dialect::Dialect;
use crate::pattern;

/// The schema `A` of a document.
pub(crate) struct CompiledSchema {
    pub(crate) schemas: Schemas,
    pub(crate) root: SchemaId,
}

impl CompiledSchema {
    pub(crate) fn check(&self, value: &Value, side: SchemaSide) -> Result<(), Mismatch> {
        self.schemas.check(self.root, &JsonTree::of(value), side, Budget::of_body(0))
    }
}

pub(crate) fn compiled(version: &str, root: &Value) -> Result<CompiledSchema, Vec<Problem>> {
    let dialect = if version.starts_with("3.0") { Dialect::OpenApi3_0 } else { Dialect::OpenApi3_1 };
    let mut compiler = SchemaCompiler::new(root, dialect);
    let root = compiler.at("#/components/schemas/A");
    let (schemas, problems) = compiler.finish();
    if problems.is_empty() { Ok(CompiledSchema { schemas, root }) } else { Err(problems) }
}

fn check(version: &str, schema: Value, value: Value, expect: &str) {
    let root = json!({"openapi": version, "components": {"schemas": {"A": schema, "Node": {
        "type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "name": {"type": "string"}}, "required": ["name"],
    }, "Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}, "required": ["lives"]},
    "Dog": {"type": "object", "properties": {"kind": {"type": "string"}}}}}});
    let schema = compiled(version, &root).unwrap();
    let found = schema.check(&value, SchemaSide::Request).map_or_else(|mismatch| mismatch.to_string(), |()| String::new());
    assert_eq!(found, expect, "{value} in {version}");
}

#[test]
fn both_dialects_say_what_does_not_fit_and_where() {
    for version in ["3.0.3", "3.1.0"] {
        let table = [
            (json!({"type": "string"}), json!(5), "value must be a string"),
            (json!({"type": "integer"}), json!(5.0), ""),
            (json!({"type": "integer"}), json!(5.5), "value must be an integer"),
            (json!({"minimum": 2}), json!(1), "number must be at least 2"),
            (json!({"maximum": 2.5}), json!(3), "number must be at most 2.5"),
            (json!({"multipleOf": 0.01}), json!(4.35), ""),
            (json!({"multipleOf": 2}), json!(3), "number must be a multiple of 2"),
            (json!({"minLength": 2}), json!("\u{e9}"), "minimum string length is 2"),
            (json!({"maxLength": 1}), json!("\u{e9}"), ""),
            (json!({"pattern": "^[a-z]+$"}), json!("A"), "string doesn't match the regular expression \"^[a-z]+$\""),
            (json!({"format": "date"}), json!("2024-02-30"), "string doesn't match the format \"date\""),
            (json!({"enum": ["a", 1]}), json!("b"), "value is not one of the allowed values [\"a\",1]"),
            (json!({"enum": [1]}), json!(1.0), ""),
            (json!({"items": {"type": "integer"}}), json!([1, "x"]), "Error at \"/1\": value must be an integer"),
            (json!({"uniqueItems": true}), json!([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]), "duplicate items found"),
            (json!({"required": ["a"]}), json!({}), "Error at \"/a\": property \"a\" is missing"),
            (json!({"properties": {"a": {}}, "additionalProperties": false}), json!({"b": 1}), "property \"b\" is unsupported"),
            (json!({"additionalProperties": {"type": "string"}}), json!({"b": 1}), "Error at \"/b\": value must be a string"),
            (
                json!({"$ref": "#/components/schemas/Node"}),
                json!({"name": "a", "next": {"next": {}}}),
                "Error at \"/next/next/name\": property \"name\" is missing",
            ),
            (json!({"not": {"type": "string"}}), json!("a"), "Doesn't match schema \"not\""),
            (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), json!(true), "doesn't match any schema from \"anyOf\""),
            (json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}), json!(1), "input matches more than one oneOf schemas"),
            (
                json!({"allOf": [{"type": "string"}, {"minLength": 2}]}),
                json!("a"),
                "doesn't match schema due to: minimum string length is 2",
            ),
            (json!({"properties": {"id": {"type": "integer", "readOnly": true}}, "required": ["id"]}), json!({}), ""),
            (
                json!({"properties": {"id": {"type": "integer", "readOnly": true}}}),
                json!({"id": 1}),
                "readOnly property \"id\" in request",
            ),
        ];
        for (schema, value, expect) in table {
            check(version, schema, value, expect);
        }
    }
}

#[test]
fn the_dialects_differ_in_null_and_bounds() {
    check("3.0.3", json!({"type": "string", "nullable": true}), json!(null), "");
    check("3.0.3", json!({"type": "string", "nullable": true, "enum": ["a"]}), json!(null), "");
    check("3.0.3", json!({"type": "string"}), json!(null), "Value is not nullable");
    check("3.1.0", json!({"type": ["string", "null"]}), json!(null), "");
    check("3.1.0", json!({"type": ["string", "null"]}), json!(1), "value must be one of string, null");
    check("3.1.0", json!({}), json!(null), "");
    check("3.0.3", json!({"minimum": 1, "exclusiveMinimum": true}), json!(1), "number must be more than 1");
    check("3.1.0", json!({"exclusiveMinimum": 1}), json!(1), "number must be more than 1");
    check("3.1.0", json!({"const": {"a": 1}}), json!({"a": 2}), "value must be {\"a\":1}");
    check(
        "3.1.0",
        json!({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "null"}}),
        json!("a"),
        "minimum string length is 2",
    );
    check(
        "3.1.0",
        json!({"prefixItems": [{"type": "string"}], "items": false}),
        json!(["a", 1]),
        "Error at \"/1\": no value is allowed here",
    );
    check(
        "3.1.0",
        json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
        json!({"a": 1, "b": 1}),
        "property \"b\" is unsupported",
    );
    check(
        "3.1.0",
        json!({"$ref": "#/components/schemas/Node", "minProperties": 2}),
        json!({"name": "a"}),
        "there must be at least 2 properties",
    );
    check("3.0.3", json!({"$ref": "#/components/schemas/Node", "minProperties": 2}), json!({"name": "a"}), "");
}

#[test]
fn a_discriminator_selects_one_schema() {
    let schema = json!({
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat", "dog": "Dog"}},
    });
    check("3.0.3", schema.clone(), json!({"kind": "dog"}), "");
    check("3.0.3", schema.clone(), json!({"kind": "cat", "lives": 9}), "");
    check("3.0.3", schema.clone(), json!({"kind": "cat"}), "Error at \"/lives\": property \"lives\" is missing");
    check("3.0.3", schema.clone(), json!({"kind": "cow"}), "discriminator property \"kind\" has invalid value");
    check("3.0.3", schema.clone(), json!({}), "input does not contain the discriminator property \"kind\"");
    check("3.0.3", schema, json!({"kind": 1}), "value of discriminator property \"kind\" is not a string");
}

#[test]
fn patterns_of_ecma_are_understood_or_refused() {
    let fits = |pattern: &str, text: &str| pattern::compile(pattern).map(|regex| regex.is_match(text));
    for (pattern, text, expect) in [
        (r"^\d+$", "12", true),
        (r"^\d+$", "\u{661}", false),
        (r"^\w+$", "a_1", true),
        (r"^\w$", "\u{e9}", false),
        (r"^\/a\-b$", "/a-b", true),
        (r"^[\w\-\.]+$", "a-b.c", true),
        (r"^\u0041$", "A", true),
        (r"^[^]$", "x", true),
        (r"^a{b}$", "a{b}", true),
        (r"^a{2}$", "aa", true),
        (r"^[[]$", "[", true),
        (r"^(?<n>a)$", "a", true),
        (r"^\cA$", "\u{1}", true),
        (r"^\p{L}{2}$", "ab", true),
        (r"^[a&&b]+$", "&", true),
        ("^\\@$", "@", true),
        (r"^\S+@\S+$", "a@b", true),
    ] {
        assert_eq!(fits(pattern, text), Ok(expect), "{pattern} on {text}");
    }
    for refused in ["(?=a)", r"(a)\1", "(?<!a)b", "(a{1000}){1000}", "["] {
        assert!(fits(refused, "a").is_err(), "{refused}");
    }
}

#[test]
fn problems_of_schemas_have_their_places() {
    let root = json!({"openapi": "3.1.0", "components": {"schemas": {"A": {
        "type": "text", "minLength": -1, "pattern": "(?=x)", "properties": {"a": 5}, "allOf": {}, "required": "a",
    }}}});
    let Err(problems) = compiled("3.1.0", &root) else { panic!("problems") };
    let problems: Vec<String> = problems.iter().map(|problem| problem.path.clone()).collect();
    let places = ["type", "allOf", "minLength", "pattern", "properties.a", "required"]
        .map(|place| format!("$.components.schemas.A.{place}"));
    assert_eq!(problems, places);
}

#[test]
fn schemas_as_deep_as_a_document_may_be_are_compiled_and_checked() {
    let schema = (0..480).fold(json!({"type": "string"}), |schema, _| json!({"items": schema}));
    let nested = |inner: Value| (0..480).fold(inner, |value, _| json!([value]));
    check("3.1.0", schema.clone(), nested(json!("x")), "");
    let place = format!("Error at \"{}\": value must be a string", "/0".repeat(480));
    check("3.1.0", schema, nested(json!(5)), &place);
}

#[test]
fn recursion_and_alternatives_have_a_bound() {
    let mut deep = json!({"name": "a"});
    for _ in 0..600 {
        deep = json!({"name": "a", "next": deep});
    }
    check(
        "3.0.3",
        json!({"$ref": "#/components/schemas/Node"}),
        deep,
        "validation takes too long: the value is nested too deep or matches too many alternatives",
    );
}
