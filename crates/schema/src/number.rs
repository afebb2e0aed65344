//! Numbers of JSON by their values, whatever they are written like: `1` is `1.0`, and a multiple is one of the decimal fraction that is written.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use serde_json::Number;

/// Digits of the largest power of ten in an `i128`.
const DIGITS_MAX: u32 = 38;

/// The value of a number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Exact {
    /// A whole number.
    Whole(i128),
    /// A fraction, or a whole number of more than 38 digits.
    Float(f64),
}

impl Exact {
    pub(crate) fn of(number: &Number) -> Self {
        if let Some(whole) = number.as_i64() {
            return Exact::Whole(whole.into());
        }
        if let Some(whole) = number.as_u64() {
            return Exact::Whole(whole.into());
        }
        let float = number.as_f64().unwrap_or_default();
        if float.fract() == 0.0 && float.abs() < 1e38 { Exact::Whole(float as i128) } else { Exact::Float(float) }
    }

    fn as_f64(self) -> f64 {
        match self {
            Exact::Whole(whole) => whole as f64,
            Exact::Float(float) => float,
        }
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Exact::Whole(one), Exact::Whole(other)) => Some(one.cmp(other)),
            // Fractions are small enough, and other floats large enough, for the whole number's rounding to change nothing.
            (one, other) => one.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

impl Hash for Exact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Exact::Whole(whole) => whole.hash(state),
            Exact::Float(float) => float.to_bits().hash(state),
        }
    }
}

/// Whether a number is whole.
pub(crate) fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|value| value.fract() == 0.0)
}

/// Whether a number is a multiple of a step, which is more than 0.
pub(crate) fn is_multiple(value: &Number, step: &Number) -> bool {
    // A float of many digits is not exactly what was written; the shortest text that is read as it is closer.
    let whole = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    if let (Some(value), Some(step)) = (whole(value), whole(step)) {
        return step != 0 && value % step == 0;
    }
    let (value, step) = (Decimal::of(value), Decimal::of(step));
    let (Some(value), Some(step)) = (value, step) else { return false };
    value.is_multiple_of(step)
}

/// A decimal fraction: digits and the power of ten that they are multiplied with.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// The fraction that is written: the shortest one that is read as this number.
    fn of(number: &Number) -> Option<Self> {
        let text = match number.as_f64() {
            Some(float) if number.is_f64() => format!("{:e}", float.abs()),
            _ => number.to_string().trim_start_matches('-').to_owned(),
        };
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        Some(Decimal { digits: format!("{whole}{fraction}").parse().ok()?, exponent })
    }

    fn is_multiple_of(self, step: Decimal) -> bool {
        if self.digits == 0 || step.digits == 0 {
            return self.digits == 0;
        }
        let difference = self.exponent.saturating_sub(step.exponent);
        let power = difference.unsigned_abs();
        if difference < 0 {
            // Few enough digits on both sides: a step of more digits than the number has none of it as a multiple.
            let scaled =
                Some(power).filter(|power| *power <= DIGITS_MAX).and_then(|power| step.digits.checked_mul(10_u128.pow(power)));
            return scaled.is_some_and(|step| self.digits.is_multiple_of(step));
        }
        // The remainder of digits times a power of ten; both factors are less than 2^64 after each step.
        let remainder = (0..power).fold(self.digits % step.digits, |rest, _| (rest * 10) % step.digits);
        remainder == 0
    }
}
