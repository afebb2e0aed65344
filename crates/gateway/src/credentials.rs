//! Where a request carries a credential: a header, a query parameter, a cookie; of several the last one that is there.

use crate::exchange::Exchange;
use crate::template::{cookie, parameter};
use std::borrow::Cow;
use tollgate_model::api::{AuthConfig, AuthMethod};

/// The places of one method.
pub struct Places(AuthConfig);

impl Places {
    pub fn new(config: &AuthConfig) -> Self {
        Places(config.clone())
    }

    /// A client certificate may stand for the credential.
    pub fn use_certificate(&self) -> bool {
        self.0.use_certificate
    }

    /// The credential, without the scheme `Bearer` in front of it.
    pub fn find<'e>(&self, exchange: &'e Exchange<'_>) -> Option<Cow<'e, str>> {
        let in_header = || {
            let value = without_scheme(exchange.request.headers.get(self.0.header()?)?, b"bearer ");
            if value.is_empty() { None } else { Some(text(value)) }
        };
        self.beside_header(exchange).or_else(in_header)
    }

    /// The credential as it stands there, and whether that is in a header.
    pub fn whole<'e>(&self, exchange: &'e Exchange<'_>) -> Option<(Cow<'e, str>, bool)> {
        let in_header = || {
            let value = exchange.request.headers.get(self.0.header()?)?;
            if value.is_empty() { None } else { Some((text(value), true)) }
        };
        self.beside_header(exchange).map(|value| (value, false)).or_else(in_header)
    }

    fn beside_header<'e>(&self, exchange: &'e Exchange<'_>) -> Option<Cow<'e, str>> {
        let headers = &exchange.request.headers;
        let in_cookie = || {
            let line = std::str::from_utf8(headers.get("cookie")?).ok()?;
            cookie(line, self.0.cookie()?).filter(|found| !found.is_empty()).map(Cow::Borrowed)
        };
        let in_query = || {
            let value = parameter(exchange.query()?, self.0.param()?)?;
            Some(value).filter(|found| !found.is_empty()).map(Cow::Owned)
        };
        in_cookie().or_else(in_query)
    }
}

/// A header's value as text, most of which is ASCII: checked at once, and taken apart only if it is not.
fn text(value: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(value).map_or_else(|_| String::from_utf8_lossy(value), Cow::Borrowed)
}

/// A header's credential without the scheme that stands before it, written in any letter case; `scheme` is in lower case.
pub fn without_scheme<'v>(value: &'v [u8], scheme: &[u8]) -> &'v [u8] {
    match value.split_at_checked(scheme.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(scheme) => rest.trim_ascii(),
        _ => value,
    }
}

/// What a value looks like to a method, from what is none of its credentials to what can be no other's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// There is no value, or one with another method's scheme.
    #[default]
    Missing,
    /// A value that is hardly a credential of the method.
    Odd,
    /// A value that may be anything.
    Any,
    /// The method's own: its scheme, or three parts for a token.
    Own,
}

impl Form {
    /// The form of a value for a method.
    pub fn of(value: &str, method: AuthMethod) -> Form {
        let has_scheme = |scheme: &[u8]| without_scheme(value.as_bytes(), scheme).len() < value.len();
        let scheme = if has_scheme(b"basic ") {
            Some(AuthMethod::Basic)
        } else if has_scheme(b"signature ") {
            Some(AuthMethod::Hmac)
        } else {
            None
        };
        match (scheme, method) {
            (Some(scheme), _) if scheme == method => Form::Own,
            (Some(_), _) | (None, AuthMethod::Basic | AuthMethod::Hmac) => Form::Missing,
            (None, AuthMethod::Jwt | AuthMethod::OpenId) if value.split('.').count() == 3 => Form::Own,
            (None, AuthMethod::Jwt | AuthMethod::OpenId) => Form::Odd,
            (None, _) => Form::Any,
        }
    }
}

#[cfg(test)]
mod tests;
