//! What a provider's response says of its limits, whatever names its headers have.

use jiff::Timestamp;

/// The longest time that is believed: a day. Limits by the day are the longest there are.
const WAIT_MS_MAX: u64 = 86_400_000;

/// A limit and what is left of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// How much is allowed.
    pub limit: Option<u64>,
    /// How much is left.
    pub remaining: Option<u64>,
    /// Milliseconds until all of it is there again.
    pub reset_ms: Option<u64>,
}

/// What a response says of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Milliseconds after which a request may be tried again.
    pub retry_after_ms: Option<u64>,
    /// Requests.
    pub requests: Window,
    /// Tokens of prompts and answers.
    pub tokens: Window,
    /// Tokens of prompts.
    pub input_tokens: Window,
    /// Tokens of answers.
    pub output_tokens: Window,
}

impl RateLimits {
    /// Reads headers, whose names may have any case.
    pub fn read<'a>(headers: impl IntoIterator<Item = (&'a str, &'a str)>, now_unix_ms: u64) -> Self {
        let mut limits = RateLimits::default();
        for (name, value) in headers {
            let (name, value) = (name.to_ascii_lowercase(), value.trim());
            match name.as_str() {
                // More exact, so it wins over the other.
                "retry-after-ms" => limits.retry_after_ms = number(value).map(bounded).or(limits.retry_after_ms),
                "retry-after" => limits.retry_after_ms = limits.retry_after_ms.or_else(|| after(value, now_unix_ms)),
                name => limits.read_window(name, value, now_unix_ms),
            }
        }
        limits
    }

    fn read_window(&mut self, name: &str, value: &str, now_unix_ms: u64) {
        let anthropic = name.strip_prefix("anthropic-ratelimit-").and_then(|rest| rest.rsplit_once('-'));
        let openai = name.strip_prefix("x-ratelimit-").and_then(|rest| rest.split_once('-')).map(|(figure, kind)| (kind, figure));
        let Some((kind, figure)) = anthropic.or(openai) else { return };
        let window = match kind {
            "requests" => &mut self.requests,
            "tokens" => &mut self.tokens,
            "input-tokens" => &mut self.input_tokens,
            "output-tokens" => &mut self.output_tokens,
            _ => return,
        };
        match figure {
            "limit" => window.limit = number(value),
            "remaining" => window.remaining = number(value),
            "reset" => window.reset_ms = duration(value).or_else(|| until(value, now_unix_ms)),
            _ => {}
        }
    }
}

fn bounded(ms: u64) -> u64 {
    ms.min(WAIT_MS_MAX)
}

fn number(value: &str) -> Option<u64> {
    value.parse().ok()
}

/// `Retry-After`: seconds, which some providers write with a fraction, or a date.
fn after(value: &str, now_unix_ms: u64) -> Option<u64> {
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then(|| bounded((seconds * 1000.0) as u64));
    }
    let date = httpdate::parse_http_date(value).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(bounded(u64::try_from(date.as_millis()).ok()?.saturating_sub(now_unix_ms)))
}

/// A time by RFC 3339, as Anthropic writes it.
fn until(value: &str, now_unix_ms: u64) -> Option<u64> {
    let at = u64::try_from(value.parse::<Timestamp>().ok()?.as_millisecond()).ok()?;
    Some(bounded(at.saturating_sub(now_unix_ms)))
}

/// A time as OpenAI and Groq write it: `1s`, `6m0s`, `1h2m`, `20ms`, `7.66s`.
fn duration(value: &str) -> Option<u64> {
    let (mut rest, mut sum) = (value, 0.0_f64);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, behind) = rest.split_at_checked(digits)?;
        let unit = behind.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(unit)?;
        let ms = match unit {
            "ms" => 1.0,
            "s" => 1_000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * ms;
        rest = behind;
    }
    (!value.is_empty()).then(|| bounded(sum as u64))
}

#[cfg(test)]
mod tests;
