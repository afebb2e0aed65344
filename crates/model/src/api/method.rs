//! The authentication methods that a definition enables. All enabled ones must accept a request, or all of one alternative.

use super::{ApiDefinition, AuthConfig};

/// An authentication method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    /// A token of the gateway's own OAuth 2.0 server.
    OAuth,
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
    /// A decision of another service.
    Forward,
    /// A plugin.
    Plugin,
    /// A key.
    Token,
}

impl AuthMethod {
    /// Every method, in the order in which they run.
    pub(super) const ALL: [AuthMethod; 9] = [
        AuthMethod::OAuth,
        AuthMethod::ExternalOAuth,
        AuthMethod::Basic,
        AuthMethod::Hmac,
        AuthMethod::Jwt,
        AuthMethod::OpenId,
        AuthMethod::Forward,
        AuthMethod::Plugin,
        AuthMethod::Token,
    ];

    /// The method with a name in `auth_configs`.
    pub fn named(name: &str) -> Option<AuthMethod> {
        AuthMethod::ALL.into_iter().find(|method| method.config_name() == name)
    }

    /// Its name in `auth_configs`.
    pub fn config_name(self) -> &'static str {
        match self {
            AuthMethod::OAuth => "oauth",
            AuthMethod::ExternalOAuth => "externalOAuth",
            AuthMethod::OpenId => "oidc",
            AuthMethod::Forward => "forward",
            AuthMethod::Plugin => "coprocess",
            AuthMethod::Basic => "basic",
            AuthMethod::Hmac => "hmac",
            AuthMethod::Jwt => "jwt",
            AuthMethod::Token => "authToken",
        }
    }

    /// Its name in `base_identity_provided_by`.
    pub fn identity_name(self) -> &'static str {
        match self {
            AuthMethod::OAuth => "oauth_key",
            AuthMethod::ExternalOAuth => "external_oauth",
            AuthMethod::OpenId => "oidc_user",
            AuthMethod::Forward => "forward_auth",
            AuthMethod::Plugin => "custom_auth",
            AuthMethod::Basic => "basic_auth_user",
            AuthMethod::Hmac => "hmac_key",
            AuthMethod::Jwt => "jwt_claim",
            AuthMethod::Token => "auth_token",
        }
    }
}

impl ApiDefinition {
    /// Whether a method must accept every request: it is enabled, and there are no alternatives.
    pub fn uses(&self, method: AuthMethod) -> bool {
        self.tollgate.auth_alternatives.is_empty() && self.is_on(method)
    }

    /// Whether a method is enabled. Keys are the default.
    pub fn is_on(&self, method: AuthMethod) -> bool {
        !self.use_keyless
            && match method {
                AuthMethod::OAuth => self.use_oauth2,
                AuthMethod::ExternalOAuth => self.introspection().is_some(),
                AuthMethod::OpenId => self.use_openid,
                AuthMethod::Forward => self.tollgate.forward_auth.is_some(),
                AuthMethod::Plugin => self.is_identified_by_plugin(),
                AuthMethod::Basic => self.use_basic_auth,
                AuthMethod::Hmac => self.enable_signature_checking,
                AuthMethod::Jwt => self.enable_jwt,
                AuthMethod::Token => self.use_standard_auth || !self.uses_other_than_token(),
            }
    }

    fn uses_other_than_token(&self) -> bool {
        self.unsupported_auth_fields().next().is_some()
            || AuthMethod::ALL.iter().any(|method| *method != AuthMethod::Token && self.is_on(*method))
    }

    /// The enabled methods, in order; none for a keyless API.
    pub fn auth_methods(&self) -> impl Iterator<Item = AuthMethod> {
        AuthMethod::ALL.into_iter().filter(|method| self.is_on(*method))
    }

    /// The alternatives, each with the methods that must all accept a request; none if all methods must, or for a keyless API.
    pub fn auth_alternatives(&self) -> Vec<Vec<AuthMethod>> {
        if self.use_keyless {
            return Vec::new();
        }
        let named = |names: &Vec<String>| {
            let is_named = |method: &AuthMethod| self.is_on(*method) && names.iter().any(|name| name == method.config_name());
            AuthMethod::ALL.into_iter().filter(is_named).collect()
        };
        self.tollgate.auth_alternatives.iter().map(named).collect()
    }

    /// The same definition with only these methods enabled, without alternatives. If the method of `base_identity_provided_by` is
    /// not among them, the last one provides the session.
    pub fn with_methods(&self, methods: &[AuthMethod]) -> ApiDefinition {
        let mut narrowed = self.clone();
        narrowed.tollgate.auth_alternatives.clear();
        for method in AuthMethod::ALL.into_iter().filter(|method| !methods.contains(method)) {
            match method {
                AuthMethod::OAuth => narrowed.use_oauth2 = false,
                AuthMethod::ExternalOAuth => narrowed.external_oauth.enabled = false,
                AuthMethod::OpenId => narrowed.use_openid = false,
                AuthMethod::Forward => narrowed.tollgate.forward_auth = None,
                AuthMethod::Plugin => (narrowed.enable_coprocess_auth, narrowed.custom_plugin_auth_enabled) = (false, false),
                AuthMethod::Basic => narrowed.use_basic_auth = false,
                AuthMethod::Hmac => narrowed.enable_signature_checking = false,
                AuthMethod::Jwt => narrowed.enable_jwt = false,
                AuthMethod::Token => narrowed.use_standard_auth = false,
            }
        }
        if !methods.iter().any(|method| method.identity_name() == self.base_identity_provided_by) {
            narrowed.base_identity_provided_by.clear();
        }
        narrowed
    }

    /// Where a method looks for its credentials: its own entry of `auth_configs`, otherwise `auth`.
    pub fn places(&self, method: AuthMethod) -> &AuthConfig {
        self.auth_configs.get(method.config_name()).unwrap_or(&self.auth)
    }

    /// Whether a method provides the session. Without `base_identity_provided_by`, the last method does.
    pub fn takes_session_of(&self, method: AuthMethod) -> bool {
        let base = self.base_identity_provided_by.as_str();
        base.is_empty() || base == method.identity_name()
    }
}
