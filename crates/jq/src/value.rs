//! Values of a filter: JSON, with texts, arrays and objects shared between clones. An array or object knows how deep and how large it is when
//! each shared part counts as often as it is seen, so that no small value takes for ever to write or to compare.

use crate::budget::{DEPTH_MAX, JqLimit, reach, spend};
use crate::members::NamedList;
use jaq_core::Exn;
use std::rc::Rc;

/// An error that a filter can catch.
pub(crate) type Failure = jaq_core::Error<JqValue>;

/// Weight above which nothing is made. A body of 10 MiB has at most 100 MiB.
const WEIGHT_MAX: usize = 256 << 20;

/// What an element takes beside what it holds: about its size in memory.
const ELEMENT: usize = 16;

impl From<JqLimit> for Failure {
    fn from(limit: JqLimit) -> Self {
        Failure::new(JqValue::string(&limit.to_string()))
    }
}

impl From<JqLimit> for Exn<'_, JqValue> {
    fn from(limit: JqLimit) -> Self {
        Exn::from(Failure::from(limit))
    }
}

/// A value.
#[derive(Clone, Debug, Default)]
pub enum JqValue {
    /// `null`
    #[default]
    Null,
    /// `true` and `false`
    Bool(bool),
    /// A number that was written without fraction, and results of such numbers that fit.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    String(Rc<str>),
    /// An array.
    Array(Rc<JqArray>),
    /// An object.
    Object(Rc<JqObject>),
}

/// Members of an object, in the order in which they were added.
pub(crate) type JqMembers = NamedList<JqValue>;

/// The elements of an array.
#[derive(Clone, Debug, Default)]
pub struct JqArray {
    pub(crate) items: Vec<JqValue>,
    weight: usize,
    depth: u32,
}

/// The members of an object.
#[derive(Clone, Debug, Default)]
pub struct JqObject {
    pub(crate) members: JqMembers,
    weight: usize,
    depth: u32,
}

impl JqValue {
    /// A text.
    pub fn string(text: &str) -> Self {
        JqValue::String(text.into())
    }

    /// An array. Within a run the elements are paid for; what would be too deep or too large ends the run.
    pub fn array(items: Vec<JqValue>) -> Self {
        let weight = items.iter().map(JqValue::weight).fold(ELEMENT, usize::saturating_add);
        let depth = 1 + items.iter().map(JqValue::depth).max().unwrap_or(0);
        if may_be(weight, depth) && spend(ELEMENT * (items.len() + 3)).is_ok() {
            JqValue::Array(Rc::new(JqArray { items, weight, depth }))
        } else {
            JqValue::Null
        }
    }

    /// An object. A later member replaces an earlier one of the same name.
    pub fn object<K: Into<Rc<str>>>(members: impl IntoIterator<Item = (K, JqValue)>) -> Self {
        JqValue::from_members(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    pub(crate) fn from_members(members: JqMembers) -> Self {
        let weigh = |(name, value): (&Rc<str>, &JqValue)| member_weight(name, value);
        let weight = members.iter().map(weigh).fold(ELEMENT, usize::saturating_add);
        let depth = 1 + members.values().map(JqValue::depth).max().unwrap_or(0);
        if may_be(weight, depth) && spend(4 * ELEMENT * (members.len() + 1)).is_ok() {
            JqValue::Object(Rc::new(JqObject { members, weight, depth }))
        } else {
            JqValue::Null
        }
    }

    /// A member of an object.
    pub fn member(&self, name: &str) -> Option<&JqValue> {
        if let JqValue::Object(object) = self { object.members.get(name) } else { None }
    }

    /// The members of an object, in their order.
    pub fn members(&self) -> Option<impl Iterator<Item = (&str, &JqValue)>> {
        let JqValue::Object(object) = self else { return None };
        Some(object.members.iter().map(|(name, value)| (&**name, value)))
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let JqValue::String(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            JqValue::Int(number) => Some(*number as f64),
            JqValue::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// Neither `null` nor `false`.
    pub(crate) fn is_true(&self) -> bool {
        !matches!(self, JqValue::Null | JqValue::Bool(false))
    }

    /// The name of its type, as `type` has it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            JqValue::Null => "null",
            JqValue::Bool(_) => "boolean",
            JqValue::Int(_) | JqValue::Float(_) => "number",
            JqValue::String(_) => "string",
            JqValue::Array(_) => "array",
            JqValue::Object(_) => "object",
        }
    }

    /// About the bytes that it takes when it is written.
    pub(crate) fn weight(&self) -> usize {
        match self {
            JqValue::Null | JqValue::Bool(_) | JqValue::Int(_) | JqValue::Float(_) => ELEMENT,
            JqValue::String(text) => ELEMENT + text.len(),
            JqValue::Array(array) => array.weight,
            JqValue::Object(object) => object.weight,
        }
    }

    pub(crate) fn depth(&self) -> u32 {
        match self {
            JqValue::Array(array) => array.depth,
            JqValue::Object(object) => object.depth,
            _ => 0,
        }
    }

    /// A text that functions made, paid for by its length.
    pub(crate) fn paid(text: &str) -> Result<Self, Failure> {
        spend(2 * ELEMENT + text.len())?;
        Ok(JqValue::string(text))
    }
}

fn member_weight(name: &str, value: &JqValue) -> usize {
    value.weight().saturating_add(ELEMENT + name.len())
}

fn may_be(weight: usize, depth: u32) -> bool {
    if depth > DEPTH_MAX {
        reach(JqLimit::Depth);
        return false;
    }
    if weight > WEIGHT_MAX {
        reach(JqLimit::Work);
        return false;
    }
    true
}

/// The elements of an array to change them; those of a shared one are copied. Give them back with [`JqValue::array`].
pub(crate) fn own_items(array: Rc<JqArray>) -> Result<Vec<JqValue>, Failure> {
    match Rc::try_unwrap(array) {
        Ok(array) => Ok(array.items),
        Err(array) => {
            spend(ELEMENT * array.items.len())?;
            Ok(array.items.clone())
        }
    }
}

/// An array with one element replaced or added behind the last.
pub(crate) fn with_item(mut array: Rc<JqArray>, at: usize, value: JqValue) -> Result<JqValue, Failure> {
    if Rc::get_mut(&mut array).is_none() {
        spend(ELEMENT * array.items.len())?;
    }
    spend(ELEMENT)?;
    let changed = Rc::make_mut(&mut array);
    changed.depth = changed.depth.max(1 + value.depth());
    changed.weight = changed.weight.saturating_add(value.weight());
    match changed.items.get_mut(at) {
        Some(slot) => {
            changed.weight = changed.weight.saturating_sub(slot.weight());
            *slot = value;
        }
        None => changed.items.push(value),
    }
    if may_be(changed.weight, changed.depth) { Ok(JqValue::Array(array)) } else { Err(reach(JqLimit::Work).into()) }
}

/// The element at an index, with `null` in its place while it is changed: a value that nothing else holds is changed without a copy.
pub(crate) fn take_item(array: &mut Rc<JqArray>, at: usize) -> JqValue {
    match Rc::get_mut(array) {
        Some(array) => {
            let Some(slot) = array.items.get_mut(at) else { return JqValue::Null };
            array.weight = array.weight.saturating_sub(slot.weight()).saturating_add(ELEMENT);
            std::mem::take(slot)
        }
        None => array.items.get(at).cloned().unwrap_or_default(),
    }
}

/// The member of a name, with `null` in its place while it is changed.
pub(crate) fn take_member(object: &mut Rc<JqObject>, name: &str) -> Option<JqValue> {
    match Rc::get_mut(object) {
        Some(object) => {
            let slot = object.members.get_mut(name)?;
            object.weight = object.weight.saturating_sub(slot.weight()).saturating_add(ELEMENT);
            Some(std::mem::take(slot))
        }
        None => object.members.get(name).cloned(),
    }
}

/// An object with one member set, or removed.
pub(crate) fn with_member(mut object: Rc<JqObject>, name: &Rc<str>, value: Option<JqValue>) -> Result<JqValue, Failure> {
    let changed = own_object(&mut object)?;
    if let Some(value) = value {
        changed.set(name.clone(), value)?;
    } else {
        spend(ELEMENT * changed.members.len())?;
        if let Some(old) = changed.members.shift_remove(name) {
            changed.weight = changed.weight.saturating_sub(member_weight(name, &old));
        }
    }
    Ok(JqValue::Object(object))
}

/// An object with the members of another one, which replace its own.
pub(crate) fn joined_objects(mut left: Rc<JqObject>, right: Rc<JqObject>) -> Result<JqValue, Failure> {
    let changed = own_object(&mut left)?;
    for (name, value) in own_members(right)? {
        changed.set(name, value)?;
    }
    Ok(JqValue::Object(left))
}

/// An array with the elements of another one behind its own.
pub(crate) fn joined_arrays(mut left: Rc<JqArray>, right: Rc<JqArray>) -> Result<JqValue, Failure> {
    if Rc::get_mut(&mut left).is_none() {
        spend(ELEMENT * left.items.len())?;
    }
    spend(ELEMENT * (right.items.len() + 1))?;
    let changed = Rc::make_mut(&mut left);
    changed.depth = changed.depth.max(right.depth);
    changed.weight = changed.weight.saturating_add(right.weight);
    changed.items.extend(own_items(right)?);
    if may_be(changed.weight, changed.depth) { Ok(JqValue::Array(left)) } else { Err(reach(JqLimit::Work).into()) }
}

/// The object to change it. A shared one is copied.
fn own_object(object: &mut Rc<JqObject>) -> Result<&mut JqObject, Failure> {
    if Rc::get_mut(object).is_none() {
        spend(4 * ELEMENT * object.members.len())?;
    }
    Ok(Rc::make_mut(object))
}

impl JqObject {
    fn set(&mut self, name: Rc<str>, value: JqValue) -> Result<(), Failure> {
        spend(4 * ELEMENT)?;
        self.depth = self.depth.max(1 + value.depth());
        self.weight = self.weight.saturating_add(member_weight(&name, &value));
        if let Some(slot) = self.members.get_mut(&name) {
            self.weight = self.weight.saturating_sub(member_weight(&name, slot));
            *slot = value;
        } else {
            self.members.insert(name, value);
        }
        if may_be(self.weight, self.depth) { Ok(()) } else { Err(reach(JqLimit::Work).into()) }
    }
}

/// The members of an object to change them; those of a shared one are copied.
pub(crate) fn own_members(object: Rc<JqObject>) -> Result<JqMembers, Failure> {
    match Rc::try_unwrap(object) {
        Ok(object) => Ok(object.members),
        Err(object) => {
            spend(4 * ELEMENT * object.members.len())?;
            Ok(object.members.clone())
        }
    }
}

impl FromIterator<JqValue> for JqValue {
    /// An array. It ends where the budget ends.
    fn from_iter<I: IntoIterator<Item = JqValue>>(values: I) -> Self {
        let mut items = Vec::new();
        for value in values {
            items.push(value);
            if spend(ELEMENT).is_err() {
                return JqValue::Null;
            }
        }
        JqValue::array(items)
    }
}

impl From<bool> for JqValue {
    fn from(truth: bool) -> Self {
        JqValue::Bool(truth)
    }
}

impl From<isize> for JqValue {
    fn from(number: isize) -> Self {
        JqValue::Int(number as i64)
    }
}

impl From<usize> for JqValue {
    fn from(number: usize) -> Self {
        i64::try_from(number).map_or(JqValue::Float(number as f64), JqValue::Int)
    }
}

impl From<f64> for JqValue {
    fn from(number: f64) -> Self {
        JqValue::Float(number)
    }
}

impl From<String> for JqValue {
    fn from(text: String) -> Self {
        JqValue::paid(&text).unwrap_or_default()
    }
}

impl From<&serde_json::Value> for JqValue {
    fn from(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => JqValue::Null,
            serde_json::Value::Bool(truth) => JqValue::Bool(*truth),
            serde_json::Value::Number(number) => {
                number.as_i64().map_or_else(|| JqValue::Float(number.as_f64().unwrap_or_default()), JqValue::Int)
            }
            serde_json::Value::String(text) => JqValue::string(text),
            serde_json::Value::Array(items) => JqValue::array(items.iter().map(JqValue::from).collect()),
            serde_json::Value::Object(members) => {
                JqValue::object(members.iter().map(|(name, value)| (name.as_str(), JqValue::from(value))))
            }
        }
    }
}

impl From<&JqValue> for serde_json::Value {
    fn from(value: &JqValue) -> Self {
        match value {
            JqValue::Null => serde_json::Value::Null,
            JqValue::Bool(truth) => (*truth).into(),
            JqValue::Int(number) => (*number).into(),
            JqValue::Float(number) => (*number).into(),
            JqValue::String(text) => (&**text).into(),
            JqValue::Array(array) => array.items.iter().map(serde_json::Value::from).collect(),
            JqValue::Object(object) => {
                object.members.iter().map(|(name, value)| (name.to_string(), serde_json::Value::from(value))).collect()
            }
        }
    }
}
