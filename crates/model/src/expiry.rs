//! The expiry of an API or a version: `2006-01-02 15:04`, in UTC. Times before 1970 are in the past and are stored as 1970, so
//! callers need no negative times.

use crate::calendar::unix_s;
use jiff::civil::DateTime;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The expiry in a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenExpiry {
    /// Empty or `-1`.
    Never,
    /// Expires at this time.
    At(SystemTime),
    /// Not a date; counts as expired.
    Unparsable,
}

/// Reads the `expires` of a version or the `expiration` of an API.
pub fn expiry(text: &str) -> WrittenExpiry {
    if text.is_empty() || text == "-1" {
        return WrittenExpiry::Never;
    }
    match seconds_since_1970(text) {
        Some(seconds) => WrittenExpiry::At(UNIX_EPOCH + Duration::from_secs(seconds)),
        None => WrittenExpiry::Unparsable,
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
    let moment = DateTime::new(year, month, day, hour, minute, 0, 0).ok()?;
    Some(u64::try_from(unix_s(moment)).unwrap_or(0))
}

/// Exactly `count` digits.
fn digits<N: FromStr>(text: &str, count: usize) -> Option<N> {
    let fits = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests;
