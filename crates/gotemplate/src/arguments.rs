//! The signature of template functions. A function takes values and returns one, or an error.

use crate::host::TemplateHost;
use crate::pattern::PatternSearch;
use crate::value::{MapValue, Value};
use std::rc::Rc;

/// Maximum bytes of a text that a function returns: no reasonable body is larger, and `repeat` can request any size.
pub(crate) const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum items of a list that a function returns, for `until` and `seq`.
pub(crate) const ITEMS_MAX: usize = 1_000_000;

/// The result of a function.
pub(crate) type FunctionResult = Result<Value, String>;

#[derive(Debug)]
pub(crate) struct Function {
    pub name: &'static str,
    pub least: usize,
    pub most: usize,
    pub body: FunctionBody,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum FunctionBody {
    /// `and` and `or` evaluate their arguments in order and stop at the first one that decides.
    And,
    Or,
    Call(fn(&[Value]) -> FunctionResult),
    /// Needs the time, randomness or a time zone.
    Hosted(fn(&[Value], &dyn TemplateHost) -> FunctionResult),
    /// Searches with the regular expression that is its first argument. If that cannot be compiled, the search is the reason.
    Search(fn(&[Value], Result<&mut PatternSearch<'_>, String>) -> FunctionResult),
}

/// What a call has beside its arguments.
pub(crate) struct CallContext<'c, 's> {
    pub host: &'c dyn TemplateHost,
    pub search: Option<Result<&'c mut PatternSearch<'s>, String>>,
}

/// Any number of arguments.
pub(crate) const ANY: usize = usize::MAX;

pub(crate) const fn call(name: &'static str, least: usize, most: usize, body: fn(&[Value]) -> FunctionResult) -> Function {
    Function { name, least, most, body: FunctionBody::Call(body) }
}

pub(crate) const fn hosted(
    name: &'static str,
    least: usize,
    most: usize,
    body: fn(&[Value], &dyn TemplateHost) -> FunctionResult,
) -> Function {
    Function { name, least, most, body: FunctionBody::Hosted(body) }
}

impl Function {
    /// Calls it with all arguments.
    pub(crate) fn call(&self, arguments: &[Value], context: CallContext<'_, '_>) -> FunctionResult {
        if arguments.len() < self.least || arguments.len() > self.most {
            let wanted = if self.most == ANY { format!("at least {}", self.least) } else { self.least.to_string() };
            return Err(format!("wrong number of args for {}: want {wanted} got {}", self.name, arguments.len()));
        }
        let result = match self.body {
            FunctionBody::Call(body) => body(arguments),
            FunctionBody::Hosted(body) => body(arguments, context.host),
            FunctionBody::Search(body) => {
                let search = context.search.unwrap_or_else(|| Err("no regular expression".to_owned()));
                text(arguments, 0).and_then(|_| body(arguments, search))
            }
            FunctionBody::And => Ok(decided(arguments, false)),
            FunctionBody::Or => Ok(decided(arguments, true)),
        };
        result.map_err(|error| format!("error calling {}: {error}", self.name))
    }
}

fn decided(arguments: &[Value], by: bool) -> Value {
    let found = arguments.iter().find(|argument| argument.is_true() == by);
    found.or(arguments.last()).cloned().unwrap_or(Value::Missing)
}

const NO_VALUE: &Value = &Value::Missing;

/// An argument of any type.
pub(crate) fn any(arguments: &[Value], at: usize) -> &Value {
    arguments.get(at).unwrap_or(NO_VALUE)
}

pub(crate) fn wrong(value: &Value, expected: &str) -> String {
    if value.is_nil() {
        return format!("invalid value; expected {expected}");
    }
    format!("wrong type for value; expected {expected}; got {}", value.type_name())
}

/// An argument that must be a `string`.
pub(crate) fn text(arguments: &[Value], at: usize) -> Result<&str, String> {
    match any(arguments, at) {
        Value::String(text) => Ok(text),
        other => Err(wrong(other, "string")),
    }
}

/// An argument that must be an integer. Go would also tell `int` from `int64`.
pub(crate) fn int(arguments: &[Value], at: usize) -> Result<i64, String> {
    let value = any(arguments, at);
    value.integer().ok_or_else(|| wrong(value, "int"))
}

/// An argument that must be a `map[string]interface {}`.
pub(crate) fn map(arguments: &[Value], at: usize) -> Result<&MapValue, String> {
    match any(arguments, at) {
        Value::Map(map) => Ok(map),
        other => Err(wrong(other, "map[string]interface {}")),
    }
}

/// An argument that must be a list.
pub(crate) fn items(arguments: &[Value], at: usize) -> Result<&Rc<Vec<Value>>, String> {
    match any(arguments, at) {
        Value::List(items) => Ok(items),
        other => Err(wrong(other, "[]interface {}")),
    }
}

/// Checks that a text is within the maximum.
pub(crate) fn bounded(bytes: usize) -> Result<(), String> {
    if bytes > TEXT_BYTES_MAX {
        return Err(format!("the text would have more than {TEXT_BYTES_MAX} bytes"));
    }
    Ok(())
}
