//! Values of a template: those that Go's `encoding/json` reads from a document, and the results of functions.

use crate::native::Native;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A map, which `set` and `unset` change in place, as in Go. Keys are sorted, because Go prints maps and ranges over them in that
/// order.
pub(crate) type Map = Rc<RefCell<BTreeMap<Rc<str>, Value>>>;

/// A value. Clones are cheap: texts, lists and maps are shared.
#[derive(Clone, Debug)]
pub enum Value {
    /// No value: a missing member, or the result of a pipeline that is nil. A field of it is missing too.
    Missing,
    /// `null`: an empty interface. A field of it is an error.
    Null,
    /// `bool`
    Bool(bool),
    /// `int`: literals, lengths.
    Int(i64),
    /// `int64`, or `uint64`: results of arithmetic, times in Unix seconds.
    Int64(i64),
    /// `float64`: every number of a JSON document.
    Float(f64),
    /// `string`
    String(Rc<str>),
    /// `[]interface {}`
    List(Rc<Vec<Value>>),
    /// `map[string]interface {}`
    Map(MapValue),
    /// A struct: reading a field that it does not have is an error.
    Struct(Rc<StructValue>),
    /// A value of a Go type with methods, such as a time.
    Native(Rc<NativeValue>),
}

/// The shared value of [`Value::Native`].
#[derive(Clone, Debug)]
pub struct NativeValue(pub(crate) Native);

/// The fields of [`Value::Struct`], in their order.
#[derive(Clone, Debug)]
pub struct StructValue {
    type_name: &'static str,
    fields: Vec<(&'static str, Value)>,
}

/// The shared map of [`Value::Map`].
#[derive(Clone, Debug)]
pub struct MapValue(pub(crate) Map);

impl Value {
    /// A text.
    pub fn string(text: impl AsRef<str>) -> Self {
        Value::String(Rc::from(text.as_ref()))
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Value::List(Rc::new(items.into_iter().collect()))
    }

    /// A map; a later entry replaces an earlier one of the same key.
    pub fn map<K: AsRef<str>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (Rc::from(key.as_ref()), value));
        Value::of_members(entries.collect())
    }

    pub(crate) fn of_members(members: BTreeMap<Rc<str>, Value>) -> Self {
        Value::Map(MapValue(Rc::new(RefCell::new(members))))
    }

    /// A struct of a Go type. As with embedded structs, a field of a field may be listed as the struct's own.
    pub fn structure(type_name: &'static str, fields: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        Value::Struct(Rc::new(StructValue { type_name, fields: fields.into_iter().collect() }))
    }

    /// A JSON document as Go reads it into an `interface{}`.
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(truth) => Value::Bool(*truth),
            serde_json::Value::Number(number) => Value::Float(number.as_f64().unwrap_or_default()),
            serde_json::Value::String(text) => Value::string(text),
            serde_json::Value::Array(items) => Value::list(items.iter().map(Value::from_json)),
            serde_json::Value::Object(members) => Value::map(members.iter().map(|(name, value)| (name, Value::from_json(value)))),
        }
    }

    /// Whether it is a map.
    pub fn is_map(&self) -> bool {
        matches!(self, Value::Map(_))
    }

    /// Sets a member of a map, in all clones of it; other values have none.
    pub fn set_member(&self, name: &str, value: Value) {
        if let Value::Map(map) = self {
            map.0.borrow_mut().insert(name.into(), value);
        }
    }

    /// Whether Go's `if` takes the first branch.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Value::Missing | Value::Null => false,
            Value::Bool(truth) => *truth,
            Value::Int(number) | Value::Int64(number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::String(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(map) => !map.0.borrow().is_empty(),
            Value::Struct(_) => true,
            Value::Native(native) => native.0.integer() != Some(0),
        }
    }

    pub(crate) fn is_nil(&self) -> bool {
        matches!(self, Value::Missing | Value::Null)
    }

    pub(crate) fn native(&self) -> Option<&Native> {
        if let Value::Native(native) = self { Some(&native.0) } else { None }
    }

    /// The number of any of Go's integer types.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Value::Int(number) | Value::Int64(number) => Some(*number),
            Value::Native(native) => native.0.integer(),
            _ => None,
        }
    }

    /// The result of a pipeline: an empty interface is no value.
    pub(crate) fn unwrapped(self) -> Self {
        if let Value::Null = self { Value::Missing } else { self }
    }

    /// Go's name of the type, as `%T` prints it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Missing | Value::Null => "<nil>",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Int64(_) => "int64",
            Value::Float(_) => "float64",
            Value::String(_) => "string",
            Value::List(_) => "[]interface {}",
            Value::Map(_) => "map[string]interface {}",
            Value::Struct(structure) => structure.type_name,
            Value::Native(native) => native.0.type_name(),
        }
    }
}

impl StructValue {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(crate) fn fields(&self) -> &[(&'static str, Value)] {
        &self.fields
    }
}

impl MapValue {
    pub(crate) fn get(&self, key: &str) -> Option<Value> {
        self.0.borrow().get(key).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// A copy of the entries, in the order of their keys.
    pub(crate) fn entries(&self) -> Vec<(Rc<str>, Value)> {
        self.0.borrow().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(Rc::from(text))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}

impl From<Native> for Value {
    fn from(native: Native) -> Self {
        Value::Native(Rc::new(NativeValue(native)))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}
