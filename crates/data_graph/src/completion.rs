//! The response of an operation, made of what its sources answered: each value in the form of its type, null where there is none, and errors
//! with their place (GraphQL specification, CompleteValue and "Handling Field Errors").

use crate::answer_value::AnswerValue;
use crate::plan::{FieldPlan, FieldRead, FieldShape, LeafKind, ObjectPlan};
use apollo_compiler::ast::Type;
use serde::Serialize;
use serde_json::{Map, Number, Value, json};
use tollgate_graphql::DocumentPlace;

/// Most errors of one response: more help nobody, and lists can have thousands.
pub(crate) const ERRORS_MAX: usize = 100;

/// One step to a value in a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum ResponsePathStep {
    Key(String),
    Index(usize),
}

/// The way to a value in a response.
pub(crate) type ResponsePath = Vec<ResponsePathStep>;

/// An error about one place of a response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FieldFault {
    pub message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<DocumentPlace>,
    pub path: ResponsePath,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Value>,
}

/// A value that cannot be null is null: whatever has it becomes null.
struct Nullified;

/// Writes the data of a response as JSON.
pub(crate) struct Completion<'c> {
    /// Answers to `__schema` and `__type`, by response key.
    pub introspection: &'c Map<String, Value>,
    pub faults: Vec<FieldFault>,
    pub out: Vec<u8>,
    /// Most bytes of the data.
    pub bytes_max: usize,
}

impl Completion<'_> {
    /// Writes the data of the response.
    pub(crate) fn data(&mut self, raw: &AnswerValue, plan: &ObjectPlan) {
        let written = self.object(raw, plan, &mut Vec::new());
        if self.is_too_long() {
            self.out.clear();
            self.faults.clear();
            let message = format!("The response is longer than {} bytes", self.bytes_max);
            let extensions = Some(json!({"code": "LIMIT_EXCEEDED"}));
            self.faults.push(FieldFault { message, locations: Vec::new(), path: Vec::new(), extensions });
            self.out.extend(b"null");
        } else {
            self.or_null(0, true, written).unwrap_or_default();
        }
    }

    fn is_too_long(&self) -> bool {
        self.out.len() > self.bytes_max
    }

    /// Null in place of what was written since `start`, where it may be null.
    fn or_null(&mut self, start: usize, is_nullable: bool, written: Result<(), Nullified>) -> Result<(), Nullified> {
        // What has become too long is given up as a whole.
        if written.is_ok() || !is_nullable || self.is_too_long() {
            return written;
        }
        self.out.truncate(start);
        self.out.extend(b"null");
        Ok(())
    }

    fn object(&mut self, raw: &AnswerValue, plan: &ObjectPlan, path: &mut ResponsePath) -> Result<(), Nullified> {
        let own = raw.member("__typename").and_then(AnswerValue::as_text);
        let type_name = plan.only_type.as_deref().or(own).unwrap_or_default();
        let is_possible = plan.only_type.is_some() || plan.possible.iter().any(|possible| possible.as_str() == type_name);
        if !is_possible {
            let message = match own {
                None => "The source does not say of which type the object is".to_owned(),
                Some(own) => format!("The source gave an object of type {own}, which is not possible here"),
            };
            return self.fail(path, None, message);
        }
        let variants = plan.variants.iter();
        let applies = |types: &Vec<String>| types.is_empty() || types.iter().any(|known| known == type_name);
        let mut separator = b'{';
        for field in variants.filter(|variant| applies(&variant.types)).flat_map(|variant| &variant.fields) {
            self.out.push(separator);
            separator = b',';
            self.write(&field.key);
            self.out.push(b':');
            path.push(ResponsePathStep::Key(field.key.clone()));
            let written = self.field(raw, field, type_name, path);
            path.pop();
            written?;
        }
        if separator == b'{' {
            self.out.push(separator);
        }
        self.out.push(b'}');
        Ok(())
    }

    fn field(&mut self, raw: &AnswerValue, field: &FieldPlan, type_name: &str, path: &mut ResponsePath) -> Result<(), Nullified> {
        let start = self.out.len();
        let written = match &field.read {
            FieldRead::TypeName => {
                self.write(type_name);
                return Ok(());
            }
            FieldRead::Introspection => {
                let introspection = self.introspection;
                self.write(introspection.get(&field.key).unwrap_or(&Value::Null));
                return Ok(());
            }
            FieldRead::Nowhere => self.fail(path, Some(field), format!("Field {type_name}.{} has no source", field.name)),
            FieldRead::Members(members) => self.value(raw.at(members).unwrap_or(&AnswerValue::Null), &field.ty, field, path),
        };
        self.or_null(start, !field.ty.is_non_null(), written)
    }

    fn value(&mut self, raw: &AnswerValue, ty: &Type, field: &FieldPlan, path: &mut ResponsePath) -> Result<(), Nullified> {
        if self.is_too_long() {
            return Err(Nullified);
        }
        if raw.is_null() {
            if !ty.is_non_null() {
                self.out.extend(b"null");
                return Ok(());
            }
            return self.fail(path, Some(field), format!("Cannot return null for the non-nullable field {}", field.name));
        }
        match ty {
            Type::List(item) | Type::NonNullList(item) if raw.is_list() => self.list(raw, item, field, path),
            Type::List(_) | Type::NonNullList(_) => self.fail(path, Some(field), "The source did not give a list".to_owned()),
            Type::Named(_) | Type::NonNullNamed(_) => match &field.shape {
                FieldShape::Object(plan) if raw.members().is_some() => self.object(raw, plan, path),
                FieldShape::Object(_) => self.fail(path, Some(field), "The source did not give an object".to_owned()),
                FieldShape::Leaf(LeafKind::Any) => {
                    self.write(raw);
                    Ok(())
                }
                FieldShape::Leaf(kind) => match kind.of(raw) {
                    Some(value) => {
                        self.write(&value);
                        Ok(())
                    }
                    None => self.fail(path, Some(field), format!("The source gave a value that is no {}", kind.name())),
                },
            },
        }
    }

    fn list(&mut self, raw: &AnswerValue, ty: &Type, field: &FieldPlan, path: &mut ResponsePath) -> Result<(), Nullified> {
        self.out.push(b'[');
        for (index, item) in raw.items().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            path.push(ResponsePathStep::Index(index));
            let start = self.out.len();
            let written = self.value(item, ty, field, path);
            path.pop();
            self.or_null(start, !ty.is_non_null(), written)?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Writes a value in JSON. Texts and numbers always fit.
    fn write(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(&mut self.out, value).unwrap_or_default();
    }

    /// Notes an error, unless one about this place is known: a source's own error says more than that its value is missing.
    fn fail(&mut self, path: &ResponsePath, field: Option<&FieldPlan>, message: String) -> Result<(), Nullified> {
        let is_known = |fault: &FieldFault| fault.path.starts_with(path) || path.starts_with(&fault.path);
        if self.faults.len() < ERRORS_MAX && !self.faults.iter().any(is_known) {
            let locations = field.and_then(|field| field.location).into_iter().collect();
            let extensions = Some(json!({"code": "SOURCE_VALUE"}));
            self.faults.push(FieldFault { message, locations, path: path.clone(), extensions });
        }
        Err(Nullified)
    }
}

impl LeafKind {
    fn name(&self) -> &str {
        match self {
            LeafKind::Int => "Int",
            LeafKind::Float => "Float",
            LeafKind::String => "String",
            LeafKind::Boolean => "Boolean",
            LeafKind::Id => "ID",
            LeafKind::Enum { name, .. } => name,
            LeafKind::Any => "value",
        }
    }

    /// A value in the form of the type; REST sources write numbers as texts, and texts as numbers.
    fn of<'v>(&self, raw: &'v AnswerValue) -> Option<LeafText<'v>> {
        match self {
            LeafKind::Any => None,
            LeafKind::Int => whole(raw).filter(|number| i32::try_from(*number).is_ok()).map(|whole| LeafText::Number(whole.into())),
            LeafKind::Float => match raw {
                AnswerValue::Number(number) => Some(LeafText::Number(number.clone())),
                AnswerValue::Text(text) => text.parse::<f64>().ok().and_then(Number::from_f64).map(LeafText::Number),
                _ => None,
            },
            LeafKind::Boolean => match raw {
                AnswerValue::Bool(truth) => Some(LeafText::Bool(*truth)),
                AnswerValue::Number(number) => number.as_f64().map(|number| LeafText::Bool(number != 0.0)),
                _ => None,
            },
            LeafKind::String => match raw {
                AnswerValue::Text(text) => Some(LeafText::Text(text)),
                AnswerValue::Number(number) => Some(LeafText::Made(number.to_string())),
                AnswerValue::Bool(truth) => Some(LeafText::Made(truth.to_string())),
                _ => None,
            },
            LeafKind::Id => match raw {
                AnswerValue::Text(text) => Some(LeafText::Text(text)),
                AnswerValue::Number(number) if number.is_f64() => whole(raw).map(|number| LeafText::Made(number.to_string())),
                AnswerValue::Number(number) => Some(LeafText::Made(number.to_string())),
                _ => None,
            },
            LeafKind::Enum { values, .. } => {
                raw.as_text().filter(|text| values.iter().any(|value| value == text)).map(LeafText::Text)
            }
        }
    }
}

/// A leaf of a response.
#[derive(Serialize)]
#[serde(untagged)]
enum LeafText<'v> {
    Bool(bool),
    Number(Number),
    Text(&'v str),
    Made(String),
}

fn whole(raw: &AnswerValue) -> Option<i64> {
    match raw {
        AnswerValue::Number(number) => number.as_i64().or_else(|| {
            let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15)?;
            #[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range")]
            Some(number as i64)
        }),
        AnswerValue::Text(text) => text.parse().ok(),
        AnswerValue::Bool(value) => Some(i64::from(*value)),
        _ => None,
    }
}
