//! Dates and durations. A date is a time, or an integer of Unix seconds; as in sprig, any other value counts as now.

use crate::arguments::{Function, FunctionResult, any, bounded, call, hosted, text, wrong};
use crate::duration::{self, NS_PER_S};
use crate::gotime::{self, GoTime, Place};
use crate::host::TemplateHost;
use crate::native::Native;
use crate::value::Value;

pub(super) static FUNCTIONS: &[Function] = &[
    hosted("now", 0, 0, |_, host| Ok(Native::Time(now(host)).into())),
    hosted("date", 2, 2, |given, host| in_zone(text(given, 0)?, any(given, 1), "Local", host)),
    hosted("dateInZone", 3, 3, date_in_zone),
    hosted("date_in_zone", 3, 3, date_in_zone),
    hosted("htmlDate", 1, 1, |given, host| in_zone(HTML, any(given, 0), "Local", host)),
    hosted("htmlDateInZone", 2, 2, |given, host| in_zone(HTML, any(given, 0), text(given, 1)?, host)),
    call("dateModify", 2, 2, modified),
    call("date_modify", 2, 2, modified),
    call("mustDateModify", 2, 2, moved),
    call("must_date_modify", 2, 2, moved),
    hosted("ago", 1, 1, |given, host| {
        let passed = now(host).since(time_of(any(given, 0), host).unix_ns());
        Ok(duration::text(duration::to_whole_seconds(passed)).into())
    }),
    call("duration", 1, 1, |given| {
        let seconds = match any(given, 0) {
            Value::String(text) => text.parse().unwrap_or(0),
            Value::Int64(seconds) => *seconds,
            _ => 0_i64,
        };
        Ok(duration::text(seconds.wrapping_mul(NS_PER_S)).into())
    }),
    hosted("durationRound", 1, 1, |given, host| {
        let ns = match any(given, 0) {
            Value::String(text) => duration::parse(text).unwrap_or(0),
            Value::Int64(ns) => *ns,
            value => time(value).map_or(0, |time| now(host).since(time.unix_ns())),
        };
        Ok(duration::rough(ns).into())
    }),
    hosted("toDate", 2, 2, |given, host| {
        let read = gotime::parse(text(given, 0)?, text(given, 1)?, &Place::Zone(host.local_zone()));
        Ok(Native::Time(read.unwrap_or_else(|_| GoTime::zero())).into())
    }),
    hosted("mustToDate", 2, 2, |given, host| {
        let read = gotime::parse(text(given, 0)?, text(given, 1)?, &Place::Zone(host.local_zone()))?;
        Ok(Native::Time(read).into())
    }),
    call("unixEpoch", 1, 1, |given| Ok(time_argument(given, 0)?.unix_s.to_string().into())),
];

/// The layout of the value of an HTML date field.
const HTML: &str = "2006-01-02";

fn now(host: &dyn TemplateHost) -> GoTime {
    GoTime::of_unix_ns(host.unix_ns(), Place::Zone(host.local_zone()))
}

fn time(value: &Value) -> Option<&GoTime> {
    match value.native() {
        Some(Native::Time(time)) => Some(time),
        _ => None,
    }
}

fn time_argument(given: &[Value], at: usize) -> Result<&GoTime, String> {
    time(any(given, at)).ok_or_else(|| wrong(any(given, at), "time.Time"))
}

/// The time that a value stands for.
fn time_of(value: &Value, host: &dyn TemplateHost) -> GoTime {
    match value {
        Value::Int(unix_s) | Value::Int64(unix_s) => GoTime { unix_s: *unix_s, ns: 0, place: Place::Utc },
        _ => time(value).cloned().unwrap_or_else(|| now(host)),
    }
}

fn date_in_zone(given: &[Value], host: &dyn TemplateHost) -> FunctionResult {
    in_zone(text(given, 0)?, any(given, 1), text(given, 2)?, host)
}

fn in_zone(layout: &str, value: &Value, zone: &str, host: &dyn TemplateHost) -> FunctionResult {
    // No piece grows a layout to more than five times its length.
    bounded(layout.len().saturating_mul(5))?;
    Ok(time_of(value, host).within(place(zone, host)).format(layout).into())
}

/// The place with a name; UTC if there is none. Go finds only the exact names, the library also those in other case.
fn place(zone: &str, host: &dyn TemplateHost) -> Place {
    match zone {
        "" | "UTC" => Place::Utc,
        "Local" => Place::Zone(host.local_zone()),
        name => host.zone(name).filter(|zone| zone.iana_name() == Some(name)).map_or(Place::Utc, Place::Zone),
    }
}

/// A duration that cannot be read changes nothing.
fn modified(given: &[Value]) -> FunctionResult {
    let time = time_argument(given, 1)?;
    let ns = duration::parse(text(given, 0)?).unwrap_or(0);
    Ok(Native::Time(time.plus(ns)).into())
}

fn moved(given: &[Value]) -> FunctionResult {
    let time = time_argument(given, 1)?;
    Ok(Native::Time(time.plus(duration::parse(text(given, 0)?)?)).into())
}
