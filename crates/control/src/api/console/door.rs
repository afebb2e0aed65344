//! The door of the console's calls: checks that the console's own page sent them and who is signed in, then passes them to the endpoints.

use super::{API, Console, sessions};
use crate::api::Control;
use crate::api::answer::ControlAnswer;
use crate::api::authority::Signed;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use tollgate_admin::Operator;
use tollgate_console::{cookies, is_of_own_page};
use tollgate_data::control_caller::{CallerWay, ControlCaller};
use tollgate_store::StoreFault;
use tower::ServiceExt;

/// Name of the cookie.
const SESSION_COOKIE: &str = "tollgate_console";
/// Cookies of that name that are looked at.
const TOKENS_MAX: usize = 8;
/// Header of every call: a foreign page can't send it without permission, which nobody gives.
const CONSOLE_HEADER: &str = "x-tollgate-console";
/// Header of calls that the page makes by itself; they do not keep a session going.
const IDLE_HEADER: &str = "x-tollgate-idle";

/// Passes a call to the endpoint that it names.
pub(super) async fn pass(State((control, endpoints)): State<(Arc<Control>, Router)>, request: Request) -> Response {
    let Some(console) = &control.console else { return StatusCode::NOT_FOUND.into_response() };
    if let Err(answer) = check_origin(request.method(), request.uri(), request.headers()) {
        return answer.into_response();
    }
    let SignedIn { operator, token, .. } = match signed_in(&control, console, request.headers(), request.uri()).await {
        Ok(Some(signed_in)) => signed_in,
        Ok(None) => return signed_out(&control, console, caller(&request)).into_response(),
        Err(fault) => return store_is_away(&fault).into_response(),
    };
    let Some(target) = request.uri().path_and_query().and_then(|target| inner(target.as_str())) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let (head, body) = request.into_parts();
    // A new request: what the outer router noted about its path would mislead the inner one.
    let mut inner = Request::builder().method(head.method).uri(target).version(head.version).body(body).unwrap_or_default();
    *inner.headers_mut() = head.headers;
    inner.extensions_mut().insert(Signed { role: operator.role, token: token.into() });
    inner.extensions_mut().insert(operator);
    if let Some(caller) = head.extensions.get::<ControlCaller>() {
        inner.extensions_mut().insert(*caller);
    }
    endpoints.oneshot(inner).await.unwrap_or_else(|never| match never {})
}

/// The target of the endpoint that a call names.
fn inner(target: &str) -> Option<Uri> {
    let rest = target.strip_prefix(API)?;
    // Paths that are not below the control API, such as those of probes, are not for the console.
    format!("/tyk{rest}").parse().ok()
}

/// Refuses what a foreign page made a browser send. Another port is another origin of the same site, so the cookie alone proves nothing.
pub(super) fn check_origin(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ControlAnswer> {
    // Browsers can't add headers to an event source.
    let is_stream =
        method == Method::GET && uri.path().strip_prefix(API) == Some("/stream") && headers.contains_key("sec-fetch-site");
    let is_own = is_of_own_page(headers) && (is_stream || headers.contains_key(CONSOLE_HEADER));
    if is_own { Ok(()) } else { Err(refused(StatusCode::FORBIDDEN, "csrf", "Only the console's own page may call this")) }
}

/// A session that a call belongs to.
pub(super) struct SignedIn {
    pub operator: Operator,
    /// When it ends at the latest.
    pub ends_unix_s: u64,
    pub token: String,
}

/// Who is signed in.
pub(super) async fn signed_in(
    control: &Control,
    console: &Console,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<Option<SignedIn>, StoreFault> {
    let asks_by_itself =
        headers.contains_key(IDLE_HEADER) || uri.query().unwrap_or_default().split('&').any(|pair| pair == "idle=1");
    for token in tokens(headers) {
        if let Some((operator, ends_unix_s)) = sessions::find(control, console, token, !asks_by_itself).await? {
            return Ok(Some(SignedIn { operator, ends_unix_s, token: token.to_owned() }));
        }
    }
    Ok(None)
}

/// The tokens in cookies of the console's name. A page of another port of this host can set some beside the console's own, and the browser sends
/// those with a longer path first: what is no session does not hide one.
pub(super) fn tokens(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    cookies(headers, SESSION_COOKIE).take(TOKENS_MAX)
}

/// The line that sets or removes the cookie. Its path keeps it from upstreams, which a browser can't tell by their port.
pub(super) fn cookie(token: &str, is_tls: bool, age_s_max: u64) -> String {
    let secure = if is_tls { "; Secure" } else { "" };
    format!("{SESSION_COOKIE}={token}; Path={}; HttpOnly; SameSite=Strict; Max-Age={age_s_max}{secure}", super::CONSOLE_PAGE)
}

/// Who sent a request; without a note of the data plane, nobody who is trusted.
pub(super) fn caller(request: &http::Request<Body>) -> ControlCaller {
    let told = request.extensions().get::<ControlCaller>().copied();
    let unknown = ControlCaller { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), way: CallerWay::Plain };
    let mut caller = told.unwrap_or(unknown);
    // A page of a name that was pointed at this machine has that name as its host.
    if caller.way == CallerWay::Local && !request.headers().get(HOST).and_then(|host| host.to_str().ok()).is_some_and(is_local_name)
    {
        caller.way = CallerWay::Plain;
    }
    caller
}

fn is_local_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// An error of the door.
pub(super) fn refused(status: StatusCode, cause: &str, message: &str) -> ControlAnswer {
    ControlAnswer::new(status, json!({"status": "error", "message": message, "cause": cause}))
}

/// The response while nobody knows who is signed in.
pub(super) fn store_is_away(fault: &StoreFault) -> ControlAnswer {
    tracing::error!(%fault, "sessions of the console can't be read or written");
    let text = "The store with the sessions does not answer. Commands and calls with the control secret work";
    refused(StatusCode::SERVICE_UNAVAILABLE, "store", text)
}

/// The response to someone who is not signed in: what the sign-in page says.
pub(super) fn signed_out(control: &Control, console: &Console, caller: ControlCaller) -> ControlAnswer {
    let is_insecure = caller.way == CallerWay::Plain;
    let file = console.facts.secret_file.as_ref().filter(|_| caller.way == CallerWay::Local).map(|file| file.display().to_string());
    let mut answer = refused(StatusCode::UNAUTHORIZED, "signed_out", "Not signed in");
    if let Value::Object(members) = &mut answer.value {
        members.insert("secret_file".to_owned(), file.into());
        members.insert("users".to_owned(), (!console.users.known().users.is_empty()).into());
        members.insert("insecure".to_owned(), is_insecure.into());
        members.insert("ssh".to_owned(), is_insecure.then(|| ssh(console)).into());
        members.insert("providers".to_owned(), json!(control.operators.buttons()));
        members.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
    }
    answer
}

/// The command that brings the console to another machine safely.
fn ssh(console: &Console) -> String {
    let host = console.facts.node.split(':').next().unwrap_or_default();
    let (place, port) = match console.facts.address {
        Some(address) if !address.ip().is_unspecified() => (address.ip().to_string(), address.port()),
        Some(address) => ("127.0.0.1".to_owned(), address.port()),
        None => ("127.0.0.1".to_owned(), 8080),
    };
    format!("ssh -L {port}:{place}:{port} {host}")
}
