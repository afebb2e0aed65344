//! Refusals of the gateway itself: one catalogue with status, stable cause and wording. The wordings are Tyk's, so that clients and alerts
//! that know them keep working.

mod facts;

pub use facts::{EventKey, RefusalEvent, RefusalFacts, RefusalTopic, VERSION};

use crate::client_tls::Disallowed;
use std::borrow::Cow;
use std::ops::Deref;
use tollgate_engine::FaultKind;

/// A reply of the gateway that ends an exchange. Small, because functions pass it by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Known(&'static RefusalText),
    Made(Box<RefusalText>),
}

/// Content of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalText {
    /// The status code.
    pub status: u16,
    /// A stable name for logs and metrics.
    pub cause: &'static str,
    /// The `error` of the body.
    pub message: RefusalMessage,
    /// The name under which `override_messages` can replace status and message.
    pub id: Option<&'static str>,
    /// What else follows from it.
    pub facts: &'static RefusalFacts,
}

/// A text for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalMessage {
    text: Cow<'static, str>,
    json: &'static str,
    document: Option<Box<RefusalDocument>>,
}

/// A body that is complete already, because clients of its format understand no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalDocument {
    pub content_type: &'static str,
    pub body: Vec<u8>,
}

impl RefusalMessage {
    /// `json` is the body with the unescaped text; it is used only when the text needs no escapes.
    const fn constant(text: &'static str, json: &'static str) -> Self {
        RefusalMessage { text: Cow::Borrowed(text), json: if is_plain(text) { json } else { "" }, document: None }
    }

    /// A text with the body that clients get.
    pub fn with_document(text: String, content_type: &'static str, body: Vec<u8>) -> Self {
        RefusalMessage { text: Cow::Owned(text), json: "", document: Some(Box::new(RefusalDocument { content_type, body })) }
    }

    /// The body, if it is complete already.
    #[inline]
    pub fn document(&self) -> Option<&RefusalDocument> {
        self.document.as_deref()
    }

    #[inline]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The complete prepared body with this message; empty if there is none.
    #[inline]
    pub fn json(&self) -> &'static str {
        self.json
    }
}

impl From<String> for RefusalMessage {
    fn from(text: String) -> Self {
        RefusalMessage { text: Cow::Owned(text), json: "", document: None }
    }
}

impl Deref for Refusal {
    type Target = RefusalText;

    #[inline]
    fn deref(&self) -> &RefusalText {
        match self {
            Refusal::Known(answer) => answer,
            Refusal::Made(answer) => answer,
        }
    }
}

impl From<Disallowed> for Refusal {
    fn from(disallowed: Disallowed) -> Self {
        match disallowed {
            Disallowed::NoTls => TLS_REQUIRED,
            Disallowed::NoCertificate => CERTIFICATE_MISSING,
            Disallowed::Expired => CERTIFICATE_EXPIRED,
            Disallowed::Unlisted(fingerprint) => Refusal::from(RefusalText {
                message: format!("Certificate with SHA256 {fingerprint} not allowed").into(),
                ..(*CERTIFICATE_DISALLOWED).clone()
            }),
        }
    }
}

impl From<RefusalText> for Refusal {
    fn from(answer: RefusalText) -> Self {
        Refusal::Made(Box::new(answer))
    }
}

/// Whether a text has no character that Tyk's JavaScript escaping changes, so that it needs no escapes in JSON.
#[allow(clippy::indexing_slicing)] // the loop bounds the index; a const function cannot use iterators
pub const fn is_plain(text: &str) -> bool {
    let text = text.as_bytes();
    let mut at = 0;
    while at < text.len() {
        if text[at] < 0x20 || matches!(text[at], b'"' | b'\\' | b'<' | b'>' | b'&' | b'=') {
            return false;
        }
        at += 1;
    }
    true
}

impl RefusalText {
    /// A refusal from which nothing else follows.
    pub fn new(status: u16, cause: &'static str, message: impl Into<RefusalMessage>) -> Self {
        RefusalText { status, cause, message: message.into(), id: None, facts: RefusalFacts::NONE }
    }
}

/// Declares the refusals that are known at compile time: name, status, cause, message, optionally the name under which
/// `override_messages` can replace it, and what else follows from it.
macro_rules! catalogue {
    ($($name:ident = $status:literal, $cause:literal, $message:literal $(, $id:literal)? $(=> $facts:ident)?;)+) => {
        $(pub const $name: Refusal = {
            const MESSAGE: RefusalMessage = RefusalMessage::constant($message, concat!("{\n    \"error\": \"", $message, "\"\n}"));
            const ID: Option<&str> = catalogue!(@id $($id)?);
            const FACTS: &RefusalFacts = catalogue!(@facts $($facts)?);
            const ANSWER: &RefusalText = &RefusalText { status: $status, cause: $cause, message: MESSAGE, id: ID, facts: FACTS };
            Refusal::Known(ANSWER)
        };)+

        /// All of them.
        #[cfg(test)]
        pub const CATALOGUE: &[Refusal] = &[$($name),+];
    };
    (@facts) => { RefusalFacts::NONE };
    (@facts $facts:ident) => { facts::$facts };
    (@id) => { None };
    (@id $id:literal) => { Some($id) };
}

catalogue! {
    FORBIDDEN_ENDPOINT = 403, "endpoint_forbidden", "Requested endpoint is forbidden" => ENDPOINT;
    MCP_METHOD_UNLISTED = 403, "mcp_method_unlisted", "Access to this operation has been disallowed" => ENDPOINT;
    MCP_PRIMITIVE_UNLISTED = 403, "mcp_primitive_unlisted", "access to this resource has been disallowed" => ENDPOINT;
    MCP_NAME_UNCLEAR = 400, "mcp_name_unclear", "Names with control characters, blanks at their ends, backslashes or hidden steps are not served";
    MCP_FOREIGN_PAGE = 403, "mcp_foreign_page", "This host name is not served to pages in a browser on this machine";
    VERSION_MISSING = 403, "version_missing", "Version information not found";
    VERSION_UNKNOWN = 403, "version_unknown", "This API version does not seem to exist";
    VERSION_API_UNKNOWN = 404, "version_unknown", "This API version does not seem to exist";
    VERSION_EXPIRED = 403, "version_expired", "Api Version has expired, please check documentation or contact administrator";
    API_EXPIRED = 403, "api_expired", "API has expired, please check documentation or contact administrator";
    VERSION_AMBIGUOUS = 403, "version_ambiguous", "Ambiguous default API version for this non-versioned API";
    VERSION_NO_DEFAULT = 403, "version_no_default", "No default API version for this non-versioned API found";
    IP_DISALLOWED = 403, "ip_disallowed", "access from this IP has been disallowed" => IP;
    TLS_REQUIRED = 403, "tls_required", "TLS not enabled";
    CERTIFICATE_MISSING = 403, "certificate_missing", "Client TLS certificate is required";
    CERTIFICATE_EXPIRED = 403, "certificate_expired", "Certificate has expired";
    CERTIFICATE_DISALLOWED = 403, "certificate_disallowed", "Certificate not allowed";
    KEY_CERTIFICATE_MISSING = 401, "key_certificate_missing", "Client certificate required", "auth.cert_required" => CERTIFICATE_REQUIRED;
    KEY_CERTIFICATE_EXPIRED = 403, "key_certificate_expired", "Certificate has expired", "auth.cert_expired" => CERTIFICATE_EXPIRED;
    KEY_CERTIFICATE_UNKNOWN = 403, "key_certificate_unknown", "Access to this API has been disallowed", "auth.cert_not_found" => CERTIFICATE_UNKNOWN;
    KEY_CERTIFICATE_MISMATCH = 401, "key_certificate_mismatch", "Access to this API has been disallowed", "auth.cert_mismatch" => CERTIFICATE_MISMATCH;
    LENGTH_REQUIRED = 411, "length_required", "Content length is required for this request" => LENGTH;
    REQUEST_TOO_LARGE = 400, "request_too_large", "Request is too large" => TOO_LARGE;
    BODIES_FULL = 503, "bodies_full", "Too many bodies are being read";
    BODY_WORK_BUSY = 503, "body_work_busy", "Too many bodies wait to be processed";
    CODING_UNKNOWN = 415, "coding_unknown", "Content-Encoding is not supported";
    CODING_MALFORMED = 400, "coding_malformed", "Body does not fit its Content-Encoding";
    RESPONSE_TOO_LARGE = 500, "response_too_large", "Response body too large";
    RESPONSE_NOT_TRANSFORMED = 500, "response_not_transformed", "Response could not be transformed";
    GRAPHQL_EMPTY = 400, "graphql_empty", "the provided request is empty";
    GRAPHQL_DEPTH = 403, "graphql_depth", "depth limit exceeded";
    GRAPHQL_INTROSPECTION = 403, "graphql_introspection", "introspection is disabled";
    GRAPHQL_NO_WEBSOCKETS = 422, "graphql_websocket", "websockets are not allowed";
    GRAPHQL_WEBSOCKET_PROTOCOL = 400, "graphql_websocket", "invalid websocket protocol for upgrading to a graphql websocket connection";
    GRAPHQL_BUSY = 503, "graphql_busy", "Too many queries wait to be checked";
    GRAPHQL_CONTENT_TYPE = 415, "graphql_content_type", "The content type must be application/json or application/graphql";
    GRAPHQL_MUTATION_BY_GET = 405, "graphql_mutation_by_get", "Only queries may be sent with GET";
    GRAPHQL_TWO_PLACES = 400, "graphql_two_places", "The query must be either in the body or in the URL";
    GRAPHQL_BATCH = 400, "graphql_batch", "The batch has too many requests";
    SCHEMA_MISSING = 500, "schema_missing", "no schemas to validate against";
    WAF_DENIED = 403, "waf_denied", "The request was rejected by the web application firewall" => WAF;
    WAF_BODY_UNREADABLE = 400, "waf_body_unreadable", "The body does not fit its Content-Type" => WAF;
    WAF_TOO_MUCH_WORK = 413, "waf_too_much_work", "The request takes too much work to inspect" => WAF;
    WAF_RESPONSE_DENIED = 403, "waf_response_denied", "The response was rejected by the web application firewall" => WAF_RESPONSE;
    WAF_RESPONSE_TOO_MUCH_WORK = 502, "waf_response_too_much_work", "The response takes too much work to inspect" => WAF_RESPONSE;
    AUTH_MISSING = 401, "auth_missing", "Authorization field missing", "auth.auth_field_missing" => KEY_MISSING;
    KEY_DISALLOWED = 403, "key_unknown", "Access to this API has been disallowed", "auth.key_not_found" => KEY_UNKNOWN;
    KEY_SIGNATURE = 401, "key_signature", "Request signature verification failed";
    KEY_SIGNATURE_ALGORITHM = 500, "key_signature", "internal server error";
    SESSION_MISSING = 400, "session_missing", "Session state is missing or unset! Please make sure that auth headers are properly applied";
    JWT_MISSING = 400, "auth_missing", "Authorization field missing" => JWT_MISSING;
    JWT_REFUSED = 403, "jwt_refused", "Key not authorized" => JWT_REFUSED;
    JWT_METHOD = 403, "jwt_method", "Key not authorized: Unexpected signing method" => JWT_METHOD;
    JWT_EXPIRED = 401, "jwt_expired", "Key not authorized: token has expired" => JWT_EXPIRED;
    JWT_BEFORE_ISSUED = 401, "jwt_not_yet", "Key not authorized: token used before issued" => JWT_NOT_YET;
    JWT_NOT_YET = 401, "jwt_not_yet", "Key not authorized: token is not valid yet" => JWT_NOT_YET;
    JWT_NO_POLICY = 403, "jwt_no_policy", "key not authorized: no matching policy" => JWT_NO_POLICY;
    JWT_NO_POLICY_FOUND = 403, "jwt_no_policy", "key not authorized: no matching policy found" => JWT_NO_POLICY;
    JWT_NO_SCOPE = 403, "jwt_no_policy", "key not authorized: no scope or policy in token" => JWT_NO_POLICY;
    JWT_NO_POLICY_IN_SCOPE = 403, "jwt_no_policy", "key not authorized: no matching policy found in scope claim" => JWT_NO_POLICY;
    BASIC_MISSING = 401, "auth_missing", "Authorization field missing" => BASIC_MISSING;
    BASIC_REFUSED = 401, "basic_refused", "User not authorised" => BASIC_REFUSED;
    BASIC_FORMAT = 400, "basic_malformed", "Attempted access with malformed header, header not in basic auth format" => BASIC_FORMAT;
    BASIC_ENCODING = 400, "basic_malformed", "Attempted access with malformed header, auth data not encoded correctly" => BASIC_ENCODING;
    BASIC_VALUES = 400, "basic_malformed", "Attempted access with malformed header, values not in basic auth format" => BASIC_VALUES;
    BASIC_BODY_USER = 400, "basic_malformed", "Body do not contain username" => BASIC_BODY_USER;
    BASIC_BODY_PASSWORD = 400, "basic_malformed", "Body do not contain password" => BASIC_BODY_PASSWORD;
    AUTH_BUSY = 503, "auth_busy", "Too many requests wait to be authenticated";
    SIGNATURE_REFUSED = 400, "signature_refused", "Authorization field missing, malformed or invalid" => SIGNATURE;
    OPENID_MISSING = 401, "auth_missing", "Authorization field missing" => OPENID_MISSING;
    OPENID_REFUSED = 401, "openid_refused", "Key not authorised" => OPENID_REFUSED;
    SCOPE_TOKEN_MISSING = 401, "auth_missing", "Authorization field missing" => KEY_MISSING;
    SCOPE_TOKEN_UNVERIFIED = 401, "scope_token", "parsing inbound token claims: token contains an invalid number of segments";
    EXTERNAL_MISSING = 400, "auth_missing", "authorization field missing" => CREDENTIAL_MISSING;
    EXTERNAL_REFUSED = 401, "external_refused", "access token is not valid";
    OAUTH_MISSING = 400, "auth_missing", "Authorization field missing", "oauth.auth_field_missing" => OAUTH_MISSING;
    OAUTH_MALFORMED = 400, "oauth_malformed", "Bearer token malformed", "oauth.auth_field_malformed" => OAUTH_MALFORMED;
    OAUTH_KEY_UNKNOWN = 403, "oauth_key_unknown", "Key not authorised", "oauth.key_not_found" => OAUTH_KEY_UNKNOWN;
    OAUTH_CLIENT_GONE = 403, "oauth_client_gone", "Key not authorised. OAuth client access was revoked", "oauth.client_deleted" => OAUTH_CLIENT_GONE;
    FORWARD_AUTH_FAILED = 503, "forward_auth_failed", "Authentication is not available";
    PLUGIN_FAILED = 500, "plugin_failed", "Middleware error";
    PLUGIN_AUTH_FAILED = 403, "plugin_auth_failed", "Key not authorised";
    PLUGIN_FORBIDDEN = 403, "plugin_forbidden", "Forbidden" => PLUGIN_AUTH;
    PLUGIN_AUTH_FIELD = 400, "auth_missing", "Authorization field missing" => CREDENTIAL_MISSING;
    STORE_SILENT = 503, "store_silent", "Sessions cannot be read at the moment";
    KEY_INACTIVE = 403, "key_inactive", "Key is inactive, please renew" => KEY_INACTIVE;
    KEY_EXPIRED = 401, "key_expired", "Key has expired, please renew" => KEY_EXPIRED;
    API_DISALLOWED = 403, "api_disallowed", "Access to this API has been disallowed";
    RESOURCE_DISALLOWED = 403, "resource_disallowed", "Access to this resource has been disallowed";
    KEY_RATE_LIMIT = 429, "key_rate_limit", "Rate Limit Exceeded" => KEY_RATE;
    QUOTA_EXCEEDED = 403, "quota_exceeded", "Quota exceeded" => QUOTA;
    API_RATE_LIMIT = 429, "api_rate_limit", "API Rate Limit Exceeded" => API_RATE;
    ADDRESS_RATE_LIMIT = 429, "address_rate_limit", "Rate Limit Exceeded" => ADDRESS_RATE;
    CONCURRENCY_LIMIT = 429, "concurrency_limit", "Too many requests of this client are in progress";
    ORG_DISABLED = 403, "org_disabled", "this organisation access has been disabled, please contact your API administrator";
    ORG_QUOTA = 403, "org_quota", "This organisation quota has been exceeded, please contact your API administrator" => ORG_QUOTA;
    ORG_RATE_LIMIT = 403, "org_rate_limit", "This organisation rate limit has been exceeded, please contact your API administrator" => ORG_RATE;
    METHOD_NOT_ALLOWED = 405, "method_not_allowed", "Method not allowed";
    LOOP_TOO_DEEP = 500, "loop_too_deep", "Loop level too deep. Found more than 5 loops in single request";
    LOOP_TARGET_UNKNOWN = 500, "loop_target_unknown", "Can't detect loop target";
    NOT_CACHED = 504, "not_cached", "The response is not in the cache";
    VIRTUAL_FAILED = 500, "virtual_failed", "Error during virtual endpoint execution. Contact Administrator for more details.";
    UPSTREAM_CREDENTIALS = 502, "upstream_credentials", "The upstream's credentials are not available" => UPSTREAM_TOKEN;
    SIGNING_CERTIFICATE = 500, "signing_certificate", "Certificate not found";
    RULE_MISSING = 404, "rule_missing", "No rule of the route matches this request";
    NO_BACKEND = 500, "no_backend", "The route names no backend that exists";
    NO_BACKEND_FOR_CALLS = 503, "no_backend", "The route names no backend that exists";
    NO_ENDPOINTS = 503, "no_endpoints", "The backend has no endpoints";
    ALL_HOSTS_DOWN = 503, "all_hosts_down", "all hosts are down" => HOSTS_DOWN;
    BREAKER_OPEN = 503, "breaker_open", "Service temporarily unavailable." => BREAKER;
    UPSTREAM_TIMEOUT = 504, "upstream_timeout", "Upstream service reached hard timeout.";
    UPSTREAM_FAILED = 500, "upstream_failed", "There was a problem proxying the request";
    UPSTREAM_LOOKUP = 500, "upstream_lookup", "Upstream host lookup failed";
}

/// Refusal for an exchange that failed before a response; `None` if the failure is not the upstream's.
pub fn of_upstream(fault: FaultKind) -> Option<Refusal> {
    match fault {
        FaultKind::Lookup => Some(UPSTREAM_LOOKUP),
        FaultKind::UpstreamTimeout | FaultKind::ConnectTimeout => Some(UPSTREAM_TIMEOUT),
        FaultKind::Connect
        | FaultKind::Tls
        | FaultKind::UpstreamClosed
        | FaultKind::UpstreamMalformed(_)
        | FaultKind::UpstreamHeadTooLarge => Some(UPSTREAM_FAILED),
        FaultKind::BodyTooLarge
        | FaultKind::ClientTimeout
        | FaultKind::BodyMalformed(_)
        | FaultKind::TooManyTunnels
        | FaultKind::ClientGone => None,
    }
}

/// Refusal of a token that does not name its user.
pub fn jwt_identity(message: String) -> Refusal {
    RefusalText { facts: facts::JWT_NO_IDENTITY, ..RefusalText::new(403, "jwt_no_identity", message) }.into()
}

/// A token whose claims are not those that the definition asks for.
pub fn jwt_claims(message: String) -> Refusal {
    let message = format!("Key not authorized: {message}");
    RefusalText { facts: facts::JWT_CLAIMS, ..RefusalText::new(401, "jwt_claims", message) }.into()
}

/// The refusal that a plugin returned, which may be one that identifies callers.
pub fn of_plugin(status: u16, message: String, identifies: bool) -> Refusal {
    let facts = if identifies { facts::PLUGIN_AUTH } else { RefusalFacts::NONE };
    RefusalText { facts, ..RefusalText::new(status, "plugin_refused", message) }.into()
}

/// How the message about a body that is no JSON begins.
pub const NOT_JSON: &str = "JSON parsing error: ";

/// A body that is no JSON.
pub fn body_not_json(status: u16, message: String) -> Refusal {
    RefusalText { facts: facts::BODY_NOT_JSON, ..RefusalText::new(status, "body_not_json", message) }.into()
}

/// A body that does not fit its schema.
pub fn body_invalid(status: u16, message: String) -> Refusal {
    RefusalText { facts: facts::BODY_INVALID, ..RefusalText::new(status, "body_invalid", message) }.into()
}

/// A call that the key may not make.
pub fn not_callable(what: &str, name: &str) -> Refusal {
    RefusalText { facts: facts::ENDPOINT, ..RefusalText::new(403, "mcp_disallowed", format!("{what} '{name}' is not available")) }
        .into()
}

/// A request that does not fit the document of its API.
pub fn request_invalid(status: u16, message: String) -> Refusal {
    RefusalText { facts: facts::REQUEST_INVALID, ..RefusalText::new(status, "request_invalid", message) }.into()
}
