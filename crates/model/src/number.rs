//! Numbers in keys and policies. Some tools write integers as `1e6` or `10.0`; that is accepted. A number that exceeds 64 bits is
//! an error, as in Tyk, because its meaning is unknown.

use std::fmt;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserializer, Serializer};

use crate::span::parse_span;

/// The largest integer up to which every integral `f64` is exact.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Reads an integer: fractions are truncated; a number that exceeds 64 bits is an error.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_i64(Whole)
}

/// Reads seconds: a number, or a Go duration such as `1m30s`.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_any(Seconds)
}

/// Schema of what [`seconds`] reads.
pub(crate) fn seconds_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "string"] })
}

/// Writes a whole value without `.0`, as Go does.
pub(crate) fn short<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

/// Same for an optional number.
pub(crate) fn short_option<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => short(number, serializer),
        None => serializer.serialize_none(),
    }
}

/// Whether a value is its type's default.
pub(crate) fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

struct Seconds;

impl Visitor<'_> for Seconds {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of seconds, or a text such as \"30s\"")
    }

    fn visit_unit<E: de::Error>(self) -> Result<f64, E> {
        Ok(0.0)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        match text {
            "" => Ok(0.0),
            text => {
                parse_span(text).map(|span| span.as_secs_f64()).ok_or_else(|| E::custom("must be a span of time such as \"30s\""))
            }
        }
    }
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<i64, E> {
        i64::try_from(number).map_err(|_| too_large())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<i64, E> {
        // 2^63 is the first that does not fit; every smaller f64 converts exactly.
        let bound = 2f64.powi(63);
        if (-bound..bound).contains(&number) { Ok(number as i64) } else { Err(too_large()) }
    }
}

fn too_large<E: de::Error>() -> E {
    E::custom("does not fit into 64 bits")
}
