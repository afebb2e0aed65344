//! The methods of values with a Go type: `{{now.Year}}`, `{{(semver .v).Major}}`, `{{now.Format "15:04"}}`.

use crate::arguments::{FunctionResult, any, bounded, int, text, wrong};
use crate::duration;
use crate::gotime::{CivilTime, GoTime, Place};
use crate::host::TemplateHost;
use crate::native::Native;
use crate::semver::SemanticVersion;
use crate::value::Value;
use std::cmp::Ordering;

/// Calls a method. `None` if the type has none of this name.
pub(crate) fn call(native: &Native, name: &str, given: &[Value], host: &dyn TemplateHost) -> Option<FunctionResult> {
    if name == "String" {
        return Some(without_arguments(given, || Ok(native.text().into())));
    }
    match native {
        Native::Time(time) => of_time(time, name, given, host),
        Native::Duration(ns) => of_duration(*ns, name, given),
        Native::Version(version) => of_version(version, name, given),
        Native::Month(_) | Native::Weekday(_) => None,
    }
}

fn without_arguments(given: &[Value], result: impl FnOnce() -> FunctionResult) -> FunctionResult {
    expect(given, 0)?;
    result()
}

fn expect(given: &[Value], count: usize) -> Result<(), String> {
    if given.len() == count { Ok(()) } else { Err(format!("wrong number of args: want {count} got {}", given.len())) }
}

fn time_at(given: &[Value], at: usize) -> Result<&GoTime, String> {
    match any(given, at).native() {
        Some(Native::Time(time)) => Ok(time),
        _ => Err(wrong(any(given, at), "time.Time")),
    }
}

/// The value of a part of a time that needs no argument.
fn part_of_time(time: &GoTime, name: &str) -> Option<Value> {
    let civil = time.civil();
    let unix = |per_s: i64| {
        let part = i64::from(time.ns) / (1_000_000_000 / per_s);
        Value::Int64(time.unix_s.wrapping_mul(per_s).wrapping_add(part))
    };
    Some(match name {
        "Year" => Value::Int(civil.year),
        "Month" => Native::Month(civil.month).into(),
        "Day" => Value::Int(civil.day),
        "Hour" => Value::Int(civil.hour),
        "Minute" => Value::Int(civil.minute),
        "Second" => Value::Int(civil.second),
        "Nanosecond" => Value::Int(i64::from(time.ns)),
        "Weekday" => Native::Weekday(time.weekday()).into(),
        "YearDay" => Value::Int(time.year_day()),
        "Unix" => unix(1),
        "UnixMilli" => unix(1_000),
        "UnixMicro" => unix(1_000_000),
        "UnixNano" => unix(1_000_000_000),
        "IsZero" => Value::Bool(time.is_zero()),
        "UTC" => Native::Time(time.within(Place::Utc)).into(),
        _ => return None,
    })
}

fn of_time(time: &GoTime, name: &str, given: &[Value], host: &dyn TemplateHost) -> Option<FunctionResult> {
    if let Some(part) = part_of_time(time, name) {
        return Some(without_arguments(given, || Ok(part)));
    }
    let order = || -> Result<Ordering, String> {
        expect(given, 1)?;
        Ok(time.unix_ns().cmp(&time_at(given, 0)?.unix_ns()))
    };
    Some(match name {
        "Local" => without_arguments(given, || Ok(Native::Time(time.within(Place::Zone(host.local_zone()))).into())),
        "Format" => expect(given, 1).and_then(|()| {
            let layout = text(given, 0)?;
            bounded(layout.len().saturating_mul(5))?;
            Ok(time.format(layout).into())
        }),
        "Add" => expect(given, 1).and_then(|()| Ok(Native::Time(time.plus(int(given, 0)?)).into())),
        "Sub" => expect(given, 1).and_then(|()| Ok(Native::Duration(time.since(time_at(given, 0)?.unix_ns())).into())),
        "AddDate" => expect(given, 3).and_then(|()| {
            let civil = time.civil();
            let moved = CivilTime {
                year: civil.year.saturating_add(int(given, 0)?),
                month: civil.month.saturating_add(int(given, 1)?),
                day: civil.day.saturating_add(int(given, 2)?),
                ..civil
            };
            Ok(Native::Time(GoTime::of_civil(moved, time.ns, time.place.clone())).into())
        }),
        "Before" => order().map(|order| order.is_lt().into()),
        "After" => order().map(|order| order.is_gt().into()),
        "Equal" => order().map(|order| order.is_eq().into()),
        "Compare" => order().map(|order| Value::Int(order as i64)),
        _ => return None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "as Go divides durations")]
fn of_duration(ns: i64, name: &str, given: &[Value]) -> Option<FunctionResult> {
    // Whole units and the rest are divided apart, so that nothing is lost.
    let parts = |unit: i64| Value::Float((ns / unit) as f64 + (ns % unit) as f64 / unit as f64);
    let value = match name {
        "Hours" => parts(3_600_000_000_000),
        "Minutes" => parts(60_000_000_000),
        "Seconds" => parts(duration::NS_PER_S),
        "Milliseconds" => Value::Int64(ns / 1_000_000),
        "Microseconds" => Value::Int64(ns / 1_000),
        "Nanoseconds" => Value::Int64(ns),
        "Abs" => Native::Duration(ns.saturating_abs()).into(),
        _ => return None,
    };
    Some(without_arguments(given, || Ok(value)))
}

fn of_version(version: &SemanticVersion, name: &str, given: &[Value]) -> Option<FunctionResult> {
    let number = |number: u64| Value::Int64(i64::try_from(number).unwrap_or(i64::MAX));
    let value = match name {
        "Major" => number(version.major),
        "Minor" => number(version.minor),
        "Patch" => number(version.patch),
        "Prerelease" => version.prerelease.clone().into(),
        "Metadata" => version.metadata.clone().into(),
        "Original" => version.original.clone().into(),
        "IncMajor" => Native::Version(version.next_major()).into(),
        "IncMinor" => Native::Version(version.next_minor()).into(),
        "IncPatch" => Native::Version(version.next_patch()).into(),
        _ => return order_of_versions(version, name, given),
    };
    Some(without_arguments(given, || Ok(value)))
}

fn order_of_versions(version: &SemanticVersion, name: &str, given: &[Value]) -> Option<FunctionResult> {
    let fits: fn(Ordering) -> Value = match name {
        "Compare" => |order| Value::Int(order as i64),
        "Equal" => |order| order.is_eq().into(),
        "LessThan" => |order| order.is_lt().into(),
        "LessThanEqual" => |order| order.is_le().into(),
        "GreaterThan" => |order| order.is_gt().into(),
        "GreaterThanEqual" => |order| order.is_ge().into(),
        _ => return None,
    };
    Some(expect(given, 1).and_then(|()| match any(given, 0).native() {
        Some(Native::Version(other)) => Ok(fits(version.order(other))),
        _ => Err(wrong(any(given, 0), "*semver.Version")),
    }))
}
