//! Formats floating-point numbers as Go does.

use std::fmt::Write;

/// `%v`, and `%g` without a precision: the shortest digits. It uses an exponent below 1e-4, and from 1e6 if not all of these digits
/// are needed.
pub(crate) fn shortest(number: f64, letter: char) -> String {
    let mut out = String::new();
    shortest_into(number, letter, &mut out);
    out
}

/// The same behind a text.
pub(crate) fn shortest_into(number: f64, letter: char, out: &mut String) {
    let size = number.abs();
    // Without an exponent. Zero has a sign, which `write!` knows.
    if number == 0.0 || (SIMPLE_FROM..SIMPLE_BELOW).contains(&size) {
        // Writing to a text does not fail.
        let _ = write!(out, "{number}");
    } else {
        out.push_str(&unusual(number, letter));
    }
}

fn unusual(number: f64, letter: char) -> String {
    if let Some(special) = special(number) {
        return special.to_owned();
    }
    let (sign, digits, exponent) = digits(&format!("{number:e}"));
    if !(-4..EXPONENT_FROM).contains(&exponent) {
        return scientific(sign, &digits, exponent, letter);
    }
    format!("{number}")
}

/// Go's `%v` writes a million as `1e+06`.
const EXPONENT_FROM: i32 = 6;
const SIMPLE_FROM: f64 = 1e-4;
const SIMPLE_BELOW: f64 = 1e6;

/// `NaN` and the infinities.
pub(crate) fn special(number: f64) -> Option<&'static str> {
    match number {
        _ if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("+Inf"),
        f64::NEG_INFINITY => Some("-Inf"),
        _ => None,
    }
}

/// `%e` with a number of digits after the point, or the shortest ones.
pub(crate) fn exponential(number: f64, precision: Option<usize>, letter: char) -> String {
    if let Some(special) = special(number) {
        return special.to_owned();
    }
    let text = precision.map_or_else(|| format!("{number:e}"), |precision| format!("{number:.precision$e}"));
    let (sign, digits, exponent) = digits(&text);
    scientific(sign, &digits, exponent, letter)
}

/// `%g` with a number of significant digits. Trailing zeros are dropped.
pub(crate) fn general(number: f64, precision: usize, letter: char) -> String {
    if let Some(special) = special(number) {
        return special.to_owned();
    }
    let significant = precision.max(1);
    let (sign, digits, exponent) = digits(&format!("{number:.*e}", significant - 1));
    let trimmed = digits.trim_end_matches('0');
    let kept = if trimmed.is_empty() { "0" } else { trimmed };
    let bound = i32::try_from(significant).unwrap_or(i32::MAX);
    // Go compares the exponent with the number of needed digits if these are fewer than requested.
    let needed = i32::try_from(kept.len()).unwrap_or(i32::MAX);
    let limit = if bound > needed && needed > exponent { needed } else { bound };
    if exponent < -4 || exponent >= limit {
        return scientific(sign, kept, exponent, letter);
    }
    let decimals = usize::try_from(needed - 1 - exponent).unwrap_or(0);
    format!("{number:.decimals$}")
}

/// The sign, the digits without a point, and the exponent of Rust's scientific notation.
fn digits(text: &str) -> (&'static str, String, i32) {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once('e').unwrap_or((rest, "0"));
    (sign, mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

fn scientific(sign: &str, digits: &str, exponent: i32, letter: char) -> String {
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    let point = if rest.is_empty() { "" } else { "." };
    let way = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}{letter}{way}{:02}", exponent.unsigned_abs())
}
