//! The operators of jq on values: arithmetic, equality and order. Each pays for what it reads and makes.

use crate::budget::spend;
use crate::value::{Failure, JqArray, JqObject, JqValue, joined_arrays, joined_objects, own_items, own_members};
use jaq_core::ValR;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

/// What an operation on two numbers costs. A `range` does one for each of its numbers.
const OPERATION: usize = 32;

/// Characters of a value that stand in an error.
const SHOWN_CHARS: usize = 11;

/// An error that names both values, in the words of jq.
fn unfit(left: &JqValue, right: &JqValue, what: &str) -> Failure {
    Failure::str(format_args!("{} and {} cannot be {what}", described(left), described(right)))
}

/// The type of a value and the beginning of its text.
pub(crate) fn described(value: &JqValue) -> String {
    let text = value.shown(SHOWN_CHARS + 1);
    let shown = match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end.saturating_sub(1)).unwrap_or_default()),
        None => text,
    };
    format!("{} ({shown})", value.type_name())
}

/// Exact where both are integers and the result is one.
fn calculate(left: &JqValue, right: &JqValue, exact: fn(i64, i64) -> Option<i64>, inexact: fn(f64, f64) -> f64) -> Option<JqValue> {
    if let (JqValue::Int(left), JqValue::Int(right)) = (left, right)
        && let Some(result) = exact(*left, *right)
    {
        return Some(JqValue::Int(result));
    }
    Some(JqValue::Float(inexact(left.as_number()?, right.as_number()?)))
}

impl Add for JqValue {
    type Output = ValR<JqValue>;

    fn add(self, right: JqValue) -> ValR<JqValue> {
        spend(OPERATION)?;
        match (self, right) {
            (JqValue::Null, value) | (value, JqValue::Null) => Ok(value),
            (JqValue::String(left), JqValue::String(right)) => {
                spend(left.len() + right.len())?;
                let mut text = String::with_capacity(left.len() + right.len());
                text.push_str(&left);
                text.push_str(&right);
                Ok(JqValue::String(text.into()))
            }
            (JqValue::Array(left), JqValue::Array(right)) => joined_arrays(left, right),
            (JqValue::Object(left), JqValue::Object(right)) => joined_objects(left, right),
            (left, right) => calculate(&left, &right, i64::checked_add, f64::add).ok_or_else(|| unfit(&left, &right, "added")),
        }
    }
}

impl Sub for JqValue {
    type Output = ValR<JqValue>;

    fn sub(self, right: JqValue) -> ValR<JqValue> {
        spend(OPERATION)?;
        match (self, right) {
            (JqValue::Array(left), JqValue::Array(right)) => {
                let mut gone = own_items(right)?;
                gone.sort();
                let kept = own_items(left)?.into_iter().filter(|item| gone.binary_search(item).is_err());
                Ok(kept.collect())
            }
            (left, right) => calculate(&left, &right, i64::checked_sub, f64::sub).ok_or_else(|| unfit(&left, &right, "subtracted")),
        }
    }
}

impl Mul for JqValue {
    type Output = ValR<JqValue>;

    fn mul(self, right: JqValue) -> ValR<JqValue> {
        spend(OPERATION)?;
        match (self, right) {
            (JqValue::String(text), number @ (JqValue::Int(_) | JqValue::Float(_)))
            | (number @ (JqValue::Int(_) | JqValue::Float(_)), JqValue::String(text)) => {
                let times = number.as_number().unwrap_or_default();
                if times.is_nan() || times <= 0.0 {
                    return Ok(JqValue::Null);
                }
                // A number too large for `usize` saturates, and the budget refuses it.
                let times = times.ceil() as usize;
                spend(text.len().saturating_mul(times))?;
                Ok(JqValue::String(text.repeat(times).into()))
            }
            (JqValue::Object(left), JqValue::Object(right)) => merge(JqValue::Object(left), JqValue::Object(right)),
            (left, right) => calculate(&left, &right, i64::checked_mul, f64::mul).ok_or_else(|| unfit(&left, &right, "multiplied")),
        }
    }
}

/// Objects are merged member by member; anything else is replaced.
fn merge(left: JqValue, right: JqValue) -> ValR<JqValue> {
    let (JqValue::Object(left), JqValue::Object(right)) = (left, right.clone()) else { return Ok(right) };
    let mut members = own_members(left)?;
    for (name, value) in own_members(right)? {
        let merged = match members.get_mut(&name) {
            Some(old) => merge(std::mem::take(old), value)?,
            None => value,
        };
        members.insert(name, merged);
    }
    Ok(JqValue::from_members(members))
}

impl Div for JqValue {
    type Output = ValR<JqValue>;

    fn div(self, right: JqValue) -> ValR<JqValue> {
        spend(OPERATION)?;
        if let (JqValue::String(text), JqValue::String(separator)) = (&self, &right) {
            return split(text, separator);
        }
        if right.as_number() == Some(0.0) && self.as_number().is_some() {
            return Err(unfit(&self, &right, "divided because the divisor is zero"));
        }
        let exact = |left: i64, right: i64| left.checked_rem(right).filter(|rest| *rest == 0).and_then(|_| left.checked_div(right));
        calculate(&self, &right, exact, f64::div).ok_or_else(|| unfit(&self, &right, "divided"))
    }
}

/// The parts of a text between separators; its characters, if the separator is empty.
pub(crate) fn split(text: &str, separator: &str) -> ValR<JqValue> {
    spend(text.len())?;
    if text.is_empty() {
        return Ok(JqValue::array(Vec::new()));
    }
    if separator.is_empty() {
        let mut buffer = [0; 4];
        return text.chars().map(|character| JqValue::paid(character.encode_utf8(&mut buffer))).collect();
    }
    text.split(separator).map(JqValue::paid).collect()
}

impl Rem for JqValue {
    type Output = ValR<JqValue>;

    fn rem(self, right: JqValue) -> ValR<JqValue> {
        spend(OPERATION)?;
        let (Some(left_number), Some(right_number)) = (whole(&self), whole(&right)) else {
            return Err(unfit(&self, &right, "divided (remainder)"));
        };
        // The sign is that of the left number, whatever the right one's is.
        left_number
            .checked_rem(right_number.saturating_abs())
            .map(JqValue::Int)
            .ok_or_else(|| unfit(&self, &right, "divided (remainder) because the divisor is zero"))
    }
}

/// A number without its fraction.
pub(crate) fn whole(value: &JqValue) -> Option<i64> {
    if let JqValue::Int(number) = value { Some(*number) } else { value.as_number().map(|number| number as i64) }
}

impl Neg for JqValue {
    type Output = ValR<JqValue>;

    fn neg(self) -> ValR<JqValue> {
        match &self {
            JqValue::Int(number) if *number != 0 => {
                Ok(number.checked_neg().map_or_else(|| JqValue::Float(-(*number as f64)), JqValue::Int))
            }
            JqValue::Int(_) => Ok(JqValue::Float(-0.0)),
            JqValue::Float(number) => Ok(JqValue::Float(-number)),
            _ => Err(Failure::str(format_args!("{} cannot be negated", described(&self)))),
        }
    }
}

impl PartialEq for JqValue {
    fn eq(&self, other: &JqValue) -> bool {
        match (self, other) {
            (JqValue::Int(left), JqValue::Int(right)) => left == right,
            _ if self.as_number().is_some() => self.as_number() == other.as_number(),
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for JqValue {}

impl PartialOrd for JqValue {
    fn partial_cmp(&self, other: &JqValue) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for JqValue {
    /// By type, then by value. It is a total order also behind the end of the budget, as sorting needs it.
    fn cmp(&self, other: &JqValue) -> Ordering {
        match (self, other) {
            (JqValue::Int(left), JqValue::Int(right)) => left.cmp(right),
            (JqValue::String(left), JqValue::String(right)) => {
                pay(left.len().min(right.len()));
                left.cmp(right)
            }
            (JqValue::Array(left), JqValue::Array(right)) if Rc::ptr_eq(left, right) => Ordering::Equal,
            (JqValue::Array(left), JqValue::Array(right)) => in_order(left, right),
            (JqValue::Object(left), JqValue::Object(right)) if Rc::ptr_eq(left, right) => Ordering::Equal,
            (JqValue::Object(left), JqValue::Object(right)) => {
                pay(16 * left.members.len().min(right.members.len()));
                let sorted = |value: &Rc<JqObject>| {
                    let mut names: Vec<Rc<str>> = value.members.keys().cloned().collect();
                    names.sort();
                    names
                };
                let (left_names, right_names) = (sorted(left), sorted(right));
                left_names.cmp(&right_names).then_with(|| {
                    let values = left_names.iter().map(|name| (left.members.get(name), right.members.get(name)));
                    values.map(|(left, right)| left.cmp(&right)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
                })
            }
            _ => match (self.as_number(), other.as_number()) {
                (Some(left), Some(right)) => numbers(left, right),
                _ => rank(self).cmp(&rank(other)),
            },
        }
    }
}

/// No number is less than all numbers, and equal to itself in order.
fn numbers(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| right.is_nan().cmp(&left.is_nan()))
}

fn in_order(left: &JqArray, right: &JqArray) -> Ordering {
    pay(16 * left.items.len().min(right.items.len()));
    left.items.cmp(&right.items)
}

fn rank(value: &JqValue) -> u8 {
    match value {
        JqValue::Null => 0,
        JqValue::Bool(false) => 1,
        JqValue::Bool(true) => 2,
        JqValue::Int(_) | JqValue::Float(_) => 3,
        JqValue::String(_) => 4,
        JqValue::Array(_) => 5,
        JqValue::Object(_) => 6,
    }
}

/// An order cannot fail: the next operation does.
fn pay(units: usize) {
    let _ = spend(units);
}
