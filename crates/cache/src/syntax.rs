//! Common syntax of header fields (RFC 9110 §5.6): lists, tokens, quoted strings, delta-seconds. Each function reads its input once.

/// Largest number of seconds; larger ones count as this (RFC 9111 §1.2.2).
pub(crate) const DELTA_SECONDS_MAX: u64 = 1 << 31;

/// `value` without leading and trailing spaces and tabs.
pub(crate) fn trim(value: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let start = value.iter().position(is_text).unwrap_or(value.len());
    let end = value.iter().rposition(is_text).map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or_default()
}

/// The members of a comma-separated list, trimmed, without empty ones. A comma in a quoted string does not separate; an unterminated quoted
/// string extends to the end.
pub(crate) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    split_unquoted(value, b',').map(trim).filter(|member| !member.is_empty())
}

/// The parts of `value` between separators outside quoted strings.
pub(crate) fn split_unquoted(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let mut quoted = false;
        let mut escaped = false;
        let end = bytes.iter().position(|&byte| {
            let separates = !quoted && byte == separator;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ => {}
            }
            separates
        });
        match end.and_then(|at| bytes.split_at_checked(at)) {
            Some((part, behind)) => {
                rest = behind.get(1..);
                Some(part)
            }
            None => {
                rest = None;
                Some(bytes)
            }
        }
    })
}

/// A token, or the content of a quoted string (escapes are kept). `None` for anything else.
pub(crate) fn token_or_quoted(value: &[u8]) -> Option<&[u8]> {
    match value {
        [b'"', inner @ .., b'"'] if is_quoted_text(inner) => Some(inner),
        _ if is_token(value) => Some(value),
        _ => None,
    }
}

/// Whether `inner` contains no unescaped quote.
fn is_quoted_text(inner: &[u8]) -> bool {
    let mut escaped = false;
    for byte in inner {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return false,
            _ => {}
        }
    }
    !escaped
}

pub(crate) fn is_token(value: &[u8]) -> bool {
    tollgate_http::is_token(value)
}

/// Parses a number of seconds, at most [`DELTA_SECONDS_MAX`]. `None` when it contains anything but digits.
pub(crate) fn delta_seconds(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = value.iter().map(|byte| u64::from(byte - b'0'));
    Some(digits.fold(0, |seconds, digit| (seconds * 10 + digit).min(DELTA_SECONDS_MAX)))
}

/// Parses an HTTP date (RFC 9110 §5.6.7), in any of its three forms, to Unix seconds.
pub(crate) fn http_date(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let time = httpdate::parse_http_date(text).ok().or_else(|| unusual_date(text))?;
    time.duration_since(std::time::UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// A date in another letter case, which caches must accept (RFC 9111 §4.2), or with the name of another weekday: the weekday adds nothing.
#[cold]
fn unusual_date(text: &str) -> Option<std::time::SystemTime> {
    const WEEKDAYS: [[&str; 7]; 2] = [
        ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    ];
    // The longest form has 33 bytes.
    let (weekday, rest) = text.split_at_checked(text.find(|c: char| !c.is_ascii_alphabetic())?).filter(|_| text.len() <= 40)?;
    let names = WEEKDAYS.iter().find(|names| names.iter().any(|name| name.eq_ignore_ascii_case(weekday)))?;
    let mut before = ' ';
    let title = rest.chars().map(|c| {
        let is_inside = std::mem::replace(&mut before, c).is_ascii_alphabetic();
        if is_inside { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
    });
    let title: String = title.collect();
    let rest = title.strip_suffix("Gmt").map_or_else(|| title.clone(), |date| format!("{date}GMT"));
    names.iter().find_map(|name| httpdate::parse_http_date(&format!("{name}{rest}")).ok())
}

#[cfg(test)]
mod tests;

/// Formats Unix seconds as an HTTP date.
pub(crate) fn format_date(seconds: u64) -> String {
    // The library's calendar ends in the year 9999.
    const LAST_SECOND: u64 = 253_402_300_799;
    httpdate::fmt_http_date(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds.min(LAST_SECOND)))
}

/// Appends a number in decimal digits.
pub(crate) fn push_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
