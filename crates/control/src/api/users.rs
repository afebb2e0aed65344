//! `/tyk/users`: the named users of the console. They are in the store, so all gateways that share it have the same ones.

use super::Control;
use super::answer::{Change, Changed, ControlAnswer, Error, changed, error, ok};
use super::authority::{Signed, role_missing};
use super::console::sessions;
use super::operator_rights::{ShownScope, UserRole};
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tollgate_access::secret::random_bytes;
use tollgate_admin::scope::check_grant;
use tollgate_admin::users::{check_name, check_password, hash_password};
use tollgate_admin::{Operator, OperatorScope, Role, User, Users};
use tollgate_clock::unix_s;
use tollgate_store::StoreFault;
use utoipa::{IntoParams, ToSchema};

/// All users, sorted by name.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UserList {
    #[schema(inline)]
    users: Vec<ShownUser>,
}

/// A user.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ShownUser {
    name: String,
    #[schema(inline)]
    role: UserRole,
    /// What they reach; missing for everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline, required = false, nullable = false)]
    scope: Option<ShownScope>,
    /// When the user was added, in seconds since 1970.
    created: u64,
}

/// A new user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    /// 1 to 64 letters, digits, `.`, `-`, `_` and `@`.
    name: String,
    #[schema(inline)]
    role: UserRole,
    /// What they reach; everything if it is missing. An admin reaches everything.
    #[serde(default)]
    #[schema(inline, required = false)]
    scope: Option<ShownScope>,
    /// At least 12 characters, at most 256 bytes.
    password: String,
}

/// A change of a user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UserChange {
    #[schema(inline)]
    role: UserRole,
    /// What they reach; everything if it is missing.
    #[serde(default)]
    #[schema(inline, required = false)]
    scope: Option<ShownScope>,
}

/// A new password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewPassword {
    /// The password so far; admins need none for other users.
    #[serde(default)]
    #[schema(required = false)]
    old: String,
    /// At least 12 characters, at most 256 bytes.
    new: String,
}

/// The user in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct UserName {
    /// Name of a user.
    #[param(example = "ann", min_length = 1)]
    pub name: String,
}

/// All users of the console
#[utoipa::path(
    get, path = "/tyk/users", tag = "Users", operation_id = "listUsers",
    security(("secret" = ["admin", "scope:closed"])),
    responses(
        (status = 200, body = UserList, description = "The users, without their passwords."),
        (status = 404, body = Error, description = "The console is off."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn list(State(control): State<Arc<Control>>) -> ControlAnswer {
    let Some(console) = &control.console else { return off() };
    match console.users.load(&control).await {
        Ok(users) => {
            let shown = |user: &User| ShownUser {
                name: user.name.clone(),
                role: user.role.into(),
                scope: ShownScope::of(&user.scope),
                created: user.created_unix_s,
            };
            ok(UserList { users: users.users.iter().map(shown).collect() })
        }
        Err(fault) => failed(&fault),
    }
}

/// Add a user of the console
#[utoipa::path(
    post, path = "/tyk/users", tag = "Users", operation_id = "addUser",
    security(("secret" = ["admin", "scope:closed"])),
    request_body(content = NewUser, example = json!({"name": "ann", "role": "editor", "password": "correct horse battery staple"})),
    responses(
        (status = 200, body = Changed, description = "The user can sign in."),
        (status = 400, body = Error, description = "The body is not a user, or the name, the password or the scope has no valid form."),
        (status = 404, body = Error, description = "The console is off."),
        (status = 409, body = Error, description = "There is such a user already, or there are too many."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn create(State(control): State<Arc<Control>>, body: Bytes) -> ControlAnswer {
    let Some(console) = &control.console else { return off() };
    let new: NewUser = match serde_json::from_slice(&body) {
        Ok(new) => new,
        Err(reason) => return error(StatusCode::BAD_REQUEST, format!("the body is no user: {reason}")),
    };
    let (role, scope) = (new.role.into(), new.scope.map(OperatorScope::from));
    let checked =
        check_name(&new.name).and_then(|()| check_password(&new.password)).and_then(|()| check_grant(role, scope.as_ref()));
    if let Err(reason) = checked {
        return error(StatusCode::BAD_REQUEST, reason);
    }
    let password_hash = match hashed(new.password).await {
        Ok(hash) => hash,
        Err(answer) => return answer,
    };
    let scope = scope.unwrap_or_default();
    let user = User { name: new.name.clone(), role, scope, password_hash, created_unix_s: unix_s() };
    match console.users.change(&control, |users| users.add(user.clone())).await {
        Ok(Ok(())) => changed(new.name.as_str(), Change::Added).logged("create", "user", new.name),
        Ok(Err(reason)) => error(StatusCode::CONFLICT, reason),
        Err(fault) => failed(&fault),
    }
}

/// Change the role and scope of a user of the console
///
/// The user is signed out, and has them with the next sign-in.
#[utoipa::path(
    put, path = "/tyk/users/{name}", tag = "Users", operation_id = "updateUser",
    security(("secret" = ["admin", "scope:closed"])),
    params(UserName),
    request_body(content = UserChange, example = json!({"role": "viewer"})),
    responses(
        (status = 200, body = Changed, description = "The role and the scope are changed."),
        (status = 400, body = Error, description = "The body has no role, or the scope is invalid."),
        (status = 404, body = Error, description = "No such user, or the console is off."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn update(
    State(control): State<Arc<Control>>,
    Path(UserName { name }): Path<UserName>,
    body: Bytes,
) -> ControlAnswer {
    let Some(console) = &control.console else { return off() };
    let change: UserChange = match serde_json::from_slice(&body) {
        Ok(change) => change,
        Err(reason) => return error(StatusCode::BAD_REQUEST, format!("the body is no change of a user: {reason}")),
    };
    let (role, scope) = (change.role.into(), change.scope.map(OperatorScope::from));
    if let Err(reason) = check_grant(role, scope.as_ref()) {
        return error(StatusCode::BAD_REQUEST, reason);
    }
    let scope = scope.unwrap_or_default();
    let set_role = |users: &mut Users| {
        let user = users.get_mut(&name)?;
        (user.role, user.scope) = (role, scope.clone());
        Some(())
    };
    match console.users.change_found(&control, set_role).await {
        Ok(Some(())) => changed(name.as_str(), Change::Modified).logged("update", "user", name),
        Ok(None) => no_such_user(),
        Err(fault) => failed(&fault),
    }
}

/// Set the password of a user of the console
///
/// Users change their own; admins change everyone's. All other sessions of the user end.
#[utoipa::path(
    post, path = "/tyk/users/{name}/password", tag = "Users", operation_id = "setUserPassword",
    security(("secret" = ["viewer", "scope:open"])),
    params(UserName),
    request_body(content = NewPassword, example = json!({"new": "another long password"})),
    responses(
        (status = 200, body = Changed, description = "The password is changed."),
        (status = 400, body = Error, description = "The body is no new password, or the password has no valid form."),
        (status = 403, body = Error, description = "The old password is wrong; or the user is someone else, and the caller no admin; or the secret of the request is wrong."),
        (status = 404, body = Error, description = "No such user, or the console is off."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn set_password(
    State(control): State<Arc<Control>>,
    Extension(operator): Extension<Operator>,
    signed: Option<Extension<Signed>>,
    Path(UserName { name }): Path<UserName>,
    body: Bytes,
) -> ControlAnswer {
    let Some(console) = &control.console else { return off() };
    let is_own = operator.name == name;
    if !is_own && operator.role < Role::Admin {
        return role_missing(Role::Admin);
    }
    let password: NewPassword = match serde_json::from_slice(&body) {
        Ok(password) => password,
        Err(reason) => return error(StatusCode::BAD_REQUEST, format!("the body is no new password: {reason}")),
    };
    if let Err(reason) = check_password(&password.new) {
        return error(StatusCode::BAD_REQUEST, reason);
    }
    if is_own {
        match console.has_password(&control, &name, password.old).await {
            Ok(true) => {}
            Ok(false) => return error(StatusCode::FORBIDDEN, "The old password is wrong"),
            Err(fault) => return failed(&fault),
        }
    }
    let hash = match hashed(password.new).await {
        Ok(hash) => hash,
        Err(answer) => return answer,
    };
    let set_hash = |users: &mut Users| {
        let user = users.get_mut(&name)?;
        user.password_hash.clone_from(&hash);
        Some(user.clone())
    };
    match console.users.change_found(&control, set_hash).await {
        Ok(Some(user)) => {
            // All others have ended, because they were bound to the old password.
            if let Some(Extension(signed)) = signed.filter(|_| is_own)
                && let Err(fault) = sessions::keep(&control, &signed.token, &user).await
            {
                tracing::warn!(%fault, "the session that has changed its password ends");
            }
            changed(name.as_str(), Change::Modified).logged("update", "user", name)
        }
        Ok(None) => no_such_user(),
        Err(fault) => failed(&fault),
    }
}

/// Remove a user of the console
///
/// The user is signed out. The last admin can be removed too: the control secret remains.
#[utoipa::path(
    delete, path = "/tyk/users/{name}", tag = "Users", operation_id = "deleteUser",
    security(("secret" = ["admin", "scope:closed"])),
    params(UserName),
    responses(
        (status = 200, body = Changed, description = "The user does not exist any more."),
        (status = 404, body = Error, description = "No such user, or the console is off."),
        (status = 500, body = Error, description = "The store does not answer."),
    )
)]
pub(super) async fn remove(State(control): State<Arc<Control>>, Path(UserName { name }): Path<UserName>) -> ControlAnswer {
    let Some(console) = &control.console else { return off() };
    match console.users.change_found(&control, |users| users.remove(&name).then_some(())).await {
        Ok(Some(())) => changed(name.as_str(), Change::Deleted).logged("delete", "user", name),
        Ok(None) => no_such_user(),
        Err(fault) => failed(&fault),
    }
}

/// Hashes a password outside the threads that answer.
async fn hashed(password: String) -> Result<String, ControlAnswer> {
    let hash = tokio::task::spawn_blocking(move || {
        let salt = random_bytes().map_err(|failure| failure.to_string())?;
        hash_password(&password, salt).map_err(|failure| failure.to_string())
    });
    let failed = |why: String| error(StatusCode::INTERNAL_SERVER_ERROR, format!("the password can't be hashed: {why}"));
    hash.await.map_err(|failure| failed(failure.to_string()))?.map_err(failed)
}

fn off() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "The console is off: tollgate.console.serve")
}

fn no_such_user() -> ControlAnswer {
    error(StatusCode::NOT_FOUND, "User not found")
}

fn failed(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "the console's users can't be read or written");
    error(StatusCode::INTERNAL_SERVER_ERROR, format!("the users can't be read or written: {fault}"))
}
