//! Places of credentials in a request: header, query parameter and cookie. When several are present, the last one wins.

use crate::exchange::Exchange;
use std::borrow::Cow;
use tollgate_http::KnownHeader;
use tollgate_http::form::{cookie, parameter};
use tollgate_model::api::{AuthConfig, AuthMethod};

/// The places where one method looks for credentials.
pub struct CredentialPlaces {
    header: Option<Header>,
    param: Option<String>,
    cookie: Option<String>,
    use_certificate: bool,
}

enum Header {
    /// `Authorization`, which the parser finds in every head.
    Usual,
    Named(String),
}

impl CredentialPlaces {
    pub fn new(config: &AuthConfig) -> Self {
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

    /// Whether a client certificate can replace the credential.
    pub fn use_certificate(&self) -> bool {
        self.use_certificate
    }

    /// The credential without the `Bearer` scheme.
    pub fn find<'a>(&self, exchange: &Exchange<'a>) -> Option<Cow<'a, str>> {
        self.beside_header(exchange).or_else(|| Some(text(self.bearer(exchange)?)))
    }

    /// Like [`CredentialPlaces::find`], as bytes.
    pub fn find_bytes<'a>(&self, exchange: &Exchange<'a>) -> Option<Cow<'a, [u8]>> {
        match self.beside_header(exchange) {
            Some(Cow::Borrowed(value)) => Some(Cow::Borrowed(value.as_bytes())),
            Some(Cow::Owned(value)) => Some(Cow::Owned(value.into_bytes())),
            None => self.bearer(exchange).map(Cow::Borrowed),
        }
    }

    /// The complete credential, and whether it is in a header.
    pub fn whole<'a>(&self, exchange: &Exchange<'a>) -> Option<(Cow<'a, str>, bool)> {
        let in_header = || self.in_header(exchange).filter(|value| !value.is_empty()).map(|value| (text(value), true));
        self.beside_header(exchange).map(|value| (value, false)).or_else(in_header)
    }

    fn bearer<'a>(&self, exchange: &Exchange<'a>) -> Option<&'a [u8]> {
        Some(without_scheme(self.in_header(exchange)?, b"bearer ")).filter(|value| !value.is_empty())
    }

    fn in_header<'a>(&self, exchange: &Exchange<'a>) -> Option<&'a [u8]> {
        let headers = exchange.received();
        match self.header.as_ref()? {
            Header::Usual => headers.known(KnownHeader::Authorization),
            Header::Named(name) => headers.get(name),
        }
    }

    fn beside_header<'a>(&self, exchange: &Exchange<'a>) -> Option<Cow<'a, str>> {
        let in_cookie = || {
            let name = self.cookie.as_ref()?;
            let line = std::str::from_utf8(exchange.received().known(KnownHeader::Cookie)?).ok()?;
            cookie(line, name).filter(|found| !found.is_empty()).map(Cow::Borrowed)
        };
        let in_query = || {
            let value = parameter(exchange.query()?, self.param.as_ref()?)?;
            Some(value).filter(|found| !found.is_empty()).map(Cow::Owned)
        };
        in_cookie().or_else(in_query)
    }
}

/// A header's value as text. Most values are ASCII: they are checked in one pass, and only others are converted.
fn text(value: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(value).map_or_else(|_| String::from_utf8_lossy(value), Cow::Borrowed)
}

/// A header's value without a leading scheme, in any letter case; `scheme` is in lower case.
pub fn without_scheme<'v>(value: &'v [u8], scheme: &[u8]) -> &'v [u8] {
    match value.split_at_checked(scheme.len()) {
        Some((start, rest)) if start.eq_ignore_ascii_case(scheme) => rest.trim_ascii(),
        _ => value,
    }
}

/// How well a value matches a method's credentials, from not at all to certainly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CredentialForm {
    /// There is no value, or it has another method's scheme.
    #[default]
    Missing,
    /// A value that is unlikely to be a credential of the method.
    Odd,
    /// A value that may belong to any method.
    Any,
    /// The method's own form: its scheme, or three parts for a token.
    Own,
}

impl CredentialForm {
    /// The form of a value for a method.
    pub fn of(value: &str, method: AuthMethod) -> CredentialForm {
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
