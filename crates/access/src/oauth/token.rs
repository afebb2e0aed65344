//! The token endpoint (RFC 6749, section 3.2): exchanges credentials, a code or a refresh token for a token.

use super::OauthProvider;
use super::client::OauthClient;
use super::client_auth::{Credentials, named_client, public_client};
use super::code::Code;
use super::family::TokenFamily;
use super::given::Given;
use super::grant::{Grant, give, is_scope};
use super::notice::TokenNotice;
use super::parameters::OauthParameters;
use super::pkce::Challenge;
use super::redirect;
use super::refused::{ErrorCode, OauthRefusal};
use crate::keys::KeyName;
use crate::passwords::{PasswordWaiter, StoredPassword};
use tollgate_model::session::{BasicAuthData, Session};

/// Issues a token for a request's credentials, and notifies the API's owner.
///
/// # Errors
/// Why no token is issued.
pub async fn give_token(
    provider: &OauthProvider<'_>,
    authorization: Option<&[u8]>,
    parameters: &OauthParameters,
) -> Result<Given, OauthRefusal> {
    let kind = parameters.get("grant_type");
    if !provider.rules.grant_types.iter().any(|allowed| allowed == kind) {
        return Err(ErrorCode::UnsupportedGrantType.into());
    }
    if !is_scope(parameters.get("scope")) {
        return Err(ErrorCode::InvalidScope.into());
    }
    // Missing credentials are reported before anything else is checked.
    let credentials = Credentials::of(authorization, parameters)?;
    let public = match &credentials {
        Some(_) => None,
        None => Some(public_client(provider, parameters).await?),
    };
    if public.is_some() && !matches!(kind, "authorization_code" | "refresh_token") {
        return Err(ErrorCode::UnauthorizedClient.into());
    }
    let needed: &[&str] = match kind {
        "authorization_code" => &["code"],
        "refresh_token" => &["refresh_token"],
        "password" => &["username", "password"],
        "client_credentials" => &[],
        _ => return Err(ErrorCode::UnsupportedGrantType.into()),
    };
    if needed.iter().any(|name| parameters.find(name).is_none()) {
        return Err(ErrorCode::InvalidGrant.into());
    }
    let client = match public {
        Some(client) => client,
        None => named_client(provider, credentials).await?,
    };
    let given = match kind {
        "authorization_code" => redeem_code(provider, &client, parameters).await?,
        "refresh_token" => renew(provider, &client, parameters).await?,
        "password" => log_in(provider, &client, parameters).await?,
        _ => give(provider, &client, Grant::of(provider, &client, parameters, false), None).await?,
    };
    let notice = TokenNotice {
        auth_code: parameters.get("code").to_owned(),
        new_token: given.token.clone(),
        refresh_token: given.refresh.clone().unwrap_or_default(),
        old_refresh_token: parameters.get("refresh_token").to_owned(),
    };
    provider.notices.send(provider.auth_client.get(), &provider.rules.notifications, &notice);
    Ok(given)
}

impl Grant {
    /// The grant of a client that asks for itself or presents its user's password.
    fn of(provider: &OauthProvider<'_>, client: &OauthClient, parameters: &OauthParameters, renewable: bool) -> Self {
        let redirect_uri = first_uri(provider, client);
        Grant { redirect_uri, scope: parameters.get("scope").to_owned(), session: None, renewable, family: None }
    }
}

/// Redeems a code (section 4.1.3).
async fn redeem_code(
    provider: &OauthProvider<'_>,
    client: &OauthClient,
    parameters: &OauthParameters,
) -> Result<Given, OauthRefusal> {
    let (rules, text) = (provider.rules, parameters.get("code"));
    let Some(code) = provider.token_store.code(&rules.api_id, text).await? else {
        provider.token_store.punish_replay(&rules.api_id, text).await?;
        return Err(ErrorCode::InvalidGrant.into());
    };
    if code.client_id != client.id {
        return Err(ErrorCode::InvalidGrant.into());
    }
    let own = client.redirect_uris(&rules.settings.redirect_uri_separator);
    let first = own.first().copied().ok_or(ErrorCode::UnauthorizedClient)?;
    let uri = parameters.find("redirect_uri").unwrap_or(first);
    if !redirect::is_allowed(&own, uri, rules.own.exact_redirect_uris) || uri != code.redirect_uri {
        return Err(ErrorCode::InvalidRequest.into());
    }
    if !Challenge::is_met(code.challenge.as_ref(), client, parameters.find("code_verifier")) {
        return Err(ErrorCode::InvalidGrant.into());
    }
    let Code { redirect_uri, scope, session, .. } = code;
    let family = new_family(client)?;
    let given = give(provider, client, Grant { redirect_uri, scope, session, renewable: true, family }, Some(text)).await?;
    provider.token_store.lead_family(provider, client, &given).await?;
    Ok(given)
}

/// The family of a new login; clients with a secret need none.
fn new_family(client: &OauthClient) -> Result<Option<TokenFamily>, OauthRefusal> {
    client.is_public.then(TokenFamily::new).transpose().map_err(|_| ErrorCode::ServerError.into())
}

/// Refreshes a token (section 6). The old tokens are revoked after the new ones are stored, so that a fault in between logs nobody out.
async fn renew(provider: &OauthProvider<'_>, client: &OauthClient, parameters: &OauthParameters) -> Result<Given, OauthRefusal> {
    let (api, text) = (&provider.rules.api_id, parameters.get("refresh_token"));
    let Some(old) = provider.token_store.refresh(api, text).await? else {
        provider.token_store.punish_reuse(provider, client, text).await?;
        return Err(ErrorCode::InvalidGrant.into());
    };
    if old.client_id != client.id {
        return Err(ErrorCode::InvalidGrant.into());
    }
    let asked = parameters.find("scope").unwrap_or(&old.scope);
    if asked.split(' ').any(|scope| !old.scope.split(' ').any(|own| own == scope)) {
        return Err(ErrorCode::InvalidScope.into());
    }
    let family = match TokenFamily::of(text) {
        None => new_family(client)?,
        family => family,
    };
    let grant = Grant { redirect_uri: old.redirect_uri, scope: asked.to_owned(), session: old.session, renewable: true, family };
    let given = give(provider, client, grant, None).await?;
    if !provider.token_store.take_refresh(api, text).await? {
        // Another request used the same refresh token at the same time.
        take_back(provider, &given).await?;
        provider.token_store.punish_reuse(provider, client, text).await?;
        return Err(ErrorCode::InvalidGrant.into());
    }
    provider.token_store.revoke_kept(api, &old.token).await?;
    if !provider.token_store.lead_family(provider, client, &given).await? {
        take_back(provider, &given).await?;
        return Err(ErrorCode::InvalidGrant.into());
    }
    Ok(given)
}

/// Revokes tokens that were just made and have not been sent.
async fn take_back(provider: &OauthProvider<'_>, given: &Given) -> Result<(), OauthRefusal> {
    let api = &provider.rules.api_id;
    provider.token_store.take_refresh(api, given.refresh.as_deref().unwrap_or_default()).await?;
    provider.token_store.revoke_access(api, &given.token).await?;
    Ok(())
}

/// Logs a user in with a password (section 4.3): the user is a key with a password, as in HTTP Basic, and the token gets a copy of its
/// session.
async fn log_in(provider: &OauthProvider<'_>, client: &OauthClient, parameters: &OauthParameters) -> Result<Given, OauthRefusal> {
    let (token_store, org) = (provider.token_store, provider.rules.org_id.as_str());
    let keys = token_store.keys();
    let user = parameters.get("username");
    let user = keys.rules.text_of(user, org);
    let view = keys.view(&user, org).await?;
    let name = view.named(&user, org);
    let found = view.digest_of(&name).and_then(|digest| Some((digest, view.session(&digest)?)));
    let stored = found.as_ref().and_then(|(_, session)| StoredPassword::of(&session.basic_auth_data));
    let is_right = is_password(provider, client, stored, parameters.get("password")).await?;
    let is_over = |session: &Session| session.expires > 0 && session.expires.unsigned_abs() <= provider.unix_s;
    let Some((digest, session)) = found.filter(|(_, session)| is_right && !session.is_inactive && !is_over(session)) else {
        return Err(ErrorCode::AccessDenied.into());
    };
    // A user has one token per client at a time, as in Tyk.
    if let Some(old) = session.oauth_keys.get(&client.id) {
        token_store.revoke_kept(&provider.rules.api_id, old).await?;
    }
    let copy = Session { basic_auth_data: BasicAuthData::default(), oauth_keys: Default::default(), ..session.clone() };
    let mut grant = Grant::of(provider, client, parameters, true);
    grant.session = Some(copy.to_json().to_string());
    let given = give(provider, client, grant, None).await?;
    let name = KeyName { digest, shown: view.shown_of(&digest).unwrap_or(name) };
    let (client, kept) = (client.id.clone(), token_store.kept(&given.token));
    // An operator may have changed the user meanwhile: only the token is added, and a user who may no longer log in gets none.
    let noted = move |user: Option<Session>| {
        let mut user = user.filter(|user| !user.is_inactive)?;
        user.oauth_keys.insert(client.clone(), kept.clone());
        Some(user)
    };
    if !keys.rewrite(name, true, noted).await? {
        take_back(provider, &given).await?;
        return Err(ErrorCode::AccessDenied.into());
    }
    Ok(given)
}

/// Checks a password on the password threads. Takes as long for a user who does not exist.
async fn is_password(
    provider: &OauthProvider<'_>,
    client: &OauthClient,
    stored: Option<StoredPassword>,
    password: &str,
) -> Result<bool, OauthRefusal> {
    let is_somebody = stored.is_some();
    let stored = stored.unwrap_or_else(StoredPassword::nobodys);
    if !stored.is_slow() {
        return Ok(stored.is(password.as_bytes()) && is_somebody);
    }
    let asker = PasswordWaiter::Program(provider.rules.api_id.clone(), client.id.clone());
    let passwords = provider.passwords.get();
    let checked = passwords.and_then(|passwords| passwords.check(asker, stored, password.as_bytes().to_vec()));
    let Some(answer) = checked else { return Err(ErrorCode::TemporarilyUnavailable.into()) };
    let told = answer.clone();
    let waited = tokio::time::timeout(crate::passwords::CHECK_TIME_MAX, answer.wait()).await;
    match told.get().filter(|_| waited.is_ok()) {
        Some(is_right) => Ok(is_right && is_somebody),
        None => Err(ErrorCode::TemporarilyUnavailable.into()),
    }
}

fn first_uri(provider: &OauthProvider<'_>, client: &OauthClient) -> String {
    let uris = client.redirect_uris(&provider.rules.settings.redirect_uri_separator);
    uris.first().copied().unwrap_or_default().to_owned()
}
