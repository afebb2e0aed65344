//! Go durations: `500ms`, `1m30s`, `1.5h`.

use std::time::Duration;

/// Maximum duration, 100 years: far beyond practical use, far below overflow.
const SECONDS_MAX: f64 = 3_155_760_000.0;

/// Parses a Go duration. `None` for anything else, for a negative one, and above 100 years.
pub fn parse_span(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(digits)?;
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(letters)?;
        seconds += number.parse::<f64>().ok()? * seconds_of(unit)?;
        rest = after;
    }
    (seconds <= SECONDS_MAX).then(|| Duration::from_secs_f64(seconds))
}

/// A number of seconds as a duration. `None` if it is negative, not a number, or above 100 years.
pub fn seconds(number: f64) -> Option<Duration> {
    (0.0..=SECONDS_MAX).contains(&number).then(|| Duration::from_secs_f64(number))
}

fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
