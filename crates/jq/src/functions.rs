//! The functions that a filter can call and that are not definitions. There are none that read the environment, other inputs or files, or that
//! end the process: a filter that calls one of these cannot be compiled.

mod dates;
mod formats;
mod lists;
mod numbers;
mod patterns;
mod texts;

use crate::budget::{CALL, TICK, spend};
use crate::paths::written;
use crate::run::JqRun;
use crate::value::{Failure, JqValue};
use jaq_core::box_iter::box_once;
use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{Cv, Exn, Native, ValR};

pub(crate) use patterns::check as check_pattern;

/// Steps of a path. Dropping one takes stack for each.
const PATH_STEPS_MAX: usize = 1000;

/// Functions of their input: a name and a function.
macro_rules! of_input {
    ($($name:literal => $function:expr;)+) => {
        vec![$(jaq_core::native::run(($name, jaq_core::native::v(0), |cv| jaq_core::native::bome($function(cv.1))))),+]
    };
}

/// Functions of their input and one argument.
macro_rules! of_one {
    ($($name:literal => $function:expr;)+) => {
        vec![$(jaq_core::native::run(($name, jaq_core::native::v(1), |mut cv| {
            let argument = cv.0.pop_var();
            jaq_core::native::bome($function(cv.1, argument))
        }))),+]
    };
}

/// Functions of their input and two arguments.
macro_rules! of_two {
    ($($name:literal => $function:expr;)+) => {
        vec![$(jaq_core::native::run(($name, jaq_core::native::v(2), |mut cv| {
            let second = cv.0.pop_var();
            let first = cv.0.pop_var();
            jaq_core::native::bome($function(cv.1, first, second))
        }))),+]
    };
}

pub(crate) use {of_input, of_one, of_two};

/// All of them, with those of jaq's core.
pub(crate) fn all() -> impl Iterator<Item = Fun<JqRun>> {
    let own = [documents(), lists::all(), texts::all(), formats::all(), numbers::all(), patterns::all(), dates::all()];
    let now = run(("now", v(0), |cv: Cv<'_, JqRun>| bome(Ok(JqValue::Float(cv.0.data().now)))));
    own.into_iter().flatten().chain([tick(), now]).chain(jaq_core::funs())
}

/// Returns its input, and ends the run when its budget is used up. What it throws cannot be caught.
fn tick() -> Fun<JqRun> {
    const USED_UP: i32 = 1;
    let native = Native::new(|cv| box_once(spend(CALL).map(|()| cv.1).map_err(|_| Exn::halt(USED_UP))));
    let native = native.with_paths(|cv| {
        let is_short = cv.1.1.skip(PATH_STEPS_MAX).head().is_none();
        let paid = spend(if is_short { CALL } else { usize::MAX });
        box_once(paid.map(|()| cv.1).map_err(|_| Exn::halt(USED_UP)))
    });
    let native = native.with_update(|cv, f| match spend(CALL) {
        Ok(()) => f(cv.1),
        Err(_) => box_once(Err(Exn::halt(USED_UP))),
    });
    (TICK, v(0), native)
}

/// Functions for JSON and types.
fn documents() -> Vec<Fun<JqRun>> {
    of_input! {
        "null" => |_| Ok(JqValue::Null);
        "true" => |_| Ok(JqValue::Bool(true));
        "false" => |_| Ok(JqValue::Bool(false));
        "type" => |value: JqValue| Ok(JqValue::string(value.type_name()));
        "tojson" => |value: JqValue| written(&value);
        "fromjson" => from_json;
        "tonumber" => to_number;
    }
}

fn from_json(value: JqValue) -> ValR<JqValue> {
    let text = text_of(&value, "fromjson")?;
    spend(16 * text.len())?;
    match JqValue::read(text.as_bytes()) {
        Ok(Some(read)) => Ok(read),
        Ok(None) => Ok(JqValue::Null),
        // jq writes it, and reads it.
        Err(_) if text.trim() == "nan" => Ok(JqValue::Float(f64::NAN)),
        Err(error) => Err(Failure::str(format_args!("{error} (while parsing '{}')", JqValue::string(text).shown(100)))),
    }
}

fn to_number(value: JqValue) -> ValR<JqValue> {
    if value.as_number().is_some() {
        return Ok(value);
    }
    let JqValue::String(text) = &value else {
        return Err(Failure::str(format_args!("{} cannot be parsed as a number", crate::arithmetic::described(&value))));
    };
    spend(text.len())?;
    let is_written_so = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let number = text.parse().map(JqValue::Int).or_else(|_| text.parse().map(JqValue::Float));
    let number = number.ok().filter(|_| is_written_so);
    number.ok_or_else(|| Failure::str(format_args!("Cannot parse '{}' as a number", value.shown(100))))
}

/// The text that a function works on.
pub(crate) fn text_of<'v>(value: &'v JqValue, function: &str) -> Result<&'v str, Failure> {
    value.as_str().ok_or_else(|| {
        Failure::str(format_args!(
            "{} cannot be the input of {function}, as it is not a string",
            crate::arithmetic::described(value)
        ))
    })
}
