//! The ways to be let in, as a definition switches them on. All that are on must let a request in.

use super::{ApiDefinition, AuthConfig};

/// A way to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    /// A token of another OAuth 2.0 server.
    ExternalOAuth,
    /// User and password.
    Basic,
    /// A signed request.
    Hmac,
    /// A JSON Web Token.
    Jwt,
    /// A token of an OpenID provider.
    OpenId,
    /// Another service decides.
    Forward,
    /// A key.
    Token,
}

impl AuthMethod {
    /// Every method, in the order in which they are asked.
    const ALL: [AuthMethod; 7] = [
        AuthMethod::ExternalOAuth,
        AuthMethod::Basic,
        AuthMethod::Hmac,
        AuthMethod::Jwt,
        AuthMethod::OpenId,
        AuthMethod::Forward,
        AuthMethod::Token,
    ];

    /// Its name in `auth_configs`.
    pub fn config_name(self) -> &'static str {
        match self {
            AuthMethod::ExternalOAuth => "externalOAuth",
            AuthMethod::OpenId => "oidc",
            AuthMethod::Forward => "forward",
            AuthMethod::Basic => "basic",
            AuthMethod::Hmac => "hmac",
            AuthMethod::Jwt => "jwt",
            AuthMethod::Token => "authToken",
        }
    }

    /// Its name in `base_identity_provided_by`.
    pub fn identity_name(self) -> &'static str {
        match self {
            AuthMethod::ExternalOAuth => "external_oauth",
            AuthMethod::OpenId => "oidc_user",
            AuthMethod::Forward => "forward_auth",
            AuthMethod::Basic => "basic_auth_user",
            AuthMethod::Hmac => "hmac_key",
            AuthMethod::Jwt => "jwt_claim",
            AuthMethod::Token => "auth_token",
        }
    }
}

impl ApiDefinition {
    /// Whether requests must be let in by a method. Keys are the method when there is no other.
    pub fn uses(&self, method: AuthMethod) -> bool {
        !self.use_keyless
            && match method {
                AuthMethod::ExternalOAuth => self.introspection().is_some(),
                AuthMethod::OpenId => self.use_openid,
                AuthMethod::Forward => self.tollgate.forward_auth.is_some(),
                AuthMethod::Basic => self.use_basic_auth,
                AuthMethod::Hmac => self.enable_signature_checking,
                AuthMethod::Jwt => self.enable_jwt,
                AuthMethod::Token => self.use_standard_auth || !self.uses_other_than_token(),
            }
    }

    fn uses_other_than_token(&self) -> bool {
        self.unsupported_auth_fields().next().is_some()
            || AuthMethod::ALL.iter().any(|method| *method != AuthMethod::Token && self.uses(*method))
    }

    /// The methods that requests must be let in by, in order; none for a keyless API.
    pub fn auth_methods(&self) -> impl Iterator<Item = AuthMethod> {
        AuthMethod::ALL.into_iter().filter(|method| self.uses(*method))
    }

    /// Where a method finds its credentials: its own entry of `auth_configs`, else `auth`.
    pub fn places(&self, method: AuthMethod) -> &AuthConfig {
        self.auth_configs.get(method.config_name()).unwrap_or(&self.auth)
    }

    /// Whether the session is the one that a method finds. Without `base_identity_provided_by` it is that of the last method.
    pub fn takes_session_of(&self, method: AuthMethod) -> bool {
        let base = self.base_identity_provided_by.as_str();
        base.is_empty() || base == method.identity_name()
    }
}
