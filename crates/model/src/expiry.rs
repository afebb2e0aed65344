//! The expiry of an API or a version: `2006-01-02 15:04`, in UTC. Times before 1970 are in the past and are stored as 1970, so
//! callers need no negative times.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The expiry in a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// Empty or `-1`.
    Never,
    /// Expires at this time.
    At(SystemTime),
    /// Not a date; counts as expired.
    Unparsable,
}

/// Reads the `expires` of a version or the `expiration` of an API.
pub fn expiry(text: &str) -> Expiry {
    if text.is_empty() || text == "-1" {
        return Expiry::Never;
    }
    match seconds_since_1970(text) {
        Some(seconds) => Expiry::At(UNIX_EPOCH + Duration::from_secs(seconds)),
        None => Expiry::Unparsable,
    }
}

fn seconds_since_1970(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(' ')?;
    let (year, month_day) = date.split_once('-')?;
    let (month, day) = month_day.split_once('-')?;
    let (hour, minute) = time.split_once(':')?;
    let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    // Go reads the hour of this layout with one digit or two.
    let (hour, minute) = (digits(hour, hour.len().clamp(1, 2))?, digits(minute, 2)?);
    let is_moment = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day) && hour < 24 && minute < 60;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60;
    is_moment.then(|| u64::try_from(seconds).unwrap_or(0))
}

/// Exactly `count` digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let fits = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days in the proleptic Gregorian calendar. Years start in March, so the leap day is the last day of a year, and are counted in
/// eras of 400 years, each of which has 146,097 days.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests;
