//! Values of Go's types that have methods: times, durations and versions.

use crate::duration;
use crate::gotime::{GoTime, MONTHS, WEEKDAYS};
use crate::semver::SemanticVersion;

/// A value of a Go type with methods.
#[derive(Clone, Debug)]
pub(crate) enum Native {
    /// `time.Time`
    Time(GoTime),
    /// `time.Duration`, in nanoseconds.
    Duration(i64),
    /// `time.Month`, from 1.
    Month(i64),
    /// `time.Weekday`, from 0 for Sunday.
    Weekday(i64),
    /// `*semver.Version`
    Version(SemanticVersion),
}

impl Native {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Native::Time(_) => "time.Time",
            Native::Duration(_) => "time.Duration",
            Native::Month(_) => "time.Month",
            Native::Weekday(_) => "time.Weekday",
            Native::Version(_) => "*semver.Version",
        }
    }

    /// Go's kind of the type.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Native::Time(_) => "struct",
            Native::Duration(_) => "int64",
            Native::Month(_) | Native::Weekday(_) => "int",
            Native::Version(_) => "ptr",
        }
    }

    /// The number of those that are integers.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Native::Duration(number) | Native::Month(number) | Native::Weekday(number) => Some(*number),
            Native::Time(_) | Native::Version(_) => None,
        }
    }

    /// What its method `String` returns.
    pub(crate) fn text(&self) -> String {
        let named = |names: &[&str], at: i64, kind: &str| {
            let name = usize::try_from(at).ok().and_then(|at| names.get(at).copied());
            name.map_or_else(|| format!("%!{kind}({at})"), str::to_owned)
        };
        match self {
            Native::Time(time) => time.text(),
            Native::Duration(ns) => duration::text(*ns),
            Native::Month(month) => named(&MONTHS, month - 1, "Month"),
            Native::Weekday(day) => named(&WEEKDAYS, *day, "Weekday"),
            Native::Version(version) => version.to_string(),
        }
    }

    /// Its text in JSON, without quotes; numbers have none.
    pub(crate) fn json_text(&self) -> Option<String> {
        match self {
            Native::Time(time) => Some(time.format("2006-01-02T15:04:05.999999999Z07:00")),
            Native::Version(version) => Some(version.to_string()),
            Native::Duration(_) | Native::Month(_) | Native::Weekday(_) => None,
        }
    }

    /// Go's `==`, which compares pointers to versions.
    pub(crate) fn equals(&self, other: &Native) -> bool {
        match (self, other) {
            (Native::Time(left), Native::Time(right)) => left == right,
            (Native::Version(left), Native::Version(right)) => std::ptr::eq(left, right),
            _ => self.integer().is_some() && self.integer() == other.integer(),
        }
    }
}
