//! The ways to be let in, as a definition switches them on. All that are on must let a request in.

use super::{ApiDefinition, AuthConfig};

/// A way to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    /// A JSON Web Token.
    Jwt,
    /// A key.
    Token,
}

impl AuthMethod {
    /// Every method, in the order in which they are asked.
    const ALL: [AuthMethod; 2] = [AuthMethod::Jwt, AuthMethod::Token];

    /// Its name in `auth_configs`.
    pub fn config_name(self) -> &'static str {
        match self {
            AuthMethod::Jwt => "jwt",
            AuthMethod::Token => "authToken",
        }
    }

    /// Its name in `base_identity_provided_by`.
    pub fn identity_name(self) -> &'static str {
        match self {
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
