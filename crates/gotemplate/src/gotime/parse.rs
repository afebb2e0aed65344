//! Reads a time in a layout, as Go's `time.ParseInLocation` does.

use super::layout::{OffsetForm, Piece, next_piece};
use super::{CivilTime, GoTime, MONTHS, Place, WEEKDAYS, days_before, days_in};

/// What was read so far.
#[derive(Default)]
struct TimeDraft {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    ns: u32,
    is_pm: Option<bool>,
    is_utc: bool,
    offset_s: Option<i64>,
    zone: String,
}

/// The time that a text says. Without a zone it is in `local`.
pub(crate) fn parse(layout: &str, text: &str, local: &Place) -> Result<GoTime, String> {
    let made = read(layout, text).and_then(|draft| draft.time(local));
    made.map_err(|why| format!("parsing time {text:?} as {layout:?}: {why}"))
}

fn read(layout: &str, text: &str) -> Result<TimeDraft, String> {
    let mut draft = TimeDraft::default();
    let (mut layout, mut value) = (layout, text.as_bytes());
    loop {
        let (before, piece, after) = next_piece(layout);
        value = skip(value, before.as_bytes()).ok_or_else(|| format!("cannot parse as {before:?}"))?;
        let Some(piece) = piece else { break };
        layout = after;
        let has_fraction = matches!(next_piece(after).1, Some(Piece::Fraction { .. }));
        value = draft.piece(piece, value, has_fraction).ok_or("cannot parse")??;
    }
    if value.is_empty() { Ok(draft) } else { Err("extra text".to_owned()) }
}

/// The rest after a prefix; any number of spaces are as good as one.
fn skip<'v>(mut value: &'v [u8], mut prefix: &[u8]) -> Option<&'v [u8]> {
    while let Some((first, rest)) = prefix.split_first() {
        if *first == b' ' {
            if value.first().is_some_and(|byte| *byte != b' ') {
                return None;
            }
            prefix = without_spaces(prefix);
            value = without_spaces(value);
            continue;
        }
        value = value.strip_prefix(std::slice::from_ref(first))?;
        prefix = rest;
    }
    Some(value)
}

fn without_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| **byte == b' ').count();
    text.get(spaces..).unwrap_or_default()
}

/// A piece that was read: what is left, or what is out of range. `None` if it cannot be read.
type TakenText<'v> = Option<Result<&'v [u8], String>>;

impl TimeDraft {
    fn piece<'v>(&mut self, piece: Piece, value: &'v [u8], has_fraction: bool) -> TakenText<'v> {
        match piece {
            Piece::Year => {
                let (year, rest) = signed(value, 2)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
                Some(Ok(rest))
            }
            Piece::LongYear => {
                value.first().filter(|byte| byte.is_ascii_digit())?;
                let (year, rest) = signed(value, 4)?;
                self.year = year;
                Some(Ok(rest))
            }
            Piece::Month | Piece::LongMonth => {
                let (month, rest) = name(&MONTHS, piece == Piece::Month, value)?;
                self.month = Some(month + 1);
                Some(Ok(rest))
            }
            Piece::NumMonth | Piece::ZeroMonth => {
                let (month, rest) = digits(value, piece == Piece::ZeroMonth)?;
                self.month = Some(month);
                Some(within(month, 1, 12, "month", rest))
            }
            Piece::Weekday | Piece::LongWeekday => Some(Ok(name(&WEEKDAYS, piece == Piece::Weekday, value)?.1)),
            Piece::Day | Piece::UnderDay | Piece::ZeroDay => {
                let value = if piece == Piece::UnderDay { value.strip_prefix(b" ").unwrap_or(value) } else { value };
                let (day, rest) = digits(value, piece == Piece::ZeroDay)?;
                self.day = Some(day);
                Some(Ok(rest))
            }
            Piece::UnderYearDay | Piece::ZeroYearDay => self.day_of_year(piece == Piece::ZeroYearDay, value),
            Piece::Hour => {
                let (hour, rest) = digits(value, false)?;
                self.hour = hour;
                Some(within(hour, 0, 23, "hour", rest))
            }
            Piece::Hour12 | Piece::ZeroHour12 => {
                let (hour, rest) = digits(value, piece == Piece::ZeroHour12)?;
                self.hour = hour;
                Some(within(hour, 0, 12, "hour", rest))
            }
            Piece::Minute | Piece::ZeroMinute => {
                let (minute, rest) = digits(value, piece == Piece::ZeroMinute)?;
                self.minute = minute;
                Some(within(minute, 0, 59, "minute", rest))
            }
            Piece::Second | Piece::ZeroSecond => {
                let (second, rest) = digits(value, piece == Piece::ZeroSecond)?;
                self.second = second;
                if second > 59 {
                    return Some(Err("second out of range".to_owned()));
                }
                // A fraction may follow that the layout does not name.
                Some(Ok(if has_fraction { rest } else { self.fraction(rest) }))
            }
            Piece::Pm | Piece::LowerPm => {
                let (half, rest) = value.split_at_checked(2)?;
                self.is_pm = match (piece == Piece::Pm, half) {
                    (true, b"AM") | (false, b"am") => Some(false),
                    (true, b"PM") | (false, b"pm") => Some(true),
                    _ => return None,
                };
                Some(Ok(rest))
            }
            Piece::Offset(form) => self.offset(form, value),
            Piece::ZoneName => self.zone_name(value),
            Piece::Fraction { trims: true, .. } => Some(Ok(self.fraction(value))),
            Piece::Fraction { digits, .. } => {
                let (part, rest) = value.split_at_checked(digits + 1)?;
                (self.fraction(part).is_empty() && is_fraction(part)).then_some(Ok(rest))
            }
        }
    }

    fn day_of_year<'v>(&mut self, is_fixed: bool, mut value: &'v [u8]) -> TakenText<'v> {
        if !is_fixed {
            value = value.strip_prefix(b" ").unwrap_or(value);
            value = value.strip_prefix(b" ").unwrap_or(value);
        }
        let count = value.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || is_fixed && count != 3 {
            return None;
        }
        let (day, rest) = signed(value, count)?;
        self.year_day = Some(day);
        Some(Ok(rest))
    }

    /// Reads a separator and all digits after it, if there are any. More than nine are cut.
    fn fraction<'v>(&mut self, value: &'v [u8]) -> &'v [u8] {
        if !is_fraction(value) {
            return value;
        }
        let digits = value.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
        let shown = value.iter().skip(1).take(digits.min(9));
        let parts = shown.chain(std::iter::repeat(&b'0')).take(9);
        self.ns = parts.fold(0, |ns, digit| ns * 10 + u32::from(digit.wrapping_sub(b'0')));
        value.get(digits + 1..).unwrap_or_default()
    }

    fn offset<'v>(&mut self, form: OffsetForm, value: &'v [u8]) -> TakenText<'v> {
        if form.z
            && let Some(rest) = value.strip_prefix(b"Z")
        {
            self.is_utc = true;
            return Some(Ok(rest));
        }
        let (sign, mut rest) = value.split_first()?;
        let mut parts = [0; 3];
        for (index, part) in parts.iter_mut().take(form.parts).enumerate() {
            if index > 0 && form.colons {
                rest = rest.strip_prefix(b":")?;
            }
            (*part, rest) = digits(rest, true)?;
        }
        let [hours, minutes, seconds] = parts;
        let size = hours * 3600 + minutes * 60 + seconds;
        self.offset_s = Some(match sign {
            b'+' => size,
            b'-' => -size,
            _ => return None,
        });
        // Some people write offsets of 24 hours or 60 minutes.
        let is_known = hours <= 24 && minutes <= 60 && seconds <= 60;
        Some(if is_known { Ok(rest) } else { Err("time zone offset out of range".to_owned()) })
    }

    fn zone_name<'v>(&mut self, value: &'v [u8]) -> TakenText<'v> {
        if let Some(rest) = value.strip_prefix(b"UTC") {
            self.is_utc = true;
            return Some(Ok(rest));
        }
        let (name, rest) = value.split_at_checked(zone_length(value)?)?;
        self.zone = String::from_utf8_lossy(name).into_owned();
        Some(Ok(rest))
    }

    fn time(self, local: &Place) -> Result<GoTime, String> {
        let hour = match self.is_pm {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let (month, day) = self.month_and_day()?;
        let civil = CivilTime { year: self.year, month, day, hour, minute: self.minute, second: self.second };
        if self.is_utc {
            return Ok(GoTime::of_civil(civil, self.ns, Place::Utc));
        }
        let as_utc = GoTime::of_civil(civil, self.ns, Place::Utc);
        if let Some(offset_s) = self.offset_s {
            let unix_s = as_utc.unix_s - offset_s;
            let (name, known) = local.at(unix_s);
            let is_local = known == offset_s && (self.zone.is_empty() || *name == self.zone);
            let fixed = Place::Fixed { name: self.zone.into(), offset_s };
            return Ok(GoTime { unix_s, ns: self.ns, place: if is_local { local.clone() } else { fixed } });
        }
        if self.zone.is_empty() {
            return Ok(GoTime::of_civil(civil, self.ns, local.clone()));
        }
        if let Some(offset_s) = local.offset_named(&self.zone, as_utc.unix_s) {
            return Ok(GoTime { unix_s: as_utc.unix_s - offset_s, ns: self.ns, place: local.clone() });
        }
        // As in Go, an unknown zone is kept as a name with the offset 0, except GMT+3.
        let hours: i64 = self.zone.strip_prefix("GMT").and_then(|hours| hours.parse().ok()).unwrap_or(0);
        let place = Place::Fixed { name: self.zone.into(), offset_s: hours * 3600 };
        Ok(GoTime { place, ..as_utc })
    }

    fn month_and_day(&self) -> Result<(i64, i64), String> {
        let Some(year_day) = self.year_day else {
            let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
            let is_day = day >= 1 && day <= days_in(self.year, month);
            return if is_day { Ok((month, day)) } else { Err("day out of range".to_owned()) };
        };
        let start = days_before(self.year, 1);
        let last = days_before(self.year + 1, 1) - start;
        if year_day < 1 || year_day > last {
            return Err("day-of-year out of range".to_owned());
        }
        let month = (1..=12).rfind(|month| days_before(self.year, *month) - start < year_day).unwrap_or(1);
        let day = year_day - (days_before(self.year, month) - start);
        if self.month.is_some_and(|own| own != month) || self.day.is_some_and(|own| own != day) {
            return Err("day-of-year does not match the date".to_owned());
        }
        Ok((month, day))
    }
}

fn is_fraction(value: &[u8]) -> bool {
    matches!(value, [b'.' | b',', digit, ..] if digit.is_ascii_digit())
}

fn within<'v>(number: i64, least: i64, most: i64, what: &str, rest: &'v [u8]) -> Result<&'v [u8], String> {
    if number < least || number > most {
        return Err(format!("{what} out of range"));
    }
    Ok(rest)
}

/// One or two digits, or exactly two.
fn digits(value: &[u8], is_fixed: bool) -> Option<(i64, &[u8])> {
    let count = value.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 || is_fixed && count == 1 {
        return None;
    }
    signed(value, count)
}

/// The number in so many bytes, which may begin with a sign.
fn signed(value: &[u8], bytes: usize) -> Option<(i64, &[u8])> {
    let (number, rest) = value.split_at_checked(bytes)?;
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}

/// The number of a name, in any case.
fn name<'v>(names: &[&str], is_short: bool, value: &'v [u8]) -> Option<(i64, &'v [u8])> {
    names.iter().enumerate().find_map(|(index, name)| {
        let name = if is_short { name.get(..3)? } else { name };
        let (start, rest) = value.split_at_checked(name.len())?;
        start.eq_ignore_ascii_case(name.as_bytes()).then_some((i64::try_from(index).ok()?, rest))
    })
}

/// The length of the name of a zone: three or four capital letters, `GMT+3` or `+03`.
fn zone_length(value: &[u8]) -> Option<usize> {
    let start = value.get(..3)?;
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    if start == b"GMT" {
        return Some(3 + offset_length(value.get(3..).unwrap_or_default()));
    }
    if matches!(value.first(), Some(b'+' | b'-')) {
        return Some(offset_length(value)).filter(|length| *length > 0);
    }
    let capitals = value.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    match capitals {
        3 => Some(3),
        4 if value.get(3) == Some(&b'T') || value.starts_with(b"WITA") => Some(4),
        5 if value.get(4) == Some(&b'T') => Some(5),
        _ => None,
    }
}

/// The length of `+3`; 0 without a sign or for more than 23 hours.
fn offset_length(value: &[u8]) -> usize {
    let Some((b'+' | b'-', rest)) = value.split_first() else { return 0 };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours = rest.get(..count).and_then(|digits| std::str::from_utf8(digits).ok()).and_then(|digits| digits.parse::<u64>().ok());
    if hours.is_some_and(|hours| hours <= 23) { count + 1 } else { 0 }
}
