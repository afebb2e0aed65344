//! The response of an operation, made of what its sources answered: each value in the form of its type, null where there is none, and errors
//! with their place (GraphQL specification, CompleteValue and "Handling Field Errors").

use crate::plan::{FieldPlan, FieldRead, FieldShape, LeafKind, ObjectPlan};
use apollo_compiler::ast::Type;
use serde::Serialize;
use serde_json::{Map, Value, json};
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

pub(crate) struct Completion<'c> {
    /// Answers to `__schema` and `__type`, by response key.
    pub introspection: &'c Map<String, Value>,
    pub faults: Vec<FieldFault>,
}

impl Completion<'_> {
    /// The data of the response.
    pub(crate) fn data(&mut self, raw: &Value, plan: &ObjectPlan) -> Value {
        self.object(raw, plan, &mut Vec::new()).unwrap_or(Value::Null)
    }

    fn object(&mut self, raw: &Value, plan: &ObjectPlan, path: &mut ResponsePath) -> Result<Value, Nullified> {
        let own = raw.get("__typename").and_then(Value::as_str);
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
        let mut object = Map::new();
        for field in variants.filter(|variant| applies(&variant.types)).flat_map(|variant| &variant.fields) {
            path.push(ResponsePathStep::Key(field.key.clone()));
            let value = self.field(raw, field, type_name, path);
            path.pop();
            object.insert(field.key.clone(), value?);
        }
        Ok(Value::Object(object))
    }

    fn field(&mut self, raw: &Value, field: &FieldPlan, type_name: &str, path: &mut ResponsePath) -> Result<Value, Nullified> {
        let value = match &field.read {
            FieldRead::TypeName => return Ok(Value::String(type_name.to_owned())),
            FieldRead::Introspection => self.introspection.get(&field.key).cloned().unwrap_or_default(),
            FieldRead::Nowhere => {
                let completed = self.fail(path, Some(field), format!("Field {type_name}.{} has no source", field.name));
                return if field.ty.is_non_null() { completed } else { Ok(Value::Null) };
            }
            FieldRead::Members(members) => {
                let found = follow(raw, members);
                let value = self.value(found.unwrap_or(&Value::Null), &field.ty, field, path);
                return value.or_else(|Nullified| if field.ty.is_non_null() { Err(Nullified) } else { Ok(Value::Null) });
            }
        };
        Ok(value)
    }

    fn value(&mut self, raw: &Value, ty: &Type, field: &FieldPlan, path: &mut ResponsePath) -> Result<Value, Nullified> {
        if raw.is_null() {
            if !ty.is_non_null() {
                return Ok(Value::Null);
            }
            return self.fail(path, Some(field), format!("Cannot return null for the non-nullable field {}", field.name));
        }
        match (ty, raw) {
            (Type::List(item) | Type::NonNullList(item), Value::Array(items)) => self.list(items, item, field, path),
            (Type::List(_) | Type::NonNullList(_), _) => self.fail(path, Some(field), "The source did not give a list".to_owned()),
            (Type::Named(_) | Type::NonNullNamed(_), raw) => match &field.shape {
                FieldShape::Object(plan) if raw.is_object() => self.object(raw, plan, path),
                FieldShape::Object(_) => self.fail(path, Some(field), "The source did not give an object".to_owned()),
                FieldShape::Leaf(kind) => match kind.of(raw) {
                    Some(value) => Ok(value),
                    None => self.fail(path, Some(field), format!("The source gave a value that is no {}", kind.name())),
                },
            },
        }
    }

    fn list(&mut self, items: &[Value], ty: &Type, field: &FieldPlan, path: &mut ResponsePath) -> Result<Value, Nullified> {
        let mut list = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            path.push(ResponsePathStep::Index(index));
            let value = self.value(item, ty, field, path);
            path.pop();
            match value {
                Ok(value) => list.push(value),
                Err(Nullified) if ty.is_non_null() => return Err(Nullified),
                Err(Nullified) => list.push(Value::Null),
            }
        }
        Ok(Value::Array(list))
    }

    /// Notes an error, unless one about this place is known: a source's own error says more than that its value is missing.
    fn fail(&mut self, path: &ResponsePath, field: Option<&FieldPlan>, message: String) -> Result<Value, Nullified> {
        let is_known = |fault: &FieldFault| fault.path.starts_with(path) || path.starts_with(&fault.path);
        if self.faults.len() < ERRORS_MAX && !self.faults.iter().any(is_known) {
            let locations = field.and_then(|field| field.location).into_iter().collect();
            let extensions = Some(json!({"code": "SOURCE_VALUE"}));
            self.faults.push(FieldFault { message, locations, path: path.clone(), extensions });
        }
        Err(Nullified)
    }
}

/// The value that members of an object lead to. `[0]` is the first item of a list.
pub(crate) fn follow<'v>(value: &'v Value, members: &[String]) -> Option<&'v Value> {
    members.iter().try_fold(value, |value, member| match value {
        Value::Object(object) => object.get(member),
        Value::Array(items) => items.get(index_of(member)?),
        _ => None,
    })
}

/// The position that a step such as `[0]` names.
pub(crate) fn index_of(member: &str) -> Option<usize> {
    member.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
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
    fn of(&self, raw: &Value) -> Option<Value> {
        match self {
            LeafKind::Any => Some(raw.clone()),
            LeafKind::Int => whole(raw).filter(|number| i32::try_from(*number).is_ok()).map(Value::from),
            LeafKind::Float => match raw {
                Value::Number(_) => Some(raw.clone()),
                Value::String(text) => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
                _ => None,
            },
            LeafKind::Boolean => match raw {
                Value::Bool(_) => Some(raw.clone()),
                Value::Number(number) => number.as_f64().map(|number| Value::Bool(number != 0.0)),
                _ => None,
            },
            LeafKind::String => match raw {
                Value::String(_) => Some(raw.clone()),
                Value::Number(_) | Value::Bool(_) => Some(Value::String(raw.to_string())),
                _ => None,
            },
            LeafKind::Id => match raw {
                Value::String(_) => Some(raw.clone()),
                Value::Number(number) if number.is_f64() => whole(raw).map(|number| Value::String(number.to_string())),
                Value::Number(number) => Some(Value::String(number.to_string())),
                _ => None,
            },
            LeafKind::Enum { values, .. } => {
                raw.as_str().filter(|text| values.iter().any(|value| value == text)).map(|text| Value::String(text.to_owned()))
            }
        }
    }
}

fn whole(raw: &Value) -> Option<i64> {
    match raw {
        Value::Number(number) => number.as_i64().or_else(|| {
            let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15)?;
            #[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range")]
            Some(number as i64)
        }),
        Value::String(text) => text.parse().ok(),
        Value::Bool(value) => Some(i64::from(*value)),
        _ => None,
    }
}
