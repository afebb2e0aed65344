//! Amounts as people and Go write them: `1m30s`, `20`, `5%`.

use std::time::Duration;
pub(crate) use tollgate_mock_upstream::go_duration as duration;

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
