//! Formats of strings and numbers. A format that is not in the list restricts nothing, as the specification says.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Number;

use crate::dialect::Dialect;
use crate::pattern;

/// A format that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Date,
    DateTime,
    Byte,
    Uuid,
    Email,
    Ipv4,
    Ipv6,
    Hostname,
    Uri,
    Int32,
    Int64,
    Time,
    IdnEmail,
    UriReference,
    Iri,
    IriReference,
    UriTemplate,
    JsonPointer,
    Regex,
}

impl Format {
    /// The format of a name; those that Tyk's validator of a dialect does not know restrict nothing.
    pub(crate) fn named(name: &str, dialect: Dialect) -> Option<Format> {
        let is_draft = dialect.is_draft();
        Some(match name {
            "byte" | "int32" | "int64" if is_draft => return None,
            "time" if is_draft => Format::Time,
            "idn-email" if is_draft => Format::IdnEmail,
            "uri-reference" if is_draft => Format::UriReference,
            "iri" if is_draft => Format::Iri,
            "iri-reference" if is_draft => Format::IriReference,
            "uri-template" if is_draft => Format::UriTemplate,
            "json-pointer" if is_draft => Format::JsonPointer,
            "regex" if is_draft => Format::Regex,
            "date" => Format::Date,
            "date-time" => Format::DateTime,
            "byte" => Format::Byte,
            "uuid" => Format::Uuid,
            "email" => Format::Email,
            "ipv4" => Format::Ipv4,
            "ipv6" => Format::Ipv6,
            "hostname" => Format::Hostname,
            "uri" => Format::Uri,
            "int32" => Format::Int32,
            "int64" => Format::Int64,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Date => "date",
            Format::DateTime => "date-time",
            Format::Byte => "byte",
            Format::Uuid => "uuid",
            Format::Email => "email",
            Format::Ipv4 => "ipv4",
            Format::Ipv6 => "ipv6",
            Format::Hostname => "hostname",
            Format::Uri => "uri",
            Format::Int32 => "int32",
            Format::Int64 => "int64",
            Format::Time => "time",
            Format::IdnEmail => "idn-email",
            Format::UriReference => "uri-reference",
            Format::Iri => "iri",
            Format::IriReference => "iri-reference",
            Format::UriTemplate => "uri-template",
            Format::JsonPointer => "json-pointer",
            Format::Regex => "regex",
        }
    }

    pub(crate) fn accepts_text(self, text: &str) -> bool {
        match self {
            Format::Date => is_date(text),
            Format::DateTime => is_date_time(text),
            Format::Byte => {
                let digits = text.trim_end_matches('=');
                digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte))
            }
            Format::Uuid => is_uuid(text),
            Format::Email => is_email(text),
            Format::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Format::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Format::Hostname => is_hostname(text),
            Format::Uri => is_uri(text),
            Format::Int32 | Format::Int64 => true,
            Format::Time => is_time(text),
            Format::IdnEmail => is_email(text),
            Format::UriReference => is_uri_text(text),
            Format::Iri => has_scheme(text) && !text.contains(is_no_iri),
            Format::IriReference => !text.contains(is_no_iri),
            Format::UriTemplate => is_uri_template(text),
            Format::JsonPointer => is_json_pointer(text),
            Format::Regex => pattern::is_pattern(text),
        }
    }

    pub(crate) fn accepts_number(self, number: &Number) -> bool {
        match self {
            Format::Int32 => number.as_i64().map_or_else(
                || {
                    number
                        .as_f64()
                        .is_some_and(|value| value.fract() == 0.0 && (-2_147_483_648.0..=2_147_483_647.0).contains(&value))
                },
                |value| i32::try_from(value).is_ok(),
            ),
            // Larger numbers lose digits before they are compared.
            Format::Int64 => {
                number.as_i64().is_some()
                    || number.as_f64().is_some_and(|value| value.abs() < 9_223_372_036_854_775_808.0 && !number.is_u64())
            }
            _ => true,
        }
    }
}

/// Numbers of a fixed width between separators, and what follows.
fn digits(text: &str, count: usize) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| is_number)?, rest))
}

fn date(text: &str) -> Option<&str> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return None,
    };
    (1..=last).contains(&day).then_some(rest)
}

fn is_date(text: &str) -> bool {
    date(text) == Some("")
}

fn is_date_time(text: &str) -> bool {
    date(text).and_then(|rest| rest.strip_prefix(['T', 't'])).is_some_and(is_time)
}

fn is_time(text: &str) -> bool {
    let time = || {
        let (hour, rest) = digits(text, 2)?;
        let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
        let (second, rest) = digits(rest.strip_prefix(':')?, 2)?;
        let rest = match rest.strip_prefix('.') {
            Some(fraction) => {
                let end = fraction.find(|c: char| !c.is_ascii_digit())?;
                fraction.get(end..).filter(|_| end > 0)?
            }
            None => rest,
        };
        let zone_is_valid = rest.eq_ignore_ascii_case("z") || {
            let (hours, after) = digits(rest.strip_prefix(['+', '-'])?, 2)?;
            let (minutes, after) = digits(after.strip_prefix(':')?, 2)?;
            after.is_empty() && hours < 24 && minutes < 60
        };
        Some(hour < 24 && minute < 60 && second < 60 && zone_is_valid)
    };
    time().unwrap_or_default()
}

fn is_uuid(text: &str) -> bool {
    let groups = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    groups
        .iter()
        .all(|length| parts.next().is_some_and(|part| part.len() == *length && part.bytes().all(|byte| byte.is_ascii_hexdigit())))
        && parts.next().is_none()
}

fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !name.contains('@') && !host.is_empty() && !host.contains(['<', '>', '"', ',', ' ', '\t', '\n', '\r'])
    })
}

fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

fn is_uri(text: &str) -> bool {
    has_scheme(text) && is_uri_text(text)
}

fn has_scheme(text: &str) -> bool {
    let scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    text.split_once(':').is_some_and(|(before, _)| scheme(before))
}

fn is_uri_text(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
}

fn is_no_iri(c: char) -> bool {
    c.is_control() || c == ' ' || "<>\"{}|\\^`".contains(c)
}

/// Braces in pairs and not in each other.
fn is_uri_template(text: &str) -> bool {
    let mut is_open = false;
    text.chars().all(|c| match c {
        '{' => !std::mem::replace(&mut is_open, true),
        '}' => std::mem::replace(&mut is_open, false),
        _ => true,
    }) && !is_open
}

fn is_json_pointer(text: &str) -> bool {
    let is_escaped = |after: &str| after.starts_with(['0', '1']);
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(is_escaped)
}
