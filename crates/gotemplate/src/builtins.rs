//! The functions of the language itself, and Tyk's `jsonMarshal`.

use crate::arguments::{ANY, Function, FunctionBody, FunctionResult, any, call, text};
use crate::json::{self, Escape};
use crate::value::Value;
use crate::{compare, print};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::cmp::Ordering;

/// All but the unreserved characters of RFC 3986.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) static FUNCTIONS: &[Function] = &[
    Function { name: "and", least: 1, most: ANY, body: FunctionBody::And },
    Function { name: "or", least: 1, most: ANY, body: FunctionBody::Or },
    call("not", 1, 1, |arguments| Ok(Value::Bool(!any(arguments, 0).is_true()))),
    call("eq", 1, ANY, |arguments| compare::equals_any(arguments).map(Value::Bool)),
    call("ne", 2, 2, |arguments| compare::equal(any(arguments, 0), any(arguments, 1)).map(|equal| Value::Bool(!equal))),
    call("lt", 2, 2, |arguments| ordered(arguments, |order| order == Some(Ordering::Less))),
    call("le", 2, 2, |arguments| ordered(arguments, |order| matches!(order, Some(Ordering::Less | Ordering::Equal)))),
    // Go computes these as the negation of the others, which is visible for values that are not numbers.
    call("gt", 2, 2, |arguments| ordered(arguments, |order| !matches!(order, Some(Ordering::Less | Ordering::Equal)))),
    call("ge", 2, 2, |arguments| ordered(arguments, |order| order != Some(Ordering::Less))),
    call("len", 1, 1, length),
    call("index", 1, ANY, index),
    call("print", 0, ANY, |arguments| Ok(print::sprint(arguments).into())),
    call("println", 0, ANY, |arguments| Ok(print::sprintln(arguments).into())),
    call("printf", 1, ANY, |arguments| {
        print::sprintf(text(arguments, 0)?, arguments.get(1..).unwrap_or_default()).map(Value::from)
    }),
    call("html", 0, ANY, |arguments| Ok(escaped(arguments, html))),
    call("js", 0, ANY, |arguments| Ok(escaped(arguments, javascript))),
    call("urlquery", 0, ANY, |arguments| Ok(escaped(arguments, query))),
    call("jsonMarshal", 1, 1, |arguments| {
        let mut out = String::new();
        json::write(any(arguments, 0), Escape::Html, &mut out);
        Ok(out.into())
    }),
];

fn ordered(arguments: &[Value], fits: fn(Option<Ordering>) -> bool) -> FunctionResult {
    compare::order(any(arguments, 0), any(arguments, 1)).map(|order| Value::Bool(fits(order)))
}

fn length(arguments: &[Value]) -> FunctionResult {
    let length = match any(arguments, 0) {
        Value::String(text) => text.len(),
        Value::List(items) => items.len(),
        Value::Map(map) => map.len(),
        other => return Err(format!("len of type {}", other.type_name())),
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn index(arguments: &[Value]) -> FunctionResult {
    let Some((item, indexes)) = arguments.split_first() else { return Err("missing item".to_owned()) };
    if item.is_nil() {
        return Err("index of untyped nil".to_owned());
    }
    indexes.iter().try_fold(item.clone(), |item, index| step(&item, index))
}

fn step(item: &Value, index: &Value) -> FunctionResult {
    let index = &index.integer().map_or_else(|| index.clone(), Value::Int);
    match (item, index) {
        (Value::Map(map), Value::String(key)) => Ok(map.get(key).unwrap_or(Value::Null)),
        (Value::Map(_), _) => Err(format!("value has type {}; should be string", index.type_name())),
        (Value::List(items), Value::Int(at)) => {
            let found = usize::try_from(*at).ok().and_then(|at| items.get(at));
            found.cloned().ok_or_else(|| format!("index out of range: {at}"))
        }
        (Value::String(text), Value::Int(at)) => {
            let found = usize::try_from(*at).ok().and_then(|at| text.as_bytes().get(at));
            found.map(|byte| Value::Int(i64::from(*byte))).ok_or_else(|| format!("index out of range: {at}"))
        }
        (Value::List(_) | Value::String(_), other) => Err(format!("cannot index slice/array with type {}", other.type_name())),
        (Value::Missing | Value::Null, _) => Err("index of nil pointer".to_owned()),
        (other, _) => Err(format!("can't index item of type {}", other.type_name())),
    }
}

/// Joins the arguments into one text and replaces each character.
fn escaped(arguments: &[Value], write: fn(&str, &mut String)) -> Value {
    let text = print::sprint(arguments);
    let mut out = String::with_capacity(text.len());
    write(&text, &mut out);
    out.into()
}

fn html(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(character),
        }
    }
}

fn javascript(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' => out.push_str(&format!("\\u{:04X}", u32::from(character))),
            _ if character < ' ' => out.push_str(&format!("\\u{:04X}", u32::from(character))),
            '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04X}", u32::from(character))),
            _ => out.push(character),
        }
    }
}

/// Escapes a value for a query: a space becomes `+`.
pub(crate) fn query(text: &str, out: &mut String) {
    utf8_percent_encode(text, &ESCAPED).for_each(|part| out.push_str(if part == "%20" { "+" } else { part }));
}
