//! Formats figures for people: significant digits, thousands separators, suitable units.

use crate::stats::rounds::Spread;

/// CPU time in microseconds: `17.6`, `123`.
pub(crate) fn micros(value: f64) -> String {
    if value.abs() < 99.95 { format!("{value:.1}") } else { thousands(value) }
}

/// A latency given in microseconds, with its unit: `873 µs`, `1.24 ms`, `2.10 s`.
pub(crate) fn latency(us: f64) -> String {
    match us.abs() {
        abs if abs < 999.5 => format!("{us:.0} µs"),
        abs if abs < 9_995.0 => format!("{:.2} ms", us / 1e3),
        abs if abs < 99_950.0 => format!("{:.1} ms", us / 1e3),
        abs if abs < 999_500.0 => format!("{:.0} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}

/// Same with a sign, for differences.
pub(crate) fn added(us: f64) -> String {
    if us < 0.0 { format!("−{}", latency(-us)) } else { format!("+{}", latency(us)) }
}

/// `25,976`.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("−{text}") } else { text }
}

/// `17.6 (16.0–20.7)`.
pub(crate) fn spread(spread: Spread, figure: fn(f64) -> String) -> String {
    format!("{} ({}–{})", figure(spread.median), figure(spread.low), figure(spread.high))
}

/// `1.14× (1.10–1.20)`.
pub(crate) fn ratio(ratio: Spread) -> String {
    format!("{:.2}× ({:.2}–{:.2})", ratio.median, ratio.low, ratio.high)
}

/// Placeholder for a missing value.
pub(crate) const NOTHING: &str = "–";

/// The text, or a dash.
pub(crate) fn or_nothing(text: Option<String>) -> String {
    text.unwrap_or_else(|| NOTHING.to_owned())
}
