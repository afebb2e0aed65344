//! Redirect URIs: whether a URI belongs to a client, and which parameters are added to it.

use tollgate_http::form::{decode_form, encode_form};

/// The URIs of a client: one, or several with a separator between them.
pub(super) fn registered<'a>(list: &'a str, separator: &str) -> Vec<&'a str> {
    let all: Vec<&str> = if separator.is_empty() { vec![list] } else { list.split(separator).collect() };
    all.into_iter().map(str::trim).filter(|uri| !uri.is_empty()).collect()
}

/// Whether a URI is registered or, unless `exact`, lies below a registered one, as in Tyk. Unlike in Tyk, `/call` is not below `/ca`, and a
/// URI with dot segments is not below any.
pub(super) fn is_allowed(own: &[&str], uri: &str, exact: bool) -> bool {
    if uri.contains('#') || uri.bytes().any(|byte| byte <= b' ' || byte == b'\\' || byte == 0x7f) {
        return false;
    }
    own.iter().any(|own| *own == uri || !exact && is_below(own, uri))
}

fn is_below(own: &str, uri: &str) -> bool {
    let base = own.split('?').next().unwrap_or_default();
    let Some(rest) = uri.strip_prefix(base) else { return false };
    // Without a host, nothing separates the base from the rest.
    let has_host = base.split_once("://").is_some_and(|(_, after)| !after.trim_matches('/').is_empty());
    let (path, _) = rest.split_once('?').unwrap_or((rest, ""));
    let begins = rest.is_empty() || rest.starts_with(['/', '?']) || base.ends_with('/') && base.matches('/').count() > 2;
    has_host && begins && is_inside(path)
}

/// Whether a path stays below where it begins, for whoever reads it: it has no dot segments, and no escaped slashes.
pub fn is_inside(path: &str) -> bool {
    !path.split('/').any(climbs)
}

fn climbs(segment: &str) -> bool {
    let segment = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(segment.as_str(), "." | "..") || segment.contains("%2f") || segment.contains("%5c")
}

/// Adds parameters to a URI's query, sorted by name; they replace its own parameters with these names.
pub fn with_query(uri: &str, parameters: &[(&str, &str)]) -> String {
    let (base, own) = uri.split_once('?').unwrap_or((uri, ""));
    let is_other = |pair: &&str| {
        // An escaped name is the same parameter to its reader, and would come first.
        let name = decode_form(pair.split('=').next().unwrap_or_default());
        !pair.is_empty() && !parameters.iter().any(|(own, _)| Some(*own) == name.as_deref())
    };
    let mut pairs: Vec<String> = own.split('&').filter(is_other).map(str::to_owned).collect();
    pairs.extend(encoded(parameters));
    pairs.sort();
    format!("{base}?{}", pairs.join("&"))
}

/// Adds parameters to a URI's fragment.
pub(super) fn with_fragment(uri: &str, parameters: &[(&str, &str)]) -> String {
    let mut pairs: Vec<String> = encoded(parameters).collect();
    pairs.sort();
    format!("{uri}#{}", pairs.join("&"))
}

fn encoded(parameters: &[(&str, &str)]) -> impl Iterator<Item = String> {
    parameters.iter().map(|(name, value)| format!("{}={}", encode_form(name), encode_form(value)))
}

#[cfg(test)]
mod tests;
