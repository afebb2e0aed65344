//! Dates of Unix time, UTC.

/// A second, by the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// In full.
    pub year: i64,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
    /// Of the day.
    pub hour: u8,
    /// Of the hour.
    pub minute: u8,
    /// Of the minute.
    pub second: u8,
}

impl Moment {
    /// The moment of a Unix time. Days are counted in eras of 400 years that begin in March, so that the leap day is a year's last.
    pub fn of(unix_s: i64) -> Moment {
        let (days, seconds) = (unix_s.div_euclid(86_400), unix_s.rem_euclid(86_400));
        let days = days + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Moment {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month: month as u8,
            day: (day_of_year - (153 * march_month + 2) / 5 + 1) as u8,
            hour: (seconds / 3_600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
        }
    }
}

/// A time as RFC 3339 writes it, with milliseconds.
pub fn rfc3339(unix_s: i64, ns: u32) -> String {
    let Moment { year, month, day, hour, minute, second } = Moment::of(unix_s);
    if !(0..=9_999).contains(&year) {
        return format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ns / 1_000_000);
    }
    let year = year as u32;
    let mut text = String::with_capacity("1970-01-01T00:00:00.000Z".len());
    // Digit by digit: every line of a log has one of these.
    let mut write = |number: u32, powers: &[u32], end: char| {
        text.extend(powers.iter().map(|power| char::from(b'0' + (number / power % 10) as u8)));
        text.push(end);
    };
    write(year, &[1000, 100, 10, 1], '-');
    for (number, end) in [(month, '-'), (day, 'T'), (hour, ':'), (minute, ':'), (second, '.')] {
        write(number.into(), &[10, 1], end);
    }
    write(ns / 1_000_000, &[100, 10, 1], 'Z');
    text
}

#[cfg(test)]
mod tests;
