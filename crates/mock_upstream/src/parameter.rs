//! Parses durations and sizes in go-bench-suite's format, and query parameters.

use std::time::Duration;

/// Maximum delay: longer waits only pile up sleeping tasks.
const DELAY_MAX: Duration = Duration::from_secs(600);

/// Maximum size: larger bodies are a mistake in a scenario.
const SIZE_MAX: u64 = 1 << 40;

/// `250us`, `100ms`, `1m30s`; a bare number is in seconds. `None` above ten minutes.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let seconds = text.parse().map(Duration::from_secs);
    seconds.or_else(|_| go_duration(text)).ok().filter(|wanted| *wanted <= DELAY_MAX)
}

/// A duration in Go's notation (`300ms`, `1m30s`, `1.5h`). `Err` says what one looks like.
pub fn go_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration such as 500ms, 30s or 1m30s");
    let mut rest = text;
    let mut seconds = 0.0;
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let unit_len = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_len);
        seconds += number
            * match unit {
                "ns" => 1e-9,
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return Err(wrong()),
            };
        rest = tail;
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// `500`, `10B`, `0.25K`, `64k`, `1KB`, `10MB`, `1GiB`, in powers of 1024.
pub(crate) fn size(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "K" | "KB" | "KIB" => f64::from(1 << 10),
        "M" | "MB" | "MIB" => f64::from(1 << 20),
        "G" | "GB" | "GIB" => f64::from(1 << 30),
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * factor;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    (0.0..=SIZE_MAX as f64).contains(&bytes).then_some(bytes as u64)
}

/// The value of a query parameter, with any letter case of its name; a name without `=` has an empty value.
pub(crate) fn query_value<'a>(query: &'a str, wanted: &str) -> Option<&'a str> {
    query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .find_map(|(name, value)| name.eq_ignore_ascii_case(wanted).then_some(value))
}
