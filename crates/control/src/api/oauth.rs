//! `/tyk/oauth`: clients of the OAuth 2.0 provider and their tokens. A change is stored before the response is sent, and takes
//! effect with the next request.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, Success, changed, error, message, ok};
use super::failures::{NoSuchApi, NoSuchClient, StoreFailed};
use super::keys::KeyQuery as Query;
use super::scoping::{Reach, ScopeRule};
use axum::body::Bytes;
use axum::extract::{Path, Query as Extract, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use tollgate_access::oauth::{self, ClientShown, ClientWritten, Listed, OauthClient, OauthParameters};
use tollgate_clock::unix_s;
use tollgate_data::snapshot::CompiledApi;
use tollgate_store::StoreFault;
use utoipa::{IntoParams, ToSchema};

/// Tokens per page.
const PAGE_TOKENS: usize = 100;

/// Tokens of a client: all, or one page.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Tokens {
    All(Vec<ListedToken>),
    Page {
        #[serde(rename = "Pagination")]
        pagination: Pagination,
        #[serde(rename = "Tokens")]
        tokens: Vec<ListedToken>,
    },
}

/// One token.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListedToken {
    /// The token, or its hash if keys are hashed.
    code: String,
    /// Expiry in seconds since 1970.
    expires: u64,
}

/// Position of this page.
#[derive(Serialize, ToSchema)]
pub(super) struct Pagination {
    page_num: usize,
    page_total: usize,
    page_size: usize,
}

/// The token to revoke.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a form, whose parameters may also stand in the query")]
struct RevokeForm {
    /// An access or refresh token.
    token: String,
    /// `access_token` or `refresh_token`.
    #[schema(required = false)]
    token_type_hint: String,
    /// The client that the token was issued to.
    client_id: String,
    /// Restricts the revocation to APIs of this organisation.
    #[schema(required = false)]
    org_id: String,
}

/// The client whose tokens to revoke.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a form, whose parameters may also stand in the query")]
struct RevokeAllForm {
    /// The client.
    client_id: String,
    /// Its secret.
    client_secret: String,
    /// Restricts the revocation to APIs of this organisation.
    #[schema(required = false)]
    org_id: String,
}

/// The API in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ProviderId {
    /// Id of an API with `use_oauth2`.
    #[param(example = "accounts", min_length = 1)]
    pub id: String,
}

/// The client in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ClientId {
    /// Id of a client.
    #[param(example = "shop", min_length = 1)]
    pub client: String,
}

/// The API and the client in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ClientOfApi {
    /// Id of an API with `use_oauth2`.
    #[param(example = "accounts", min_length = 1)]
    pub id: String,
    /// Id of a client.
    #[param(example = "shop", min_length = 1)]
    pub client: String,
}

/// The refresh token in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct RefreshToken {
    /// The refresh token.
    #[param(example = "MDEyMzQ1Njc", min_length = 1)]
    pub token: String,
}

/// Add a client
///
/// Adds it to the API in `api_id`, or to all APIs of the policy. Missing ids and secrets are generated; an existing client is replaced.
#[utoipa::path(
    post, path = "/tyk/oauth/clients/create", tag = "OAuth", operation_id = "addOAuthClient",
    security(("secret" = ["editor", "scope:reached"])),
    request_body(content = ClientWritten, example = json!({"client_id": "shop", "secret": "a secret", "redirect_uri": "https://app.example.com/callback", "api_id": "accounts", "policy_id": "gold", "description": "The shop"})),
    responses(
        (status = 200, body = ClientShown, description = "The change is in effect."),
        (status = 400, body = Error, description = "The API or the policy does not exist or does not use OAuth, or the id or the secret is invalid."),
        (status = 500, body = Error, description = "The body is not a client, or the store could not be written to."),
    )
)]
pub(super) async fn create(State(control): State<Arc<Control>>, reach: Reach, body: Bytes) -> ControlAnswer {
    let oauth::Written { mut client, api_id } = match OauthClient::from_written(&body) {
        Ok(written) => written,
        Err(fault) => return unreadable(fault),
    };
    if let Err(refused) = check_client(&reach, &api_id, &client) {
        return refused;
    }
    let made = if client.id.is_empty() { oauth::new_client_id().map(|id| client.id = id) } else { Ok(()) };
    let made = made.and_then(|()| {
        if client.secret.is_empty() { oauth::new_client_secret().map(|secret| client.secret = secret) } else { Ok(()) }
    });
    if let Err(failure) = made {
        return error(StatusCode::INTERNAL_SERVER_ERROR, format!("no client can be made: {failure}"));
    }
    let apis = match apis_for(&control, &api_id, &client.policy_id) {
        Ok(apis) => apis,
        Err(text) => return error(StatusCode::BAD_REQUEST, text),
    };
    for api in apis {
        if let Err(fault) = control.token_store.put_client(&api.id, org(&api), &client).await {
            return unstored(&fault, "Failure in storing client data.");
        }
    }
    ok(client.to_shown()).logged("create", "client", client.id)
}

/// The APIs to add a new client to.
fn apis_for(control: &Control, api_id: &str, policy_id: &str) -> Result<Vec<Arc<CompiledApi>>, &'static str> {
    let snapshot = control.shared.current.load_full();
    let find = |id: &str| snapshot.api(id).cloned().ok_or("API doesn't exist");
    if !api_id.is_empty() {
        let api = find(api_id)?;
        return if api.provider.is_some() { Ok(vec![api]) } else { Err("API is not OAuth2") };
    }
    let policies = control.shared.keys.policies();
    let policy = policies.get(policy_id).ok_or("Policy doesn't exist")?;
    let all = policy.access_rights.keys().map(|id| find(id)).collect::<Result<Vec<_>, _>>()?;
    // Tokens of other issuers identify clients too.
    let takes_clients = |api: &Arc<CompiledApi>| api.provider.is_some() || api.raw.get("enable_jwt") == Some(&Value::Bool(true));
    let apis: Vec<_> = all.into_iter().filter(takes_clients).collect();
    if apis.is_empty() { Err("API is not OAuth2") } else { Ok(apis) }
}

/// List the clients of an API
#[utoipa::path(
    get, path = "/tyk/oauth/clients/{id}", tag = "OAuth", operation_id = "listOAuthClients",
    security(("secret" = ["viewer", "scope:api"])),
    params(ProviderId),
    responses(
        (status = 200, body = Vec<ClientShown>, description = "The clients."),
        NoSuchApi, StoreFailed,
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>, Path(ProviderId { id }): Path<ProviderId>) -> ControlAnswer {
    let Some(api) = find(&control, &id) else { return error(StatusCode::NOT_FOUND, "OAuth client not found") };
    if api.provider.is_none() {
        return ok(Vec::<ClientShown>::new());
    }
    match control.token_store.clients(&id, org(&api)).await {
        Ok(clients) => ok(clients.iter().map(OauthClient::to_shown).collect::<Vec<_>>()),
        Err(fault) => silent(&fault),
    }
}

/// Get a client
#[utoipa::path(
    get, path = "/tyk/oauth/clients/{id}/{client}", tag = "OAuth", operation_id = "getOAuthClient",
    security(("secret" = ["viewer", "scope:api"])),
    params(ClientOfApi),
    responses(
        (status = 200, body = ClientShown, description = "The client."),
        NoSuchClient, StoreFailed,
    )
)]
pub(super) async fn show(
    State(control): State<Arc<Control>>,
    Path(ClientOfApi { id, client }): Path<ClientOfApi>,
) -> ControlAnswer {
    match known(&control, &id, &client, "OAuth Client ID not found").await {
        Ok((_, client)) => ok(client.to_shown()),
        Err(answer) => answer,
    }
}

/// Change a client
///
/// The id and the secret stay the same. If the policy changes, the client's tokens are revoked.
#[utoipa::path(
    put, path = "/tyk/oauth/clients/{id}/{client}", tag = "OAuth", operation_id = "updateOAuthClient",
    security(("secret" = ["editor", "scope:reached"])),
    params(ClientOfApi),
    request_body(content = ClientWritten, example = json!({"redirect_uri": "https://app.example.com/callback", "description": "The new shop"})),
    responses(
        (status = 200, body = ClientShown, description = "The change is in effect."),
        (status = 400, body = Error, description = "The policy is not for this API."),
        (status = 404, body = Error, description = "There is no such API, client or policy."),
        (status = 500, body = Error, description = "The body is not a client, or the store could not be written to."),
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    reach: Reach,
    Path(ClientOfApi { id, client }): Path<ClientOfApi>,
    body: Bytes,
) -> ControlAnswer {
    let oauth::Written { client: written, .. } = match OauthClient::from_written(&body) {
        Ok(written) => written,
        Err(fault) => return unreadable(fault),
    };
    if let Err(refused) = check_client(&reach, &id, &written) {
        return refused;
    }
    let Some(api) = find(&control, &id) else { return error(StatusCode::NOT_FOUND, "API doesn't exist") };
    if !written.policy_id.is_empty() {
        let policies = control.shared.keys.policies();
        let own = policies.get(&written.policy_id).filter(|policy| policy.org_id == org(&api));
        let Some(policy) = own else { return error(StatusCode::NOT_FOUND, "Policy doesn't exist") };
        if !policy.access_rights.contains_key(&id) {
            let text = "Policy access rights doesn't contain API this OAuth client belongs to";
            return error(StatusCode::BAD_REQUEST, text);
        }
    }
    let old = match known(&control, &id, &client, "API doesn't exist").await {
        Ok((_, old)) => old,
        Err(answer) => return answer,
    };
    // What the developer portal has decided stays.
    let (ends_unix_s, is_suspended) = (old.ends_unix_s, old.is_suspended);
    let (id, secret, is_public) = (old.id.clone(), old.secret.clone(), old.is_public);
    let new = OauthClient { id, secret, is_public, ends_unix_s, is_suspended, ..written };
    replace(&control, &api, &old, new).await
}

/// Refuses a client of an API, or with a policy, that the caller does not reach. Without an API, the client is of all APIs of its policy.
fn check_client(reach: &Reach, api: &str, client: &OauthClient) -> Result<(), ControlAnswer> {
    let policy = &client.policy_id;
    let names_none = api.is_empty() && policy.is_empty();
    let is_reached = !names_none && (api.is_empty() || reach.has_api_id(api)) && (policy.is_empty() || reach.has_policy_id(policy));
    if is_reached || reach.is_whole() { Ok(()) } else { Err(reach.refusal(ScopeRule::Api)) }
}

/// Generate a new secret for a client
///
/// Its tokens stay valid.
#[utoipa::path(
    put, path = "/tyk/oauth/clients/{id}/{client}/rotate", tag = "OAuth", operation_id = "rotateOAuthClientSecret",
    security(("secret" = ["editor", "scope:api"])),
    params(ClientOfApi),
    responses(
        (status = 200, body = ClientShown, description = "The change is in effect."),
        NoSuchClient, StoreFailed,
    )
)]
pub(super) async fn rotate(
    State(control): State<Arc<Control>>,
    Path(ClientOfApi { id, client }): Path<ClientOfApi>,
) -> ControlAnswer {
    match known(&control, &id, &client, "API doesn't exist").await {
        Ok((_, old)) if old.is_public => error(StatusCode::BAD_REQUEST, "a public client can have no secret"),
        Ok((api, old)) => match oauth::new_client_secret() {
            Ok(secret) => replace(&control, &api, &old, OauthClient { secret, ..old.clone() }).await,
            Err(failure) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("no secret can be made: {failure}")),
        },
        Err(answer) => answer,
    }
}

async fn replace(control: &Control, api: &CompiledApi, old: &OauthClient, new: OauthClient) -> ControlAnswer {
    if let Err(fault) = control.token_store.put_client(&api.id, org(api), &new).await {
        return unstored(&fault, "Failure in storing client data");
    }
    if !old.policy_id.is_empty()
        && old.policy_id != new.policy_id
        && let Err(fault) = control.token_store.revoke_access_of(&api.id, &old.id, unix_s()).await
    {
        return silent(&fault);
    }
    ok(new.to_shown()).logged("update", "client", new.id)
}

/// Delete a client and all its tokens
#[utoipa::path(
    delete, path = "/tyk/oauth/clients/{id}/{client}", tag = "OAuth", operation_id = "deleteOAuthClient",
    security(("secret" = ["editor", "scope:api"])),
    params(ClientOfApi),
    responses(
        (status = 200, body = Changed, description = "The client does not exist any more. The answer is the same if it never did."),
        NoSuchApi, StoreFailed,
    )
)]
pub(super) async fn remove(
    State(control): State<Arc<Control>>,
    Path(ClientOfApi { id, client }): Path<ClientOfApi>,
) -> ControlAnswer {
    let Some(api) = find(&control, &id) else { return error(StatusCode::NOT_FOUND, "OAuth Client ID not found") };
    match control.token_store.remove_client(&id, org(&api), &client).await {
        Ok(()) => changed(client.as_str(), Change::Deleted).logged("delete", "client", client),
        Err(fault) => unstored(&fault, "Delete failed"),
    }
}

/// List the valid tokens of a client
#[utoipa::path(
    get, path = "/tyk/oauth/clients/{id}/{client}/tokens", tag = "OAuth", operation_id = "listOAuthTokens",
    security(("secret" = ["viewer", "scope:api"])),
    params(
        ClientOfApi,
        ("page" = Option<String>, Query, description = "Number of a page of 100, from 1 on."),
    ),
    responses(
        (status = 200, body = Tokens, description = "All tokens, or one page of them."),
        NoSuchApi, StoreFailed,
    )
)]
pub(super) async fn tokens(
    State(control): State<Arc<Control>>,
    Path(ClientOfApi { id, client }): Path<ClientOfApi>,
    Extract(query): Query,
) -> ControlAnswer {
    if find(&control, &id).is_none() {
        return error(StatusCode::NOT_FOUND, "OAuth Client ID not found");
    }
    let Ok(tokens) = control.token_store.tokens(&id, &client, unix_s()).await else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Get client tokens failed");
    };
    let shown = |tokens: &[Listed]| -> Vec<ListedToken> {
        tokens.iter().map(|token| ListedToken { code: token.shown.clone(), expires: token.expires_unix_s }).collect()
    };
    let Some(page) = query.get("page").filter(|page| !page.is_empty()) else { return ok(Tokens::All(shown(&tokens))) };
    let page_num = page.parse::<usize>().unwrap_or(1).max(1);
    let pages: Vec<&[Listed]> = tokens.chunks(PAGE_TOKENS).collect();
    let own = pages.get(page_num - 1).copied().unwrap_or_default();
    let pagination = Pagination { page_num, page_total: pages.len(), page_size: PAGE_TOKENS };
    ok(Tokens::Page { pagination, tokens: shown(own) })
}

/// Revoke all tokens of a client
///
/// Tyk has no such endpoint; Tyk's equivalent requires the client's secret.
#[utoipa::path(
    delete, path = "/tyk/oauth/clients/{id}/{client}/tokens", tag = "OAuth", operation_id = "revokeOAuthTokens",
    security(("secret" = ["editor", "scope:api"])),
    params(ClientOfApi),
    responses(
        (status = 200, body = Changed, description = "The change is in effect."),
        NoSuchClient, StoreFailed,
    )
)]
pub(super) async fn revoke_tokens(
    State(control): State<Arc<Control>>,
    Path(ClientOfApi { id, client }): Path<ClientOfApi>,
) -> ControlAnswer {
    if let Err(answer) = known(&control, &id, &client, "OAuth Client ID not found").await {
        return answer;
    }
    match control.token_store.revoke_all(&id, &client).await {
        Ok(_) => changed(client.as_str(), Change::Deleted).logged("delete", "tokens", client),
        Err(fault) => silent(&fault),
    }
}

/// List the APIs that have a client
#[utoipa::path(
    get, path = "/tyk/oauth/clients/apis/{client}", tag = "OAuth", operation_id = "listApisOfOAuthClient",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ClientId,
        ("orgID" = Option<String>, Query, description = "Only APIs of this organisation.", example = "default"),
    ),
    responses(
        (status = 200, body = Vec<String>, description = "The ids of the APIs."),
        StoreFailed,
    )
)]
pub(super) async fn apis_of_client(
    State(control): State<Arc<Control>>,
    Path(ClientId { client }): Path<ClientId>,
    Extract(query): Query,
) -> ControlAnswer {
    let org = query.get("orgID").map_or("", String::as_str);
    match apis_with(&control, &client, org).await {
        Ok(apis) => ok(apis),
        Err(fault) => silent(&fault),
    }
}

/// Invalidate a refresh token
#[utoipa::path(
    delete, path = "/tyk/oauth/refresh/{token}", tag = "OAuth", operation_id = "deleteOAuthRefreshToken",
    security(("secret" = ["editor", "scope:closed"])),
    params(
        RefreshToken,
        ("api_id" = String, Query, description = "Id of the API.", example = "accounts"),
    ),
    responses(
        (status = 200, body = Changed, description = "The token is not valid any more. The answer is the same if it never was."),
        (status = 400, body = Error, description = "`api_id` is missing, or the API does not use OAuth."),
        NoSuchApi, StoreFailed,
    )
)]
pub(super) async fn remove_refresh(
    State(control): State<Arc<Control>>,
    Path(RefreshToken { token }): Path<RefreshToken>,
    Extract(query): Query,
) -> ControlAnswer {
    let Some(id) = query.get("api_id").filter(|id| !id.is_empty()) else {
        return error(StatusCode::BAD_REQUEST, "Missing parameter api_id");
    };
    let Some(api) = find(&control, id) else { return error(StatusCode::NOT_FOUND, "API for this refresh token not found") };
    if api.provider.is_none() {
        return error(StatusCode::BAD_REQUEST, "OAuth is not enabled on this API");
    }
    match control.token_store.take_refresh(id, &token).await {
        Ok(_) => changed(token, Change::Deleted).logged("delete", "tokens", tollgate_admin::MASK),
        Err(fault) => unstored(&fault, "Failed to invalidate refresh token"),
    }
}

/// Revoke a token on all APIs that have its client
#[utoipa::path(
    post, path = "/tyk/oauth/revoke", tag = "OAuth", operation_id = "revokeOAuthToken",
    security(("secret" = ["editor", "scope:closed"])),
    request_body(content = RevokeForm, content_type = "application/x-www-form-urlencoded", example = json!({"token": "0123456789", "client_id": "shop"})),
    responses(
        (status = 200, body = Success, description = "The token is not valid any more. The answer is the same if it never was."),
        (status = 400, body = Error, description = "A parameter is missing, or there is no such client."),
        StoreFailed,
    )
)]
pub(super) async fn revoke(
    State(control): State<Arc<Control>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> ControlAnswer {
    let Some(parameters) = form(query.as_deref(), &headers, &body) else { return malformed() };
    let (token, client) = (parameters.get("token"), parameters.get("client_id"));
    let missing = [(token, "token is required"), (client, "client_id is required")];
    if let Some((_, text)) = missing.into_iter().find(|(value, _)| value.is_empty()) {
        return error(StatusCode::BAD_REQUEST, text);
    }
    let revoked = async {
        let apis = apis_with(&control, client, parameters.get("org_id")).await.map_err(|fault| silent(&fault))?;
        if apis.is_empty() {
            return Err(error(StatusCode::BAD_REQUEST, "oauth client doesn't exist"));
        }
        for api in apis {
            let revoked = oauth::revoke(&control.token_store, &api, token, parameters.get("token_type_hint"), None).await;
            revoked.map_err(|refused| error(StatusCode::INTERNAL_SERVER_ERROR, refused.description().to_owned()))?;
        }
        Ok(message("token revoked successfully").logged("delete", "tokens", client))
    };
    revoked.await.unwrap_or_else(|answer| answer)
}

/// Revoke all tokens of a client on all APIs that have it
#[utoipa::path(
    post, path = "/tyk/oauth/revoke_all", tag = "OAuth", operation_id = "revokeAllOAuthTokens",
    security(("secret" = ["editor", "scope:closed"])),
    request_body(content = RevokeAllForm, content_type = "application/x-www-form-urlencoded", example = json!({"client_id": "shop", "client_secret": "a secret"})),
    responses(
        (status = 200, body = Success, description = "The change is in effect."),
        (status = 400, body = Error, description = "The form can't be read."),
        (status = 401, body = Error, description = "A parameter is missing, or the secret is wrong."),
        (status = 404, body = Error, description = "There is no such client."),
        StoreFailed,
    )
)]
pub(super) async fn revoke_all(
    State(control): State<Arc<Control>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> ControlAnswer {
    let Some(parameters) = form(query.as_deref(), &headers, &body) else { return malformed() };
    let (id, secret) = (parameters.get("client_id"), parameters.get("client_secret"));
    let missing = [(id, "client_id is required"), (secret, "client_secret is required")];
    if let Some((_, text)) = missing.into_iter().find(|(value, _)| value.is_empty()) {
        return error(StatusCode::UNAUTHORIZED, text);
    }
    let revoked = async {
        let apis = apis_with(&control, id, parameters.get("org_id")).await?;
        if apis.is_empty() {
            return Ok(error(StatusCode::NOT_FOUND, "oauth client doesn't exist"));
        }
        let mut is_somewhere_right = false;
        for api in apis {
            // The same client may have a different secret for another API.
            let client = control.token_store.client(&api, id).await?;
            if client.is_some_and(|client| client.secret_is(secret)) {
                is_somewhere_right = true;
                control.token_store.revoke_all(&api, id).await?;
            }
        }
        // Tyk reports success here.
        let wrong = || error(StatusCode::UNAUTHORIZED, "client secret is wrong");
        Ok::<_, StoreFault>(if is_somewhere_right {
            message("tokens revoked successfully").logged("delete", "tokens", id)
        } else {
            wrong()
        })
    };
    revoked.await.unwrap_or_else(|fault| silent(&fault))
}

/// Remove expired tokens from the lists of clients
#[utoipa::path(
    delete, path = "/tyk/oauth/tokens", tag = "OAuth", operation_id = "purgeOAuthTokens",
    security(("secret" = ["editor", "scope:closed"])),
    params(("scope" = String, Query, description = "`lapsed`.", example = "lapsed")),
    responses(
        (status = 200, body = Success, description = "The request was carried out."),
        (status = 400, body = Error, description = "`scope` is unknown."),
        (status = 422, body = Error, description = "`scope` is missing."),
        StoreFailed,
    )
)]
pub(super) async fn purge(State(control): State<Arc<Control>>, Extract(query): Query) -> ControlAnswer {
    match query.get("scope").map(String::as_str) {
        None => error(StatusCode::UNPROCESSABLE_ENTITY, "scope parameter is required"),
        Some("lapsed") => {
            let retained = control.shared.settings.callers.oauth.retained_s.max(control.shared.settings.callers.oauth.refresh_s);
            match control.token_store.purge(unix_s().saturating_sub(retained)).await {
                Ok(()) => message("lapsed tokens purged").logged("delete", "tokens", "lapsed"),
                Err(fault) => unstored(&fault, "error purging lapsed tokens"),
            }
        }
        Some(_) => error(StatusCode::BAD_REQUEST, "unknown scope"),
    }
}

/// Ids of the APIs that have a client, in one organisation or in all.
async fn apis_with(control: &Control, client: &str, org_id: &str) -> Result<Vec<String>, StoreFault> {
    let snapshot = control.shared.current.load_full();
    let mut found = Vec::new();
    for api in snapshot.apis.iter().filter(|api| api.provider.is_some() && (org_id.is_empty() || org(api) == org_id)) {
        if control.token_store.client(&api.id, client).await?.is_some() {
            found.push(api.id.clone());
        }
    }
    Ok(found)
}

/// An API and one of its clients; `no_api` is the error message for an unknown API.
async fn known(control: &Control, id: &str, client: &str, no_api: &str) -> Result<(Arc<CompiledApi>, OauthClient), ControlAnswer> {
    let api = find(control, id).ok_or_else(|| error(StatusCode::NOT_FOUND, no_api))?;
    match control.token_store.client(id, client).await {
        Ok(Some(client)) => Ok((api, client)),
        Ok(None) => Err(error(StatusCode::NOT_FOUND, "OAuth Client ID not found")),
        Err(fault) => Err(silent(&fault)),
    }
}

fn find(control: &Control, id: &str) -> Option<Arc<CompiledApi>> {
    control.shared.current.load().api(id).cloned()
}

/// The organisation of an API.
fn org(api: &CompiledApi) -> &str {
    api.raw.get("org_id").and_then(Value::as_str).unwrap_or_default()
}

fn form(query: Option<&str>, headers: &HeaderMap, body: &[u8]) -> Option<OauthParameters> {
    let content_type = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    OauthParameters::read(query, content_type, body).ok()
}

fn malformed() -> ControlAnswer {
    error(StatusCode::BAD_REQUEST, "cannot parse form. Form malformed")
}

/// The response to an unreadable body, with Tyk's own status.
fn unreadable(fault: Option<&'static str>) -> ControlAnswer {
    match fault {
        None => error(StatusCode::INTERNAL_SERVER_ERROR, "Unmarshalling failed"),
        Some(fault) => error(StatusCode::BAD_REQUEST, fault),
    }
}

fn unstored(fault: &StoreFault, text: &str) -> ControlAnswer {
    tracing::error!(%fault, "the OAuth 2.0 server can't store a change");
    error(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// The response when the store does not respond.
pub(super) fn silent(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "the OAuth 2.0 server can't read its store");
    error(StatusCode::INTERNAL_SERVER_ERROR, "the store can't be reached")
}
