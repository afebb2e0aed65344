//! Who may call which endpoint. Each endpoint declares the least role that it needs, and its rule for operators with a scope, as the scopes of
//! its `security`; one that declares none is for admins. The control secret makes an admin, a token what it was made for; the console's door
//! attaches who is signed in.

use super::Control;
use super::answer::error;
use super::scoping::ScopeRule;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{Extensions, HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, PoisonError};
use tollgate_admin::{Operator, OperatorScope, Role, tokens, users};
use tollgate_clock::unix_s;
use tollgate_data::control_caller::ControlCaller;
use utoipa::openapi::OpenApi;

/// Attached to a request of someone who gets no secrets unless they ask for them: who is signed in to the console, or calls with a token of a
/// viewer.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub role: Role,
    /// The token of the console's session; empty without one.
    pub token: Arc<str>,
}

/// What an endpoint asks of its callers.
#[derive(Clone, Copy)]
struct Needed {
    role: Role,
    rule: ScopeRule,
}

/// An endpoint that says nothing is for admins.
const UNDECLARED: Needed = Needed { role: Role::Admin, rule: ScopeRule::Closed };

/// What each endpoint asks of its callers, by method and path.
pub(super) struct AccessTable(HashMap<(String, String), Needed>);

impl AccessTable {
    /// Reads the roles and the rules for scopes from the description of the endpoints.
    pub(super) fn of(document: &OpenApi) -> Self {
        let document = serde_json::to_value(document).unwrap_or_default();
        let mut table = HashMap::new();
        for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                let declared = |place: &str| operation.pointer(place).and_then(Value::as_str);
                let role = declared("/security/0/secret/0").and_then(Role::from_name).unwrap_or(UNDECLARED.role);
                let rule = declared("/security/0/secret/1").and_then(ScopeRule::from_name).unwrap_or(UNDECLARED.rule);
                table.insert((method.to_ascii_uppercase(), path.clone()), Needed { role, rule });
            }
        }
        AccessTable(table)
    }

    fn needed(&self, method: &Method, path: &str) -> Needed {
        let method = if method == Method::HEAD { "GET" } else { method.as_str() };
        // Without the header, the metrics of the control API's own port have their path for scrapers.
        let path = if path == "/metrics" { "/tyk/metrics" } else { path };
        self.0.get(&(method.to_owned(), path.to_owned())).copied().unwrap_or(UNDECLARED)
    }
}

/// Lets a request pass if its operator may call the endpoint. Attaches the operator.
pub(super) async fn authorize(
    State((control, table)): State<(Arc<Control>, Arc<AccessTable>)>,
    path: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    let operator = match request.extensions().get::<Operator>() {
        Some(operator) => operator.clone(),
        None => match called_by(&control, &mut request).await {
            Ok(operator) => operator,
            Err(refused) => return refused,
        },
    };
    // Who called is told to the layers around, whatever the answer is.
    let by = operator.clone();
    let answered = move |answer: Response| {
        let mut answer = answer;
        answer.extensions_mut().insert(by);
        answer
    };
    // A path or method that does not exist needs no role: the answer says so.
    if let Some(path) = path {
        let Needed { role, rule } = table.needed(request.method(), path.as_str());
        if operator.role < role {
            return answered(role_missing(role).into_response());
        }
        if let Err(refused) = rule.check(&control, &operator, path.as_str(), request.uri()) {
            return answered(refused.into_response());
        }
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if changes && control.health.is_frozen() {
        let message = "The gateway is being restarted, please try again";
        return ([(RETRY_AFTER, "1")], error(StatusCode::SERVICE_UNAVAILABLE, message)).into_response();
    }
    request.extensions_mut().insert(operator);
    answered(next.run(request).await)
}

/// Who sends the control secret, a token, or an identity token of a provider.
async fn called_by(control: &Arc<Control>, request: &mut Request) -> Result<Operator, Response> {
    let denied = || error(StatusCode::FORBIDDEN, "Attempted administrative access with invalid or missing key!").into_response();
    let guess = guess(request.headers(), request.uri().path()).ok_or_else(denied)?;
    let address = request.extensions().get::<ControlCaller>().map(|caller| caller.address.to_string());
    let found = match std::str::from_utf8(guess) {
        Ok(text) if tokens::is_token(text) => super::token_store::caller_of(control, text, address).await,
        Ok(text) if is_signed(text) => control.operators.caller_of(control, text).await,
        _ => Ok(None),
    };
    let token = found.map_err(|fault| {
        tracing::error!(%fault, "tokens can't be checked");
        let message = "The store with the tokens does not answer; the control secret works";
        error(StatusCode::SERVICE_UNAVAILABLE, message).into_response()
    })?;
    match control.judge(guess, token.is_some(), request.extensions()) {
        Ok(true) => {}
        Ok(false) => return Err(denied()),
        Err(wait_s) => return Err(too_many_guesses(wait_s)),
    }
    let operator = token.unwrap_or_else(of_secret);
    if operator.role < Role::Editor {
        request.extensions_mut().insert(Signed { role: operator.role, token: "".into() });
    }
    Ok(operator)
}

/// The operator who knows the control secret.
pub(super) fn of_secret() -> Operator {
    Operator { name: users::SECRET.to_owned(), role: Role::Admin, scope: OperatorScope::default(), provider: None }
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
    /// Whether a caller's guess is the control secret, or something else that is known to be right.
    ///
    /// # Errors
    /// The seconds until the caller may guess again.
    pub(super) fn judge(&self, guess: &[u8], is_right: bool, told: &Extensions) -> Result<bool, u64> {
        let caller = told.get::<ControlCaller>();
        let address = caller.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |caller| caller.address);
        let takes_secret = self.operators.takes_secret(caller);
        let mut guesses = self.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        guesses.judge(address, unix_s(), || is_right || (takes_secret && self.secret.is(guess)))
    }
}

/// The response to someone who has guessed too often.
pub(super) fn too_many_guesses(wait_s: u64) -> Response {
    let message = format!("Too many wrong secrets from this address: wait {wait_s} s");
    ([(RETRY_AFTER, wait_s.to_string())], error(StatusCode::TOO_MANY_REQUESTS, message)).into_response()
}

/// Whether a text has the form of a signed token (RFC 7515).
fn is_signed(text: &str) -> bool {
    text.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// What a caller sends as the control secret, or as a token.
fn guess<'h>(headers: &'h HeaderMap, path: &str) -> Option<&'h [u8]> {
    let guess = headers.get("x-tyk-authorization").map(|value| value.as_bytes());
    let is_token = |sent: &&[u8]| std::str::from_utf8(sent).is_ok_and(|text| tokens::is_token(text) || is_signed(text));
    guess.or_else(|| bearer(headers).filter(|sent| is_token(sent) || path.ends_with("/metrics")))
}

/// The secret as a bearer token, which scrapers can send instead of our own header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get("authorization")?.as_bytes().strip_prefix(b"Bearer ")
}
