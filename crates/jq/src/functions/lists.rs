//! Functions of arrays and objects: what they contain, their order, and what is made of all their elements.

use super::{of_input, of_one, text_of};
use crate::arithmetic::{described, whole};
use crate::budget::spend;
use crate::paths::{indices, written};
use crate::run::JqRun;
use crate::value::{Failure, JqMembers, JqValue, own_items};
use jaq_core::box_iter::box_once;
use jaq_core::native::{Fun, run};
use jaq_core::{Bind, Cv, Exn, ValR};
use std::cmp::Ordering;
use std::rc::Rc;

/// What looking at one element costs.
const LOOK: usize = 16;

pub(super) fn all() -> Vec<Fun<JqRun>> {
    let of_input = of_input! {
        "length" => length;
        "keys" => keys;
        "add" => add;
        "sort" => |value| Ok(JqValue::array(sorted(value)?));
        "unique" => unique;
        "reverse" => reverse;
        "to_entries" => to_entries;
        "from_entries" => from_entries;
    };
    let of_one = of_one! {
        "has" => has;
        "contains" => |value: JqValue, part: JqValue| contains(&value, &part).map(JqValue::Bool);
        "indices" => |value: JqValue, part: JqValue| indices(&value, &part);
        "flatten" => flatten;
        "join" => join;
        "bsearch" => bsearch;
    };
    let f = || [Bind::Fun(())].into();
    let of_filter = [
        run(("sort_by", f(), |cv| box_once(by_key(cv).map(|pairs| pairs.into_iter().map(|(_, item)| item).collect())))),
        run(("group_by", f(), |cv| box_once(by_key(cv).map(|pairs| JqValue::array(groups(pairs)))))),
        run(("unique_by", f(), |cv| {
            box_once(by_key(cv).map(|pairs| {
                let first = |group: JqValue| if let JqValue::Array(group) = group { group.items.first().cloned() } else { None };
                groups(pairs).into_iter().filter_map(first).collect()
            }))
        })),
        run(("min_by", f(), |cv| {
            box_once(by_key(cv).map(|pairs| pairs.into_iter().next().map(|(_, item)| item).unwrap_or_default()))
        })),
        run(("max_by", f(), |cv| {
            box_once(by_key(cv).map(|pairs| pairs.into_iter().next_back().map(|(_, item)| item).unwrap_or_default()))
        })),
    ];
    of_input.into_iter().chain(of_one).chain(of_filter).collect()
}

fn length(value: JqValue) -> ValR<JqValue> {
    match &value {
        JqValue::Null => Ok(JqValue::Int(0)),
        JqValue::Int(number) => Ok(number.checked_abs().map_or(JqValue::Float(-(*number as f64)), JqValue::Int)),
        JqValue::Float(number) => Ok(JqValue::Float(number.abs())),
        JqValue::String(text) => {
            spend(text.len())?;
            Ok(JqValue::from(text.chars().count()))
        }
        JqValue::Array(array) => Ok(JqValue::from(array.items.len())),
        JqValue::Object(object) => Ok(JqValue::from(object.members.len())),
        JqValue::Bool(_) => Err(Failure::str(format_args!("{} has no length", described(&value)))),
    }
}

fn keys(value: JqValue) -> ValR<JqValue> {
    match &value {
        JqValue::Array(array) => (0..array.items.len()).map(|at| Ok(JqValue::from(at))).collect(),
        JqValue::Object(object) => {
            let mut names: Vec<Rc<str>> = object.members.keys().cloned().collect();
            spend(LOOK * names.len())?;
            names.sort();
            Ok(JqValue::array(names.into_iter().map(JqValue::String).collect()))
        }
        _ => Err(Failure::str(format_args!("{} has no keys", described(&value)))),
    }
}

fn has(value: JqValue, key: JqValue) -> ValR<JqValue> {
    match (&value, &key) {
        (JqValue::Object(object), JqValue::String(name)) => Ok(JqValue::Bool(object.members.contains_key(name))),
        (JqValue::Array(array), JqValue::Int(_) | JqValue::Float(_)) => {
            let at = whole(&key).and_then(|at| usize::try_from(at).ok());
            Ok(JqValue::Bool(at.is_some_and(|at| at < array.items.len())))
        }
        _ => Err(Failure::str(format_args!("Cannot check whether {} has a {} key", value.type_name(), key.type_name()))),
    }
}

/// Objects and arrays contain what their members and elements contain; texts contain parts of them.
fn contains(value: &JqValue, part: &JqValue) -> Result<bool, Failure> {
    spend(LOOK)?;
    match (value, part) {
        (JqValue::String(text), JqValue::String(part)) => {
            spend(text.len())?;
            Ok(text.contains(&**part))
        }
        (JqValue::Array(array), JqValue::Array(parts)) => {
            for part in &parts.items {
                let mut found = false;
                for item in array.items.iter().filter(|item| item.type_name() == part.type_name()) {
                    found = contains(item, part)?;
                    if found {
                        break;
                    }
                }
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (JqValue::Object(object), JqValue::Object(parts)) => {
            for (name, part) in parts.members.iter() {
                let Some(member) = object.members.get(name) else { return Ok(false) };
                if member.type_name() != part.type_name() || !contains(member, part)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ if value.type_name() == part.type_name() => Ok(value == part),
        _ => Err(Failure::str(format_args!("{} and {} cannot have their containment checked", described(value), described(part)))),
    }
}

/// The elements of an array, or the values of an object.
fn elements(value: JqValue) -> Result<Vec<JqValue>, Failure> {
    spend(LOOK)?;
    match value {
        JqValue::Array(array) => own_items(array),
        JqValue::Object(object) => {
            spend(LOOK * object.members.len())?;
            Ok(object.members.values().cloned().collect())
        }
        other => Err(Failure::str(format_args!("Cannot iterate over {}", described(&other)))),
    }
}

fn array_of(value: JqValue, what: &str) -> Result<Vec<JqValue>, Failure> {
    spend(LOOK)?;
    match value {
        JqValue::Array(array) => own_items(array),
        other => Err(Failure::str(format_args!("{} cannot be {what}, as it is not an array", described(&other)))),
    }
}

/// The sum. Texts are written once, not once for each.
fn add(value: JqValue) -> ValR<JqValue> {
    let items = elements(value)?;
    if items.len() > 1 && items.iter().all(|item| item.as_str().is_some()) {
        return joined(items.iter().filter_map(JqValue::as_str), "");
    }
    items.into_iter().try_fold(JqValue::Null, |sum, item| sum + item)
}

fn joined<'t>(texts: impl Iterator<Item = &'t str>, separator: &str) -> ValR<JqValue> {
    let mut out = String::new();
    for (index, text) in texts.enumerate() {
        spend(LOOK + text.len() + separator.len())?;
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(text);
    }
    Ok(JqValue::String(out.into()))
}

fn join(value: JqValue, separator: JqValue) -> ValR<JqValue> {
    let items = elements(value)?;
    if items.is_empty() {
        return Ok(JqValue::string(""));
    }
    let separator = text_of(&separator, "join")?;
    let text = |item: &JqValue| match item {
        JqValue::Null => Ok(JqValue::string("")),
        JqValue::String(_) => Ok(item.clone()),
        JqValue::Bool(_) | JqValue::Int(_) | JqValue::Float(_) => written(item),
        other => Err(Failure::str(format_args!("string ({separator:?}) and {} cannot be added", described(other)))),
    };
    let texts = items.iter().map(text).collect::<Result<Vec<JqValue>, Failure>>()?;
    joined(texts.iter().filter_map(JqValue::as_str), separator)
}

fn sorted(value: JqValue) -> Result<Vec<JqValue>, Failure> {
    let mut items = array_of(value, "sorted")?;
    items.sort();
    Ok(items)
}

fn unique(value: JqValue) -> ValR<JqValue> {
    let mut items = sorted(value)?;
    items.dedup_by(|left, right| left.cmp(&right).is_eq());
    Ok(JqValue::array(items))
}

fn reverse(value: JqValue) -> ValR<JqValue> {
    match value {
        JqValue::Null => Ok(JqValue::array(Vec::new())),
        JqValue::String(text) => JqValue::paid(&text.chars().rev().collect::<String>()),
        other => {
            let mut items = array_of(other, "reversed")?;
            items.reverse();
            Ok(JqValue::array(items))
        }
    }
}

/// Elements with what a filter makes of them, in its order.
fn by_key<'a>(mut cv: Cv<'a, JqRun>) -> Result<Vec<(Vec<JqValue>, JqValue)>, Exn<'a, JqValue>> {
    let (f, context) = cv.0.pop_fun();
    let keyed = |item: JqValue| {
        spend(2 * LOOK)?;
        let key = f.run((context.clone(), item.clone())).collect::<Result<Vec<JqValue>, _>>()?;
        Ok((key, item))
    };
    let mut pairs = array_of(cv.1, "sorted")?.into_iter().map(keyed).collect::<Result<Vec<_>, Exn<'a, JqValue>>>()?;
    pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(pairs)
}

fn groups(pairs: Vec<(Vec<JqValue>, JqValue)>) -> Vec<JqValue> {
    let same = |left: &(Vec<JqValue>, JqValue), right: &(Vec<JqValue>, JqValue)| left.0.cmp(&right.0) == Ordering::Equal;
    pairs.chunk_by(same).map(|group| group.iter().map(|(_, item)| item.clone()).collect()).collect()
}

fn flatten(value: JqValue, levels: JqValue) -> ValR<JqValue> {
    let levels = levels.as_number().filter(|levels| *levels >= 0.0);
    let levels = levels.ok_or_else(|| Failure::str("flatten depth must not be negative"))?;
    let mut flat = Vec::new();
    flatten_into(elements(value)?, levels, &mut flat)?;
    Ok(JqValue::array(flat))
}

fn flatten_into(items: Vec<JqValue>, levels: f64, flat: &mut Vec<JqValue>) -> Result<(), Failure> {
    for item in items {
        spend(LOOK)?;
        match item {
            JqValue::Array(inner) if levels >= 1.0 => flatten_into(own_items(inner)?, levels - 1.0, flat)?,
            other => flat.push(other),
        }
    }
    Ok(())
}

fn bsearch(value: JqValue, wanted: JqValue) -> ValR<JqValue> {
    let items = array_of(value, "searched")?;
    let found = items.binary_search(&wanted);
    Ok(found.map_or_else(|at| JqValue::Int(-1 - at as i64), JqValue::from))
}

/// An array's keys are its indices.
fn to_entries(value: JqValue) -> ValR<JqValue> {
    let (key, member): (Rc<str>, Rc<str>) = ("key".into(), "value".into());
    let entry = |name: JqValue, value: &JqValue| JqValue::object([(key.clone(), name), (member.clone(), value.clone())]);
    match &value {
        JqValue::Object(object) => {
            Ok(object.members.iter().map(|(name, value)| entry(JqValue::String(name.clone()), value)).collect())
        }
        JqValue::Array(array) => Ok(array.items.iter().enumerate().map(|(at, item)| entry(at.into(), item)).collect()),
        _ => Err(Failure::str(format_args!("{} has no keys", described(&value)))),
    }
}

fn from_entries(value: JqValue) -> ValR<JqValue> {
    let mut members = JqMembers::default();
    for entry in elements(value)? {
        spend(4 * LOOK)?;
        let JqValue::Object(object) = &entry else {
            return Err(Failure::str(format_args!("Cannot index {} with string \"key\"", entry.type_name())));
        };
        let first =
            |names: &[&str]| names.iter().find_map(|name| object.members.get(name).filter(|value| value.is_true())).cloned();
        let name =
            first(&["key", "k", "name", "Name", "K", "Key"]).or_else(|| object.members.get("key").cloned()).unwrap_or_default();
        let name = match name {
            JqValue::String(name) => name,
            JqValue::Int(_) | JqValue::Float(_) | JqValue::Bool(_) => name.to_json().into(),
            _ => return Err(Failure::str(format_args!("Cannot use {} as object key", described(&name)))),
        };
        let named = ["value", "v", "Value", "V"].iter().find_map(|name| object.members.get(name));
        members.insert(name, named.cloned().unwrap_or_default());
    }
    Ok(JqValue::from_members(members))
}
