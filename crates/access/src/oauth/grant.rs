//! Grants, and how a token is made from one.

use super::OauthProvider;
use super::access::AccessToken;
use super::client::{OauthClient, new_opaque_text};
use super::family::TokenFamily;
use super::given::Given;
use super::refused::{ErrorCode, OauthRefusal};
use super::token_store::NewToken;
use crate::secret::random_bytes;
use serde_json::Value;
use tollgate_model::session::Session;

/// What a token is issued for.
pub(super) struct Grant {
    pub redirect_uri: String,
    pub scope: String,
    /// JSON of the session that the token gets in place of the client's policy.
    pub session: Option<String>,
    /// Whether a refresh token is issued as well.
    pub renewable: bool,
    /// Family of the refresh token.
    pub family: Option<TokenFamily>,
}

/// Makes a token and stores it. With a code, the token is issued only if nobody else has redeemed the code.
pub(super) async fn give(
    provider: &OauthProvider<'_>,
    client: &OauthClient,
    grant: Grant,
    code: Option<&str>,
) -> Result<Given, OauthRefusal> {
    let OauthProvider { rules, token_store, unix_s, .. } = provider;
    let mut session = session(provider, client, grant.session.as_deref())?;
    let left_s = if client.ends_unix_s == 0 { u64::MAX } else { client.ends_unix_s.saturating_sub(*unix_s) };
    let expires_in_s = rules.settings.token_s.min(left_s);
    session.oauth_client_id.clone_from(&client.id);
    session.expires = i64::try_from(unix_s.saturating_add(expires_in_s)).unwrap_or(i64::MAX);
    session.last_updated = unix_s.to_string();
    if let Value::Object(fields) = &client.meta_data {
        for (name, value) in fields {
            session.meta_data.entry(name).or_insert_with(|| value.clone());
        }
    }
    let no_randomness = |_| OauthRefusal::from(ErrorCode::ServerError);
    let token = token_store.keys().generate(&session.org_id, random_bytes().map_err(no_randomness)?);
    let new_refresh = || grant.family.as_ref().map_or_else(new_opaque_text, TokenFamily::new_token);
    let refresh = grant.renewable.then(new_refresh).transpose().map_err(no_randomness)?;
    if let Some(code) = code
        && !token_store.redeem(&rules.api_id, code, &token, *unix_s).await?
    {
        token_store.punish_replay(&rules.api_id, code).await?;
        return Err(ErrorCode::InvalidGrant.into());
    }
    let access = AccessToken {
        client_id: client.id.clone(),
        redirect_uri: grant.redirect_uri,
        expires_in_s,
        scope: grant.scope.clone(),
        created_unix_s: *unix_s,
        session: grant.session,
        ..AccessToken::default()
    };
    let (refresh_s, retained_s) = (rules.settings.refresh_s, rules.settings.retained_s);
    let new = NewToken { token: &token, refresh: refresh.as_deref(), session, access, refresh_s, retained_s };
    token_store.put_token(&rules.api_id, new).await?;
    Ok(Given { token, refresh, expires_in_s, scope: grant.scope })
}

/// The session of a new token: the one requested with the code, else the one of the client's policy.
fn session(provider: &OauthProvider<'_>, client: &OauthClient, asked: Option<&str>) -> Result<Session, OauthRefusal> {
    let keys = provider.token_store.keys();
    if let Some((mut session, _)) = asked.and_then(|asked| Session::parse(asked.as_bytes()).ok()) {
        if session.org_id.is_empty() {
            session.org_id.clone_from(&provider.rules.org_id);
        }
        let applied = keys.with_policies(&session).map_err(|error| failed(client, &error.to_string()))?;
        if applied.access_rights.is_empty() && !keys.rules.allow_master_keys {
            return Err(failed(client, "key_rules without access_rights would open every API"));
        }
        return Ok(session);
    }
    let policies = keys.policies();
    let policy = policies.get(&client.policy_id).ok_or_else(|| failed(client, "its policy is not there"))?;
    let session = Session { org_id: policy.org_id.clone(), apply_policies: vec![client.policy_id.clone()], ..Session::default() };
    keys.with_policies(&session).map_err(|error| failed(client, &error.to_string()))?;
    Ok(session)
}

fn failed(client: &OauthClient, why: &str) -> OauthRefusal {
    tracing::warn!(client = client.id, why, "no token can be made for an OAuth client");
    ErrorCode::ServerError.into()
}

/// Whether a text is a list of scopes (RFC 6749, section 3.3).
pub(super) fn is_scope(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
}
