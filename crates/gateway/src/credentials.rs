//! Where a request carries a credential: a header, a query parameter, a cookie; of several the last one that is there.

use crate::exchange::Exchange;
use crate::template::{cookie, parameter};
use std::borrow::Cow;
use tollgate_model::api::AuthConfig;

/// The places of one method.
pub struct Places(AuthConfig);

impl Places {
    pub fn new(config: &AuthConfig) -> Self {
        Places(config.clone())
    }

    /// The credential, without the scheme `Bearer` in front of it.
    pub fn find<'e>(&self, exchange: &'e Exchange<'_>) -> Option<Cow<'e, str>> {
        let headers = &exchange.request.headers;
        let in_cookie = || {
            let line = std::str::from_utf8(headers.get("cookie")?).ok()?;
            cookie(line, self.0.cookie()?).filter(|found| !found.is_empty()).map(Cow::Borrowed)
        };
        let in_query = || {
            let value = parameter(exchange.query()?, self.0.param()?)?;
            Some(value).filter(|found| !found.is_empty()).map(Cow::Owned)
        };
        let in_header = || {
            let value = without_scheme(headers.get(self.0.header()?)?, b"bearer ");
            if value.is_empty() { None } else { Some(String::from_utf8_lossy(value)) }
        };
        in_cookie().or_else(in_query).or_else(in_header)
    }
}

/// A header's credential without the scheme that stands before it, written in any letter case; `scheme` is in lower case.
pub fn without_scheme<'v>(value: &'v [u8], scheme: &[u8]) -> &'v [u8] {
    match value.split_at_checked(scheme.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(scheme) => rest.trim_ascii(),
        _ => value,
    }
}
