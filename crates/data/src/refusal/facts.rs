//! What follows from a refusal beside its answer: the event that it is, and its class of error, as in Tyk.

use tollgate_model::events::EventKind;
use tollgate_observe::error_class::{ErrorClass, PROXY};

/// What follows from a refusal.
#[derive(Debug, PartialEq, Eq)]
pub struct RefusalFacts {
    /// The event that handlers are told, if it is one.
    pub event: Option<RefusalEvent>,
    /// Its class; none for one that Tyk does not classify.
    pub class: Option<&'static ErrorClass>,
    /// The flag by which rules for errors may name it; empty for none.
    pub flag: &'static str,
    pub topic: RefusalTopic,
}

/// An event, in Tyk's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalEvent {
    pub kind: EventKind,
    pub message: &'static str,
    pub key: EventKey,
}

/// What an event has as its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKey {
    /// The key as it was sent, else as keys are listed.
    OfRequest,
    /// The name of the user. Tyk sends the whole header line, with the password.
    User,
    /// The `keyId` of a signature. Tyk sends the whole header line.
    Signer,
    Address,
    Organisation,
    /// The name of the API's own limit.
    ApiLimit,
    Text(&'static str),
}

/// What a refusal is about, where others must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalTopic {
    Other,
    /// A limit that a later request may pass.
    Limit,
    /// A body that is no JSON.
    BodyNotJson,
    /// A body that does not fit its schema.
    BodyInvalid,
    /// A valid token that gives no rights: another token of the same kind would not be better.
    NoRights,
}

/// The words of events about versions and endpoints.
pub const VERSION: &str = "Attempted access to disallowed version / path.";
const AUTH: &str = "Auth Failure";

const TOKEN: &str = "AuthKey";
const JWT: &str = "JWTMiddleware";
const BASIC: &str = "BasicAuthKeyIsValid";
const OAUTH: &str = "Oauth2KeyExists";
const LIMITS: &str = "RateLimitAndQuotaCheck";
const SIZE: &str = "RequestSizeLimitMiddleware";
const SCHEMA: &str = "ValidateJSON";
const DOCUMENT: &str = "ValidateRequest";

impl RefusalFacts {
    /// Nothing follows.
    pub const NONE: &Self = &RefusalFacts { event: None, class: None, flag: "", topic: RefusalTopic::Other };

    const fn event(self, kind: EventKind, message: &'static str, key: EventKey) -> Self {
        RefusalFacts { event: Some(RefusalEvent { kind, message, key }), ..self }
    }

    const fn flagged(self, flag: &'static str) -> Self {
        RefusalFacts { flag, ..self }
    }

    const fn about(self, topic: RefusalTopic) -> Self {
        RefusalFacts { topic, ..self }
    }
}

/// Facts of refusals of one kind: their class, and what is said after it.
macro_rules! facts {
    ($($name:ident: $($flag:literal $details:literal $source:expr)? $(=> $more:ident($($argument:expr),*))*;)+) => {
        $(pub(super) const $name: &RefusalFacts = &facts!(@class $($flag $details $source)?)$(.$more($($argument),*))*;)+
    };
    (@class) => { RefusalFacts { event: None, class: None, flag: "", topic: RefusalTopic::Other } };
    (@class $flag:literal $details:literal $source:expr) => {
        RefusalFacts {
            event: None,
            class: Some(&ErrorClass { flag: $flag, details: $details, source: $source }),
            flag: $flag,
            topic: RefusalTopic::Other,
        }
    };
}

facts! {
    ENDPOINT: => event(EventKind::VersionFailure, VERSION, EventKey::Text(""));
    IP: => event(EventKind::AuthFailure, AUTH, EventKey::Address);
    CERTIFICATE_UNKNOWN: "AKI" "auth_cert_not_found" TOKEN => event(EventKind::AuthFailure, AUTH, EventKey::OfRequest);
    CERTIFICATE_REQUIRED: "CRQ" "auth_cert_required" TOKEN;
    CERTIFICATE_MISMATCH: "CMM" "auth_cert_mismatch" TOKEN => event(EventKind::AuthFailure, AUTH, EventKey::OfRequest);
    CERTIFICATE_EXPIRED: "TKE" "auth_cert_expired" TOKEN;
    KEY_MISSING: "AMF" "auth_field_missing" TOKEN;
    KEY_UNKNOWN: "AKI" "auth_key_not_found" TOKEN => event(EventKind::AuthFailure, AUTH, EventKey::OfRequest);
    KEY_INACTIVE: => event(EventKind::KeyExpired, "Attempted access from inactive key.", EventKey::OfRequest);
    KEY_EXPIRED: => event(EventKind::KeyExpired, "Attempted access from expired key.", EventKey::OfRequest);
    OAUTH_MISSING: "AMF" "oauth_field_missing" OAUTH;
    OAUTH_MALFORMED: "IHD" "oauth_field_malformed" OAUTH;
    OAUTH_KEY_UNKNOWN: "AKI" "oauth_key_not_found" OAUTH => event(EventKind::AuthFailure, AUTH, EventKey::OfRequest);
    OAUTH_CLIENT_GONE: "EAD" "oauth_client_deleted" OAUTH;
    BASIC_MISSING: "AMF" "basic_auth_field_missing" BASIC;
    BASIC_REFUSED: => event(EventKind::AuthFailure, AUTH, EventKey::User);
    BASIC_FORMAT: "IHD" "basic_auth_header_malformed" BASIC;
    BASIC_ENCODING: "IHD" "basic_auth_encoding_invalid" BASIC;
    BASIC_VALUES: "IHD" "basic_auth_values_malformed" BASIC;
    BASIC_BODY_USER: "BIV" "basic_auth_body_username_missing" BASIC;
    BASIC_BODY_PASSWORD: "BIV" "basic_auth_body_password_missing" BASIC;
    SIGNATURE: => event(EventKind::AuthFailure, AUTH, EventKey::Signer);
    // Of the methods without a credential, Tyk has an event for this one and the next.
    JWT_MISSING: "AMF" "jwt_field_missing" JWT => event(EventKind::AuthFailure, AUTH, EventKey::Text(""));
    OPENID_MISSING: => event(EventKind::AuthFailure, AUTH, EventKey::Text("[JWT]")) => flagged("AMF");
    OPENID_REFUSED: => event(EventKind::AuthFailure, AUTH, EventKey::Text("[JWT]"));
    CREDENTIAL_MISSING: => flagged("AMF");
    JWT_REFUSED: "TKI" "jwt_token_invalid" JWT => event(EventKind::AuthFailure, AUTH, EventKey::Text(""));
    JWT_METHOD: "TKI" "jwt_unexpected_signing_method" JWT => event(EventKind::AuthFailure, AUTH, EventKey::Text(""));
    JWT_EXPIRED: "TKE" "jwt_token_expired" JWT => event(EventKind::AuthFailure, AUTH, EventKey::Text(""));
    JWT_NOT_YET: "TCV" "jwt_claims_invalid" JWT => event(EventKind::AuthFailure, AUTH, EventKey::Text(""));
    // Tyk tells nobody of claims that a definition does not allow.
    JWT_CLAIMS: "TCV" "jwt_claims_invalid" JWT;
    JWT_NO_POLICY: => event(EventKind::AuthFailure, AUTH, EventKey::Text("")) => about(RefusalTopic::NoRights);
    JWT_NO_IDENTITY: => event(EventKind::AuthFailure, AUTH, EventKey::Text("[NOT FOUND]")) => about(RefusalTopic::NoRights);
    PLUGIN_AUTH: => event(EventKind::AuthFailure, AUTH, EventKey::OfRequest);
    KEY_RATE: "RLT" "session_rate_limited" LIMITS
        => event(EventKind::RateLimitExceeded, "Rate Limit Exceeded", EventKey::OfRequest) => about(RefusalTopic::Limit);
    API_RATE: "RLT" "api_rate_limited" "RateLimitForAPI"
        => event(EventKind::RateLimitExceeded, "API Rate Limit Exceeded", EventKey::ApiLimit) => about(RefusalTopic::Limit);
    ADDRESS_RATE: => about(RefusalTopic::Limit);
    QUOTA: "QEX" "quota_exceeded" LIMITS
        => event(EventKind::QuotaExceeded, "Key Quota Limit Exceeded", EventKey::OfRequest) => about(RefusalTopic::Limit);
    ORG_QUOTA: => event(EventKind::OrgQuotaExceeded, "Organisation quota has been exceeded", EventKey::Organisation);
    ORG_RATE: => event(EventKind::OrgRateLimitExceeded, "Organisation rate limit has been exceeded", EventKey::Organisation);
    LENGTH: "CLM" "content_length_missing" SIZE;
    TOO_LARGE: "BTL" "body_too_large" SIZE;
    BODY_NOT_JSON: "BIV" "json_parse_error" SCHEMA => about(RefusalTopic::BodyNotJson);
    BODY_INVALID: "BIV" "schema_validation_failed" SCHEMA => about(RefusalTopic::BodyInvalid);
    REQUEST_INVALID: "BIV" "schema_validation_failed" DOCUMENT;
    BREAKER: "CBO" "circuit_breaker_open" PROXY;
    // In Tyk a server of its own answers then, so that rules see the 503 of an upstream.
    HOSTS_DOWN: "NHU" "no_healthy_upstreams" PROXY => flagged("URS");
    WAF: => event(EventKind::WafDenied, "Request denied by the web application firewall.", EventKey::OfRequest);
    WAF_RESPONSE: => event(EventKind::WafDenied, "Response denied by the web application firewall.", EventKey::OfRequest);
    UPSTREAM_TOKEN: => event(EventKind::UpstreamOAuthError, "", EventKey::Text(""));
}

#[cfg(test)]
mod tests;
