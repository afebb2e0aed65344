//! Amounts as people and Go write them: `1m30s`, `20`, `5%`.

use std::time::Duration;

/// A duration in Go's notation (`300ms`, `1m30s`, `1.5h`), as hey's `-z` takes it.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
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

/// A duration, or whole seconds without a unit as hey's `-t` takes them.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) => duration(text),
    }
}

/// A rate in requests a second, above 0.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate.is_finite() => Ok(rate),
        _ => Err(format!("`{text}` is not a number of requests per second above 0")),
    }
}

/// A share, as `5%` or `0.05`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse::<f64>(),
    };
    number
        .ok()
        .filter(|share| *share >= 0.0 && share.is_finite())
        .ok_or_else(|| format!("`{text}` is not a share such as 5% or 0.05"))
}

#[cfg(test)]
mod tests;
