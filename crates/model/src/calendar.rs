//! Dates in UTC in RFC 3339 format. The format has no digits for years beyond 9999; later times are written as its last moment.

use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::{DateTimePrinter, Pieces};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const MILLISECONDS: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// Date and time of day of a Unix time.
pub fn date_time(unix_s: i64, ns: u32) -> DateTime {
    match Timestamp::new(unix_s, ns.cast_signed()) {
        Ok(time) => Offset::UTC.to_datetime(time),
        // A day before the year 10000, in case a time zone adds one, which does not happen here.
        Err(_) => EPOCH.saturating_add(SignedDuration::new(unix_s, ns.cast_signed())),
    }
}

/// The Unix time of a date and a time of day.
pub fn unix_s(date_time: DateTime) -> i64 {
    date_time.duration_since(EPOCH).as_secs()
}

/// A time to the second: `2026-11-22T01:23:31Z`.
pub fn rfc3339(unix_s: u64) -> String {
    format!("{:.0}Z", date_time(i64::try_from(unix_s).unwrap_or(i64::MAX), 0))
}

/// A time as Go prints it: `2026-11-22 01:23:31.123 +0000 UTC`.
pub fn go_text(unix_s: i64, ns: u32) -> String {
    format!("{} +0000 UTC", date_time(unix_s, ns).to_string().replace('T', " "))
}

/// Appends a time to the millisecond: `2026-11-22T01:23:31.123Z`.
pub fn append_rfc3339_ms(out: &mut Vec<u8>, unix_s: i64, ns: u32) {
    // Writing to memory cannot fail.
    let _ = MILLISECONDS.print_datetime(&date_time(unix_s, ns), &mut *out);
    out.push(b'Z');
}

/// The Unix time of a date: midnight without a time of day, UTC without an offset.
pub fn parse(text: &str) -> Option<i64> {
    let pieces = Pieces::parse(text).ok()?;
    let local = unix_s(pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight())));
    Some(local - pieces.to_numeric_offset().map_or(0, |offset| i64::from(offset.seconds())))
}

#[cfg(test)]
mod tests;
