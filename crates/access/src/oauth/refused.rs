//! Error answers of the OAuth endpoints: the errors of RFC 6749, sections 4.1.2.1 and 5.2, in the wording that Tyk's clients know.

use serde_json::{Value, json};
use std::borrow::Cow;
use tollgate_store::StoreFault;

/// The `error` value of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    InvalidRequest,
    InvalidGrant,
    InvalidScope,
    UnauthorizedClient,
    UnsupportedGrantType,
    UnsupportedResponseType,
    AccessDenied,
    ServerError,
    TemporarilyUnavailable,
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OauthRefusal {
    pub code: ErrorCode,
    /// Replaces the default description.
    description: Option<Cow<'static, str>>,
}

impl ErrorCode {
    /// The code as RFC 6749 writes it.
    pub fn name(self) -> &'static str {
        match self {
            ErrorCode::InvalidRequest => "invalid_request",
            ErrorCode::InvalidGrant => "invalid_grant",
            ErrorCode::InvalidScope => "invalid_scope",
            ErrorCode::UnauthorizedClient => "unauthorized_client",
            ErrorCode::UnsupportedGrantType => "unsupported_grant_type",
            ErrorCode::UnsupportedResponseType => "unsupported_response_type",
            ErrorCode::AccessDenied => "access_denied",
            ErrorCode::ServerError => "server_error",
            ErrorCode::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }

    fn description(self) -> &'static str {
        match self {
            ErrorCode::InvalidRequest => {
                "The request is missing a required parameter, includes an invalid parameter value, includes a parameter more than once, \
                 or is otherwise malformed."
            }
            ErrorCode::InvalidGrant => {
                "The provided authorization grant (e.g., authorization code, resource owner credentials) or refresh token is invalid, \
                 expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."
            }
            ErrorCode::InvalidScope => "The requested scope is invalid, unknown, or malformed.",
            ErrorCode::UnauthorizedClient => "The client is not authorized to request a token using this method.",
            ErrorCode::UnsupportedGrantType => "The authorization grant type is not supported by the authorization server.",
            ErrorCode::UnsupportedResponseType => "The authorization server does not support obtaining a token using this method.",
            ErrorCode::AccessDenied => "The resource owner or authorization server denied the request.",
            ErrorCode::ServerError => {
                "The authorization server encountered an unexpected condition that prevented it from fulfilling the request."
            }
            ErrorCode::TemporarilyUnavailable => {
                "The authorization server is currently unable to handle the request due to a temporary overloading or maintenance of the \
                 server."
            }
        }
    }
}

impl OauthRefusal {
    /// Makes a refusal with its own description, which must not contain secrets.
    pub fn because(code: ErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        OauthRefusal { code, description: Some(description.into()) }
    }

    /// The `error_description` value.
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or(self.code.description())
    }

    /// The answer's body, with its members sorted by name.
    pub fn to_json(&self) -> Value {
        json!({ "error": self.code.name(), "error_description": self.description() })
    }

    /// HTTP status of the answer; `usual` except when the store does not answer, which is not the client's fault.
    pub fn status(&self, usual: u16) -> u16 {
        if self.code == ErrorCode::TemporarilyUnavailable { 503 } else { usual }
    }
}

impl From<ErrorCode> for OauthRefusal {
    fn from(code: ErrorCode) -> Self {
        OauthRefusal { code, description: None }
    }
}

impl From<StoreFault> for OauthRefusal {
    fn from(fault: StoreFault) -> Self {
        tracing::error!(%fault, "the OAuth 2.0 server can't read its store");
        ErrorCode::TemporarilyUnavailable.into()
    }
}
