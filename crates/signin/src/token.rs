//! What tokens of a provider must be like.

use serde_json::Value;
use tollgate_access::jwt::Claims;

/// The member of `events` that makes a token a logout token.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// Types of signed tokens that are no identity tokens, whatever they say: access tokens (RFC 9068) and logout tokens.
const OTHER_TYPES: [&str; 4] = ["at+jwt", "application/at+jwt", "logout+jwt", "application/logout+jwt"];

/// Whether the `typ` of a header may be an identity token's.
pub(crate) fn may_be_identity(kind: Option<&Value>) -> bool {
    let Some(kind) = kind else { return true };
    kind.as_str().is_some_and(|kind| !OTHER_TYPES.iter().any(|other| other.eq_ignore_ascii_case(kind)))
}

/// Whether a token is for a client (Core 3.1.3.7, 3 to 5): the client is an audience, and the one that asked if there are others.
pub(crate) fn is_for(claims: &Claims, client_id: &str) -> bool {
    let is_audience = match claims.0.get("aud") {
        Some(Value::String(audience)) => audience == client_id,
        Some(Value::Array(audiences)) => {
            audiences.iter().any(|audience| audience.as_str() == Some(client_id))
                && (audiences.len() == 1 || claims.text("azp") == Some(client_id))
        }
        _ => false,
    };
    is_audience && claims.0.get("azp").is_none_or(|party| party.as_str() == Some(client_id))
}

/// Whether a token says that sessions have ended.
pub(crate) fn is_logout(claims: &Claims) -> bool {
    claims.0.get("events").and_then(|events| events.get(LOGOUT_EVENT)).is_some_and(Value::is_object)
}

/// A time of a token, in seconds since 1970.
pub(crate) fn seconds(claims: &Claims, name: &str) -> Option<u64> {
    claims.0.get(name)?.as_f64().filter(|time| *time > 0.0).map(|time| time as u64)
}

#[cfg(test)]
mod tests;
