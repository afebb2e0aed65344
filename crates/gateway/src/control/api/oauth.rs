//! `/tyk/oauth`: the clients of the OAuth 2.0 provider and their tokens. A change is stored before it is answered, and in effect with the next
//! request.

use super::Control;
use super::answer::{Answer, done, error, message};
use super::apis;
use super::keys::Parameters as Query;
use crate::auth::oauth::{self, Client, Listed, Parameters};
use crate::base::clock::unix_s;
use crate::data::snapshot::Api;
use axum::body::Bytes;
use axum::extract::{Path, Query as Extract, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use std::sync::Arc;
use tollgate_store::StoreFault;

/// Tokens on a page.
const PAGE_TOKENS: usize = 100;

/// Makes a client, for one API or for all of a policy; id and secret are made if they are not given.
pub async fn create(State(control): State<Arc<Control>>, body: Bytes) -> Answer {
    let oauth::Written { mut client, api_id } = match Client::from_written(&body) {
        Ok(written) => written,
        Err(fault) => return unreadable(fault),
    };
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
        if let Err(fault) = control.ledger.put_client(&api.id, org(&api), &client).await {
            return unstored(&fault, "Failure in storing client data.");
        }
    }
    Answer(StatusCode::OK, client.to_shown())
}

/// The APIs that a new client is for.
fn apis_for(control: &Control, api_id: &str, policy_id: &str) -> Result<Vec<Arc<Api>>, &'static str> {
    let snapshot = control.shared.current.load_full();
    let find = |id: &str| apis::find(&snapshot, id).cloned().ok_or("API doesn't exist");
    if !api_id.is_empty() {
        let api = find(api_id)?;
        return if api.provider.is_some() { Ok(vec![api]) } else { Err("API is not OAuth2") };
    }
    let policies = control.shared.keys.policies();
    let policy = policies.get(policy_id).ok_or("Policy doesn't exist")?;
    let all = policy.access_rights.keys().map(|id| find(id)).collect::<Result<Vec<_>, _>>()?;
    // Tokens of other makers name clients too.
    let takes_clients = |api: &Arc<Api>| api.provider.is_some() || api.raw.get("enable_jwt") == Some(&Value::Bool(true));
    let apis: Vec<_> = all.into_iter().filter(takes_clients).collect();
    if apis.is_empty() { Err("API is not OAuth2") } else { Ok(apis) }
}

/// The clients of an API.
pub async fn list(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Answer {
    let Some(api) = find(&control, &id) else { return error(StatusCode::NOT_FOUND, "OAuth client not found") };
    if api.provider.is_none() {
        return Answer(StatusCode::OK, json!([]));
    }
    match control.ledger.clients(&id, org(&api)).await {
        Ok(clients) => Answer(StatusCode::OK, clients.iter().map(Client::to_shown).collect()),
        Err(fault) => silent(&fault),
    }
}

/// One client.
pub async fn show(State(control): State<Arc<Control>>, Path((id, client)): Path<(String, String)>) -> Answer {
    match known(&control, &id, &client, "OAuth Client ID not found").await {
        Ok((_, client)) => Answer(StatusCode::OK, client.to_shown()),
        Err(answer) => answer,
    }
}

/// Changes a client's redirect URI, policy, metadata and description. With another policy its tokens end.
pub async fn update(State(control): State<Arc<Control>>, Path((id, client)): Path<(String, String)>, body: Bytes) -> Answer {
    let oauth::Written { client: written, .. } = match Client::from_written(&body) {
        Ok(written) => written,
        Err(fault) => return unreadable(fault),
    };
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
    let new = Client { id: old.id.clone(), is_public: old.is_public, secret: old.secret.clone(), ..written };
    replace(&control, &api, &old, new).await
}

/// Gives a client another secret. Its tokens stay.
pub async fn rotate(State(control): State<Arc<Control>>, Path((id, client)): Path<(String, String)>) -> Answer {
    match known(&control, &id, &client, "API doesn't exist").await {
        Ok((_, old)) if old.is_public => error(StatusCode::BAD_REQUEST, "a public client can have no secret"),
        Ok((api, old)) => match oauth::new_client_secret() {
            Ok(secret) => replace(&control, &api, &old, Client { secret, ..old.clone() }).await,
            Err(failure) => error(StatusCode::INTERNAL_SERVER_ERROR, format!("no secret can be made: {failure}")),
        },
        Err(answer) => answer,
    }
}

async fn replace(control: &Control, api: &Api, old: &Client, new: Client) -> Answer {
    if let Err(fault) = control.ledger.put_client(&api.id, org(api), &new).await {
        return unstored(&fault, "Failure in storing client data");
    }
    if !old.policy_id.is_empty()
        && old.policy_id != new.policy_id
        && let Err(fault) = control.ledger.revoke_access_of(&api.id, &old.id, unix_s()).await
    {
        return silent(&fault);
    }
    Answer(StatusCode::OK, new.to_shown())
}

/// Removes a client and its tokens; as in Tyk the answer is the same when there is no such client.
pub async fn remove(State(control): State<Arc<Control>>, Path((id, client)): Path<(String, String)>) -> Answer {
    let Some(api) = find(&control, &id) else { return error(StatusCode::NOT_FOUND, "OAuth Client ID not found") };
    match control.ledger.remove_client(&id, org(&api), &client).await {
        Ok(()) => done(&client, "deleted"),
        Err(fault) => unstored(&fault, "Delete failed"),
    }
}

/// The tokens of a client that have not ended, all or a page.
pub async fn tokens(
    State(control): State<Arc<Control>>,
    Path((id, client)): Path<(String, String)>,
    Extract(query): Query,
) -> Answer {
    if find(&control, &id).is_none() {
        return error(StatusCode::NOT_FOUND, "OAuth Client ID not found");
    }
    let Ok(tokens) = control.ledger.tokens(&id, &client, unix_s()).await else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Get client tokens failed");
    };
    let shown = |tokens: &[Listed]| -> Value {
        tokens.iter().map(|token| json!({ "code": token.shown, "expires": token.expires_unix_s })).collect()
    };
    let Some(page) = query.get("page").filter(|page| !page.is_empty()) else { return Answer(StatusCode::OK, shown(&tokens)) };
    let page = page.parse::<usize>().unwrap_or(1).max(1);
    let pages: Vec<&[Listed]> = tokens.chunks(PAGE_TOKENS).collect();
    let own = pages.get(page - 1).copied().unwrap_or_default();
    let pagination = json!({ "page_num": page, "page_total": pages.len(), "page_size": PAGE_TOKENS });
    Answer(StatusCode::OK, json!({ "Pagination": pagination, "Tokens": shown(own) }))
}

/// Revokes all tokens of a client. Tyk has no such endpoint: there it takes the client's secret.
pub async fn revoke_tokens(State(control): State<Arc<Control>>, Path((id, client)): Path<(String, String)>) -> Answer {
    if let Err(answer) = known(&control, &id, &client, "OAuth Client ID not found").await {
        return answer;
    }
    match control.ledger.revoke_all(&id, &client).await {
        Ok(_) => done(&client, "deleted"),
        Err(fault) => silent(&fault),
    }
}

/// The APIs that have a client.
pub async fn apis_of_client(State(control): State<Arc<Control>>, Path(client): Path<String>, Extract(query): Query) -> Answer {
    let org = query.get("orgID").map_or("", String::as_str);
    match apis_with(&control, &client, org).await {
        Ok(apis) => Answer(StatusCode::OK, json!(apis)),
        Err(fault) => silent(&fault),
    }
}

/// Takes a refresh token away; as in Tyk the answer is the same when there is none.
pub async fn remove_refresh(State(control): State<Arc<Control>>, Path(token): Path<String>, Extract(query): Query) -> Answer {
    let Some(id) = query.get("api_id").filter(|id| !id.is_empty()) else {
        return error(StatusCode::BAD_REQUEST, "Missing parameter api_id");
    };
    let Some(api) = find(&control, id) else { return error(StatusCode::NOT_FOUND, "API for this refresh token not found") };
    if api.provider.is_none() {
        return error(StatusCode::BAD_REQUEST, "OAuth is not enabled on this API");
    }
    match control.ledger.take_refresh(id, &token).await {
        Ok(_) => done(&token, "deleted"),
        Err(fault) => unstored(&fault, "Failed to invalidate refresh token"),
    }
}

/// Revokes a token of a client, on all APIs that have it.
pub async fn revoke(State(control): State<Arc<Control>>, RawQuery(query): RawQuery, headers: HeaderMap, body: Bytes) -> Answer {
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
            let revoked = oauth::revoke(&control.ledger, &api, token, parameters.get("token_type_hint"), None).await;
            revoked.map_err(|refused| error(StatusCode::INTERNAL_SERVER_ERROR, refused.description().to_owned()))?;
        }
        Ok(message("token revoked successfully"))
    };
    revoked.await.unwrap_or_else(|answer| answer)
}

/// Revokes all tokens of a client that shows its secret, on all APIs that have it.
pub async fn revoke_all(State(control): State<Arc<Control>>, RawQuery(query): RawQuery, headers: HeaderMap, body: Bytes) -> Answer {
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
            // The same client may have another secret elsewhere.
            let client = control.ledger.client(&api, id).await?;
            if client.is_some_and(|client| client.secret_is(secret)) {
                is_somewhere_right = true;
                control.ledger.revoke_all(&api, id).await?;
            }
        }
        // Tyk says that it went well.
        let wrong = || error(StatusCode::UNAUTHORIZED, "client secret is wrong");
        Ok::<_, StoreFault>(if is_somewhere_right { message("tokens revoked successfully") } else { wrong() })
    };
    revoked.await.unwrap_or_else(|fault| silent(&fault))
}

/// Takes tokens that have ended out of the lists of clients.
pub async fn purge(State(control): State<Arc<Control>>, Extract(query): Query) -> Answer {
    match query.get("scope").map(String::as_str) {
        None => error(StatusCode::UNPROCESSABLE_ENTITY, "scope parameter is required"),
        Some("lapsed") => {
            let retained = control.shared.settings.oauth.retained_s.max(control.shared.settings.oauth.refresh_s);
            match control.ledger.purge(unix_s().saturating_sub(retained)).await {
                Ok(()) => message("lapsed tokens purged"),
                Err(fault) => unstored(&fault, "error purging lapsed tokens"),
            }
        }
        Some(_) => error(StatusCode::BAD_REQUEST, "unknown scope"),
    }
}

/// The ids of the APIs of an organisation, of all without one, that have a client.
async fn apis_with(control: &Control, client: &str, org_id: &str) -> Result<Vec<String>, StoreFault> {
    let snapshot = control.shared.current.load_full();
    let mut found = Vec::new();
    for api in snapshot.apis.iter().filter(|api| api.provider.is_some() && (org_id.is_empty() || org(api) == org_id)) {
        if control.ledger.client(&api.id, client).await?.is_some() {
            found.push(api.id.clone());
        }
    }
    Ok(found)
}

/// An API and one of its clients; `no_api` is what is said when there is no such API.
async fn known(control: &Control, id: &str, client: &str, no_api: &str) -> Result<(Arc<Api>, Client), Answer> {
    let api = find(control, id).ok_or_else(|| error(StatusCode::NOT_FOUND, no_api))?;
    match control.ledger.client(id, client).await {
        Ok(Some(client)) => Ok((api, client)),
        Ok(None) => Err(error(StatusCode::NOT_FOUND, "OAuth Client ID not found")),
        Err(fault) => Err(silent(&fault)),
    }
}

fn find(control: &Control, id: &str) -> Option<Arc<Api>> {
    apis::find(&control.shared.current.load(), id).cloned()
}

/// The organisation of an API.
fn org(api: &Api) -> &str {
    api.raw.get("org_id").and_then(Value::as_str).unwrap_or_default()
}

fn form(query: Option<&str>, headers: &HeaderMap, body: &[u8]) -> Option<Parameters> {
    let content_type = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    Parameters::read(query, content_type, body).ok()
}

fn malformed() -> Answer {
    error(StatusCode::BAD_REQUEST, "cannot parse form. Form malformed")
}

/// Tyk's own status for it.
fn unreadable(fault: Option<&'static str>) -> Answer {
    match fault {
        None => error(StatusCode::INTERNAL_SERVER_ERROR, "Unmarshalling failed"),
        Some(fault) => error(StatusCode::BAD_REQUEST, fault),
    }
}

fn unstored(fault: &StoreFault, text: &str) -> Answer {
    tracing::error!(%fault, "the OAuth 2.0 server can't store a change");
    error(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// The store does not answer.
pub fn silent(fault: &StoreFault) -> Answer {
    tracing::error!(%fault, "the OAuth 2.0 server can't read its store");
    error(StatusCode::INTERNAL_SERVER_ERROR, "the store can't be reached")
}
