//! Dates, all in UTC: seconds since 1970, and jq's arrays of year, month from 0, day, hour, minute, second, day of the week and of the year.

use super::{of_input, of_one, text_of};
use crate::arithmetic::described;
use crate::run::JqRun;
use crate::value::{Failure, JqValue};
use jaq_core::ValR;
use jaq_core::native::Fun;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// A format above this size is no format.
const FORMAT_BYTES_MAX: usize = 1024;

pub(super) fn all() -> Vec<Fun<JqRun>> {
    let of_input = of_input! {
        "gmtime" => |value: JqValue| gmtime(&value, "gmtime");
        "localtime" => |value: JqValue| gmtime(&value, "localtime");
        "mktime" => mktime;
    };
    let of_one = of_one! {
        "strftime" => |value: JqValue, format: JqValue| strftime(&value, &format, "strftime/1");
        "strflocaltime" => |value: JqValue, format: JqValue| strftime(&value, &format, "strflocaltime/1");
        "strptime" => strptime;
    };
    of_input.into_iter().chain(of_one).collect()
}

fn gmtime(value: &JqValue, function: &str) -> ValR<JqValue> {
    let seconds = value.as_number().ok_or_else(|| Failure::str(format_args!("{function}() requires a number")))?;
    let timestamp = at(seconds)?;
    let date = TimeZone::UTC.to_datetime(timestamp);
    // The fraction as it was given, as far as it is exact.
    Ok(broken_down(date, seconds - seconds.floor()))
}

fn at(seconds: f64) -> Result<Timestamp, Failure> {
    let whole = seconds.floor();
    Timestamp::from_second(whole as i64)
        .ok()
        .filter(|_| whole.is_finite())
        .ok_or_else(|| Failure::str("error converting number of seconds since epoch to datetime"))
}

fn broken_down(date: DateTime, fraction: f64) -> JqValue {
    let seconds =
        if fraction > 0.0 { JqValue::Float(f64::from(date.second()) + fraction) } else { JqValue::Int(date.second().into()) };
    let number = |number: i64| JqValue::Int(number);
    JqValue::array(vec![
        number(date.year().into()),
        number(i64::from(date.month()) - 1),
        number(date.day().into()),
        number(date.hour().into()),
        number(date.minute().into()),
        seconds,
        number(date.weekday().to_sunday_zero_offset().into()),
        number(i64::from(date.day_of_year()) - 1),
    ])
}

/// The date of an array.
fn date_of(value: &JqValue, function: &str) -> Result<DateTime, Failure> {
    let wrong = || Failure::str(format_args!("{function} requires parsed datetime inputs"));
    let JqValue::Array(array) = value else { return Err(wrong()) };
    let part = |at: usize| array.items.get(at).and_then(JqValue::as_number).ok_or_else(wrong);
    let small = |number: f64| number as i8;
    let date = DateTime::new(
        part(0)? as i16,
        small(part(1)? + 1.0),
        small(part(2)?),
        small(part(3)?),
        small(part(4)?),
        small(part(5)?),
        0,
    );
    date.map_err(|_| wrong())
}

fn mktime(value: JqValue) -> ValR<JqValue> {
    let date = date_of(&value, "mktime")?;
    let timestamp = TimeZone::UTC.to_timestamp(date).map_err(|_| Failure::str("invalid gmtime representation"))?;
    Ok(JqValue::Int(timestamp.as_second()))
}

fn strftime(value: &JqValue, format: &JqValue, function: &str) -> ValR<JqValue> {
    let date = match value.as_number() {
        Some(seconds) => TimeZone::UTC.to_datetime(at(seconds)?),
        None => date_of(value, function)?,
    };
    let format = format_of(format, function)?;
    let timestamp = TimeZone::UTC.to_timestamp(date).map_err(|_| Failure::str(format_args!("{function}: date is out of range")))?;
    let zoned = timestamp.to_zoned_datetime(TimeZone::UTC);
    let text = strtime::format(format, &zoned).map_err(|error| Failure::str(format_args!("{function}: {error}")))?;
    JqValue::paid(&text)
}

fn format_of<'v>(format: &'v JqValue, function: &str) -> Result<&'v str, Failure> {
    let text = format.as_str().filter(|text| text.len() <= FORMAT_BYTES_MAX);
    text.ok_or_else(|| Failure::str(format_args!("{function} requires a string format")))
}

fn strptime(value: JqValue, format: JqValue) -> ValR<JqValue> {
    let text = text_of(&value, "strptime/1")?;
    let format = format_of(&format, "strptime/1")?;
    // The name of a zone is read and says nothing, as all dates are UTC.
    let has_zone = format.ends_with("%Z");
    let (format, text) = match (has_zone, format.strip_suffix("%Z"), text.trim_end_matches(|c: char| c.is_ascii_alphabetic())) {
        (true, Some(format), rest) => (format, rest),
        _ => (format, text),
    };
    let mismatch =
        || Failure::str(format_args!("date {} does not match format {}", described(&value), JqValue::string(format).shown(100)));
    let parsed = strtime::parse(format, text).map_err(|_| mismatch())?;
    let date = match parsed.to_timestamp() {
        Ok(timestamp) => TimeZone::UTC.to_datetime(timestamp),
        Err(_) => parsed.to_datetime().or_else(|_| parsed.to_date().map(|date| date.at(0, 0, 0, 0))).map_err(|_| mismatch())?,
    };
    Ok(broken_down(date, 0.0))
}
