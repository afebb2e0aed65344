//! Escaped `name=value` texts of forms, queries and cookies. A parameter with an invalid escape counts as absent.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that Go's `url.QueryEscape` escapes; spaces become `+`.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The value of a cookie in a Cookie header.
pub fn cookie<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    first_cookie(header, |key| key == name)
}

/// The value of the first cookie whose name matches, in a Cookie header.
pub fn first_cookie(header: &str, is_it: impl Fn(&str) -> bool) -> Option<&str> {
    header.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        is_it(key.trim()).then(|| value.trim().trim_matches('"'))
    })
}

/// All cookies in a Cookie header.
pub fn cookies(header: &str) -> impl Iterator<Item = (&str, &str)> {
    header.split(';').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some((key.trim(), value.trim().trim_matches('"')))
    })
}

/// The decoded value of a query parameter.
pub fn parameter(query: &str, name: &str) -> Option<String> {
    first_value(query, |key| key == name)
}

/// The decoded value of the first query parameter whose name matches.
pub fn first_value(query: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        is_it(&decode_form(key)?).then(|| decode_form(value))?
    })
}

/// The decoded values of all query parameters of a name.
pub fn values<'q>(query: &'q str, name: &'q str) -> impl Iterator<Item = String> + 'q {
    pairs(query).filter(move |(key, _)| key == name).map(|(_, value)| value)
}

/// All query parameters, decoded.
pub fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    query.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode_form(key)?, decode_form(value)?))
    })
}

/// A query without all parameters of one name.
pub fn without_parameter(query: &str, name: &str) -> String {
    let is_other = |pair: &&str| {
        let key = pair.split_once('=').map_or(*pair, |(key, _)| key);
        decode_form(key).as_deref() != Some(name)
    };
    query.split('&').filter(is_other).collect::<Vec<_>>().join("&")
}

/// Decodes `+` and escapes; `None` for an invalid escape.
pub fn decode_form(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    Some(crate::path::Path::new(spaced.into())?.decoded.into_owned())
}

/// Escapes a value for use in a query.
pub fn encode_form(text: &str) -> String {
    utf8_percent_encode(text, &ESCAPED).map(|part| if part == "%20" { "+" } else { part }).collect()
}

#[cfg(test)]
mod tests;
