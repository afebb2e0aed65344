//! The cache key of a request: target, host, caller and the values of some headers.

use tollgate_cache::{ANSWERED_HERE, CacheRequest, HeaderLines, KeyParts, is_same_name};

/// Headers that upstreams are known to use for links, redirects or routes without naming them in `Vary`. They are always part of the key, so a
/// client that invents one cannot poison the responses of others.
const ALWAYS_IN_KEY: [&str; 18] = [
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Port",
    "X-Forwarded-Prefix",
    "X-Forwarded-Scheme",
    "X-Forwarded-Server",
    "X-Forwarded-Path",
    "X-Forwarded-Uri",
    "X-Forwarded-Ssl",
    "X-Original-URL",
    "X-Original-Host",
    "X-Override-URL",
    "X-Rewrite-URL",
    "X-HTTP-Method-Override",
    "X-HTTP-Method",
    "X-Method-Override",
    "X-Host",
    "Forwarded",
];

/// The names of all headers in the key, without repetitions, and without those that the cache does not send to the upstream.
pub(super) fn names_in_key(configured: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let is_sent = |name: &&str| !ANSWERED_HERE.iter().any(|own| own.eq_ignore_ascii_case(name));
    for name in ALWAYS_IN_KEY.into_iter().chain(configured.iter().map(String::as_str).filter(is_sent)) {
        if !names.iter().any(|known| is_same_name(known, name)) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The parts of a request's key.
pub(super) struct RequestKey {
    pub host: Option<Vec<u8>>,
    pub target: Vec<u8>,
    pub caller: Option<Vec<u8>>,
    pub headers: Vec<Option<Vec<u8>>>,
    /// Whether the upstream may know the caller.
    pub is_authorised: bool,
    pub has_body: bool,
}

impl RequestKey {
    /// Shows the request to the cache.
    pub(super) fn with_request<R>(
        &self,
        origin: &str,
        method: &str,
        lines: &dyn HeaderLines,
        look: impl FnOnce(&CacheRequest<'_>) -> R,
    ) -> R {
        let headers: Vec<Option<&[u8]>> = self.headers.iter().map(Option::as_deref).collect();
        look(&CacheRequest {
            method,
            parts: KeyParts {
                origin: origin.as_bytes(),
                host: self.host.as_deref(),
                target: &self.target,
                caller: self.caller.as_deref(),
                headers: &headers,
            },
            lines,
            is_authorised: self.is_authorised,
            has_body: self.has_body,
        })
    }
}

#[cfg(test)]
mod tests;
