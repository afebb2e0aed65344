//! Texts as the values that a schema expects: parameters, headers and fields of forms have no types of their own.

use serde_json::{Number, Value};

use crate::nodes::{Check, Node, SchemaId, SchemaSide, Schemas, Types};
use crate::run::{Budget, CheckRun};
use crate::tree::JsonTree;

impl Schemas {
    /// The types that a schema or those that it refers to accept, for decoding texts. Empty for any.
    fn types(&self, schema: SchemaId) -> Types {
        self.decided(schema, 0, &|node| (node.types.0 != 0).then_some(node.types)).unwrap_or_default()
    }

    /// What a schema or those that it consists of decide.
    fn decided<T>(&self, schema: SchemaId, depth: u32, decide: &dyn Fn(&Node) -> Option<T>) -> Option<T> {
        let node = self.node(schema).filter(|_| depth < 16)?;
        decide(node).or_else(|| {
            node.checks.iter().find_map(|check| match check {
                Check::Reference(target) => self.decided(*target, depth + 1, decide),
                Check::AllOf(parts) => parts.iter().find_map(|part| self.decided(*part, depth + 1, decide)),
                _ => None,
            })
        })
    }

    /// Whether a schema accepts texts, or anything.
    pub fn accepts_text(&self, schema: SchemaId) -> bool {
        let types = self.types(schema);
        types.0 == 0 || types.has(Types::STRING)
    }

    /// Whether a schema accepts texts and nothing else.
    pub fn is_text(&self, schema: SchemaId) -> bool {
        self.types(schema) == Types(Types::STRING)
    }

    /// A text as the value that the schema expects. Without a fitting one, the text itself.
    pub fn decode(&self, schema: SchemaId, text: &str) -> Result<Value, String> {
        self.decode_at(schema, text, 0)
    }

    fn decode_at(&self, schema: SchemaId, text: &str, depth: u32) -> Result<Value, String> {
        let types = self.types(schema);
        if types.0 == 0 && depth < 8 {
            // Of alternatives, the first one whose decoded value fits.
            let alternatives = self.decided(schema, 0, &|node| {
                node.checks.iter().find_map(|check| match check {
                    Check::OneOf(schemas, _) | Check::AnyOf(schemas, _) => Some(schemas.clone()),
                    _ => None,
                })
            });
            let fitting = alternatives.into_iter().flatten().find_map(|alternative| {
                let value = self.decode_at(alternative, text, depth + 1).ok()?;
                let fits = CheckRun::new(self, SchemaSide::Request, Budget::brief()).fits(alternative, &JsonTree::of(&value), 0);
                (fits == Ok(true)).then_some(value)
            });
            return Ok(fitting.unwrap_or_else(|| Value::String(text.to_owned())));
        }
        let invalid = |kind: &str| format!("value {text}: an invalid {kind}: invalid syntax");
        let mut failure = None;
        for kind in [Types::NULL, Types::BOOLEAN, Types::INTEGER, Types::NUMBER, Types::STRING] {
            if !types.has(kind) {
                continue;
            }
            match kind {
                Types::NULL if text == "null" => return Ok(Value::Null),
                Types::BOOLEAN => match text {
                    "1" | "t" | "T" | "TRUE" | "true" | "True" => return Ok(Value::Bool(true)),
                    "0" | "f" | "F" | "FALSE" | "false" | "False" => return Ok(Value::Bool(false)),
                    _ => failure = Some(invalid("boolean")),
                },
                Types::INTEGER => match integer(text) {
                    Some(number) => return Ok(Value::Number(number)),
                    None => failure = Some(invalid("integer")),
                },
                Types::NUMBER => match text.parse::<f64>().ok().and_then(Number::from_f64).filter(|_| is_decimal(text)) {
                    Some(number) => return Ok(Value::Number(integer(text).unwrap_or(number))),
                    None => failure = Some(invalid("number")),
                },
                Types::STRING => return Ok(Value::String(text.to_owned())),
                _ => {}
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok(Value::String(text.to_owned())),
        }
    }

    /// Whether a schema describes a list, an object, or neither.
    pub fn shape(&self, schema: SchemaId) -> Shape {
        let types = self.types(schema);
        match () {
            () if types.has(Types::ARRAY) => Shape::List,
            () if types.has(Types::OBJECT) => Shape::Object,
            () => Shape::Single,
        }
    }

    /// The schema of the items of a list.
    pub fn items(&self, schema: SchemaId) -> Option<SchemaId> {
        self.decided(schema, 0, &|node| {
            node.checks.iter().find_map(|check| match check {
                Check::Items { rest, .. } => *rest,
                _ => None,
            })
        })
    }

    /// The schema of a property of an object; that of all others if it has none of its own.
    pub fn property(&self, schema: SchemaId, name: &str) -> Option<SchemaId> {
        self.decided(schema, 0, &|node| {
            node.checks.iter().find_map(|check| match check {
                Check::Properties(properties) => properties.named.get(name).or(properties.others),
                _ => None,
            })
        })
    }
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Neither.
    Single,
    /// A list.
    List,
    /// An object.
    Object,
}

/// A whole number as Go reads it: with a sign, and with the prefix of a base.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (base, digits) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, digits.get(2..)?),
        Some("0b") => (2, digits.get(2..)?),
        Some("0o") => (8, digits.get(2..)?),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, base).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok().map(Number::from)
}

fn is_decimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
}
