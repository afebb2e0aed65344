//! Names that say that their values are credentials.

use tollgate_admin::MASK;

/// Whether a header or parameter is named like credentials.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "key", "token", "secret", "password", "cookie", "signature", "session"].iter().any(|part| name.contains(part))
}

/// A path with its query; the values of parameters that are named like credentials, or are `more` credentials, are masked.
pub(crate) fn masked_path(path: &str, more: impl Fn(&str) -> bool) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) || more(name) => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
}
