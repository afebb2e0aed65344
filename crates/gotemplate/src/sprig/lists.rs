//! Functions on lists. None of them changes a list in place.

use super::{is_empty, stored};
use crate::arguments::{ANY, Function, FunctionResult, ITEMS_MAX, any, call, int, items};
use crate::compare::deep_equal;
use crate::print;
use crate::sprig::math::whole;
use crate::value::Value;

pub(super) static FUNCTIONS: &[Function] = &[
    call("list", 0, ANY, list),
    call("tuple", 0, ANY, list),
    call("first", 1, 1, first),
    call("mustFirst", 1, 1, first),
    call("last", 1, 1, last),
    call("mustLast", 1, 1, last),
    call("rest", 1, 1, rest),
    call("mustRest", 1, 1, rest),
    call("initial", 1, 1, initial),
    call("mustInitial", 1, 1, initial),
    call("append", 2, 2, append),
    call("push", 2, 2, append),
    call("mustAppend", 2, 2, append),
    call("mustPush", 2, 2, append),
    call("prepend", 2, 2, prepend),
    call("mustPrepend", 2, 2, prepend),
    call("concat", 0, ANY, concat),
    call("reverse", 1, 1, reverse),
    call("mustReverse", 1, 1, reverse),
    call("compact", 1, 1, compact),
    call("mustCompact", 1, 1, compact),
    call("uniq", 1, 1, unique),
    call("mustUniq", 1, 1, unique),
    call("without", 1, ANY, without),
    call("mustWithout", 1, ANY, without),
    call("has", 2, 2, has),
    call("mustHas", 2, 2, has),
    call("slice", 1, 3, slice),
    call("mustSlice", 1, 3, slice),
    call("chunk", 2, 2, chunk),
    call("mustChunk", 2, 2, chunk),
    call("until", 1, 1, |given| {
        let count = int(given, 0)?;
        steps(0, count, if count < 0 { -1 } else { 1 })
    }),
    call("untilStep", 3, 3, |given| steps(int(given, 0)?, int(given, 1)?, int(given, 2)?)),
    call("seq", 0, ANY, sequence),
];

fn list(given: &[Value]) -> FunctionResult {
    Ok(Value::list(given.iter().map(stored)))
}

fn first(given: &[Value]) -> FunctionResult {
    Ok(stored(items(given, 0)?.first().unwrap_or(&Value::Null)))
}

fn last(given: &[Value]) -> FunctionResult {
    Ok(stored(items(given, 0)?.last().unwrap_or(&Value::Null)))
}

fn reverse(given: &[Value]) -> FunctionResult {
    Ok(Value::list(items(given, 0)?.iter().rev().cloned()))
}

fn compact(given: &[Value]) -> FunctionResult {
    Ok(Value::list(items(given, 0)?.iter().filter(|item| !is_empty(item)).cloned()))
}

fn rest(given: &[Value]) -> FunctionResult {
    Ok(Value::list(items(given, 0)?.iter().skip(1).cloned()))
}

fn initial(given: &[Value]) -> FunctionResult {
    Ok(Value::list(items(given, 0)?.split_last().map(|(_, before)| before.to_vec()).unwrap_or_default()))
}

fn append(given: &[Value]) -> FunctionResult {
    bounded_list(items(given, 0)?.iter().cloned().chain([stored(any(given, 1))]))
}

fn prepend(given: &[Value]) -> FunctionResult {
    bounded_list(std::iter::once(stored(any(given, 1))).chain(items(given, 0)?.iter().cloned()))
}

fn concat(given: &[Value]) -> FunctionResult {
    let mut all = Vec::new();
    for at in 0..given.len() {
        all.extend(items(given, at)?.iter().cloned());
    }
    bounded_list(all.into_iter())
}

fn bounded_list(values: impl Iterator<Item = Value>) -> FunctionResult {
    let values: Vec<_> = values.take(ITEMS_MAX + 1).collect();
    if values.len() > ITEMS_MAX {
        return Err(format!("the list would have more than {ITEMS_MAX} items"));
    }
    Ok(Value::list(values))
}

/// Comparing each item with each other is limited to a tenth of a second by the maximum length of lists.
const COMPARED_MAX: usize = 3_000;

fn unique(given: &[Value]) -> FunctionResult {
    let items = items(given, 0)?;
    if items.len() > COMPARED_MAX {
        return Err(format!("the list has more than {COMPARED_MAX} items"));
    }
    let mut kept: Vec<Value> = Vec::new();
    for item in items.iter() {
        if !kept.iter().any(|known| deep_equal(known, item)) {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn without(given: &[Value]) -> FunctionResult {
    let left_out = given.get(1..).unwrap_or_default();
    let kept = items(given, 0)?.iter().filter(|item| !left_out.iter().any(|out| deep_equal(out, item)));
    Ok(Value::list(kept.cloned()))
}

fn has(given: &[Value]) -> FunctionResult {
    if any(given, 1).is_nil() {
        return Ok(false.into());
    }
    let needle = any(given, 0);
    Ok(items(given, 1)?.iter().any(|item| deep_equal(item, needle)).into())
}

fn slice(given: &[Value]) -> FunctionResult {
    let items = items(given, 0)?;
    if items.is_empty() {
        return Ok(Value::Null);
    }
    let end = given.get(2).map_or(Ok(items.len()), |end| usize::try_from(whole(end)));
    let start = usize::try_from(given.get(1).map_or(0, whole));
    let found = start.ok().zip(end.ok()).and_then(|(start, end)| items.get(start..end));
    found.map(|items| Value::list(items.iter().cloned())).ok_or_else(|| "slice index out of range".to_owned())
}

fn chunk(given: &[Value]) -> FunctionResult {
    let size = usize::try_from(int(given, 0)?).ok().filter(|size| *size > 0).ok_or("a chunk needs at least one item")?;
    Ok(Value::list(items(given, 1)?.chunks(size).map(|chunk| Value::list(chunk.iter().cloned()))))
}

/// The integers from one up to, but not including, another.
fn steps(start: i64, stop: i64, step: i64) -> FunctionResult {
    let fits = |number: i64| if step > 0 { number < stop } else { number > stop };
    let is_empty = if stop < start { step >= 0 } else { step <= 0 };
    if is_empty {
        return Ok(Value::list([]));
    }
    let numbers = std::iter::successors(Some(start), |number| number.checked_add(step)).take_while(|number| fits(*number));
    bounded_list(numbers.map(Value::Int))
}

/// Like the program `seq`: one to three numbers; the last one is included.
fn sequence(given: &[Value]) -> FunctionResult {
    let numbers: Vec<_> = (0..given.len()).map(|at| int(given, at)).collect::<Result<_, _>>()?;
    let direction = |start: i64, end: i64| if end < start { -1 } else { 1 };
    let (start, end, step) = match *numbers.as_slice() {
        [end] => (1, end, direction(1, end)),
        [start, end] => (start, end, direction(start, end)),
        [start, step, end] if !(end < start && step > 0) => (start, end, step),
        _ => return Ok("".into()),
    };
    let stop = end.saturating_add(direction(start, end));
    Ok(match steps(start, stop, step)? {
        Value::List(items) => items.iter().map(print::text_of).collect::<Vec<_>>().join(" ").into(),
        other => other,
    })
}
