//! `/tyk/console/api/session`: who is signed in, signing in and out.

use super::door::{SignedIn, caller, check_origin, cookie, refused, signed_in, signed_out, store_is_away, tokens};
use super::sessions::{self, NewConsoleSession};
use crate::api::Control;
use crate::api::answer::{ControlAnswer, error, ok};
use crate::api::authority::of_secret;
use crate::api::change_log::Change;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tollgate_admin::operator::{IDLE_S_MAX, LIFE_S_MAX};
use tollgate_admin::{Operator, Role, users};
use tollgate_clock::unix_s;
use tollgate_data::control_caller::{CallerWay, ControlCaller};
use tollgate_store::StoreFault;

/// What someone signs in with: the control secret, or the name and password of a user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignIn {
    secret: Option<String>,
    user: Option<String>,
    password: Option<String>,
}

/// Who is signed in.
pub(super) async fn show(State(control): State<Arc<Control>>, request: Request) -> Response {
    let Some(console) = &control.console else { return StatusCode::NOT_FOUND.into_response() };
    if let Err(answer) = check_origin(request.method(), request.uri(), request.headers()) {
        return answer.into_response();
    }
    let caller = caller(&request);
    let (headers, uri) = (request.headers().clone(), request.uri().clone());
    match signed_in(&control, console, &headers, &uri).await {
        Ok(Some(SignedIn { operator, ends_unix_s, .. })) => described(&control, &operator, ends_unix_s, caller).into_response(),
        Ok(None) => {
            console.users.look(&control).await;
            signed_out(&control, console, caller).into_response()
        }
        Err(fault) => store_is_away(&fault).into_response(),
    }
}

/// Signs out, on all gateways.
pub(super) async fn sign_out(State(control): State<Arc<Control>>, request: Request) -> Response {
    if let Err(answer) = check_origin(request.method(), request.uri(), request.headers()) {
        return answer.into_response();
    }
    let Some(console) = &control.console else { return StatusCode::NOT_FOUND.into_response() };
    let (caller, headers, uri) = (caller(&request), request.headers().clone(), request.uri().clone());
    drop(request);
    let is_tls = caller.way == CallerWay::Tls;
    let signing_out = async {
        let Some(SignedIn { operator, token, .. }) = signed_in(&control, console, &headers, &uri).await? else { return Ok(None) };
        let go_to = sessions::sign_out(&control, &token).await?;
        let change = Change { action: "sign_out", kind: "session", status: 200, ..Change::default() };
        control.changes.add(Some(&operator), Some(caller), change);
        Ok(go_to)
    };
    match signing_out.await {
        Ok(go_to) => {
            let answer = ok(json!({"status": "ok", "message": "signed out", "go_to": go_to}));
            ([(SET_COOKIE, cookie("", is_tls, 0))], answer).into_response()
        }
        Err(fault) => store_is_away(&fault).into_response(),
    }
}

/// Signs in.
pub(super) async fn sign_in(State(control): State<Arc<Control>>, request: Request) -> Response {
    let Some(console) = &control.console else { return StatusCode::NOT_FOUND.into_response() };
    if let Err(answer) = check_origin(request.method(), request.uri(), request.headers()) {
        return answer.into_response();
    }
    let caller = caller(&request);
    if caller.way == CallerWay::Plain {
        let text = "Over plain HTTP from another machine, anyone on the way could read the secret: use TLS, or ssh -L";
        return refused(StatusCode::FORBIDDEN, "insecure", text).into_response();
    }
    let (head, body) = request.into_parts();
    let Some(asked) = read(body).await else {
        return error(StatusCode::BAD_REQUEST, "the body must be {\"secret\": \"…\"} or {\"user\": \"…\", \"password\": \"…\"}")
            .into_response();
    };
    let admitted = console.tries().admit(caller.address, unix_s());
    if let Err(wait_s) = admitted {
        let text = format!("Too many wrong tries: wait {wait_s} s");
        let mut answer = refused(StatusCode::TOO_MANY_REQUESTS, "too_many_tries", &text);
        if let Value::Object(members) = &mut answer.value {
            members.insert("wait_s".to_owned(), wait_s.into());
        }
        return ([(RETRY_AFTER, wait_s.to_string())], answer).into_response();
    }
    let (operator, bound_to) = match verified(&control, asked, &caller).await {
        Ok(Some(verified)) => verified,
        Ok(None) => {
            tracing::warn!(address = %caller.address, "a sign-in to the console failed");
            let change = Change { action: "sign_in_failed", kind: "session", status: 403, ..Change::default() };
            control.changes.add(None, Some(caller), change);
            let left = console.tries().left(caller.address);
            let mut answer = refused(StatusCode::FORBIDDEN, "wrong", "The secret, or the name or password, is wrong");
            if let Value::Object(members) = &mut answer.value {
                members.insert("tries_left".to_owned(), left.into());
            }
            return answer.into_response();
        }
        Err(fault) => {
            console.tries().unchecked(caller.address);
            tracing::error!(%fault, "the console's users can't be read");
            return error(StatusCode::SERVICE_UNAVAILABLE, "The store with the users does not answer; the control secret works")
                .into_response();
        }
    };
    console.tries().right(caller.address);
    let session = NewConsoleSession { operator: &operator, bound_to: &bound_to, life_s: LIFE_S_MAX, logout_hint: "" };
    match started(&control, &session, caller, &head.headers).await {
        Ok(line) => {
            console.users.look(&control).await;
            ([(SET_COOKIE, line)], described(&control, &operator, unix_s() + LIFE_S_MAX, caller)).into_response()
        }
        Err(answer) => answer.into_response(),
    }
}

/// Starts a session, and returns the line that sets its cookie. The session that the browser had before ends: whoever knows its token gets nothing
/// of the new one.
pub(super) async fn started(
    control: &Control,
    session: &NewConsoleSession<'_>,
    caller: ControlCaller,
    headers: &HeaderMap,
) -> Result<String, ControlAnswer> {
    let starting = async {
        for old in tokens(headers) {
            sessions::end(control, old).await?;
        }
        sessions::start(control, session).await
    };
    let new = starting.await.map_err(|fault| store_is_away(&fault))?;
    let change = Change { action: "sign_in", kind: "session", status: 200, ..Change::default() };
    control.changes.add(Some(session.operator), Some(caller), change);
    Ok(cookie(&new, caller.way == CallerWay::Tls, session.life_s))
}

async fn read(body: Body) -> Option<SignIn> {
    let body = body.collect().await.ok()?.to_bytes();
    serde_json::from_slice(&body).ok()
}

/// Who has this secret, or this name and password, and what their session is bound to.
async fn verified(control: &Arc<Control>, asked: SignIn, caller: &ControlCaller) -> Result<Option<(Operator, String)>, StoreFault> {
    match asked {
        SignIn { secret: Some(secret), user: None, password: None } => {
            let is_taken = control.operators.takes_secret(Some(caller));
            let is_right = is_taken && control.secret.is(secret.as_bytes());
            Ok(is_right.then(|| (of_secret(), sessions::of_secret(control))))
        }
        SignIn { secret: None, user: Some(name), password: Some(password) } => {
            let Some(console) = &control.console else { return Ok(None) };
            let users = console.users.load(control).await?;
            let check = move || users.verified(&name, &password).map(|user| (Operator::of_user(user), sessions::of_user(user)));
            Ok(tokio::task::spawn_blocking(check).await.unwrap_or(None))
        }
        _ => Ok(None),
    }
}

fn described(control: &Control, operator: &Operator, ends_unix_s: u64, caller: ControlCaller) -> ControlAnswer {
    let console = control.console.as_ref();
    let is_admin = operator.role == Role::Admin;
    let is_shared = control.definitions.shared_definitions().is_some();
    ok(json!({
        "user": operator.name,
        "role": operator.role,
        "scope": (!operator.scope.is_whole()).then_some(&operator.scope),
        "by_secret": operator.name == users::SECRET,
        "users": console.filter(|_| is_admin).map(|console| console.users.known().users.len()),
        "node": console.map(|console| console.facts.node.as_str()),
        "version": env!("CARGO_PKG_VERSION"),
        "idle_s": IDLE_S_MAX,
        "expires_unix_s": ends_unix_s,
        "writable": {
            "apis": is_shared || is_writable(control.definitions.app_path()),
            "policies": is_shared || control.definitions.policy_path().is_some_and(is_writable),
        },
        "shared_definitions": is_shared,
        "portal": control.portal.as_ref().map(|portal| portal.url()),
        "secret_file": console
            .filter(|_| is_admin && caller.way == CallerWay::Local)
            .and_then(|console| console.facts.secret_file.as_ref())
            .map(|file| file.display().to_string()),
    }))
}

/// Whether files in a folder can be written, as far as its permissions tell.
fn is_writable(folder: &std::path::Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok() || !folder.exists()
}
