//! An upstream of an API: a URL, parsed once, and the engine's target for it.

use crate::api::Api;
use crate::url::Url;
use std::sync::Arc;
use tollgate_engine::Target;
use tollgate_mcp_federation::FederatedServer;

/// One URL to send requests to.
#[derive(Debug)]
pub struct Upstream {
    pub target: Arc<Target>,
    /// `Host` of requests to the upstream.
    pub host: String,
    /// Path of the URL, as configured.
    pub path: String,
    /// Query of the URL, without `?`.
    pub query: String,
    /// The MCP server in front of many that it is.
    pub federation: Option<Arc<FederatedServer>>,
}

/// A URL split into its parts.
pub struct UpstreamParts<'a> {
    pub scheme: &'a str,
    pub authority: &'a str,
    pub path: &'a str,
    pub query: &'a str,
}

/// Splits an absolute URL; `None` when it has no scheme or no authority.
pub fn split_url(url: &str) -> Option<UpstreamParts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end)?;
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    // User information is not part of the `Host` header.
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let valid = !authority.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    valid.then_some(UpstreamParts { scheme, authority, path, query })
}

/// A URL without user and password, which may be shown.
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..end).and_then(|authority| authority.rsplit_once('@')) {
        Some((user, _)) => format!("{scheme}://{}", rest.get(user.len() + 1..).unwrap_or_default()),
        None => url.to_owned(),
    }
}

/// Appends path and query of a request to an upstream whose own URL has this path and query.
#[inline]
pub fn write_target(api: &Api, url: &Url<'_>, path: &str, query: &str, out: &mut Vec<u8>) {
    write_parts(api.stripped(url), url.query.as_deref(), api.disable_strip_slash, (path, query), out);
}

/// The same for the parts of a request: its path behind the listen path, and its query.
#[inline]
pub fn write_parts(
    stripped: &str,
    own_query: Option<&str>,
    disable_strip_slash: bool,
    (path, query): (&str, &str),
    out: &mut Vec<u8>,
) {
    join_path(path, stripped, disable_strip_slash, out);
    if !query.is_empty() {
        out.push(b'?');
        out.extend_from_slice(query.as_bytes());
    }
    if let Some(own) = own_query.filter(|own| query.is_empty() || !own.is_empty()) {
        out.push(if query.is_empty() { b'?' } else { b'&' });
        out.extend_from_slice(own.as_bytes());
    }
}

/// Joins an upstream's path and the rest of the request's path with one slash.
#[inline]
fn join_path(target: &str, rest: &str, disable_strip_slash: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if disable_strip_slash && (rest.is_empty() || rest == "/") {
        out.extend_from_slice(target.as_bytes());
    } else {
        out.extend_from_slice(target.trim_end_matches('/').as_bytes());
        let rest = rest.trim_start_matches('/');
        if !rest.is_empty() {
            out.push(b'/');
            out.extend_from_slice(rest.as_bytes());
        }
    }
    if out.len() == start {
        out.push(b'/');
    }
}

#[cfg(test)]
mod tests;
