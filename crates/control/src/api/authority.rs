//! Who may call which endpoint. Each endpoint declares the least role that it needs, as the scope of its `security`; one that declares none
//! is for admins. The header with the control secret makes an admin; the console's door attaches who is signed in.

use super::Control;
use super::answer::error;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{Extensions, HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, PoisonError};
use tollgate_admin::{Operator, Role, users};
use tollgate_clock::unix_s;
use tollgate_data::control_caller::ControlCaller;
use utoipa::openapi::OpenApi;

/// Attached to a request of someone who is signed in to the console.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub role: Role,
    /// The token of the session.
    pub token: Arc<str>,
}

/// The least role of each endpoint, by method and path.
pub(super) struct RoleTable(HashMap<(String, String), Role>);

impl RoleTable {
    /// Reads the roles from the description of the endpoints.
    pub(super) fn of(document: &OpenApi) -> Self {
        let document = serde_json::to_value(document).unwrap_or_default();
        let mut table = HashMap::new();
        for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                let role = operation.pointer("/security/0/secret/0").and_then(Value::as_str).and_then(Role::from_name);
                table.insert((method.to_ascii_uppercase(), path.clone()), role.unwrap_or(Role::Admin));
            }
        }
        RoleTable(table)
    }

    fn needed(&self, method: &Method, path: &str) -> Role {
        let method = if method == Method::HEAD { "GET" } else { method.as_str() };
        // Without the header, the metrics of the control API's own port have their path for scrapers.
        let path = if path == "/metrics" { "/tyk/metrics" } else { path };
        self.0.get(&(method.to_owned(), path.to_owned())).copied().unwrap_or(Role::Admin)
    }
}

/// Lets a request pass if its operator may call the endpoint. Attaches the operator.
pub(super) async fn authorize(
    State((control, roles)): State<(Arc<Control>, Arc<RoleTable>)>,
    path: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    let operator = match request.extensions().get::<Operator>() {
        Some(operator) => operator.clone(),
        None => match guess(request.headers(), request.uri().path()).map(|guess| control.judge(guess, request.extensions())) {
            Some(Ok(true)) => of_secret(),
            Some(Err(wait_s)) => return too_many_guesses(wait_s),
            Some(Ok(false)) | None => {
                let message = "Attempted administrative access with invalid or missing key!";
                return error(StatusCode::FORBIDDEN, message).into_response();
            }
        },
    };
    // A path or method that does not exist needs no role: the answer says so.
    let needed = path.map_or(Role::Viewer, |path| roles.needed(request.method(), path.as_str()));
    if operator.role < needed {
        return role_missing(needed).into_response();
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if changes && control.health.is_frozen() {
        let message = "The gateway is being restarted, please try again";
        return ([(RETRY_AFTER, "1")], error(StatusCode::SERVICE_UNAVAILABLE, message)).into_response();
    }
    request.extensions_mut().insert(operator);
    next.run(request).await
}

/// The operator who knows the control secret.
pub(super) fn of_secret() -> Operator {
    Operator { name: users::SECRET.to_owned(), role: Role::Admin }
}

/// The response to an operator with too small a role.
pub(super) fn role_missing(needed: Role) -> super::answer::ControlAnswer {
    let message = format!("This needs the role {needed}");
    super::answer::ControlAnswer::new(
        StatusCode::FORBIDDEN,
        json!({"status": "error", "message": message, "cause": "role", "needs": needed.name()}),
    )
}

impl Control {
    /// Whether a caller's guess at the control secret is right.
    ///
    /// # Errors
    /// The seconds until the caller may guess again.
    pub(super) fn judge(&self, guess: &[u8], told: &Extensions) -> Result<bool, u64> {
        let address = told.get::<ControlCaller>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |caller| caller.address);
        let mut guesses = self.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        guesses.judge(address, unix_s(), || self.secret.is(guess))
    }
}

/// The response to someone who has guessed too often.
pub(super) fn too_many_guesses(wait_s: u64) -> Response {
    let message = format!("Too many wrong secrets from this address: wait {wait_s} s");
    ([(RETRY_AFTER, wait_s.to_string())], error(StatusCode::TOO_MANY_REQUESTS, message)).into_response()
}

/// What a caller sends as the control secret.
fn guess<'h>(headers: &'h HeaderMap, path: &str) -> Option<&'h [u8]> {
    let guess = headers.get("x-tyk-authorization").map(|value| value.as_bytes());
    guess.or_else(|| bearer(headers).filter(|_| path.ends_with("/metrics")))
}

/// The secret as a bearer token, which scrapers can send instead of our own header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get("authorization")?.as_bytes().strip_prefix(b"Bearer ")
}
