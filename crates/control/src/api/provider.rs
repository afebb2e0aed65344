//! The endpoints of the OAuth 2.0 provider below an API's listen path. The data plane forwards their requests with the API's id in
//! the path; they cannot be reached any other way.

use super::Control;
use super::answer::{ControlAnswer, Error, error, message};
use super::failures::NoSuchApi;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::sync::Arc;
use tollgate_access::oauth::{self, Credentials, NotAsked, OauthParameters, OauthProvider, OauthRefusal, Rules};
use tollgate_clock::unix_s;
use tollgate_data::snapshot::CompiledApi;
use tollgate_store::StoreFault;
use utoipa::ToSchema;

/// Maximum size of a request body: a session in `key_rules` has a few KiB, and anyone may send one.
pub(super) const BODY_BYTES_MAX: usize = 256 << 10;

/// Headers that Tyk sends with a token: they forbid caching and framing.
const GUARDS: [(&str, &str); 7] = [
    ("cache-control", "no-cache, no-store, must-revalidate"),
    ("pragma", "no-cache"),
    ("expires", "0"),
    ("x-content-type-options", "nosniff"),
    ("x-xss-protection", "1; mode=block"),
    ("x-frame-options", "DENY"),
    ("strict-transport-security", "max-age=63072000; includeSubDomains"),
];

/// Form that a login page sends after its user has consented.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a form, which may also be a JSON object or a query")]
struct AuthorizeForm {
    /// `code` or `token`.
    response_type: String,
    /// The client that the user authorises.
    client_id: String,
    /// Redirect URI, if the client sent one.
    #[schema(required = false)]
    redirect_uri: String,
    /// As sent by the client.
    #[schema(required = false)]
    state: String,
    /// As sent by the client.
    #[schema(required = false)]
    scope: String,
    /// As sent by the client.
    #[schema(required = false)]
    code_challenge: String,
    /// As sent by the client.
    #[schema(required = false)]
    code_challenge_method: String,
    /// Session for the token, as JSON; without it, the client's policy applies.
    #[schema(required = false)]
    key_rules: String,
}

/// A code or a token, and where to redirect the user.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `ask_for_code` answers")]
struct CodeGiven {
    #[schema(required = false)]
    code: String,
    #[schema(required = false)]
    access_token: String,
    redirect_to: String,
    #[schema(required = false)]
    state: String,
}

/// An error as OAuth 2.0 defines it.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what `OauthRefusal` and `NotAsked` answer")]
struct OAuthError {
    error: String,
    error_description: String,
    #[schema(required = false)]
    redirect_to: String,
    #[schema(required = false)]
    state: String,
}

/// Either the request's secret is wrong, or the request is rejected.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes two answers of one status")]
enum Denied {
    Secret(Error),
    Request(OAuthError),
}

/// One request to an endpoint.
struct ProviderRequest {
    method: Method,
    query: Option<String>,
    headers: HeaderMap,
    body: Bytes,
    /// What the data plane told of the caller.
    told: Extensions,
}

/// Answers a request to one of an API's endpoints.
pub(super) async fn answer(
    State(control): State<Arc<Control>>,
    Path((api, endpoint)): Path<(String, String)>,
    method: Method,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    told: Extensions,
    body: Bytes,
) -> Response {
    let snapshot = control.shared.current.load_full();
    let found = snapshot.api(&api);
    let Some(rules) = found.and_then(|api| api.provider.as_ref()).map(|provider| provider.rules.clone()) else {
        return error(StatusCode::NOT_FOUND, "API doesn't exist").into_response();
    };
    let asked = ProviderRequest { method, query, headers, body, told };
    let provider = provider(&control, &rules);
    match endpoint.as_str() {
        "authorize" => authorize(&provider, &asked).await,
        "token" => token(&provider, &asked).await,
        "revoke" => revoke(&provider, &asked).await,
        "revoke_all" => revoke_all(&provider, &asked).await,
        "introspect" => introspect(&provider, &control, &asked).await,
        "authorize-client" => authorize_client(&provider, &control, &asked).await,
        _ => error(StatusCode::NOT_FOUND, "Not Found").into_response(),
    }
}

/// Issue an authorisation code, for a login page whose user has consented
///
/// Same as `/tyk/oauth/authorize-client/` below an API's listen path. Accepts a form, or a JSON object of strings.
#[utoipa::path(
    post, path = "/tyk/oauth/authorize-client", tag = "OAuth", operation_id = "authorizeOAuthClient",
    security(("secret" = ["editor", "scope:closed"])),
    params(
        ("api_id" = Option<String>, Query, description = "Id of the API; that of the API at `/` when it is not given.", example = "accounts"),
    ),
    request_body(content = AuthorizeForm, content_type = "application/x-www-form-urlencoded", example = json!({"response_type": "code", "client_id": "shop", "state": "xyz"})),
    responses(
        (status = 200, body = CodeGiven, description = "The code, or with `response_type=token` the token itself, and where to send the user."),
        (status = 400, body = OAuthError, description = "The request can't be read."),
        NoSuchApi,
        (status = 403, body = inline(Denied), description = "The secret is missing or wrong, or the request is refused. `oauth_error_status_code` sets another status for refusals."),
        (status = 503, body = OAuthError, description = "The store does not answer."),
    )
)]
pub(super) async fn authorize_client_of(
    State(control): State<Arc<Control>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let content_type = content_type(&headers);
    let parameters = match OauthParameters::read(query.as_deref(), content_type, &body) {
        Ok(parameters) => parameters,
        Err(refused) => return ControlAnswer::new(StatusCode::BAD_REQUEST, refused.to_json()).into_response(),
    };
    let snapshot = control.shared.current.load_full();
    let asked = parameters.find("api_id");
    let is_meant = |api: &&Arc<CompiledApi>| asked.map_or(api.listen_path == "/", |id| api.id == id);
    let rules = snapshot.apis.iter().find(is_meant).and_then(|api| Some(api.provider.as_ref()?.rules.clone()));
    match rules {
        Some(rules) => give_code(&provider(&control, &rules), &parameters).await,
        None => error(StatusCode::NOT_FOUND, "API doesn't exist").into_response(),
    }
}

fn provider<'a>(control: &'a Control, rules: &'a Rules) -> OauthProvider<'a> {
    let registry = &control.shared.registry;
    OauthProvider {
        rules,
        token_store: &control.token_store,
        auth_client: &registry.auth_client,
        passwords: &registry.passwords,
        notices: &control.notices,
        unix_s: unix_s(),
    }
}

impl ProviderRequest {
    fn parameters(&self) -> Result<OauthParameters, OauthRefusal> {
        OauthParameters::read(self.query.as_deref(), content_type(&self.headers), &self.body)
    }

    fn authorization(&self) -> Option<&[u8]> {
        self.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes)
    }

    fn is(&self, methods: &[Method]) -> bool {
        methods.contains(&self.method)
    }
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"))
}

/// The client's part of the authorisation: redirects the user to the login page.
async fn authorize(provider: &OauthProvider<'_>, asked: &ProviderRequest) -> Response {
    if !asked.is(&[Method::GET, Method::POST]) {
        return not_allowed();
    }
    let checked = match asked.parameters() {
        Ok(parameters) => oauth::check_request(provider, &parameters).await.map(|_| ()),
        Err(refused) => Err(refused.into()),
    };
    if let Err(NotAsked { refused, .. }) = checked {
        note(provider, "authorize", &refused);
        let status = status(provider, &refused);
        // Tyk sends no text if it is configured not to report rejections as failures.
        let text = if status == StatusCode::OK { "" } else { refused.description() };
        return error(status, text).into_response();
    }
    let login = &provider.rules.login_url;
    let location = match &asked.query {
        Some(query) if asked.method == Method::GET => format!("{login}{}{query}", if login.contains('?') { '&' } else { '?' }),
        None if asked.method == Method::GET => format!("{login}?"),
        _ => login.clone(),
    };
    match HeaderValue::from_str(&location) {
        Ok(location) => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]).into_response(),
        Err(_) => error(StatusCode::BAD_REQUEST, "the query can't be passed on").into_response(),
    }
}

/// The login page's part: it authenticates with the gateway's secret.
async fn authorize_client(provider: &OauthProvider<'_>, control: &Control, asked: &ProviderRequest) -> Response {
    if !is_owner(control, asked) {
        let message = "Attempted administrative access with invalid or missing key!";
        return error(StatusCode::FORBIDDEN, message).into_response();
    }
    if !asked.is(&[Method::POST]) {
        return not_allowed();
    }
    match asked.parameters() {
        Ok(parameters) => give_code(provider, &parameters).await,
        Err(refused) => refusal(provider, "authorize-client", &refused, refused.to_json()),
    }
}

async fn give_code(provider: &OauthProvider<'_>, parameters: &OauthParameters) -> Response {
    match oauth::ask_for_code(provider, parameters).await {
        Ok(told) => guarded(ControlAnswer::new(StatusCode::OK, told)),
        Err(not_asked) => refusal(provider, "authorize-client", &not_asked.refused, not_asked.to_json()),
    }
}

async fn token(provider: &OauthProvider<'_>, asked: &ProviderRequest) -> Response {
    if !asked.is(&[Method::GET, Method::POST]) {
        return guarded(error(StatusCode::METHOD_NOT_ALLOWED, "Method not supported"));
    }
    let given = match asked.parameters() {
        _ if asked.method == Method::GET => Err(oauth::ErrorCode::InvalidRequest.into()),
        Ok(parameters) => oauth::give_token(provider, asked.authorization(), &parameters).await,
        Err(refused) => Err(refused),
    };
    match given {
        Ok(given) => guarded(ControlAnswer::new(StatusCode::OK, given.to_json())),
        Err(refused) => refusal(provider, "token", &refused, refused.to_json()),
    }
}

/// Token revocation (RFC 7009). As in Tyk, the token is sufficient; but if a client authenticates, its credentials must be right
/// and the token its own.
async fn revoke(provider: &OauthProvider<'_>, asked: &ProviderRequest) -> Response {
    let parameters = match asked.parameters() {
        Ok(parameters) => parameters,
        Err(_) => return error(StatusCode::BAD_REQUEST, "error parsing form. Form malformed").into_response(),
    };
    let Some(token) = parameters.find("token") else { return error(StatusCode::BAD_REQUEST, "token is required").into_response() };
    let revoked = async {
        let credentials = Credentials::of(asked.authorization(), &parameters)?;
        let client = match credentials {
            Some(credentials) => Some(oauth::named_client(provider, Some(credentials)).await?),
            None => None,
        };
        let owner = client.as_ref().map(|client| client.id.as_str());
        oauth::revoke(provider.token_store, &provider.rules.api_id, token, parameters.get("token_type_hint"), owner).await
    };
    match revoked.await {
        Ok(()) => message("token revoked successfully").into_response(),
        Err(refused) => refusal(provider, "revoke", &refused, refused.to_json()),
    }
}

async fn revoke_all(provider: &OauthProvider<'_>, asked: &ProviderRequest) -> Response {
    let Ok(parameters) = asked.parameters() else {
        return error(StatusCode::BAD_REQUEST, "error parsing form. Form malformed").into_response();
    };
    let (id, secret) = (parameters.get("client_id"), parameters.get("client_secret"));
    let missing = [(id, "client_id is required"), (secret, "client_secret is required")];
    if let Some((_, text)) = missing.into_iter().find(|(value, _)| value.is_empty()) {
        return error(StatusCode::UNAUTHORIZED, text).into_response();
    }
    let api = &provider.rules.api_id;
    let revoked = async {
        let Some(client) = provider.token_store.client(api, id).await? else {
            return Ok(error(StatusCode::NOT_FOUND, "error getting oauth client"));
        };
        if !client.secret_is(secret) {
            return Ok(error(StatusCode::UNAUTHORIZED, "client secret is wrong"));
        }
        provider.token_store.revoke_all(api, id).await?;
        Ok::<_, StoreFault>(message("tokens revoked successfully"))
    };
    revoked.await.unwrap_or_else(|fault| super::oauth::silent(&fault)).into_response()
}

/// Token introspection (RFC 7662), for clients of the API and for callers with the gateway's secret.
async fn introspect(provider: &OauthProvider<'_>, control: &Control, asked: &ProviderRequest) -> Response {
    if !asked.is(&[Method::POST]) {
        return not_allowed();
    }
    let told = async {
        let parameters = asked.parameters()?;
        if !is_owner(control, asked) {
            oauth::named_client(provider, Credentials::of(asked.authorization(), &parameters)?).await?;
        }
        if parameters.find("token").is_none() {
            return Err(oauth::ErrorCode::InvalidRequest.into());
        }
        oauth::introspect(provider, &parameters).await
    };
    match told.await {
        Ok(told) => guarded(ControlAnswer::new(StatusCode::OK, told)),
        Err(refused) => refusal(provider, "introspect", &refused, refused.to_json()),
    }
}

fn is_owner(control: &Control, asked: &ProviderRequest) -> bool {
    let guess = asked.headers.get("x-tyk-authorization");
    guess.is_some_and(|guess| control.judge(guess.as_bytes(), false, &asked.told) == Ok(true))
}

fn not_allowed() -> Response {
    error(StatusCode::METHOD_NOT_ALLOWED, "Method not supported").into_response()
}

fn status(provider: &OauthProvider<'_>, refused: &OauthRefusal) -> StatusCode {
    StatusCode::from_u16(refused.status(provider.rules.settings.error_status)).unwrap_or(StatusCode::FORBIDDEN)
}

fn refusal(provider: &OauthProvider<'_>, endpoint: &str, refused: &OauthRefusal, told: Value) -> Response {
    note(provider, endpoint, refused);
    guarded(ControlAnswer::new(status(provider, refused), told))
}

/// Logs a rejection at level debug, because it is not a problem of the gateway. Never logs credentials.
fn note(provider: &OauthProvider<'_>, endpoint: &str, refused: &OauthRefusal) {
    let (api, error) = (&provider.rules.api_id, refused.code.name());
    tracing::debug!(api, endpoint, error, "the OAuth 2.0 server refuses a request");
}

fn guarded(answer: ControlAnswer) -> Response {
    let mut response = answer.into_response();
    for (name, value) in GUARDS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}
