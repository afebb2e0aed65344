//! Token introspection (RFC 7662) for servers that receive a token: any client of the API may ask.

use super::OauthProvider;
use super::parameters::OauthParameters;
use super::refused::OauthRefusal;
use serde_json::{Map, Value, json};

/// Describes a token. An invalid token gets `active: false` and nothing else.
///
/// # Errors
/// The store does not answer.
pub async fn introspect(provider: &OauthProvider<'_>, parameters: &OauthParameters) -> Result<Value, OauthRefusal> {
    let (api, token) = (&provider.rules.api_id, parameters.get("token"));
    let of_refresh = || async {
        let access = provider.token_store.refresh(api, token).await?;
        let ends = access.as_ref().map(|access| access.created_unix_s + provider.rules.settings.refresh_s);
        Ok::<_, OauthRefusal>(access.zip(ends).map(|found| (found, "refresh_token")))
    };
    let of_access = || async {
        let token_store = provider.token_store;
        let Some(access) = token_store.access(api, token).await? else { return Ok(None) };
        let view = token_store.keys().view(token, "").await?;
        // An operator may have deactivated or deleted the session.
        let session = view.digest_of(token).and_then(|digest| view.live_session(&digest, provider.unix_s));
        let session = session.filter(|session| !session.is_inactive && session.expires.unsigned_abs() > provider.unix_s);
        Ok::<_, OauthRefusal>(session.map(|session| ((access, session.expires.unsigned_abs()), "bearer")))
    };
    // The hint selects which kind to look up first (section 2.1); it may be wrong.
    let found = match parameters.get("token_type_hint") {
        "refresh_token" => match of_refresh().await? {
            None => of_access().await?,
            found => found,
        },
        _ => match of_access().await? {
            None => of_refresh().await?,
            found => found,
        },
    };
    let Some(((access, ends), kind)) = found else { return Ok(json!({ "active": false })) };
    let mut told = Map::new();
    told.insert("active".to_owned(), true.into());
    told.insert("client_id".to_owned(), access.client_id.into());
    told.insert("exp".to_owned(), ends.into());
    if access.created_unix_s > 0 {
        told.insert("iat".to_owned(), access.created_unix_s.into());
    }
    if !access.scope.is_empty() {
        told.insert("scope".to_owned(), access.scope.into());
    }
    told.insert("token_type".to_owned(), kind.into());
    Ok(Value::Object(told))
}
