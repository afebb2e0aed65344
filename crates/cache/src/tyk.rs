//! Tyk's cache, rule by rule as in version 5.14: not RFC 9111. An entry belongs to one caller, lives for the configured time whatever the
//! response says, and any status is stored unless the configuration names some. Where Tyk's behaviour is surprising, the test says so.

mod payload;

pub use payload::{TykPayload, Unusable};

use crate::head::{Head, NotStored};
use crate::lines::HeaderLines;
use md5::{Digest, Md5};
use tollgate_model::key::KeyFunction;

/// The parts of `cache_options` and of an entry of `advance_cache_config` that decide what is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TykRules {
    /// `cache_timeout`, in seconds. With 0 an entry has expired by the time it is read.
    pub timeout_s: i64,
    /// `cache_response_codes`; empty means all, including errors.
    pub response_codes: Vec<u16>,
    /// `enable_upstream_cache_control`.
    pub has_upstream_control: bool,
    /// `cache_control_ttl_header`; empty means `x-tyk-cache-action-set-ttl`.
    pub ttl_header: String,
}

/// Header that makes the gateway store a response whatever its status.
const ACTION_HEADER: &str = "x-tyk-cache-action-set";
const TTL_HEADER: &str = "x-tyk-cache-action-set-ttl";

impl TykRules {
    /// The rules of an endpoint in `advance_cache_config`: its settings override the API's, and can't be 0 or empty.
    pub fn for_endpoint(&self, timeout_s: i64, response_codes: &[u16]) -> TykRules {
        let mut rules = self.clone();
        if timeout_s > 0 {
            rules.timeout_s = timeout_s;
        }
        if !response_codes.is_empty() {
            rules.response_codes = response_codes.to_vec();
        }
        rules
    }

    /// How many seconds a response is stored; `None` when it is not stored. A time below 1 stores an entry that has expired already.
    pub fn ttl_s(&self, status: u16, lines: &dyn HeaderLines) -> Option<i64> {
        let mut stores = self.response_codes.is_empty() || self.response_codes.contains(&status);
        let mut ttl_s = self.timeout_s;
        if self.has_upstream_control {
            let ttl_header = if self.ttl_header.is_empty() { TTL_HEADER } else { &self.ttl_header };
            let (mut action, mut ttl) = (None, None);
            lines.each(&mut |name, value| {
                if action.is_none() && name.eq_ignore_ascii_case(ACTION_HEADER) {
                    action = Some(!value.is_empty());
                }
                if ttl.is_none() && name.eq_ignore_ascii_case(ttl_header) {
                    ttl = Some(value.to_vec());
                }
            });
            stores |= action == Some(true);
            let number = ttl.and_then(|ttl| std::str::from_utf8(&ttl).ok()?.parse().ok());
            ttl_s = number.unwrap_or(ttl_s);
        }
        stores.then_some(ttl_s)
    }
}

/// Whether a method is `GET`, `HEAD` or `OPTIONS`: the methods that `cache_all_safe_requests` and the plain list `cache` mean.
pub fn is_safe_method(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

/// The part of a request's body that is in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TykBody<'a> {
    /// The complete body.
    Whole(&'a [u8]),
    /// The first match of `cache_key_regex`; `None` when there is no match.
    Match(Option<&'a [u8]>),
}

/// The parts of Tyk's key.
#[derive(Clone, Copy, Debug)]
pub struct TykKeyParts<'a> {
    /// Id of the API.
    pub api_id: &'a str,
    /// The key that the client sent, unchanged; without one, the client's address.
    pub caller: &'a str,
    /// The method.
    pub method: &'a str,
    /// The URL after the chain: the client's path and query, or the result of a rewrite.
    pub url: &'a str,
    /// The names in `cache_by_headers` with the request's first value of each; empty when it has none.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body, for methods whose key includes it.
    pub body: TykBody<'a>,
}

impl TykKeyParts<'_> {
    /// Tyk's key without the prefix that its store adds, `cache-` and the API's id.
    pub fn key(&self) -> String {
        let mut digest = Md5::new();
        digest.update(format!("{}-{}", self.method, self.url));
        if !self.headers.is_empty() {
            digest.update("-");
            for (name, value) in self.headers {
                digest.update(format!("{name}-{value}"));
            }
        }
        if let (true, Some(hash)) = (matches!(self.method, "POST" | "PUT" | "PATCH"), self.body.hash()) {
            digest.update(format!("-{hash}"));
        }
        format!("{}{}{}", self.api_id, self.caller, tollgate_model::hexadecimal(&digest.finalize()))
    }

    /// Key of the entry in Redis.
    pub fn redis_key(&self) -> String {
        format!("cache-{}{}", self.api_id, self.key())
    }
}

impl TykBody<'_> {
    fn hash(&self) -> Option<String> {
        let bytes = match self {
            TykBody::Whole(bytes) => bytes,
            TykBody::Match(found) => found.as_ref()?,
        };
        Some(KeyFunction::Murmur128.hash_bytes(bytes))
    }
}

/// Stores a response by Tyk's rules.
#[derive(Debug)]
pub(crate) struct TykFill {
    pub rules: TykRules,
}

impl TykFill {
    pub(crate) fn head(&self, status: u16, lines: &dyn HeaderLines, now_ms: u64) -> Result<Head, NotStored> {
        // Tyk stores these two as well, and then gives the next client a part, or nothing, instead of the complete response.
        if is_part(status) {
            return Err(NotStored::Status);
        }
        let ttl_s = self.rules.ttl_s(status, lines).ok_or(NotStored::Status)?;
        tyk_head(status, lines, u64::try_from(ttl_s).unwrap_or(0), now_ms)
    }
}

/// Makes a head; Tyk counts whole seconds from the second in which it stores.
pub(crate) fn tyk_head(status: u16, lines: &dyn HeaderLines, ttl_s: u64, now_ms: u64) -> Result<Head, NotStored> {
    if ttl_s == 0 {
        return Err(NotStored::Useless);
    }
    Head::with_lifetime(status, lines, ttl_s, now_ms / 1000 * 1000)
}

/// Whether responses with a status are not the whole.
pub(crate) fn is_part(status: u16) -> bool {
    matches!(status, 206 | 304)
}

#[cfg(test)]
mod tests;
