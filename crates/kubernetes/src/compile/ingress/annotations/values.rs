//! Values of annotations.

/// `true` or `false`, also as `on` and `off`.
pub(super) fn boolean(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" | "" => Ok(false),
        _ => Err(format!("{value:?} is neither true nor false")),
    }
}

pub(super) fn number(value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("{value:?} is no number"))
}

/// Entries with commas between them.
pub(super) fn list(value: &str) -> Vec<String> {
    value.split(',').map(|entry| entry.trim().to_owned()).filter(|entry| !entry.is_empty()).collect()
}

/// Seconds, as a number or with the unit `s`, `m` or `h`, in milliseconds. At most what a definition may say: one hour.
pub(super) fn milliseconds(value: &str) -> Result<u64, String> {
    const TIME_MS_MAX: u64 = 3_600_000;
    let (digits, factor) = match value.strip_suffix(['s', 'm', 'h']) {
        Some(digits) if value.ends_with('m') => (digits, 60_000),
        Some(digits) if value.ends_with('h') => (digits, 3_600_000),
        Some(digits) => (digits, 1_000),
        None => (value, 1_000),
    };
    Ok(number(digits)?.saturating_mul(factor).min(TIME_MS_MAX))
}

/// Bytes, with `k`, `m` or `g` behind the number.
pub(super) fn bytes(value: &str) -> Result<u64, String> {
    let lower = value.to_ascii_lowercase();
    let (digits, shift) = match lower.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if lower.ends_with('k') => (digits, 10),
        Some(digits) if lower.ends_with('m') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (lower.as_str(), 0),
    };
    number(digits).map(|number| number.saturating_mul(1 << shift)).map_err(|_| format!("{value:?} is no size"))
}

/// A text with variables of nginx, as one with the names that a route knows.
pub(crate) fn request_text(value: &str) -> Result<String, String> {
    const VARIABLES: [(&str, &str); 13] = [
        ("escaped_request_uri", "{escaped_uri}"),
        ("request_uri", "{uri}"),
        ("http_host", "{host}"),
        ("best_http_host", "{host}"),
        ("pass_access_scheme", "{scheme}"),
        ("scheme", "{scheme}"),
        ("host", "{host}"),
        ("uri", "{path}"),
        ("document_uri", "{path}"),
        ("is_args$args", "{query}"),
        ("is_args$query_string", "{query}"),
        ("is_args", ""),
        ("args", "{query}"),
    ];
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let found = VARIABLES.iter().find_map(|(name, part)| {
            let braced = after.strip_prefix('{').and_then(|after| after.strip_prefix(name)?.strip_prefix('}'));
            let ends = |after: &&str| !after.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
            Some((*part, braced.or_else(|| after.strip_prefix(name).filter(ends))?))
        });
        let (part, after) = found.ok_or_else(|| format!("the variable in `${after}` is not known"))?;
        text.push_str(part);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}
