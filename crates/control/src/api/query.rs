//! Parameters in a query: unknown ones and bad values get an answer that names them.

use std::collections::HashMap;

/// The parameters of a request.
pub(super) struct Parameters<'a>(&'a HashMap<String, String>);

impl<'a> Parameters<'a> {
    /// Only these names may occur.
    pub(super) fn new(query: &'a HashMap<String, String>, known: &[&str]) -> Result<Self, String> {
        match query.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(format!("unknown parameter {name}; known are {}", known.join(", "))),
            None => Ok(Parameters(query)),
        }
    }

    /// A text that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        self.text(name).map(|text| text.parse().map_err(|_| format!("{name} must be a whole number"))).transpose()
    }

    /// A whole number that may be negative.
    pub(super) fn whole(&self, name: &str) -> Result<Option<i64>, String> {
        self.text(name).map(|text| text.parse().map_err(|_| format!("{name} must be a whole number"))).transpose()
    }

    /// The seconds of a span; the error says that it must be such as `examples`.
    pub(super) fn span_s(&self, name: &str, examples: &str) -> Result<Option<i64>, String> {
        self.text(name).map(|text| span_s(text).ok_or_else(|| format!("{name} must be such as {examples}"))).transpose()
    }

    /// Start and end of a period in seconds, by `from`, `to` and `last`, which is such as `examples`. It ends at `end` and is `length_s` long if
    /// nothing is said.
    pub(super) fn period(&self, end: i64, length_s: i64, examples: &str) -> Result<(i64, i64), String> {
        let to = self.whole("to")?.unwrap_or(end);
        let last = self.span_s("last", examples)?;
        let from = self.whole("from")?.unwrap_or(to.saturating_sub(last.unwrap_or(length_s)));
        if from < to { Ok((from, to)) } else { Err("from must be before to".to_owned()) }
    }
}

/// Parses `90s`, `30m`, `24h` or `7d` into seconds.
fn span_s(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit_s = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    number.parse::<i64>().ok().filter(|number| *number > 0)?.checked_mul(unit_s)
}
