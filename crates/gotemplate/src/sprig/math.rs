//! Functions on numbers. Integer functions accept any value: they parse a text, and truncate a number with a fraction.

use crate::arguments::{ANY, Function, FunctionResult, any, call, int, text};
use crate::number;
use crate::print;
use crate::value::Value;
use bigdecimal::{BigDecimal, RoundingMode, ToPrimitive as _, Zero as _};

pub(super) static FUNCTIONS: &[Function] = &[
    call("int", 1, 1, |given| Ok(whole(any(given, 0)).into())),
    call("int64", 1, 1, |given| Ok(Value::Int64(whole(any(given, 0))))),
    call("float64", 1, 1, |given| Ok(real(any(given, 0)).into())),
    call("atoi", 1, 1, |given| Ok(text(given, 0)?.parse::<i64>().unwrap_or(0).into())),
    call("toDecimal", 1, 1, |given| Ok(Value::Int64(i64::from_str_radix(&print::text_of(any(given, 0)), 8).unwrap_or(0)))),
    call("add1", 1, 1, |given| Ok(Value::Int64(whole(any(given, 0)).wrapping_add(1)))),
    call("add", 0, ANY, |given| Ok(Value::Int64(given.iter().fold(0, |sum, value| sum.wrapping_add(whole(value)))))),
    call("sub", 2, 2, |given| Ok(Value::Int64(whole(any(given, 0)).wrapping_sub(whole(any(given, 1)))))),
    call("mul", 1, ANY, |given| Ok(Value::Int64(given.iter().fold(1, |product, value| product.wrapping_mul(whole(value)))))),
    call("div", 2, 2, |given| divided(given, i64::checked_div)),
    call("mod", 2, 2, |given| divided(given, i64::checked_rem)),
    call("max", 1, ANY, |given| Ok(Value::Int64(given.iter().map(whole).max().unwrap_or(0)))),
    call("biggest", 1, ANY, |given| Ok(Value::Int64(given.iter().map(whole).max().unwrap_or(0)))),
    call("min", 1, ANY, |given| Ok(Value::Int64(given.iter().map(whole).min().unwrap_or(0)))),
    call("maxf", 1, ANY, |given| Ok(given.iter().map(real).fold(f64::NEG_INFINITY, f64::max).into())),
    call("minf", 1, ANY, |given| Ok(given.iter().map(real).fold(f64::INFINITY, f64::min).into())),
    call("add1f", 1, 1, |given| decimals(&[any(given, 0).clone(), Value::Float(1.0)], |sum, next| Ok(sum + next))),
    call("addf", 0, ANY, |given| decimals(given, |sum, next| Ok(sum + next))),
    call("subf", 1, ANY, |given| decimals(given, |rest, next| Ok(rest - next))),
    call("mulf", 1, ANY, |given| decimals(given, |product, next| Ok(product * next))),
    call("divf", 1, ANY, |given| {
        decimals(given, |rest, next| {
            if next.is_zero() {
                return Err("decimal division by 0".to_owned());
            }
            Ok((rest / next).with_scale_round(DIVISION_DIGITS, RoundingMode::HalfUp))
        })
    }),
    call("floor", 1, 1, |given| Ok(real(any(given, 0)).floor().into())),
    call("ceil", 1, 1, |given| Ok(real(any(given, 0)).ceil().into())),
    call("round", 2, 3, round),
];

/// Digits after the point in the result of a division.
const DIVISION_DIGITS: i64 = 16;

/// Converts any value to an integer; 0 if it is not a number.
#[expect(clippy::cast_possible_truncation, reason = "a float is cut, as Go does it")]
pub(super) fn whole(value: &Value) -> i64 {
    match value {
        Value::Int(number) | Value::Int64(number) => *number,
        Value::Native(native) => native.0.integer().unwrap_or(0),
        Value::Float(number) => *number as i64,
        Value::Bool(truth) => i64::from(*truth),
        Value::String(text) => {
            let digits = text
                .split_once('.')
                .filter(|(_, zeros)| zeros.bytes().all(|byte| byte == b'0'))
                .map_or(&**text, |(digits, _)| digits);
            number::integer(digits).unwrap_or(0)
        }
        _ => 0,
    }
}

/// Converts any value to a float; 0 if it is not a number.
#[expect(clippy::cast_precision_loss, reason = "a large integer is rounded, as Go does it")]
fn real(value: &Value) -> f64 {
    match value {
        Value::Int(number) | Value::Int64(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => text.parse().unwrap_or(0.0),
        _ => 0.0,
    }
}

fn divided(given: &[Value], divide: fn(i64, i64) -> Option<i64>) -> FunctionResult {
    let (dividend, divisor) = (whole(any(given, 0)), whole(any(given, 1)));
    divide(dividend, divisor).map(Value::Int64).ok_or_else(|| "integer divide by zero".to_owned())
}

/// Calculates in decimal digits, so that 0.1 + 0.2 is 0.3.
fn decimals(given: &[Value], reckon: impl Fn(BigDecimal, BigDecimal) -> Result<BigDecimal, String>) -> FunctionResult {
    let mut numbers = given.iter().map(|value| {
        let number = real(value);
        format!("{number:e}").parse::<BigDecimal>().map_err(|_| format!("{number} is no decimal number"))
    });
    let first = numbers.next().unwrap_or_else(|| Ok(BigDecimal::from(0)))?;
    let result = numbers.try_fold(first, |result, next| reckon(result, next?))?;
    Ok(result.to_f64().unwrap_or(0.0).into())
}

/// Rounds to a number of digits after the point. A third argument is the fraction from which it rounds up.
fn round(given: &[Value]) -> FunctionResult {
    let up_from = given.get(2).map_or(0.5, real);
    let places = i32::try_from(int(given, 1)?).map_err(|_| "too many digits".to_owned())?;
    let power = 10_f64.powi(places);
    let digit = power * real(any(given, 0));
    let rounded = if digit.fract() >= up_from { digit.ceil() } else { digit.floor() };
    Ok((rounded / power).into())
}
