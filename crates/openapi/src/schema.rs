//! Schemas of a document, compiled once and shared: a schema that many operations refer to is compiled for all of them, and one that contains
//! itself refers to itself. Version 3.0 has its own dialect with `nullable`; 3.1 has JSON Schema 2020-12.
//!
//! A validation has a maximum depth and a maximum of work, because a schema may be recursive and a body comes from the network. Patterns run in
//! linear time.

mod check;
mod compile;
mod format;
mod pattern;
mod property_table;
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;
use tollgate_model::Problem;

use crate::document::Document;

pub(crate) use check::Shape;
pub use check::{Mismatch, Side};
pub(crate) use compile::{SchemaCompiler, SchemaExample};
pub(crate) use pattern::{compile as compile_pattern, translated as translated_pattern};

/// The number of a compiled schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SchemaId(u32);

/// Compiled schemas. What is not compiled when they are made cannot be added later.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    nodes: Vec<Node>,
}

/// One schema.
#[derive(Debug, Default)]
struct Node {
    /// Its reference as written, or its title.
    name: String,
    /// The schema accepts `null` whatever its other keywords say: `nullable` of 3.0.
    nullable: bool,
    /// A dialect in which a missing type does not accept `null`: that of 3.0.
    null_is_extra: bool,
    read_only: bool,
    write_only: bool,
    types: Types,
    /// Type keyword as written, for messages.
    type_names: Vec<String>,
    checks: Vec<Check>,
    /// What the quick form applies in its place.
    parts: stream::SchemaParts,
}

/// A set of JSON types; empty for no restriction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Types(u8);

impl Types {
    const NULL: u8 = 1;
    const BOOLEAN: u8 = 2;
    const INTEGER: u8 = 4;
    const NUMBER: u8 = 8;
    const STRING: u8 = 16;
    const ARRAY: u8 = 32;
    const OBJECT: u8 = 64;

    fn named(name: &str) -> Option<u8> {
        Some(match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            _ => return None,
        })
    }

    fn has(self, kind: u8) -> bool {
        self.0 & kind != 0
    }

    /// Whether a type is one of them, or all are allowed.
    fn allow(self, kind: u8) -> bool {
        self.0 == 0 || self.has(kind)
    }

    fn accepts(self, value: &Value) -> bool {
        if self.0 == 0 {
            return true;
        }
        match value {
            Value::Null => self.has(Types::NULL),
            Value::Bool(_) => self.has(Types::BOOLEAN),
            Value::String(_) => self.has(Types::STRING),
            Value::Array(_) => self.has(Types::ARRAY),
            Value::Object(_) => self.has(Types::OBJECT),
            Value::Number(_) if self.has(Types::NUMBER) => true,
            Value::Number(number) => self.has(Types::INTEGER) && check::is_integer(number),
        }
    }
}

/// One keyword, or several that belong together.
#[derive(Debug)]
enum Check {
    /// The schema `false`.
    Never,
    Reference(SchemaId),
    Not(SchemaId),
    OneOf(Vec<SchemaId>, Option<Discriminator>),
    AnyOf(Vec<SchemaId>, Option<Discriminator>),
    AllOf(Vec<SchemaId>),
    If {
        condition: SchemaId,
        then: Option<SchemaId>,
        otherwise: Option<SchemaId>,
    },
    Enum(Vec<Value>),
    Const(Value),
    Minimum(f64),
    Maximum(f64),
    ExclusiveMinimum(f64),
    ExclusiveMaximum(f64),
    MultipleOf(f64),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Arc<PatternCheck>),
    Format(format::Format),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    /// The items after the first ones, which have their own schemas.
    Items {
        first: Vec<SchemaId>,
        rest: Option<SchemaId>,
    },
    Contains {
        schema: SchemaId,
        least: u64,
        most: Option<u64>,
    },
    MinProperties(u64),
    MaxProperties(u64),
    PropertyNames(SchemaId),
    Properties(Box<Properties>),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, SchemaId)>),
    UnevaluatedProperties(SchemaId),
    UnevaluatedItems(SchemaId),
}

#[derive(Debug, Default)]
struct Properties {
    named: property_table::PropertyTable,
    patterns: Vec<(Arc<PatternCheck>, SchemaId)>,
    /// Schema of all others; `None` for no restriction.
    others: Option<SchemaId>,
    /// Others are not allowed at all.
    closed: bool,
    /// Others are allowed explicitly, which counts as looking at them.
    is_open: bool,
}

#[derive(Debug)]
struct PatternCheck {
    written: String,
    regex: Regex,
}

#[derive(Debug, Clone)]
struct Discriminator {
    property: String,
    /// Which of the schemas each value of the property selects.
    mapping: HashMap<String, usize>,
    /// Whether the document lists the values.
    is_closed: bool,
}

/// A schema of a document on its own, for the code that tests schemas.
#[derive(Debug)]
pub struct SchemaCheck {
    schemas: Schemas,
    root: SchemaId,
}

impl SchemaCheck {
    /// Compiles the schema at a JSON pointer of a document.
    pub fn new(document: &Document, pointer: &str) -> Result<SchemaCheck, Vec<Problem>> {
        let mut compiler = SchemaCompiler::new(document);
        let root = compiler.at(pointer);
        let (schemas, problems) = compiler.finish();
        if problems.iter().any(Problem::is_error) { Err(problems) } else { Ok(SchemaCheck { schemas, root }) }
    }

    /// The first mismatch of a value.
    pub fn check(&self, value: &Value, side: Side) -> Result<(), Mismatch> {
        self.schemas.check(self.root, value, side)
    }
}

#[cfg(test)]
mod tests;
