//! What the gateway itself tells a client: one catalogue with status, stable cause and wording. The wordings are Tyk's, so that
//! clients and alerts that know them keep working.

use crate::base::tls::Disallowed;
use std::borrow::Cow;
use std::ops::Deref;

/// An answer of the gateway itself that ends an exchange. Small, since it is handed from function to function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Known(&'static RefusalText),
    Made(Box<RefusalText>),
}

/// What a refusal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusalText {
    /// The status code.
    pub status: u16,
    /// A stable name for logs and metrics.
    pub cause: &'static str,
    /// The `error` of the body.
    pub message: RefusalMessage,
    /// The name under which `override_messages` can replace status and message.
    pub id: Option<&'static str>,
}

/// A text for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusalMessage {
    text: Cow<'static, str>,
    json: &'static str,
}

impl RefusalMessage {
    /// `json` is the body with the text put in as it is, which is right for a text that needs no escapes.
    const fn constant(text: &'static str, json: &'static str) -> Self {
        RefusalMessage { text: Cow::Borrowed(text), json: if is_plain(text) { json } else { "" } }
    }

    #[inline]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The whole body with this message, if it was made beforehand; else empty.
    #[inline]
    pub(crate) fn json(&self) -> &'static str {
        self.json
    }
}

impl From<String> for RefusalMessage {
    fn from(text: String) -> Self {
        RefusalMessage { text: Cow::Owned(text), json: "" }
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

/// Whether a text has no character that Tyk's JavaScript escaping changes, so that it stands in JSON as it is.
#[allow(clippy::indexing_slicing)] // within the loop's bound; constants know no iterators
pub(crate) const fn is_plain(text: &str) -> bool {
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

/// A refusal that is known when the gateway is built: status, cause, message, and the name for replacements if it has one.
macro_rules! refusal {
    ($status:literal, $cause:literal, $message:literal $(,)?) => {
        refusal!(of $status, $cause, $message, None)
    };
    ($status:literal, $cause:literal, $message:literal, $id:literal) => {
        refusal!(of $status, $cause, $message, Some($id))
    };
    (of $status:literal, $cause:literal, $message:literal, $id:expr) => {{
        const MESSAGE: RefusalMessage = RefusalMessage::constant($message, concat!("{\n    \"error\": \"", $message, "\"\n}"));
        const ANSWER: &RefusalText = &RefusalText { status: $status, cause: $cause, message: MESSAGE, id: $id };
        Refusal::Known(ANSWER)
    }};
}

pub(crate) const FORBIDDEN_ENDPOINT: Refusal = refusal!(403, "endpoint_forbidden", "Requested endpoint is forbidden");
pub(crate) const VERSION_MISSING: Refusal = refusal!(403, "version_missing", "Version information not found");
pub(crate) const VERSION_UNKNOWN: Refusal = refusal!(403, "version_unknown", "This API version does not seem to exist");
pub(crate) const VERSION_API_UNKNOWN: Refusal = refusal!(404, "version_unknown", "This API version does not seem to exist");
pub(crate) const VERSION_EXPIRED: Refusal =
    refusal!(403, "version_expired", "Api Version has expired, please check documentation or contact administrator");
pub(crate) const API_EXPIRED: Refusal =
    refusal!(403, "api_expired", "API has expired, please check documentation or contact administrator");
pub(crate) const VERSION_AMBIGUOUS: Refusal =
    refusal!(403, "version_ambiguous", "Ambiguous default API version for this non-versioned API");
pub(crate) const VERSION_NO_DEFAULT: Refusal =
    refusal!(403, "version_no_default", "No default API version for this non-versioned API found");
pub(crate) const IP_DISALLOWED: Refusal = refusal!(403, "ip_disallowed", "access from this IP has been disallowed");
pub(crate) const TLS_REQUIRED: Refusal = refusal!(403, "tls_required", "TLS not enabled");
pub(crate) const CERTIFICATE_MISSING: Refusal = refusal!(403, "certificate_missing", "Client TLS certificate is required");
pub(crate) const CERTIFICATE_EXPIRED: Refusal = refusal!(403, "certificate_expired", "Certificate has expired");
pub(crate) const CERTIFICATE_DISALLOWED: Refusal = refusal!(403, "certificate_disallowed", "Certificate not allowed");
pub(crate) const KEY_CERTIFICATE_MISSING: Refusal =
    refusal!(401, "key_certificate_missing", "Client certificate required", "auth.cert_required");
pub(crate) const KEY_CERTIFICATE_EXPIRED: Refusal =
    refusal!(403, "key_certificate_expired", "Certificate has expired", "auth.cert_expired");
pub(crate) const KEY_CERTIFICATE_UNKNOWN: Refusal =
    refusal!(403, "key_certificate_unknown", "Access to this API has been disallowed", "auth.cert_not_found");
pub(crate) const KEY_CERTIFICATE_MISMATCH: Refusal =
    refusal!(401, "key_certificate_mismatch", "Access to this API has been disallowed", "auth.cert_mismatch");
pub(crate) const LENGTH_REQUIRED: Refusal = refusal!(411, "length_required", "Content length is required for this request");
pub(crate) const REQUEST_TOO_LARGE: Refusal = refusal!(400, "request_too_large", "Request is too large");
pub(crate) const BODIES_FULL: Refusal = refusal!(503, "bodies_full", "Too many bodies are being read");
pub(crate) const CODING_UNKNOWN: Refusal = refusal!(415, "coding_unknown", "Content-Encoding is not supported");
pub(crate) const CODING_MALFORMED: Refusal = refusal!(400, "coding_malformed", "Body does not fit its Content-Encoding");
pub(crate) const RESPONSE_TOO_LARGE: Refusal = refusal!(500, "response_too_large", "Response body too large");
pub(crate) const RESPONSE_NOT_TRANSFORMED: Refusal = refusal!(500, "response_not_transformed", "Response could not be transformed");
pub(crate) const SCHEMA_MISSING: Refusal = refusal!(500, "schema_missing", "no schemas to validate against");
pub(crate) const AUTH_MISSING: Refusal = refusal!(401, "auth_missing", "Authorization field missing", "auth.auth_field_missing");
pub(crate) const KEY_DISALLOWED: Refusal =
    refusal!(403, "key_unknown", "Access to this API has been disallowed", "auth.key_not_found");
pub(crate) const KEY_SIGNATURE: Refusal = refusal!(401, "key_signature", "Request signature verification failed");
pub(crate) const KEY_SIGNATURE_ALGORITHM: Refusal = refusal!(500, "key_signature", "internal server error");
pub(crate) const SESSION_MISSING: Refusal =
    refusal!(400, "session_missing", "Session state is missing or unset! Please make sure that auth headers are properly applied",);
pub(crate) const JWT_MISSING: Refusal = refusal!(400, "auth_missing", "Authorization field missing");
pub(crate) const JWT_REFUSED: Refusal = refusal!(403, "jwt_refused", "Key not authorized");
pub(crate) const JWT_METHOD: Refusal = refusal!(403, "jwt_method", "Key not authorized: Unexpected signing method");
pub(crate) const JWT_EXPIRED: Refusal = refusal!(401, "jwt_expired", "Key not authorized: token has expired");
pub(crate) const JWT_BEFORE_ISSUED: Refusal = refusal!(401, "jwt_not_yet", "Key not authorized: token used before issued");
pub(crate) const JWT_NOT_YET: Refusal = refusal!(401, "jwt_not_yet", "Key not authorized: token is not valid yet");
pub(crate) const JWT_NO_POLICY: Refusal = refusal!(403, "jwt_no_policy", "key not authorized: no matching policy");
pub(crate) const JWT_NO_POLICY_FOUND: Refusal = refusal!(403, "jwt_no_policy", "key not authorized: no matching policy found");
pub(crate) const JWT_NO_SCOPE: Refusal = refusal!(403, "jwt_no_policy", "key not authorized: no scope or policy in token");
pub(crate) const JWT_NO_POLICY_IN_SCOPE: Refusal =
    refusal!(403, "jwt_no_policy", "key not authorized: no matching policy found in scope claim");
pub(crate) const BASIC_MISSING: Refusal = refusal!(401, "auth_missing", "Authorization field missing");
pub(crate) const BASIC_REFUSED: Refusal = refusal!(401, "basic_refused", "User not authorised");
pub(crate) const BASIC_FORMAT: Refusal =
    refusal!(400, "basic_malformed", "Attempted access with malformed header, header not in basic auth format");
pub(crate) const BASIC_ENCODING: Refusal =
    refusal!(400, "basic_malformed", "Attempted access with malformed header, auth data not encoded correctly");
pub(crate) const BASIC_VALUES: Refusal =
    refusal!(400, "basic_malformed", "Attempted access with malformed header, values not in basic auth format");
pub(crate) const BASIC_BODY_USER: Refusal = refusal!(400, "basic_malformed", "Body do not contain username");
pub(crate) const BASIC_BODY_PASSWORD: Refusal = refusal!(400, "basic_malformed", "Body do not contain password");
pub(crate) const AUTH_BUSY: Refusal = refusal!(503, "auth_busy", "Too many requests wait to be authenticated");
pub(crate) const SIGNATURE_REFUSED: Refusal =
    refusal!(400, "signature_refused", "Authorization field missing, malformed or invalid");
pub(crate) const OPENID_MISSING: Refusal = refusal!(401, "auth_missing", "Authorization field missing");
pub(crate) const OPENID_REFUSED: Refusal = refusal!(401, "openid_refused", "Key not authorised");
pub(crate) const EXTERNAL_MISSING: Refusal = refusal!(400, "auth_missing", "authorization field missing");
pub(crate) const EXTERNAL_REFUSED: Refusal = refusal!(401, "external_refused", "access token is not valid");
pub(crate) const OAUTH_MISSING: Refusal = refusal!(400, "auth_missing", "Authorization field missing", "oauth.auth_field_missing");
pub(crate) const OAUTH_MALFORMED: Refusal =
    refusal!(400, "oauth_malformed", "Bearer token malformed", "oauth.auth_field_malformed");
pub(crate) const OAUTH_KEY_UNKNOWN: Refusal = refusal!(403, "oauth_key_unknown", "Key not authorised", "oauth.key_not_found");
pub(crate) const OAUTH_CLIENT_GONE: Refusal =
    refusal!(403, "oauth_client_gone", "Key not authorised. OAuth client access was revoked", "oauth.client_deleted");
pub(crate) const FORWARD_AUTH_FAILED: Refusal = refusal!(503, "forward_auth_failed", "Authentication is not available");
pub(crate) const STORE_SILENT: Refusal = refusal!(503, "store_silent", "Sessions cannot be read at the moment");
pub(crate) const KEY_INACTIVE: Refusal = refusal!(403, "key_inactive", "Key is inactive, please renew");
pub(crate) const KEY_EXPIRED: Refusal = refusal!(401, "key_expired", "Key has expired, please renew");
pub(crate) const API_DISALLOWED: Refusal = refusal!(403, "api_disallowed", "Access to this API has been disallowed");
pub(crate) const RESOURCE_DISALLOWED: Refusal = refusal!(403, "resource_disallowed", "Access to this resource has been disallowed");
pub(crate) const KEY_RATE_LIMIT: Refusal = refusal!(429, "key_rate_limit", "Rate Limit Exceeded");
pub(crate) const QUOTA_EXCEEDED: Refusal = refusal!(403, "quota_exceeded", "Quota exceeded");
pub(crate) const API_RATE_LIMIT: Refusal = refusal!(429, "api_rate_limit", "API Rate Limit Exceeded");
pub(crate) const ADDRESS_RATE_LIMIT: Refusal = refusal!(429, "address_rate_limit", "Rate Limit Exceeded");
pub(crate) const ORG_DISABLED: Refusal =
    refusal!(403, "org_disabled", "this organisation access has been disabled, please contact your API administrator");
pub(crate) const ORG_QUOTA: Refusal =
    refusal!(403, "org_quota", "This organisation quota has been exceeded, please contact your API administrator");
pub(crate) const ORG_RATE_LIMIT: Refusal =
    refusal!(403, "org_rate_limit", "This organisation rate limit has been exceeded, please contact your API administrator");
pub(crate) const METHOD_NOT_ALLOWED: Refusal = refusal!(405, "method_not_allowed", "Method not allowed");
pub(crate) const LOOP_TOO_DEEP: Refusal =
    refusal!(500, "loop_too_deep", "Loop level too deep. Found more than 5 loops in single request");
pub(crate) const LOOP_TARGET_UNKNOWN: Refusal = refusal!(500, "loop_target_unknown", "Can't detect loop target");
pub(crate) const BREAKER_OPEN: Refusal = refusal!(503, "breaker_open", "Service temporarily unavailable.");
pub(crate) const UPSTREAM_TIMEOUT: Refusal = refusal!(504, "upstream_timeout", "Upstream service reached hard timeout.");
pub(crate) const UPSTREAM_FAILED: Refusal = refusal!(500, "upstream_failed", "There was a problem proxying the request");
pub(crate) const UPSTREAM_LOOKUP: Refusal = refusal!(500, "upstream_lookup", "Upstream host lookup failed");

/// A token that does not say who it is for.
pub(crate) fn jwt_identity(message: String) -> Refusal {
    RefusalText { status: 403, cause: "jwt_no_identity", message: message.into(), id: None }.into()
}
