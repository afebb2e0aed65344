//! `/tyk/tokens`: tokens for automation. They are in the store, so all gateways that share it know the same ones, and refuse one at once when it
//! is revoked. A token is shown once, when it is made.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed, error, ok};
use super::operator_rights::{ShownScope, UserRole};
use super::token_store::{forget_use, last_use};
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
use tollgate_admin::{ApiToken, Operator, OperatorScope, tokens};
use tollgate_clock::unix_s;
use tollgate_store::StoreFault;
use utoipa::{IntoParams, ToSchema};

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
    match control.tokens.0.change_found(&control, |tokens| tokens.remove(&name)).await {
        Ok(Some(token)) => {
            let _ = forget_use(&control, &token.id).await;
            changed(token.name.as_str(), Change::Deleted).logged("delete", "token", token.name)
        }
        Ok(None) => error(StatusCode::NOT_FOUND, "Token not found"),
        Err(fault) => failed(&fault),
    }
}

fn failed(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "the tokens can't be read or written");
    error(StatusCode::INTERNAL_SERVER_ERROR, format!("the tokens can't be read or written: {fault}"))
}
