//! URLs of services that the gateway itself sends requests to.

/// Whether a text is a URL that requests can be sent below. A query needs a path before it.
pub(super) fn is_service_url(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https")) else { return false };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains('#') && !authority.contains('@');
    is_plain && !authority.is_empty() && (!rest.contains('?') || rest.contains('/'))
}
