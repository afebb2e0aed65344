//! Where a request carries its credentials.

use serde::Deserialize;

/// `auth` or one entry of `auth_configs`. The places are tried in the order header, query parameter, cookie; a later
/// one that has a value wins.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct AuthConfig {
    /// A name for people.
    pub name: String,
    /// The header; see [`AuthConfig::header`].
    pub auth_header_name: String,
    /// Do not look at headers.
    pub disable_header: bool,
    /// Look at the query parameter `param_name`.
    pub use_param: bool,
    /// The query parameter; see [`AuthConfig::param`].
    pub param_name: String,
    /// Look at the cookie `cookie_name`.
    pub use_cookie: bool,
    /// The cookie; see [`AuthConfig::cookie`].
    pub cookie_name: String,
    /// Accept a client certificate in place of a key; not supported yet.
    pub use_certificate: bool,
}

/// `external_oauth`, as far as it is read.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct ExternalOAuth {
    /// Whether it is asked for.
    pub enabled: bool,
}

impl AuthConfig {
    /// The header to look at, `Authorization` when none is named.
    pub fn header(&self) -> Option<&str> {
        (!self.disable_header).then(|| self.header_name())
    }

    /// The query parameter to look at, named like the header when it has no name of its own.
    pub fn param(&self) -> Option<&str> {
        self.use_param.then(|| or(&self.param_name, self.header_name()))
    }

    /// The cookie to look at, named like the header when it has no name of its own.
    pub fn cookie(&self) -> Option<&str> {
        self.use_cookie.then(|| or(&self.cookie_name, self.header_name()))
    }

    fn header_name(&self) -> &str {
        or(&self.auth_header_name, "Authorization")
    }
}

fn or<'a>(name: &'a str, default: &'a str) -> &'a str {
    if name.is_empty() { default } else { name }
}
