//! Names that say that their values are credentials, and requests without such values. A name is compared as a server reads it, not as it was
//! sent: `auth%5Btoken%5D` is `auth[token]`.

use crate::mask::MASK;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// What stands for a value in records and events.
const RECORD_MASK: &str = "***";

/// Whether a header or parameter is named like credentials.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "key", "token", "secret", "password", "cookie", "signature", "session"].iter().any(|part| name.contains(part))
}

/// Whether a parameter's name, as it was sent, may be read as this one. An escape that is invalid is no reason to show the value.
pub fn names_parameter(sent: &str, own: &str) -> bool {
    parameter_name(sent).eq_ignore_ascii_case(own)
}

/// Whether a server may read a header's name as this one: servers that turn headers into variables take underscores for dashes.
pub fn names_header(sent: &str, own: &str) -> bool {
    let normal = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    sent.len() == own.len() && sent.bytes().map(normal).eq(own.bytes().map(normal))
}

/// A parameter's name as servers read it.
fn parameter_name(sent: &str) -> Cow<'_, str> {
    if !sent.contains(['%', '+']) {
        return Cow::Borrowed(sent);
    }
    let spaced = sent.replace('+', " ");
    Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned())
}

/// A path with its query; the values of parameters that are named like credentials, or are `more` credentials, are masked.
pub fn masked_path(path: &str, more: impl Fn(&str) -> bool) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    format!("{path}?{}", masked_query(query, MASK, |name| is_secret(&parameter_name(name)) || more(name)))
}

/// Path and query for a record: the values of these parameters are masked.
pub fn masked_target(path: &str, query: Option<&str>, parameters: &[String]) -> String {
    let is_masked = |name: &str| parameters.iter().any(|own| names_parameter(name, own));
    query.map_or_else(|| path.to_owned(), |query| format!("{path}?{}", masked_query(query, RECORD_MASK, is_masked)))
}

/// A header's value for a record: masked if it is one of these headers.
pub fn masked_value<'v>(name: &str, value: &'v [u8], headers: &[String]) -> &'v [u8] {
    if headers.iter().any(|own| names_header(name, own)) { RECORD_MASK.as_bytes() } else { value }
}

fn masked_query(query: &str, mask: &str, is_masked: impl Fn(&str) -> bool) -> String {
    let pairs = query.split('&').map(|pair| match pair.split_once('=').unwrap_or((pair, "")) {
        (name, _) if is_masked(name) => Cow::Owned(format!("{name}={mask}")),
        _ => Cow::Borrowed(pair),
    });
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests;
