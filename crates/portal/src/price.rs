//! What plans cost. Amounts are exact: decimals as people write them, and no floating point anywhere.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Digits behind the point.
const PLACES: usize = 9;
/// Digits before the point: the price of all calls that a counter can hold fits in an amount.
const WHOLE_DIGITS_MAX: usize = 9;
const ONE: u128 = 1_000_000_000;
/// Digits behind the point that are shown, even if they are zeros.
const PLACES_MIN: usize = 2;

/// What a plan costs in a month.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanPrice {
    /// Three letters, such as `EUR` (ISO 4217).
    pub currency: String,
    /// Of a month in which an application has the plan, such as `49.00`; empty for nothing.
    pub per_month: String,
    /// Of a call with a status below 400 beyond the free ones, such as `0.002`; empty for nothing.
    pub per_call: String,
    /// Calls in a month of an application that cost nothing.
    pub free_calls: u64,
}

/// An amount of money, in billionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Amount(u128);

impl PlanPrice {
    /// What is wrong with it, with the member.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.currency.len() != 3 || !self.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err("currency: must have three letters, such as EUR".to_owned());
        }
        for (member, text) in [("per_month", &self.per_month), ("per_call", &self.per_call)] {
            if !text.is_empty() && Amount::parse(text).is_none() {
                let form = format!("at most {WHOLE_DIGITS_MAX} digits, and {PLACES} behind a point");
                return Err(format!("{member}: must be a text such as \"0.002\", with {form}"));
            }
        }
        Ok(())
    }

    /// The price of a month; one that is no amount is none.
    pub(crate) fn of_month(&self) -> Amount {
        Amount::parse(&self.per_month).unwrap_or_default()
    }

    /// The price of so many calls.
    pub(crate) fn of_calls(&self, calls: u64) -> Amount {
        let each = Amount::parse(&self.per_call).unwrap_or_default();
        Amount(each.0.saturating_mul(u128::from(calls.saturating_sub(self.free_calls))))
    }
}

impl Amount {
    /// `None` for everything but digits with at most one point among them.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let are_digits =
            |digits: &str, most| (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole, WHOLE_DIGITS_MAX) || !are_digits(part, PLACES) {
            return None;
        }
        let part: u128 = format!("{part:0<PLACES$}").parse().ok()?;
        Some(Amount(whole.parse::<u128>().ok()? * ONE + part))
    }

    pub(crate) fn plus(self, other: Amount) -> Amount {
        Amount(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:0PLACES$}", self.0 % ONE);
        let needed = part.trim_end_matches('0').len().max(PLACES_MIN);
        write!(formatter, "{}.{part:.needed$}", self.0 / ONE)
    }
}

#[cfg(test)]
mod tests;
