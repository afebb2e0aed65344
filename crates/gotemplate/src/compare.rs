//! `eq`, `ne`, `lt`, `le`, `gt`, `ge`. As in Go, numbers of different types cannot be compared: 5 is an `int`, a JSON number is
//! not.

use crate::value::Value;
use std::cmp::Ordering;

const INCOMPATIBLE: &str = "incompatible types for comparison";
const INVALID: &str = "invalid type for comparison";

/// Whether the first argument equals any of the others.
pub(crate) fn equals_any(arguments: &[Value]) -> Result<bool, String> {
    let Some((first, others)) = arguments.split_first() else { return Err("missing argument for comparison".to_owned()) };
    for other in others {
        if equal(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn equal(left: &Value, right: &Value) -> Result<bool, String> {
    if let (Some(left), Some(right)) = (left.integer(), right.integer()) {
        return Ok(left == right);
    }
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
        (Value::Native(left), Value::Native(right)) if left.0.kind() == right.0.kind() => Ok(left.0.equals(&right.0)),
        (Value::Float(left), Value::Float(right)) => Ok(left == right),
        (Value::String(left), Value::String(right)) => Ok(left == right),
        _ if left.is_nil() || right.is_nil() => Ok(left.is_nil() && right.is_nil()),
        (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) => {
            Err(format!("non-comparable types: {}, {}", left.type_name(), right.type_name()))
        }
        _ => Err(INCOMPATIBLE.to_owned()),
    }
}

pub(crate) fn order(left: &Value, right: &Value) -> Result<Option<Ordering>, String> {
    if let (Some(left), Some(right)) = (left.integer(), right.integer()) {
        return Ok(Some(left.cmp(&right)));
    }
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => Ok(left.partial_cmp(right)),
        (Value::String(left), Value::String(right)) => Ok(Some(left.cmp(right))),
        (
            Value::Int(_) | Value::Int64(_) | Value::Float(_) | Value::String(_) | Value::Bool(_),
            Value::Int(_) | Value::Int64(_) | Value::Float(_) | Value::String(_) | Value::Bool(_),
        ) if left.type_name() != right.type_name() => Err(INCOMPATIBLE.to_owned()),
        _ => Err(INVALID.to_owned()),
    }
}

/// Whether two values are deeply equal, as in `reflect.DeepEqual`.
pub(crate) fn deep_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| deep_equal(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            let (left, right) = (left.entries(), right.entries());
            let same = |((left_key, left), (right_key, right)): (&(_, Value), &(_, Value))| {
                left_key == right_key && deep_equal(left, right)
            };
            left.len() == right.len() && left.iter().zip(right.iter()).all(same)
        }
        _ => equal(left, right).unwrap_or(false),
    }
}
