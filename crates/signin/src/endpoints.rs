//! What a provider says of itself (OpenID Connect Discovery 1.0).

use http::Uri;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tollgate_text::byte_order_mark;

/// The endpoints of a provider.
#[derive(Clone)]
pub(crate) struct DiscoveredEndpoints {
    pub authorization: String,
    pub token: Uri,
    /// `userinfo_endpoint`, if it has one that can be used.
    pub userinfo: Option<Uri>,
    /// `end_session_endpoint`, the same.
    pub end_session: Option<String>,
    /// Whether the client names itself in the body instead of `Authorization`.
    pub takes_body_secret: bool,
    /// Whether each answer names the issuer (RFC 9207).
    pub names_issuer: bool,
}

impl DiscoveredEndpoints {
    /// Reads a discovery document, which must be of the issuer (Discovery 4.3).
    ///
    /// # Errors
    /// Why it can't be used.
    pub(crate) fn read(document: &[u8], issuer: &str) -> Result<Self, String> {
        let document: Value = serde_json::from_slice(byte_order_mark::without(document))
            .map_err(|error| format!("the provider's discovery document is not JSON: {error}"))?;
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("issuer") != issuer {
            return Err(format!("the discovery document is of another issuer, {:?}", text("issuer")));
        }
        let url = |name: &str| {
            let uri = text(name).parse::<Uri>().ok().filter(|uri| uri.authority().is_some());
            // A provider that is asked over TLS must not lead to where anyone on the way can read.
            let is_safe = |uri: &Uri| match uri.scheme_str() {
                Some("https") => true,
                Some("http") => issuer.starts_with("http://"),
                _ => false,
            };
            uri.filter(is_safe).ok_or_else(|| format!("the discovery document has no usable {name}"))
        };
        let methods = document.get("token_endpoint_auth_methods_supported").and_then(Value::as_array);
        let takes = |name: &str| methods.is_some_and(|methods| methods.iter().any(|method| method.as_str() == Some(name)));
        Ok(DiscoveredEndpoints {
            authorization: url("authorization_endpoint")?.to_string(),
            token: url("token_endpoint")?,
            userinfo: url("userinfo_endpoint").ok(),
            end_session: url("end_session_endpoint").ok().map(|uri| uri.to_string()),
            takes_body_secret: takes("client_secret_post") && !takes("client_secret_basic"),
            names_issuer: document.get("authorization_response_iss_parameter_supported") == Some(&Value::Bool(true)),
        })
    }
}

/// Where the discovery document of an issuer is.
pub(crate) fn discovery_url(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'))
}

/// Pairs as a form or a query.
pub fn form(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect::<Vec<_>>().join("&")
}

/// A text as a value of a form.
pub(crate) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests;
