//! Times as people write and read them: `90`, `15m`, `30d`, a date, `never`.

use humantime::parse_duration;
use tollgate_model::calendar;

/// Seconds, or a number with a unit.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return if seconds.is_finite() && seconds > 0.0 { Ok(seconds) } else { Err("must be more than 0".to_owned()) };
    }
    match parse_duration(text) {
        Ok(span) if !span.is_zero() => Ok(span.as_secs_f64()),
        Ok(_) => Err("must be more than 0".to_owned()),
        Err(_) => Err("must be seconds, or a number with a unit: 30s, 15m, 24h, 30d".to_owned()),
    }
}

/// Whole seconds.
pub(super) fn whole_seconds(text: &str) -> Result<i64, String> {
    let seconds = seconds(text)?;
    if seconds.fract() == 0.0 && seconds < 1e15 { Ok(seconds as i64) } else { Err("must be whole seconds".to_owned()) }
}

/// When something expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanEnd {
    Never,
    /// This many seconds from now.
    After(i64),
    /// Seconds since 1970.
    At(i64),
}

impl SpanEnd {
    /// `never`, a span from now, or a date with or without a time, in UTC.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(SpanEnd::Never);
        }
        if text.contains('-') {
            let at = calendar::parse(text).filter(|unix_s| *unix_s >= 0);
            return at.map(SpanEnd::At).ok_or_else(|| "must be a date such as 2030-01-31 or 2030-01-31T12:00:00Z".to_owned());
        }
        let seconds =
            whole_seconds(text).map_err(|_| "must be never, a span such as 30d, or a date such as 2030-01-31".to_owned())?;
        Ok(SpanEnd::After(seconds))
    }

    /// Seconds since 1970, 0 for never.
    pub(super) fn unix_s(self, now_unix_s: u64) -> i64 {
        match self {
            SpanEnd::Never => 0,
            SpanEnd::After(seconds) => i64::try_from(now_unix_s).unwrap_or(i64::MAX).saturating_add(seconds),
            SpanEnd::At(unix_s) => unix_s,
        }
    }
}

/// A time as a date, with its distance from now.
pub(super) fn moment(unix_s: i64, now_unix_s: u64) -> String {
    let Some(at) = u64::try_from(unix_s).ok().filter(|at| (1..253_402_300_800).contains(at)) else { return "never".to_owned() };
    let date = calendar::rfc3339(at);
    if at > now_unix_s {
        format!("{date} (in {})", span(at - now_unix_s))
    } else {
        format!("{date} ({} ago)", span(now_unix_s - at))
    }
}

/// A duration in its largest unit.
pub(super) fn span(seconds: u64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    match units.iter().find(|(size, _)| seconds >= 2 * size || (seconds >= *size && seconds.is_multiple_of(*size))) {
        Some((size, unit)) => format!("{} {unit}", seconds / size),
        None => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests;
