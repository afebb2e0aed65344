//! Invariants of redirect URIs, for any URI in a request. The function panics when one is violated. The fuzzer calls it, and so do the
//! tests, with the same corpus.

use crate::oauth::redirect::{is_allowed, registered, with_fragment, with_query};
use http::Uri;
use tollgate_http::form::parameter;

/// An allowed URI has the server of a registered one and lies below it, also for another URI parser. The first line of the input is the
/// list of registered URIs.
pub(super) fn redirect_uri(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (list, uri) = text.split_once('\n').unwrap_or(("https://app.test/back", text));
    let own = registered(list, ",");
    let allowed = is_allowed(&own, uri, false);
    if is_allowed(&own, uri, true) {
        assert!(allowed && own.contains(&uri), "{uri:?}");
    }
    if !allowed || own.contains(&uri) {
        return;
    }
    let base = own.iter().find(|own| is_allowed(&[own], uri, false)).expect("one of them allows it");
    let (Ok(base), Ok(found)) = (base.parse::<Uri>(), uri.parse::<Uri>()) else { return };
    assert_eq!((found.scheme(), found.authority()), (base.scheme(), base.authority()), "{uri:?} is another server");
    let (folder, path) = (segments(base.path()), segments(found.path()));
    assert!(path.starts_with(&folder), "{uri:?} is not below {base}");

    let parameters = [("code", "a b&c=d#e"), ("state", text)];
    let query = with_query(uri, &parameters);
    let (start, query) = query.split_once('?').expect("a query");
    assert_eq!(start, uri.split('?').next().unwrap_or_default());
    let fragment = with_fragment(uri, &parameters);
    let (start, fragment) = fragment.split_once('#').expect("a fragment");
    assert_eq!(start, uri);
    for (name, value) in parameters {
        assert_eq!(parameter(query, name).as_deref(), Some(value), "{query}");
        assert_eq!(parameter(fragment, name).as_deref(), Some(value), "{fragment}");
    }
}

/// The path that a browser would request.
fn segments(path: &str) -> Vec<String> {
    let mut segments = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        match segment.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment.to_owned()),
        }
    }
    segments
}
