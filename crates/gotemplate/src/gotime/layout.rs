//! Go's layouts: the reference time, Mon Jan 2 15:04:05 -0700 MST 2006, written as the output should look.

use super::{GoTime, MONTHS, WEEKDAYS};

/// A part of a layout that stands for a part of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    Pm,
    LowerPm,
    ZoneName,
    Offset(OffsetForm),
    Fraction { digits: usize, separator: u8, trims: bool },
}

/// How an offset is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetForm {
    /// UTC is `Z`.
    pub z: bool,
    pub colons: bool,
    /// Hours alone, with minutes, or also with seconds.
    pub parts: usize,
}

const fn offset(z: bool, colons: bool, parts: usize) -> Piece {
    Piece::Offset(OffsetForm { z, colons, parts })
}

/// All fixed forms. Of those that begin alike, the first one counts.
const FORMS: [(&str, Piece); 38] = [
    ("January", Piece::LongMonth),
    ("Jan", Piece::Month),
    ("Monday", Piece::LongWeekday),
    ("Mon", Piece::Weekday),
    ("MST", Piece::ZoneName),
    ("01", Piece::ZeroMonth),
    ("02", Piece::ZeroDay),
    ("03", Piece::ZeroHour12),
    ("04", Piece::ZeroMinute),
    ("05", Piece::ZeroSecond),
    ("06", Piece::Year),
    ("002", Piece::ZeroYearDay),
    ("15", Piece::Hour),
    ("1", Piece::NumMonth),
    ("2006", Piece::LongYear),
    ("2", Piece::Day),
    ("_2006", Piece::LongYear),
    ("_2", Piece::UnderDay),
    ("__2", Piece::UnderYearDay),
    ("3", Piece::Hour12),
    ("4", Piece::Minute),
    ("5", Piece::Second),
    ("PM", Piece::Pm),
    ("pm", Piece::LowerPm),
    ("-070000", offset(false, false, 3)),
    ("-07:00:00", offset(false, true, 3)),
    ("-0700", offset(false, false, 2)),
    ("-07:00", offset(false, true, 2)),
    ("-07", offset(false, false, 1)),
    ("Z070000", offset(true, false, 3)),
    ("Z07:00:00", offset(true, true, 3)),
    ("Z0700", offset(true, false, 2)),
    ("Z07:00", offset(true, true, 2)),
    ("Z07", offset(true, false, 1)),
    (".0", Piece::Fraction { digits: 0, separator: b'.', trims: false }),
    (".9", Piece::Fraction { digits: 0, separator: b'.', trims: true }),
    (",0", Piece::Fraction { digits: 0, separator: b',', trims: false }),
    (",9", Piece::Fraction { digits: 0, separator: b',', trims: true }),
];

/// The first piece of a layout, with the texts before and after it. Without a piece, all of it is before.
pub(super) fn next_piece(layout: &str) -> (&str, Option<Piece>, &str) {
    for (at, byte) in layout.bytes().enumerate() {
        // Only these bytes begin a form; the others need no look at the table.
        if !b"JM0123456_PpZ-.,".contains(&byte) {
            continue;
        }
        let Some(rest) = layout.get(at..) else { continue };
        if let Some((piece, skipped, length)) = piece_at(rest) {
            let (before, after) = (layout.get(..at + skipped), layout.get(at + skipped + length..));
            return (before.unwrap_or_default(), Some(piece), after.unwrap_or_default());
        }
    }
    (layout, None, "")
}

/// The piece at the start of a text: where it begins, and its length.
fn piece_at(rest: &str) -> Option<(Piece, usize, usize)> {
    let (form, piece) = FORMS.iter().find(|(form, piece)| {
        let after = rest.strip_prefix(form);
        // "Month" is no "Mon".
        let is_word = matches!(piece, Piece::Month | Piece::Weekday);
        after.is_some_and(|after| !is_word || !after.starts_with(|letter: char| letter.is_ascii_lowercase()))
    })?;
    match piece {
        Piece::Fraction { separator, trims, .. } => {
            let digit = if *trims { '9' } else { '0' };
            let after = rest.get(1..)?.trim_start_matches(digit);
            let digits = rest.len() - 1 - after.len();
            let is_end = !after.starts_with(|letter: char| letter.is_ascii_digit());
            is_end.then_some((Piece::Fraction { digits, separator: *separator, trims: *trims }, 0, digits + 1))
        }
        // The underscore is a text of its own.
        Piece::LongYear if form.starts_with('_') => Some((*piece, 1, form.len() - 1)),
        _ => Some((*piece, 0, form.len())),
    }
}

pub(super) fn format(time: &GoTime, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 10);
    let civil = time.civil();
    let (zone, offset_s) = time.place.at(time.unix_s);
    let name =
        |names: &[&'static str], number: i64| usize::try_from(number).ok().and_then(|at| names.get(at).copied()).unwrap_or("");
    let short = |name: &'static str| name.get(..3).unwrap_or(name);
    let hour12 = (civil.hour + 11) % 12 + 1;
    let mut rest = layout;
    loop {
        let (before, piece, after) = next_piece(rest);
        out.push_str(before);
        let Some(piece) = piece else { return out };
        rest = after;
        match piece {
            Piece::LongMonth => out.push_str(name(&MONTHS, civil.month - 1)),
            Piece::Month => out.push_str(short(name(&MONTHS, civil.month - 1))),
            Piece::LongWeekday => out.push_str(name(&WEEKDAYS, time.weekday())),
            Piece::Weekday => out.push_str(short(name(&WEEKDAYS, time.weekday()))),
            Piece::NumMonth => padded(civil.month, 0, '0', &mut out),
            Piece::ZeroMonth => padded(civil.month, 2, '0', &mut out),
            Piece::Day => padded(civil.day, 0, '0', &mut out),
            Piece::UnderDay => padded(civil.day, 2, ' ', &mut out),
            Piece::ZeroDay => padded(civil.day, 2, '0', &mut out),
            Piece::UnderYearDay => padded(time.year_day(), 3, ' ', &mut out),
            Piece::ZeroYearDay => padded(time.year_day(), 3, '0', &mut out),
            Piece::Hour => padded(civil.hour, 2, '0', &mut out),
            Piece::Hour12 => padded(hour12, 0, '0', &mut out),
            Piece::ZeroHour12 => padded(hour12, 2, '0', &mut out),
            Piece::Minute => padded(civil.minute, 0, '0', &mut out),
            Piece::ZeroMinute => padded(civil.minute, 2, '0', &mut out),
            Piece::Second => padded(civil.second, 0, '0', &mut out),
            Piece::ZeroSecond => padded(civil.second, 2, '0', &mut out),
            Piece::LongYear => padded(civil.year, 4, '0', &mut out),
            Piece::Year => padded(civil.year.abs() % 100, 2, '0', &mut out),
            Piece::Pm => out.push_str(if civil.hour >= 12 { "PM" } else { "AM" }),
            Piece::LowerPm => out.push_str(if civil.hour >= 12 { "pm" } else { "am" }),
            Piece::ZoneName if !zone.is_empty() => out.push_str(&zone),
            Piece::ZoneName => offset_into(offset_s, OffsetForm { z: false, colons: false, parts: 2 }, &mut out),
            Piece::Offset(form) => offset_into(offset_s, form, &mut out),
            Piece::Fraction { digits, separator, trims } => fraction_into(time.ns, digits, separator, trims, &mut out),
        }
    }
}

/// A number with at least so many digits, after its sign.
fn padded(number: i64, width: usize, pad: char, out: &mut String) {
    if number < 0 {
        out.push('-');
    }
    let digits = number.unsigned_abs().to_string();
    out.extend(std::iter::repeat_n(pad, width.saturating_sub(digits.len())));
    out.push_str(&digits);
}

fn offset_into(offset_s: i64, form: OffsetForm, out: &mut String) {
    if form.z && offset_s == 0 {
        return out.push('Z');
    }
    // As in Go, the sign is that of the whole minutes.
    out.push(if offset_s / 60 < 0 { '-' } else { '+' });
    let size = offset_s.abs();
    for (index, part) in [size / 3600, size / 60 % 60, size % 60].into_iter().take(form.parts).enumerate() {
        if index > 0 && form.colons {
            out.push(':');
        }
        padded(part, 2, '0', out);
    }
}

fn fraction_into(ns: u32, digits: usize, separator: u8, trims: bool, out: &mut String) {
    let all = format!("{ns:09}");
    let shown = all.get(..digits.min(9)).unwrap_or(&all);
    let shown = if trims { shown.trim_end_matches('0') } else { shown };
    if !shown.is_empty() {
        out.push(char::from(separator));
        out.push_str(shown);
    }
}
