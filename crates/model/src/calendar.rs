//! Dates of Unix time, UTC.

/// A second as a calendar date and time.
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
    /// Converts a Unix time. Days are counted in eras of 400 years that start in March, so the leap day is the last day of a year.
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

/// A time in RFC 3339 format, with milliseconds.
pub fn rfc3339(unix_s: i64, ns: u32) -> String {
    let mut text = Vec::with_capacity("1970-01-01T00:00:00.000Z".len());
    append_second(&mut text, unix_s);
    append_milliseconds(&mut text, ns);
    String::from_utf8(text).unwrap_or_default()
}

/// Writes a time up to the second.
fn append_second(out: &mut Vec<u8>, unix_s: i64) {
    let Moment { year, month, day, hour, minute, second } = Moment::of(unix_s);
    if !(0..=9_999).contains(&year) {
        out.extend_from_slice(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}").as_bytes());
        return;
    }
    // The formatter takes ten times as long.
    let digit = |number: u32| b'0' + (number % 10) as u8;
    let pair = |number: u8| [b'0' + number / 10, b'0' + number % 10];
    let year = year as u32;
    let ([m1, m0], [d1, d0], [h1, h0]) = (pair(month), pair(day), pair(hour));
    let ([i1, i0], [s1, s0]) = (pair(minute), pair(second));
    let [y3, y2, y1, y0] = [digit(year / 1000), digit(year / 100), digit(year / 10), digit(year)];
    out.extend_from_slice(&[y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0, b'T', h1, h0, b':', i1, i0, b':', s1, s0]);
}

#[inline]
fn append_milliseconds(out: &mut Vec<u8>, ns: u32) {
    let ms = ns / 1_000_000;
    let [hundreds, tens, ones] = [ms / 100, ms / 10, ms].map(|number| b'0' + (number % 10) as u8);
    out.extend_from_slice(&[b'.', hundreds, tens, ones, b'Z']);
}

/// Writes times like [`rfc3339`], for many times of the same second in a row: it formats the common part once.
#[derive(Clone, Debug, Default)]
pub struct TimeWriter {
    unix_s: Option<i64>,
    second: Vec<u8>,
}

impl TimeWriter {
    /// Writes a time.
    #[inline]
    pub fn append(&mut self, out: &mut Vec<u8>, unix_s: i64, ns: u32) {
        if self.unix_s != Some(unix_s) {
            self.unix_s = Some(unix_s);
            self.second.clear();
            append_second(&mut self.second, unix_s);
        }
        out.extend_from_slice(&self.second);
        append_milliseconds(out, ns);
    }
}

#[cfg(test)]
mod tests;
