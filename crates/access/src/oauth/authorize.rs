//! The authorisation endpoint (RFC 6749, sections 4.1.1 and 4.2.1) in Tyk's two halves. First the client's request is checked and
//! redirected to the login page. Then the login page, which knows the gateway's secret, requests the code when the user has consented.

use super::OauthProvider;
use super::client::OauthClient;
use super::code::Code;
use super::grant::{Grant, give, is_scope};
use super::parameters::OauthParameters;
use super::pkce::Challenge;
use super::redirect;
use super::refused::{ErrorCode, OauthRefusal};
use crate::secret::random_bytes;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// A valid authorisation request.
pub struct AuthorizeRequest {
    client: OauthClient,
    redirect_uri: String,
    scope: String,
    state: String,
    wants_token: bool,
    challenge: Option<Challenge>,
}

/// A refusal, and the URI that the user can be sent back to with it.
pub struct NotAsked {
    pub refused: OauthRefusal,
    redirect_uri: Option<String>,
    state: String,
}

impl From<OauthRefusal> for NotAsked {
    fn from(refused: OauthRefusal) -> Self {
        NotAsked { refused, redirect_uri: None, state: String::new() }
    }
}

impl NotAsked {
    /// The answer to the login page.
    pub fn to_json(&self) -> Value {
        let (error, description) = (self.refused.code.name(), self.refused.description());
        let mut told = Map::new();
        told.insert("error".to_owned(), error.into());
        told.insert("error_description".to_owned(), description.into());
        let mut parameters = vec![("error", error), ("error_description", description)];
        if !self.state.is_empty() {
            parameters.push(("state", &self.state));
        }
        if let Some(uri) = &self.redirect_uri {
            told.insert("redirect_to".to_owned(), redirect::with_query(uri, &parameters).into());
        }
        if !self.state.is_empty() {
            told.insert("state".to_owned(), self.state.as_str().into());
        }
        Value::Object(told)
    }
}

/// Checks an authorisation request.
///
/// # Errors
/// Why the request is invalid.
pub async fn check_request(provider: &OauthProvider<'_>, parameters: &OauthParameters) -> Result<AuthorizeRequest, NotAsked> {
    let rules = provider.rules;
    let kind = parameters.get("response_type");
    if !rules.response_types.iter().any(|allowed| allowed == kind) || !matches!(kind, "code" | "token") {
        return Err(OauthRefusal::from(ErrorCode::UnsupportedResponseType).into());
    }
    let state = parameters.get("state").to_owned();
    let refuse =
        |refused: OauthRefusal, uri: Option<&str>| NotAsked { refused, redirect_uri: uri.map(str::to_owned), state: state.clone() };
    let client = provider.token_store.client(&rules.api_id, parameters.get("client_id")).await;
    let Some(client) = client.map_err(|fault| refuse(fault.into(), None))? else {
        return Err(refuse(ErrorCode::UnauthorizedClient.into(), None));
    };
    let own = client.redirect_uris(&rules.settings.redirect_uri_separator);
    let Some(first) = own.first().copied() else {
        return Err(refuse(ErrorCode::UnauthorizedClient.into(), None));
    };
    let redirect_uri = parameters.find("redirect_uri").unwrap_or(first).to_owned();
    if !redirect::is_allowed(&own, &redirect_uri, rules.own.exact_redirect_uris) {
        return Err(refuse(ErrorCode::InvalidRequest.into(), Some(first)));
    }
    let scope = parameters.get("scope").to_owned();
    if !is_scope(&scope) {
        return Err(refuse(ErrorCode::InvalidScope.into(), Some(&redirect_uri)));
    }
    let wants_token = kind == "token";
    if wants_token && client.is_public {
        // A token in a URL is not bound to a client.
        return Err(refuse(ErrorCode::UnauthorizedClient.into(), Some(&redirect_uri)));
    }
    let challenge = match wants_token {
        true => None,
        false => Challenge::of(parameters, &rules.own, &client).map_err(|refused| refuse(refused, Some(&redirect_uri)))?,
    };
    Ok(AuthorizeRequest { redirect_uri, scope, state, wants_token, challenge, client })
}

/// Issues a code, or with `response_type=token` the token itself, to a login page whose user has consented. The answer is Tyk's: its
/// members, and the URI to send the user to.
///
/// # Errors
/// Why the request is invalid.
pub async fn ask_for_code(provider: &OauthProvider<'_>, parameters: &OauthParameters) -> Result<Value, NotAsked> {
    let request = check_request(provider, parameters).await?;
    let session = parameters.find("key_rules").map(str::to_owned);
    let (uri, state) = (request.redirect_uri.clone(), request.state.clone());
    let made = if request.wants_token { token(provider, request, session).await } else { code(provider, request, session).await };
    made.map_err(|refused| NotAsked { refused, redirect_uri: Some(uri), state })
}

async fn code(provider: &OauthProvider<'_>, request: AuthorizeRequest, session: Option<String>) -> Result<Value, OauthRefusal> {
    let text = URL_SAFE_NO_PAD.encode(random_bytes().map_err(|_| ErrorCode::ServerError)?);
    let AuthorizeRequest { client, redirect_uri, scope, state, challenge, .. } = request;
    let code = Code { client_id: client.id, redirect_uri, scope, state, session, challenge };
    provider.token_store.put_code(&provider.rules.api_id, &text, &code, provider.unix_s).await?;
    let mut parameters = vec![("code", text.as_str())];
    if !code.state.is_empty() {
        parameters.push(("state", &code.state));
    }
    let mut told = Map::new();
    told.insert("code".to_owned(), text.as_str().into());
    told.insert("redirect_to".to_owned(), redirect::with_query(&code.redirect_uri, &parameters).into());
    if !code.state.is_empty() {
        told.insert("state".to_owned(), code.state.as_str().into());
    }
    Ok(Value::Object(told))
}

async fn token(provider: &OauthProvider<'_>, request: AuthorizeRequest, session: Option<String>) -> Result<Value, OauthRefusal> {
    let AuthorizeRequest { client, redirect_uri, scope, state, .. } = request;
    let grant = Grant { redirect_uri: redirect_uri.clone(), scope: scope.clone(), session, renewable: false, family: None };
    let given = give(provider, &client, grant, None).await?;
    let expires_in = given.expires_in_s.to_string();
    let mut parameters = vec![("access_token", given.token.as_str()), ("expires_in", &expires_in), ("token_type", "bearer")];
    parameters.extend([("scope", scope.as_str()), ("state", state.as_str())].into_iter().filter(|(_, value)| !value.is_empty()));
    let mut told = given.to_json();
    if let Value::Object(told) = &mut told {
        told.insert("redirect_to".to_owned(), redirect::with_fragment(&redirect_uri, &parameters).into());
        if !state.is_empty() {
            told.insert("state".to_owned(), state.into());
        }
        told.sort_keys();
    }
    Ok(told)
}
