//! The functions of the `sprig` library, by subject. Those that need a clock, randomness, a network, keys or regular expressions are not
//! here: a template that uses one is refused when it is parsed, with the function's name.

mod encoding;
mod lists;
mod maps;
mod math;
mod strings;

use crate::arguments::Function;
use crate::value::Value;

/// All of them.
pub(crate) static TABLES: &[&[Function]] =
    &[strings::FUNCTIONS, lists::FUNCTIONS, maps::FUNCTIONS, math::FUNCTIONS, encoding::FUNCTIONS];

/// Sprig's idea of nothing: what the language calls false.
fn is_empty(value: &Value) -> bool {
    !value.is_true()
}

/// What a function of type `interface{}` keeps of an argument: no value is stored as nil.
fn stored(value: &Value) -> Value {
    if value.is_nil() { Value::Null } else { value.clone() }
}
