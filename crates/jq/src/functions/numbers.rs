//! Functions of numbers.

use super::{of_input, of_two};
use crate::arithmetic::described;
use crate::run::JqRun;
use crate::value::{Failure, JqValue};
use jaq_core::ValR;
use jaq_core::native::Fun;

pub(super) fn all() -> Vec<Fun<JqRun>> {
    let of_input = of_input! {
        "nan" => |_| Ok(JqValue::Float(f64::NAN));
        "infinite" => |_| Ok(JqValue::Float(f64::INFINITY));
        "isnan" => |value| number(&value, "isnan").map(|number| number.is_nan().into());
        "isinfinite" => |value| number(&value, "isinfinite").map(|number| number.is_infinite().into());
        "isnormal" => |value| number(&value, "isnormal").map(|number| number.is_normal().into());
        "floor" => |value| rounded(value, "floor", f64::floor);
        "ceil" => |value| rounded(value, "ceil", f64::ceil);
        "round" => |value| rounded(value, "round", f64::round);
        "trunc" => |value| rounded(value, "trunc", f64::trunc);
        "rint" => |value| rounded(value, "rint", f64::round_ties_even);
        "nearbyint" => |value| rounded(value, "nearbyint", f64::round_ties_even);
        "fabs" => |value| of(value, "fabs", f64::abs);
        "sqrt" => |value| of(value, "sqrt", f64::sqrt);
        "cbrt" => |value| of(value, "cbrt", f64::cbrt);
        "exp" => |value| of(value, "exp", f64::exp);
        "exp2" => |value| of(value, "exp2", f64::exp2);
        "exp10" => |value| of(value, "exp10", |number| 10_f64.powf(number));
        "log" => |value| of(value, "log", f64::ln);
        "log2" => |value| of(value, "log2", f64::log2);
        "log10" => |value| of(value, "log10", f64::log10);
        "sin" => |value| of(value, "sin", f64::sin);
        "cos" => |value| of(value, "cos", f64::cos);
        "tan" => |value| of(value, "tan", f64::tan);
        "asin" => |value| of(value, "asin", f64::asin);
        "acos" => |value| of(value, "acos", f64::acos);
        "atan" => |value| of(value, "atan", f64::atan);
    };
    let of_two = of_two! {
        "pow" => |_, base, exponent| of_both(&base, &exponent, "pow", f64::powf);
        "atan2" => |_, y, x| of_both(&y, &x, "atan2", f64::atan2);
        "fmin" => |_, left, right| of_both(&left, &right, "fmin", f64::min);
        "fmax" => |_, left, right| of_both(&left, &right, "fmax", f64::max);
        "fmod" => |_, left, right| of_both(&left, &right, "fmod", |left, right| left % right);
    };
    of_input.into_iter().chain(of_two).collect()
}

fn number(value: &JqValue, function: &str) -> Result<f64, Failure> {
    value.as_number().ok_or_else(|| Failure::str(format_args!("{} number required for {function}", described(value))))
}

fn of(value: JqValue, function: &str, calculate: fn(f64) -> f64) -> ValR<JqValue> {
    number(&value, function).map(|number| JqValue::Float(calculate(number)))
}

/// An integer stays as it is; a rounded number is one if it fits.
fn rounded(value: JqValue, function: &str, round: fn(f64) -> f64) -> ValR<JqValue> {
    /// Up to here each integer is a `f64`.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if let JqValue::Int(_) = value {
        return Ok(value);
    }
    let number = round(number(&value, function)?);
    Ok(if number.abs() <= EXACT_MAX { JqValue::Int(number as i64) } else { JqValue::Float(number) })
}

fn of_both(left: &JqValue, right: &JqValue, function: &str, calculate: fn(f64, f64) -> f64) -> ValR<JqValue> {
    Ok(JqValue::Float(calculate(number(left, function)?, number(right, function)?)))
}
