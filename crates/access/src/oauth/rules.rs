//! Settings of an API's provider, compiled from its definition and the gateway's configuration.

use tollgate_model::api::{ApiDefinition, Notifications, OAuthRules};
use tollgate_model::config::GatewayConfig;

/// Default lifetime of access tokens, in seconds.
const TOKEN_S: u64 = 3_600;
/// Default lifetime of refresh tokens, in seconds.
const REFRESH_S: u64 = 1_209_600;
/// How long expired tokens stay in lists by default, in seconds.
const RETAINED_S: u64 = 86_400;
/// Default status of refusals.
const ERROR_STATUS: u16 = 403;

/// Settings that all APIs share.
#[derive(Clone, Debug)]
pub struct OAuthSettings {
    pub token_s: u64,
    pub refresh_s: u64,
    pub retained_s: u64,
    pub redirect_uri_separator: String,
    pub error_status: u16,
}

/// Settings of one API.
pub struct Rules {
    pub api_id: String,
    pub org_id: String,
    pub grant_types: Vec<String>,
    pub response_types: Vec<String>,
    pub login_url: String,
    pub notifications: Notifications,
    pub own: OAuthRules,
    pub settings: OAuthSettings,
}

impl OAuthSettings {
    /// The settings of a configuration.
    pub fn new(config: &GatewayConfig) -> Self {
        let or = |seconds: u64, default: u64| if seconds == 0 { default } else { seconds };
        let status = config.oauth_error_status_code;
        OAuthSettings {
            token_s: or(config.oauth_token_expire, TOKEN_S),
            refresh_s: or(config.oauth_refresh_token_expire, REFRESH_S),
            retained_s: or(config.oauth_token_expired_retain_period, RETAINED_S),
            redirect_uri_separator: config.oauth_redirect_uri_separator.clone(),
            error_status: if (200..=599).contains(&status) { status } else { ERROR_STATUS },
        }
    }
}

impl Rules {
    /// The rules of a definition.
    pub fn new(definition: &ApiDefinition, settings: &OAuthSettings) -> Self {
        let meta = &definition.oauth_meta;
        Rules {
            api_id: definition.api_id.clone(),
            org_id: definition.org_id.clone(),
            grant_types: meta.allowed_access_types.clone(),
            response_types: meta.allowed_authorize_types.clone(),
            login_url: meta.auth_login_redirect.clone(),
            notifications: definition.notifications.clone(),
            own: definition.tollgate.oauth.clone(),
            settings: settings.clone(),
        }
    }
}
