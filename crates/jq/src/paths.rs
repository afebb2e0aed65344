//! How a filter gets into values and changes them: `.a`, `.[0]`, `.[]`, `.[1:3]`, and updates of these. Implements jaq's interface of values.

use crate::budget::spend;
use crate::value::{Failure, JqArray, JqValue, own_items, take_item, take_member, with_item, with_member};
use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Exn, ValR, ValX};
use std::rc::Rc;

/// What one element costs that a filter looks at.
const LOOK: usize = 16;

impl jaq_core::ValT for JqValue {
    fn from_num(text: &str) -> ValR<Self> {
        let number = text.parse().map_err(|_| Failure::str(format_args!("{text} is not a number")))?;
        Ok(JqValue::Float(number))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(members: I) -> ValR<Self> {
        let mut named = crate::value::JqMembers::default();
        for (name, value) in members {
            let JqValue::String(name) = name else {
                return Err(Failure::str(format_args!("Object keys must be strings, not {}", name.type_name())));
            };
            spend(LOOK)?;
            named.insert(name, value);
        }
        Ok(JqValue::from_members(named))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Self, Self), Self>> {
        match self {
            JqValue::Array(array) => each(array.items.len(), move |at| Some((JqValue::from(at), array.items.get(at)?.clone()))),
            JqValue::Object(object) => each(object.members.len(), move |at| {
                let (name, value) = object.members.get_index(at)?;
                Some((JqValue::String(name.clone()), value.clone()))
            }),
            other => box_once(Err(not_iterable(&other))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Self>>> {
        match self {
            JqValue::Array(array) => each(array.items.len(), move |at| array.items.get(at).cloned()),
            JqValue::Object(object) => {
                each(object.members.len(), move |at| object.members.get_index(at).map(|(_, value)| value.clone()))
            }
            other => box_once(Err(not_iterable(&other))),
        }
    }

    fn index(self, index: &Self) -> ValR<Self> {
        spend(LOOK)?;
        match (&self, index) {
            (JqValue::Object(object), JqValue::String(name)) => Ok(object.members.get(name).cloned().unwrap_or_default()),
            (JqValue::Array(array), JqValue::Int(_) | JqValue::Float(_)) => {
                let at = position(index, array.items.len());
                Ok(at.and_then(|at| array.items.get(at)).cloned().unwrap_or_default())
            }
            (JqValue::Array(_), JqValue::Array(_)) => indices(&self, index),
            (JqValue::Null | JqValue::Array(_) | JqValue::String(_), JqValue::Object(slice)) => {
                let ends = slice.members.get("start")..slice.members.get("end");
                self.range(Some(ends.start.unwrap_or(&JqValue::Null))..Some(ends.end.unwrap_or(&JqValue::Null)))
            }
            (JqValue::Null, JqValue::Null | JqValue::String(_) | JqValue::Int(_) | JqValue::Float(_)) => Ok(JqValue::Null),
            _ => Err(not_indexable(&self, index)),
        }
    }

    fn range(self, ends: Range<&Self>) -> ValR<Self> {
        match &self {
            JqValue::Null => Ok(JqValue::Null),
            JqValue::Array(array) => {
                let (start, end) = slice(&ends, array.items.len())?;
                let items = array.items.get(start..end).unwrap_or_default();
                spend(LOOK * items.len())?;
                Ok(JqValue::array(items.to_vec()))
            }
            JqValue::String(text) => {
                spend(text.len())?;
                let (start, end) = slice(&ends, text.chars().count())?;
                let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]).skip(start);
                let first = places.next().unwrap_or(text.len());
                let last = if end > start { places.nth(end - start - 1).unwrap_or(text.len()) } else { first };
                Ok(JqValue::string(text.get(first..last).unwrap_or_default()))
            }
            _ => Err(Failure::str(format_args!("Cannot index {} with object", self.type_name()))),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(self, opt: Opt, f: impl Fn(Self) -> I) -> ValX<'a, Self> {
        match self {
            JqValue::Array(array) => {
                let mut kept = Vec::with_capacity(array.items.len());
                for item in own_items(array)? {
                    spend(LOOK)?;
                    if let Some(item) = f(item).next() {
                        kept.push(item?);
                    }
                }
                Ok(JqValue::array(kept))
            }
            JqValue::Object(object) => {
                let mut kept = crate::value::JqMembers::default();
                for (name, value) in crate::value::own_members(object)? {
                    spend(LOOK)?;
                    if let Some(value) = f(value).next() {
                        kept.insert(name, value?);
                    }
                }
                Ok(JqValue::from_members(kept))
            }
            other => opt.fail(other, |other| Exn::from(not_iterable(&other))),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(self, index: &Self, opt: Opt, f: impl Fn(Self) -> I) -> ValX<'a, Self> {
        spend(LOOK)?;
        match (self, index) {
            (value @ (JqValue::Null | JqValue::Array(_)), JqValue::Object(ends)) => {
                let (start, end) = (ends.members.get("start"), ends.members.get("end"));
                value.map_range(start..end, opt, f)
            }
            (JqValue::Null, JqValue::String(name)) => set_member(Rc::default(), name, f),
            (JqValue::Object(object), JqValue::String(name)) => set_member(object, name, f),
            (JqValue::Null, JqValue::Int(_) | JqValue::Float(_)) => set_item(Rc::default(), index, f),
            (JqValue::Array(array), JqValue::Int(_) | JqValue::Float(_)) => set_item(array, index, f),
            (other, _) => opt.fail(other, |other| Exn::from(not_indexable(&other, index))),
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        ends: Range<&Self>,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let mut items = match self {
            JqValue::Null => Vec::new(),
            JqValue::Array(array) => own_items(array)?,
            other => {
                return opt
                    .fail(other, |other| Exn::from(Failure::str(format_args!("Cannot update slices of {}", other.type_name()))));
            }
        };
        let (start, end) = slice(&ends, items.len())?;
        let part = items.get(start..end).unwrap_or_default();
        spend(LOOK * part.len())?;
        let made = match f(JqValue::array(part.to_vec())).next().transpose()? {
            Some(JqValue::Array(made)) => own_items(made)?,
            None => Vec::new(),
            Some(_) => return Err(Exn::from(Failure::str("A slice of an array can only be assigned another array"))),
        };
        items.splice(start..end, made);
        Ok(JqValue::array(items))
    }

    fn as_bool(&self) -> bool {
        self.is_true()
    }

    fn into_string(self) -> Self {
        if let JqValue::String(_) = self { self } else { written(&self).unwrap_or_default() }
    }
}

impl From<Range<JqValue>> for JqValue {
    fn from(ends: Range<JqValue>) -> Self {
        JqValue::object([("start", ends.start.unwrap_or_default()), ("end", ends.end.unwrap_or_default())])
    }
}

/// The JSON document of a value, paid for before it is written.
pub(crate) fn written(value: &JqValue) -> Result<JqValue, Failure> {
    spend(value.weight())?;
    JqValue::paid(&value.to_json())
}

/// What a function makes of each index below a length. An error is the last item, and the end of the budget is an error.
fn each<T: 'static>(len: usize, get: impl Fn(usize) -> Option<T> + 'static) -> BoxIter<'static, ValR<T, JqValue>> {
    let mut next = 0;
    let more = move || {
        let at = next;
        next = if spend(LOOK).is_ok() { at + 1 } else { len };
        match crate::budget::reached() {
            Some(limit) if at < len => Some(Err(limit.into())),
            _ => get(at).map(Ok),
        }
    };
    // jaq does more with what has one item at most.
    if len == 1 { Box::new(std::iter::from_fn(more).take(1)) } else { Box::new(std::iter::from_fn(more)) }
}

fn set_member<'a, I: Iterator<Item = ValX<'a, JqValue>>>(
    mut object: Rc<crate::value::JqObject>,
    name: &Rc<str>,
    f: impl Fn(JqValue) -> I,
) -> ValX<'a, JqValue> {
    let old = take_member(&mut object, name);
    let had = old.is_some();
    match f(old.unwrap_or_default()).next().transpose()? {
        None if !had => Ok(JqValue::Object(object)),
        made => Ok(with_member(object, name, made)?),
    }
}

fn set_item<'a, I: Iterator<Item = ValX<'a, JqValue>>>(
    mut array: Rc<JqArray>,
    index: &JqValue,
    f: impl Fn(JqValue) -> I,
) -> ValX<'a, JqValue> {
    let len = array.items.len();
    let Some(at) = position(index, len) else {
        return Err(Exn::from(Failure::str("Out of bounds negative array index")));
    };
    let old = take_item(&mut array, at);
    match f(old).next().transpose()? {
        Some(made) if at <= len => Ok(with_item(array, at, made)?),
        Some(made) => {
            spend(LOOK.saturating_mul(at - len))?;
            let mut items = own_items(array)?;
            items.resize(at, JqValue::Null);
            items.push(made);
            Ok(JqValue::array(items))
        }
        None if at < len => {
            let mut items = own_items(array)?;
            spend(LOOK * len)?;
            items.remove(at);
            Ok(JqValue::array(items))
        }
        None => Ok(JqValue::Array(array)),
    }
}

/// Where an index points; negative ones count from the end. `None` before the beginning.
fn position(index: &JqValue, len: usize) -> Option<usize> {
    let number = index.as_number().filter(|number| !number.is_nan())?.floor();
    let at = if number < 0.0 { number + len as f64 } else { number };
    (at >= 0.0).then_some(at as usize)
}

/// The bounds of a slice, within the length.
fn slice(ends: &Range<&JqValue>, len: usize) -> Result<(usize, usize), Failure> {
    let bound = |end: Option<&JqValue>, missing: f64, round: fn(f64) -> f64| match end {
        None | Some(JqValue::Null) => Ok::<f64, Failure>(missing),
        Some(end) => {
            let number = end.as_number().ok_or_else(|| Failure::str("Start and end indices of an array slice must be numbers"))?;
            let from_start = if number < 0.0 { number + len as f64 } else { number };
            Ok(round(from_start).clamp(0.0, len as f64))
        }
    };
    let start = bound(ends.start, 0.0, f64::floor)?;
    let end = bound(ends.end, len as f64, f64::ceil)?;
    Ok((start as usize, end.max(start) as usize))
}

fn not_iterable(value: &JqValue) -> Failure {
    Failure::str(format_args!("Cannot iterate over {}", crate::arithmetic::described(value)))
}

fn not_indexable(value: &JqValue, index: &JqValue) -> Failure {
    match index {
        JqValue::String(name) => Failure::str(format_args!("Cannot index {} with string \"{name}\"", value.type_name())),
        _ => Failure::str(format_args!("Cannot index {} with {}", value.type_name(), index.type_name())),
    }
}

/// Where a part begins in a text, in characters, or in an array.
pub(crate) fn indices(value: &JqValue, part: &JqValue) -> ValR<JqValue> {
    match (value, part) {
        (JqValue::Null, _) => Ok(JqValue::Null),
        (JqValue::String(_), JqValue::String(part)) if part.is_empty() => Ok(JqValue::Null),
        (JqValue::String(text), JqValue::String(part)) => {
            spend(text.len())?;
            let mut found = Vec::new();
            let (mut at, mut characters) = (0, 0);
            while let Some(offset) = text.get(at..).and_then(|rest| rest.find(&**part)) {
                spend(LOOK)?;
                characters += text.get(at..at + offset).map_or(0, |passed| passed.chars().count());
                found.push(JqValue::from(characters));
                // Occurrences may overlap.
                let first = text.get(at + offset..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
                at += offset + first;
                characters += 1;
            }
            Ok(JqValue::array(found))
        }
        (JqValue::Array(_), JqValue::Array(part)) if part.items.is_empty() => Ok(JqValue::Null),
        (JqValue::Array(array), JqValue::Array(part)) => {
            spend(LOOK.saturating_mul(array.items.len()))?;
            let fits = |(at, window): (usize, &[JqValue])| (window == part.items.as_slice()).then(|| Ok(JqValue::from(at)));
            array.items.windows(part.items.len()).enumerate().filter_map(fits).collect()
        }
        (JqValue::Array(array), item) => {
            spend(LOOK * array.items.len())?;
            array.items.iter().enumerate().filter(|(_, other)| *other == item).map(|(at, _)| Ok(JqValue::from(at))).collect()
        }
        _ => Err(Failure::str(format_args!("Cannot index {} with {}", value.type_name(), part.type_name()))),
    }
}
