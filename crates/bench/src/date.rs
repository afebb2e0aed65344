//! Dates in UTC without a library: all that is needed here is to print one.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A second in the Gregorian calendar; printed as `2026-11-22 01:30:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CivilDateTime {
    pub year: u64,
    pub month: u64,
    pub day: u64,
    pub hour: u64,
    pub minute: u64,
    pub second: u64,
}

impl CivilDateTime {
    pub(crate) fn now() -> CivilDateTime {
        CivilDateTime::from_unix(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }

    /// From seconds since 1970. The year is counted from March, so that the leap day is its last.
    pub(crate) fn from_unix(seconds: u64) -> CivilDateTime {
        let (days, rest) = (seconds / 86_400, seconds % 86_400);
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        CivilDateTime {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * from_march + 2) / 5 + 1,
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }

    /// `20261122-013000`, for names of files.
    pub(crate) fn compact(&self) -> String {
        format!("{:04}{:02}{:02}-{:02}{:02}{:02}", self.year, self.month, self.day, self.hour, self.minute, self.second)
    }
}

impl fmt::Display for CivilDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CivilDateTime { year, month, day, hour, minute, second } = self;
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

#[cfg(test)]
mod tests;
