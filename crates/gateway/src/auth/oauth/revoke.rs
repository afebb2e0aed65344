//! Revocation by whoever has a token (RFC 7009). What is no token of the API, or another client's, is left alone, and nobody is told so.

use super::ledger::Ledger;
use super::refused::OauthRefusal;

/// Revokes a token. `hint` is what kind it is, if it says so; `owner` the client that asks, if it is known. With a refresh token goes its
/// access token (section 2.1).
///
/// # Errors
/// The store is silent.
pub(crate) async fn revoke(ledger: &Ledger, api: &str, token: &str, hint: &str, owner: Option<&str>) -> Result<(), OauthRefusal> {
    let is_own = |client: &str| owner.is_none_or(|owner| owner == client);
    if hint != "refresh_token"
        && let Some(access) = ledger.access(api, token).await?
        && is_own(&access.client_id)
    {
        ledger.revoke_access(api, token).await?;
    }
    if hint != "access_token"
        && let Some(access) = ledger.refresh(api, token).await?
        && is_own(&access.client_id)
    {
        ledger.take_refresh(api, token).await?;
        ledger.revoke_kept(api, &access.token).await?;
    }
    Ok(())
}
