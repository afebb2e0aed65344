//! Go's `time.Duration`: 64 bits of nanoseconds, read and printed as `1h2m3.5s`.

pub(crate) const NS_PER_S: i64 = 1_000_000_000;
const NS_PER_MINUTE: u64 = 60_000_000_000;
const NS_PER_HOUR: u64 = 3_600_000_000_000;

/// The names of the units, with their nanoseconds. Microseconds are written with the sign for micro, or the Greek letter.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", NS_PER_MINUTE),
    ("h", NS_PER_HOUR),
];

/// Reads a duration such as `-1.5h` or `2h45m`.
pub(crate) fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits == "0" {
        return Ok(0);
    }
    if digits.is_empty() {
        return Err(invalid());
    }
    let mut rest = digits;
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let (term, after) = term(rest).ok_or_else(invalid)?;
        sum = sum.checked_add(term).filter(|sum| *sum <= 1 << 63).ok_or_else(invalid)?;
        rest = after;
    }
    if is_negative {
        return Ok(sum.wrapping_neg().cast_signed());
    }
    i64::try_from(sum).map_err(|_| invalid())
}

/// A number with its unit, in nanoseconds, and the text after it.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Go reckons fractions")]
fn term(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit_end = rest.find(|letter: char| letter == '.' || letter.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at_checked(unit_end)?;
    let (_, ns) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let whole = whole.checked_mul(*ns).filter(|whole| *whole <= 1 << 63)?;
    // More digits than these are below a nanosecond of an hour.
    let fraction = fraction.get(..fraction.len().min(18)).unwrap_or_default();
    let scale = 10_f64.powi(i32::try_from(fraction.len()).unwrap_or(0));
    let parts: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let part = (parts as f64 * (*ns as f64 / scale)) as u64;
    Some((whole.checked_add(part)?, rest))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The text that Go prints.
pub(crate) fn text(ns: i64) -> String {
    let size = ns.unsigned_abs();
    let sign = if ns < 0 { "-" } else { "" };
    let written = match size {
        0 => "0s".to_owned(),
        1..1_000 => format!("{size}ns"),
        1_000..1_000_000 => format!("{}\u{b5}s", with_fraction(size, 1_000, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", with_fraction(size, 1_000_000, 6)),
        _ => {
            let seconds = with_fraction(size % NS_PER_MINUTE, 1_000_000_000, 9);
            let (hours, minutes) = (size / NS_PER_HOUR, size % NS_PER_HOUR / NS_PER_MINUTE);
            match (hours, minutes) {
                (0, 0) => format!("{seconds}s"),
                (0, _) => format!("{minutes}m{seconds}s"),
                _ => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{written}")
}

/// A number of units with up to so many digits after the point.
fn with_fraction(size: u64, unit: u64, digits: usize) -> String {
    let (whole, part) = (size / unit, size % unit);
    if part == 0 {
        return whole.to_string();
    }
    format!("{whole}.{}", format!("{part:0digits$}").trim_end_matches('0'))
}

/// Rounds to whole seconds, half away from zero.
pub(crate) fn to_whole_seconds(ns: i64) -> i64 {
    let rounded = (i128::from(ns.unsigned_abs()) + i128::from(NS_PER_S / 2)) / i128::from(NS_PER_S) * i128::from(NS_PER_S);
    i64::try_from(if ns < 0 { -rounded } else { rounded }).unwrap_or(ns)
}

/// The largest unit alone, cut: `2h`, `3mo`.
pub(crate) fn rough(ns: i64) -> String {
    const DAY: u64 = 24 * NS_PER_HOUR;
    let size = ns.unsigned_abs();
    let units = [(365 * DAY, "y"), (30 * DAY, "mo"), (DAY, "d"), (NS_PER_HOUR, "h"), (NS_PER_MINUTE, "m"), (1_000_000_000, "s")];
    let found = units.iter().find(|(unit, _)| size > *unit);
    found.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", size / unit))
}
