//! Revocation by the holder of a token (RFC 7009). An unknown token, or another client's, is left alone, and the answer does not say so.

use super::refused::OauthRefusal;
use super::token_store::TokenStore;

/// Revokes a token. `hint` is its kind, if the request names one; `owner` is the requesting client, if it is known. Revoking a refresh
/// token revokes its access token as well (section 2.1).
///
/// # Errors
/// The store does not answer.
pub async fn revoke(token_store: &TokenStore, api: &str, token: &str, hint: &str, owner: Option<&str>) -> Result<(), OauthRefusal> {
    let is_own = |client: &str| owner.is_none_or(|owner| owner == client);
    if hint != "refresh_token"
        && let Some(access) = token_store.access(api, token).await?
        && is_own(&access.client_id)
    {
        token_store.revoke_access(api, token).await?;
    }
    if hint != "access_token"
        && let Some(access) = token_store.refresh(api, token).await?
        && is_own(&access.client_id)
    {
        token_store.take_refresh(api, token).await?;
        token_store.revoke_kept(api, &access.token).await?;
    }
    Ok(())
}
