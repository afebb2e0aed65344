//! Where a request carries a credential: a header, a query parameter, a cookie; of several the last one that is there.

use crate::base::form::{cookie, parameter};
use crate::data::exchange::Exchange;
use std::borrow::Cow;
use tollgate_http::KnownHeader;
use tollgate_model::api::{AuthConfig, AuthMethod};

/// The places of one method.
pub(crate) struct CredentialPlaces {
    header: Option<Header>,
    param: Option<String>,
    cookie: Option<String>,
    use_certificate: bool,
}

enum Header {
    /// `Authorization`, which each head's reader looks for.
    Usual,
    Named(String),
}

impl CredentialPlaces {
    pub(crate) fn new(config: &AuthConfig) -> Self {
        let header = |name: &str| match name.eq_ignore_ascii_case("authorization") {
            true => Header::Usual,
            false => Header::Named(name.to_owned()),
        };
        CredentialPlaces {
            header: config.header().map(header),
            param: config.param().map(str::to_owned),
            cookie: config.cookie().map(str::to_owned),
            use_certificate: config.use_certificate,
        }
    }

    /// A client certificate may stand for the credential.
    pub(crate) fn use_certificate(&self) -> bool {
        self.use_certificate
    }

    /// The credential, without the scheme `Bearer` in front of it.
    pub(crate) fn find<'a>(&self, exchange: &Exchange<'a>) -> Option<Cow<'a, str>> {
        self.beside_header(exchange).or_else(|| Some(text(self.bearer(exchange)?)))
    }

    /// The same for those who ask for its bytes first.
    pub(crate) fn find_bytes<'a>(&self, exchange: &Exchange<'a>) -> Option<Cow<'a, [u8]>> {
        match self.beside_header(exchange) {
            Some(Cow::Borrowed(value)) => Some(Cow::Borrowed(value.as_bytes())),
            Some(Cow::Owned(value)) => Some(Cow::Owned(value.into_bytes())),
            None => self.bearer(exchange).map(Cow::Borrowed),
        }
    }

    /// The credential as it stands there, and whether that is in a header.
    pub(crate) fn whole<'a>(&self, exchange: &Exchange<'a>) -> Option<(Cow<'a, str>, bool)> {
        let in_header = || self.in_header(exchange).filter(|value| !value.is_empty()).map(|value| (text(value), true));
        self.beside_header(exchange).map(|value| (value, false)).or_else(in_header)
    }

    fn bearer<'a>(&self, exchange: &Exchange<'a>) -> Option<&'a [u8]> {
        Some(without_scheme(self.in_header(exchange)?, b"bearer ")).filter(|value| !value.is_empty())
    }

    fn in_header<'a>(&self, exchange: &Exchange<'a>) -> Option<&'a [u8]> {
        let headers = &exchange.request.headers;
        match self.header.as_ref()? {
            Header::Usual => headers.known(KnownHeader::Authorization),
            Header::Named(name) => headers.get(name),
        }
    }

    fn beside_header<'a>(&self, exchange: &Exchange<'a>) -> Option<Cow<'a, str>> {
        let in_cookie = || {
            let name = self.cookie.as_ref()?;
            let line = std::str::from_utf8(exchange.request.headers.known(KnownHeader::Cookie)?).ok()?;
            cookie(line, name).filter(|found| !found.is_empty()).map(Cow::Borrowed)
        };
        let in_query = || {
            let value = parameter(exchange.query()?, self.param.as_ref()?)?;
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
pub(crate) fn without_scheme<'v>(value: &'v [u8], scheme: &[u8]) -> &'v [u8] {
    match value.split_at_checked(scheme.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(scheme) => rest.trim_ascii(),
        _ => value,
    }
}

/// What a value looks like to a method, from what is none of its credentials to what can be no other's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CredentialForm {
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

impl CredentialForm {
    /// The form of a value for a method.
    pub(crate) fn of(value: &str, method: AuthMethod) -> CredentialForm {
        let has_scheme = |scheme: &[u8]| without_scheme(value.as_bytes(), scheme).len() < value.len();
        let scheme = if has_scheme(b"basic ") {
            Some(AuthMethod::Basic)
        } else if has_scheme(b"signature ") {
            Some(AuthMethod::Hmac)
        } else {
            None
        };
        match (scheme, method) {
            (Some(scheme), _) if scheme == method => CredentialForm::Own,
            (Some(_), _) | (None, AuthMethod::Basic | AuthMethod::Hmac) => CredentialForm::Missing,
            (None, AuthMethod::Jwt | AuthMethod::OpenId) if value.split('.').count() == 3 => CredentialForm::Own,
            (None, AuthMethod::Jwt | AuthMethod::OpenId) => CredentialForm::Odd,
            (None, _) => CredentialForm::Any,
        }
    }
}

#[cfg(test)]
mod tests;
