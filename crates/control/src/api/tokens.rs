//! `/tyk/tokens`: tokens for automation. They are in the store, so all gateways that share it know the same ones, and refuse one at once when it
//! is revoked. A token is shown once, when it is made.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed, error, ok};
use super::console_document::ConsoleDocument;
use super::users::UserRole;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tollgate_access::secret::random_text;
use tollgate_admin::scope::check_grant;
use tollgate_admin::tokens::{LIFE_S, LIFE_S_MAX};
use tollgate_admin::users::check_name;
use tollgate_admin::{ApiToken, ApiTokens, Operator, OperatorScope, tokens};
use tollgate_clock::unix_s;
use tollgate_store::{DocumentSpace, StoreFault};
use utoipa::{IntoParams, ToSchema};

/// The document with all tokens.
pub struct TokenDocument(ConsoleDocument<ApiTokens>);

impl Default for TokenDocument {
    fn default() -> Self {
        TokenDocument(ConsoleDocument::new("tokens"))
    }
}

/// A use is noted if the last note is older, so that a script costs the store one write in this time.
const USE_NOTED_AFTER_S: u64 = 60;

/// All tokens, sorted by name.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenList {
    #[schema(inline)]
    tokens: Vec<ShownToken>,
}

/// A token, without its text.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShownToken {
    id: String,
    name: String,
    #[schema(inline)]
    role: UserRole,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline, required = false, nullable = false)]
    scope: Option<ShownScope>,
    /// Who made it.
    made_by: String,
    /// When it was made, in seconds since 1970.
    created: u64,
    /// When it ends, in seconds since 1970.
    expires: u64,
    /// When it was used last, within a minute, in seconds since 1970; null if it never was.
    #[schema(required)]
    last_used: Option<u64>,
    /// From which address.
    #[schema(required)]
    last_address: Option<String>,
}

/// What someone reaches: APIs with one of these tags, or of one of these organisations, and what belongs to them.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct ShownScope {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    orgs: Vec<String>,
}

impl ShownScope {
    /// A scope for people; `None` for everything.
    pub(super) fn of(scope: &OperatorScope) -> Option<Self> {
        (!scope.is_whole()).then(|| ShownScope { tags: scope.tags.clone(), orgs: scope.orgs.clone() })
    }
}

impl From<ShownScope> for OperatorScope {
    fn from(ShownScope { tags, orgs }: ShownScope) -> Self {
        OperatorScope { tags, orgs }
    }
}

/// A new token.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewToken {
    /// 1 to 64 letters, digits, `.`, `-`, `_` and `@`.
    name: String,
    #[schema(inline)]
    role: UserRole,
    /// What it reaches; everything if it is missing. An admin reaches everything.
    #[serde(default)]
    #[schema(inline, required = false)]
    scope: Option<ShownScope>,
    /// Its life in seconds; 90 days if it is missing, 366 days at most.
    #[serde(default)]
    #[schema(required = false)]
    expires_in_s: Option<u64>,
}

/// A token that was made.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MadeToken {
    id: String,
    name: String,
    /// The token itself, which is shown this once.
    token: String,
    /// When it ends, in seconds since 1970.
    expires: u64,
}

/// The token in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct TokenName {
    /// Name or id of a token.
    #[param(example = "ci", min_length = 1)]
    pub name: String,
}

/// The last use of a token, as it is stored.
#[derive(Serialize, Deserialize)]
struct TokenUse {
    unix_s: u64,
    address: Option<String>,
}

/// All tokens for automation
#[utoipa::path(
    get, path = "/tyk/tokens", tag = "Users", operation_id = "listTokens",
    security(("secret" = ["admin", "scope:closed"])),
    responses(
        (status = 200, body = TokenList, description = "The tokens, without their texts."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    let tokens = match control.tokens.0.load(&control).await {
        Ok(tokens) => tokens,
        Err(fault) => return failed(&fault),
    };
    let mut shown = Vec::new();
    for token in &tokens.tokens {
        let used = match last_use(&control, &token.id).await {
            Ok(used) => used,
            Err(fault) => return failed(&fault),
        };
        let (last_used, last_address) = used.map_or((None, None), |used| (Some(used.unix_s), used.address));
        shown.push(ShownToken {
            id: token.id.clone(),
            name: token.name.clone(),
            role: token.role.into(),
            scope: ShownScope::of(&token.scope),
            made_by: token.made_by.clone(),
            created: token.created_unix_s,
            expires: token.expires_unix_s,
            last_used,
            last_address,
        });
    }
    ok(TokenList { tokens: shown })
}

/// Make a token for automation
///
/// It is sent as `Authorization: Bearer …`, or as the control secret is.
#[utoipa::path(
    post, path = "/tyk/tokens", tag = "Users", operation_id = "addToken",
    security(("secret" = ["admin", "scope:closed"])),
    request_body(content = NewToken, example = json!({"name": "ci", "role": "editor", "scope": {"tags": ["team-a"]}, "expires_in_s": 2592000})),
    responses(
        (status = 200, body = MadeToken, description = "The token can be used on all gateways that share the store."),
        (status = 400, body = Error, description = "The body is no new token, or a member has an invalid value."),
        (status = 409, body = Error, description = "There is a token with this name, or there are too many."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn create(
    State(control): State<Arc<Control>>,
    Extension(operator): Extension<Operator>,
    body: Bytes,
) -> ControlAnswer {
    let new: NewToken = match serde_json::from_slice(&body) {
        Ok(new) => new,
        Err(reason) => return error(StatusCode::BAD_REQUEST, format!("the body is no token: {reason}")),
    };
    let (role, scope) = (new.role.into(), new.scope.map(OperatorScope::from));
    if let Err(reason) = check_name(&new.name).and_then(|()| check_grant(role, scope.as_ref())) {
        return error(StatusCode::BAD_REQUEST, reason);
    }
    let life_s = new.expires_in_s.unwrap_or(LIFE_S);
    if !(1..=LIFE_S_MAX).contains(&life_s) {
        return error(StatusCode::BAD_REQUEST, format!("expires_in_s: must be 1 to {LIFE_S_MAX}"));
    }
    let (id, text) = match [random_text(), random_text(), random_text()] {
        [Ok(id), Ok(one), Ok(other)] => (id, tokens::text(&(one + &other))),
        [Err(failure), ..] | [_, Err(failure), _] | [.., Err(failure)] => {
            return error(StatusCode::INTERNAL_SERVER_ERROR, format!("no token can be made: {failure}"));
        }
    };
    let now = unix_s();
    let token = ApiToken {
        id: id.clone(),
        name: new.name.clone(),
        role,
        scope: scope.unwrap_or_default(),
        digest: tokens::digest(&text),
        made_by: operator.name,
        created_unix_s: now,
        expires_unix_s: now + life_s,
    };
    match control.tokens.0.change(&control, |tokens| tokens.add(token.clone(), now)).await {
        Ok(Ok(())) => {
            ok(MadeToken { id, name: new.name.clone(), token: text, expires: now + life_s }).logged("create", "token", new.name)
        }
        Ok(Err(reason)) => error(StatusCode::CONFLICT, reason),
        Err(fault) => failed(&fault),
    }
}

/// Revoke a token
///
/// All gateways that share the store refuse it from the next call on.
#[utoipa::path(
    delete, path = "/tyk/tokens/{name}", tag = "Users", operation_id = "deleteToken",
    security(("secret" = ["admin", "scope:closed"])),
    params(TokenName),
    responses(
        (status = 200, body = Changed, description = "The token is revoked."),
        (status = 404, body = Error, description = "No such token."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn remove(State(control): State<Arc<Control>>, Path(TokenName { name }): Path<TokenName>) -> ControlAnswer {
    let remove = |tokens: &mut ApiTokens| tokens.remove(&name).ok_or_else(String::new);
    match control.tokens.0.change(&control, remove).await {
        Ok(Ok(token)) => {
            let _ = control.shared.keys.store().remove(DocumentSpace::Console, use_id(&token.id)).await;
            changed(token.name.as_str(), Change::Deleted).logged("delete", "token", token.name)
        }
        Ok(Err(_)) => error(StatusCode::NOT_FOUND, "Token not found"),
        Err(fault) => failed(&fault),
    }
}

/// Who calls with this token, if it is one. Asks the store, so that a token that was revoked on another gateway is refused.
pub(super) async fn caller_of(control: &Arc<Control>, text: &str, address: Option<String>) -> Result<Option<Operator>, StoreFault> {
    let tokens = control.tokens.0.load(control).await?;
    let now = unix_s();
    let Some(token) = tokens.verified(text, now) else { return Ok(None) };
    note_use(control, token, TokenUse { unix_s: now, address });
    Ok(Some(Operator { name: format!("token:{}", token.name), role: token.role, scope: token.scope.clone() }))
}

/// Notes when a token was used; the call does not wait for it.
fn note_use(control: &Arc<Control>, token: &ApiToken, now: TokenUse) {
    let (control, id) = (control.clone(), token.id.clone());
    let ends = token.expires_unix_s;
    tokio::spawn(async move {
        let is_noted = |used: TokenUse| now.unix_s < used.unix_s.saturating_add(USE_NOTED_AFTER_S) && used.address == now.address;
        if last_use(&control, &id).await.ok().flatten().is_some_and(is_noted) {
            return;
        }
        let value = serde_json::to_vec(&now).unwrap_or_default();
        if let Err(fault) = control.shared.keys.store().write(DocumentSpace::Console, use_id(&id), value, Some(ends)).await {
            tracing::warn!(%fault, "the use of a token can't be noted");
        }
    });
}

async fn last_use(control: &Control, id: &str) -> Result<Option<TokenUse>, StoreFault> {
    let stored = control.shared.keys.store().read(DocumentSpace::Console, use_id(id)).await?;
    Ok(stored.and_then(|stored| serde_json::from_slice(&stored).ok()))
}

fn use_id(id: &str) -> String {
    format!("token_use/{id}")
}

fn failed(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "the tokens can't be read or written");
    error(StatusCode::INTERNAL_SERVER_ERROR, format!("the tokens can't be read or written: {fault}"))
}
