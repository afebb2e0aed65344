//! Functions on maps, and default values. `set`, `unset`, `merge` and `mergeOverwrite` change a map in place, as in Go.

use super::{is_empty, stored};
use crate::arguments::{ANY, Function, FunctionResult, any, call, map, text};
use crate::compare::deep_equal;
use crate::print;
use crate::value::{MapValue, Value};
use std::rc::Rc;

pub(super) static FUNCTIONS: &[Function] = &[
    call("dict", 0, ANY, dict),
    call("get", 2, 2, |given| Ok(map(given, 0)?.get(text(given, 1)?).unwrap_or_else(|| "".into()))),
    call("set", 3, 3, set),
    call("unset", 2, 2, |given| {
        map(given, 0)?.0.borrow_mut().remove(text(given, 1)?);
        Ok(any(given, 0).clone())
    }),
    call("hasKey", 2, 2, |given| Ok(map(given, 0)?.get(text(given, 1)?).is_some().into())),
    call("pluck", 1, ANY, pluck),
    call("keys", 0, ANY, keys),
    call("values", 1, 1, |given| Ok(Value::list(map(given, 0)?.entries().into_iter().map(|(_, value)| value)))),
    call("pick", 1, ANY, |given| chosen(given, true)),
    call("omit", 1, ANY, |given| chosen(given, false)),
    call("merge", 1, ANY, |given| merged(given, false)),
    call("mustMerge", 1, ANY, |given| merged(given, false)),
    call("mergeOverwrite", 1, ANY, |given| merged(given, true)),
    call("mustMergeOverwrite", 1, ANY, |given| merged(given, true)),
    call("dig", 3, ANY, dig),
    call("deepCopy", 1, 1, |given| Ok(copied(any(given, 0)))),
    call("mustDeepCopy", 1, 1, |given| Ok(copied(any(given, 0)))),
    call("deepEqual", 2, 2, |given| Ok(deep_equal(any(given, 0), any(given, 1)).into())),
    call("default", 1, ANY, |given| {
        let value = given.get(1).filter(|value| !is_empty(value));
        Ok(stored(value.unwrap_or(any(given, 0))))
    }),
    call("empty", 1, 1, |given| Ok(is_empty(any(given, 0)).into())),
    call("coalesce", 0, ANY, |given| Ok(stored(given.iter().find(|value| !is_empty(value)).unwrap_or(&Value::Null)))),
    call("all", 0, ANY, |given| Ok((!given.iter().any(is_empty)).into())),
    call("any", 0, ANY, |given| Ok(given.iter().any(|value| !is_empty(value)).into())),
    call("ternary", 3, 3, |given| match any(given, 2) {
        Value::Bool(truth) => Ok(stored(any(given, if *truth { 0 } else { 1 }))),
        other => Err(format!("wrong type for value; expected bool; got {}", other.type_name())),
    }),
];

fn dict(given: &[Value]) -> FunctionResult {
    Ok(Value::map(given.chunks(2).filter_map(|pair| {
        let (key, value) = pair.split_first()?;
        Some((print::text_of(key), value.first().map_or_else(|| "".into(), stored)))
    })))
}

fn set(given: &[Value]) -> FunctionResult {
    let target = map(given, 0)?;
    let value = stored(any(given, 2));
    if contains(&value, target) {
        return Err("a map can't contain itself".to_owned());
    }
    target.0.borrow_mut().insert(Rc::from(text(given, 1)?), value);
    Ok(any(given, 0).clone())
}

/// Whether a value is or contains `sought`. To store it there would make a cycle, which prints forever and leaks its memory.
fn contains(value: &Value, sought: &MapValue) -> bool {
    match value {
        Value::Map(map) => Rc::ptr_eq(&map.0, &sought.0) || map.entries().iter().any(|(_, value)| contains(value, sought)),
        Value::List(items) => items.iter().any(|item| contains(item, sought)),
        Value::Struct(structure) => structure.fields().iter().any(|(_, value)| contains(value, sought)),
        _ => false,
    }
}

fn pluck(given: &[Value]) -> FunctionResult {
    let key = text(given, 0)?;
    let found: Result<Vec<_>, _> = (1..given.len()).map(|at| Ok::<_, String>(map(given, at)?.get(key))).collect();
    Ok(Value::list(found?.into_iter().flatten()))
}

fn keys(given: &[Value]) -> FunctionResult {
    let mut all = Vec::new();
    for at in 0..given.len() {
        all.extend(map(given, at)?.entries().into_iter().map(|(key, _)| Value::String(key)));
    }
    Ok(Value::list(all))
}

fn chosen(given: &[Value], keep: bool) -> FunctionResult {
    let names: Vec<_> = (1..given.len()).map(|at| text(given, at)).collect::<Result<_, _>>()?;
    let entries = map(given, 0)?.entries().into_iter().filter(|(key, _)| names.contains(&&**key) == keep);
    Ok(Value::map(entries))
}

/// Adds the members of later maps to the first one, recursively. A member that exists and is not empty is kept, or is replaced.
fn merged(given: &[Value], overwrite: bool) -> FunctionResult {
    let target = map(given, 0)?;
    for at in 1..given.len() {
        merge_into(target, map(given, at)?, overwrite);
    }
    Ok(any(given, 0).clone())
}

fn merge_into(target: &MapValue, source: &MapValue, overwrite: bool) {
    if Rc::ptr_eq(&target.0, &source.0) {
        return;
    }
    for (key, value) in source.entries() {
        let known = target.get(&key);
        match (&known, &value) {
            (Some(Value::Map(known)), Value::Map(value)) => merge_into(known, value, overwrite),
            (Some(known), _) if !is_empty(known) && (!overwrite || is_empty(&value)) => {}
            _ => {
                target.0.borrow_mut().insert(key, copied(&value));
            }
        }
    }
}

/// A member of a member; the second to last argument if it is missing.
fn dig(given: &[Value]) -> FunctionResult {
    let (path, fallback) = (given.len() - 2, any(given, given.len() - 2));
    let mut value = any(given, given.len() - 1).clone();
    for at in 0..path {
        let Value::Map(map) = &value else { return Err(format!("{} is no map", value.type_name())) };
        match map.get(text(given, at)?) {
            Some(found) => value = found,
            None => return Ok(stored(fallback)),
        }
    }
    Ok(value)
}

fn copied(value: &Value) -> Value {
    match value {
        Value::Map(map) => Value::map(map.entries().into_iter().map(|(key, value)| (key, copied(&value)))),
        Value::List(items) => Value::list(items.iter().map(copied)),
        other => stored(other),
    }
}
