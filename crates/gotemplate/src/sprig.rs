//! The functions of the `sprig` library, by subject. Functions that need a clock, randomness, a network, keys or regular
//! expressions are missing: a template that uses one is rejected by the parser, with the function's name.

mod encoding;
mod lists;
mod maps;
mod math;
mod strings;

use crate::arguments::Function;
use crate::value::Value;

/// All functions.
pub(crate) static TABLES: &[&[Function]] =
    &[strings::FUNCTIONS, lists::FUNCTIONS, maps::FUNCTIONS, math::FUNCTIONS, encoding::FUNCTIONS];

/// Whether sprig considers a value empty: whether it is false in the language.
fn is_empty(value: &Value) -> bool {
    !value.is_true()
}

/// The argument as a function of type `interface{}` stores it: no value becomes nil.
fn stored(value: &Value) -> Value {
    if value.is_nil() { Value::Null } else { value.clone() }
}
