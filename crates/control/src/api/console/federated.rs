//! `/tyk/console/login`: signing in at a provider of OpenID Connect, and the provider's word that sessions have ended. What a sign-in needs to
//! know when the browser comes back is in a cookie of that browser, so any gateway behind one address can answer.

use super::door::caller;
use super::sessions::{self, NewConsoleSession};
use super::sign_in::started;
use crate::api::Control;
use crate::api::answer::{ControlAnswer, error};
use crate::api::change_log::Change;
use crate::api::operators::{OperatorDoor, end};
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use std::sync::Arc;
use tollgate_admin::Operator;
use tollgate_clock::unix_s;
use tollgate_console::cookies;
use tollgate_data::control_caller::CallerWay;
use tollgate_signin::{PendingSignIn, ReturnedAnswer, SignInFault, SignInProvider, form_value, is_first_use};
use tollgate_store::DocumentSpace;

/// Name of the cookie of a sign-in that is under way.
const COOKIE: &str = "tollgate_sign_in";
/// Seconds for a sign-in: people look for their second factor.
const SIGN_IN_S_MAX: u64 = 600;
/// What the console keeps of sign-ins in the store.
const SPACE: DocumentSpace = DocumentSpace::Console;

/// Sends a browser to a provider.
pub(super) async fn start(State(control): State<Arc<Control>>, Path(name): Path<String>, request: Request) -> Response {
    let Some(door) = control.operators.door(&name) else {
        return page(StatusCode::NOT_FOUND, "There is no such provider.");
    };
    if caller(&request).way == CallerWay::Plain {
        return page(StatusCode::FORBIDDEN, "This connection is not encrypted: use TLS, or a tunnel.");
    }
    match door.provider.begin().await {
        Ok((url, pending)) => {
            let cookie = sign_in_cookie(&control, &pending.kept(), SIGN_IN_S_MAX);
            (StatusCode::SEE_OTHER, [(LOCATION, url), (SET_COOKIE, cookie)]).into_response()
        }
        Err(why) => {
            tracing::warn!(provider = name, %why, "nobody can sign in at a provider");
            page(StatusCode::BAD_GATEWAY, "The provider cannot be asked. The gateway's log says why.")
        }
    }
}

/// Takes a browser back from a provider, and starts a session.
pub(super) async fn finish(State(control): State<Arc<Control>>, Path(name): Path<String>, request: Request) -> Response {
    let (Some(door), Some(console)) = (control.operators.door(&name), &control.console) else {
        return page(StatusCode::NOT_FOUND, "There is no such provider.");
    };
    let caller = caller(&request);
    if caller.way == CallerWay::Plain {
        return page(StatusCode::FORBIDDEN, "This connection is not encrypted: use TLS, or a tunnel.");
    }
    let admitted = console.tries().admit(caller.address, unix_s());
    if let Err(wait_s) = admitted {
        let answer = page(StatusCode::TOO_MANY_REQUESTS, "Too many sign-ins failed. Wait, then try again.");
        return ([(RETRY_AFTER, wait_s.to_string())], answer).into_response();
    }
    let kept = cookies(request.headers(), COOKIE).next().and_then(PendingSignIn::of_kept);
    let answer = ReturnedAnswer::of_query(request.uri().query().unwrap_or_default());
    let headers = request.headers().clone();
    drop(request);
    let mut response = match signed_in(&control, door, kept, &answer).await {
        Ok((operator, logout_hint)) => {
            console.tries().right(caller.address);
            let bound_to = sessions::of_provider(door);
            let (operator, bound_to, logout_hint) = (&operator, &*bound_to, &*logout_hint);
            let session = NewConsoleSession { operator, bound_to, life_s: door.session_s(), logout_hint };
            match started(&control, &session, caller, &headers).await {
                Ok(cookie) => ([(SET_COOKIE, cookie)], entered()).into_response(),
                Err(answer) => answer.into_response(),
            }
        }
        Err(SignInFault::Unreachable(why)) => {
            console.tries().unchecked(caller.address);
            tracing::warn!(provider = name, why, "a sign-in at a provider could not be checked");
            page(StatusCode::BAD_GATEWAY, "The sign-in cannot be checked now. The gateway's log says why.")
        }
        Err(SignInFault::Refused(why)) => {
            tracing::warn!(provider = name, address = %caller.address, why, "a sign-in at a provider failed");
            let target = format!("{name}: {why}");
            let change = Change { action: "sign_in_failed", kind: "session", target, status: 403, ..Change::default() };
            control.changes.add(None, Some(caller), change);
            page(StatusCode::FORBIDDEN, "You are not let in. Ask those who run the gateway; its log of changes says why.")
        }
    };
    if let Ok(gone) = HeaderValue::try_from(sign_in_cookie(&control, "", 0)) {
        response.headers_mut().append(SET_COOKIE, gone);
    }
    response
}

/// Who came back, and the identity token to sign out with.
async fn signed_in(
    control: &Control,
    door: &OperatorDoor,
    kept: Option<PendingSignIn>,
    answer: &ReturnedAnswer,
) -> Result<(Operator, String), SignInFault> {
    let pending = kept.ok_or_else(|| SignInFault::Refused("this browser began no sign-in".to_owned()))?;
    let until = unix_s() + SIGN_IN_S_MAX;
    match is_first_use(control.shared.keys.store(), SPACE, "state", pending.state(), until).await {
        Ok(true) => {}
        Ok(false) => return Err(SignInFault::Refused("this sign-in was ended before".to_owned())),
        Err(fault) => return Err(SignInFault::Unreachable(format!("the store: {fault}"))),
    }
    let identity = door.provider.finish(&pending, answer).await?;
    // Nothing is kept that is not needed.
    let hint = if door.settings.sign_out_there { SignInProvider::logout_hint(&identity.token) } else { String::new() };
    Ok((door.operator(&identity)?, hint))
}

/// Ends sessions at a provider's word.
pub(super) async fn back_channel(State(control): State<Arc<Control>>, Path(name): Path<String>, body: Body) -> Response {
    let answer = |answer: ControlAnswer| ([(CACHE_CONTROL, "no-store")], answer).into_response();
    let Some(door) = control.operators.door(&name) else {
        return answer(error(StatusCode::NOT_FOUND, "There is no such provider"));
    };
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let refused = |why: &str| {
        tracing::warn!(provider = name, why, "a provider's logout is not taken");
        answer(error(StatusCode::BAD_REQUEST, format!("invalid_request: {why}")))
    };
    let Some(token) = logout_token(&body) else { return refused("there is no logout_token") };
    let ended = match door.provider.ended(&token, &door.client_ids()).await {
        Ok(ended) => ended,
        Err(why) => return refused(&why.to_string()),
    };
    let token_id = format!("{name}/{}", ended.token_id);
    let ending = async {
        let is_first = is_first_use(control.shared.keys.store(), SPACE, "logout", &token_id, ended.until_unix_s).await?;
        if is_first {
            end(&control, &name, &ended).await?;
        }
        Ok::<bool, tollgate_store::StoreFault>(is_first)
    };
    match ending.await {
        Ok(true) => {
            let target = format!("{name}: {}", ended.subject.or(ended.sid).unwrap_or_default());
            let change = Change { action: "sign_out", kind: "session", target, status: 200, ..Change::default() };
            control.changes.add(None, None, change);
            ([(CACHE_CONTROL, "no-store")], StatusCode::OK).into_response()
        }
        Ok(false) => refused("the token was used before"),
        Err(fault) => {
            tracing::error!(%fault, "sessions can't be ended");
            answer(error(StatusCode::SERVICE_UNAVAILABLE, "The store does not answer"))
        }
    }
}

fn logout_token(body: &Bytes) -> Option<String> {
    form_value(std::str::from_utf8(body).ok()?, "logout_token")
}

/// The cookie comes back with a navigation from the provider's page, so it can't be strict.
fn sign_in_cookie(control: &Control, value: &str, age_s_max: u64) -> String {
    let secure = if control.operators.is_public_over_tls() { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path={}login/; HttpOnly; SameSite=Lax; Max-Age={age_s_max}{secure}", super::CONSOLE_PAGE)
}

/// A page with one sentence. It has no markup of anyone else.
fn page(status: StatusCode, text: &'static str) -> Response {
    let body = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>Tollgate</title>\
         <main><h1>Tollgate</h1><p>{text}<p><a href=\"{}\">Back to the sign-in</a></main>",
        super::CONSOLE_PAGE
    );
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}

/// A page that leads to the console, and nowhere else. A redirect would be part of the navigation that began at the provider, for which browsers
/// send no strict cookie.
fn entered() -> Response {
    let body = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={page}\"><title>Tollgate</title>\
         <main><h1>Tollgate</h1><p><a href=\"{page}\">To the console</a></main>",
        page = super::CONSOLE_PAGE
    );
    (StatusCode::OK, [(CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}
