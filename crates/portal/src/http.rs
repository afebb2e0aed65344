//! The portal's HTTP endpoints: one table says for each method and path who may call it and what answers. What all have in common is here:
//! calls come from the portal's own pages, bodies are JSON objects, and nobody gets in who is not signed in.

mod accounts;
mod applications;
mod at_provider;
mod invoices;
mod keys;
mod own_pages;
mod published;
mod search;
mod teams;
mod usage;

use crate::developer::Developer;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use crate::sessions;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;

const JSON: &str = "application/json";
/// Bytes of a body; people type what is in it.
const BODY_BYTES_MAX: usize = 64 << 10;

/// Whose request it is, as the port knows. Attached to each request; without it, the request is nobody's.
#[derive(Clone, Copy, Debug)]
pub struct Visitor {
    /// Address of the client.
    pub address: IpAddr,
}

/// Who may call an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortalNeeds {
    /// Everybody.
    Nothing,
    /// Who is signed in.
    Developer,
}

/// An endpoint.
pub(crate) struct PortalRoute {
    pub method: &'static str,
    pub path: &'static str,
    pub needs: PortalNeeds,
    handle: fn(PortalCall) -> PendingPortalAnswer,
}

type PendingPortalAnswer = Pin<Box<dyn Future<Output = PortalResult> + Send>>;
pub(crate) type PortalResult = Result<PortalAnswer, PortalRefusal>;

/// A call.
pub(crate) struct PortalCall {
    pub portal: Arc<Portal>,
    pub address: IpAddr,
    /// Who is signed in; somebody if the endpoint needs a developer.
    pub developer: Option<Developer>,
    /// Token of the session that the browser has sent.
    pub session: Option<String>,
    path: HashMap<String, String>,
    body: Value,
}

/// What answers a call.
#[derive(Default)]
pub(crate) struct PortalAnswer {
    status: Option<StatusCode>,
    value: Value,
    /// Token for the cookie; empty to remove it.
    session: Option<String>,
    /// A text with its content type, instead of the value.
    text: Option<(&'static str, Arc<str>)>,
}

macro_rules! portal_routes {
    ($($method:literal $path:literal $needs:ident $handle:path;)*) => {
        &[$(PortalRoute { method: $method, path: $path, needs: PortalNeeds::$needs, handle: |call| Box::pin($handle(call)) }),*]
    };
}

/// All endpoints.
pub(crate) const ROUTES: &[PortalRoute] = portal_routes! {
    "GET" "/api/session" Nothing accounts::show;
    "POST" "/api/session" Nothing accounts::sign_in;
    "DELETE" "/api/session" Nothing accounts::sign_out;
    "POST" "/api/connection" Nothing accounts::connect;
    "POST" "/api/accounts" Nothing accounts::sign_up;
    "POST" "/api/password/forgotten" Nothing accounts::forgot;
    "POST" "/api/password" Nothing accounts::choose_password;
    "PUT" "/api/account" Developer accounts::rename;
    "POST" "/api/account/password" Developer accounts::change_password;
    "GET" "/api/products" Nothing published::products;
    "GET" "/api/products/{product}" Nothing published::product;
    "GET" "/api/products/{product}/apis/{api}" Nothing published::document;
    "GET" "/api/search" Nothing search::index;
    "GET" "/api/pages" Nothing published::pages;
    "GET" "/api/pages/{page}" Nothing published::page;
    "GET" "/api/teams" Developer teams::list;
    "POST" "/api/teams" Developer teams::create;
    "PUT" "/api/teams/{team}" Developer teams::rename;
    "POST" "/api/teams/{team}/invitations" Developer teams::invite;
    "DELETE" "/api/teams/{team}/members/{member}" Developer teams::remove_member;
    "GET" "/api/teams/{team}/invoices" Developer invoices::list;
    "GET" "/api/teams/{team}/invoices/{month}" Developer invoices::show;
    "GET" "/api/teams/{team}/invoices/{month}/csv" Developer invoices::csv;
    "POST" "/api/invitations" Developer teams::accept;
    "GET" "/api/applications" Developer applications::list;
    "POST" "/api/applications" Developer applications::create;
    "GET" "/api/applications/{application}" Developer applications::show;
    "PUT" "/api/applications/{application}" Developer applications::rename;
    "DELETE" "/api/applications/{application}" Developer applications::remove;
    "GET" "/api/applications/{application}/usage" Developer usage::show;
    "GET" "/api/applications/{application}/usage.csv" Developer usage::csv;
    "POST" "/api/applications/{application}/grants" Developer applications::ask;
    "DELETE" "/api/applications/{application}/grants/{grant}" Developer applications::give_up;
    "POST" "/api/applications/{application}/grants/{grant}/keys" Developer keys::create;
    "POST" "/api/applications/{application}/grants/{grant}/keys/{key}/rotate" Developer keys::rotate;
    "DELETE" "/api/applications/{application}/grants/{grant}/keys/{key}" Developer keys::remove;
};

/// The portal's endpoints and pages. Requests carry a [`Visitor`].
pub fn router(portal: Arc<Portal>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let portal = portal.clone();
        let run = move |path: RawPathParams, request: Request| run(route, portal.clone(), path, request);
        router = router.route(route.path, method(route.method, run));
    }
    let shown = portal.clone();
    router
        .route("/", get(own_pages::page))
        .route("/sign-in/{provider}", get(at_provider::start).with_state(portal.clone()))
        .route("/sign-in/{provider}/callback", get(at_provider::finish).with_state(portal.clone()))
        .route("/theme.css", get(own_pages::theme).with_state(portal.clone()))
        .route("/logo", get(own_pages::logo).with_state(portal))
        .route("/{file}", get(own_pages::file))
        .layer(axum::middleware::from_fn_with_state(shown, own_pages::with_headers))
}

fn method<F, Fut>(name: &str, run: F) -> MethodRouter
where
    F: Fn(RawPathParams, Request) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Response> + Send + 'static,
{
    let filter = match name {
        "POST" => MethodFilter::POST,
        "PUT" => MethodFilter::PUT,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    };
    on(filter, run)
}

async fn run(route: &'static PortalRoute, portal: Arc<Portal>, path: RawPathParams, request: Request) -> Response {
    match answer(route, portal.clone(), path, request).await {
        Ok(answer) => answer.into_response(&portal),
        Err(refusal) => refused(&refusal),
    }
}

async fn answer(route: &'static PortalRoute, portal: Arc<Portal>, path: RawPathParams, request: Request) -> PortalResult {
    own_pages::check_origin(request.headers())?;
    let address = address_of(&request);
    let session = own_pages::session_token(request.headers(), &portal);
    let developer = match &session {
        Some(token) => sessions::find(&portal.documents, token).await?,
        None => None,
    };
    if route.needs == PortalNeeds::Developer && developer.is_none() {
        return Err(PortalRefusal::new(401, "signed_out", "Not signed in"));
    }
    let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let body = read(request.into_body()).await?;
    (route.handle)(PortalCall { portal, address, developer, session, path, body }).await
}

/// Address of whoever sent a request.
fn address_of(request: &Request) -> IpAddr {
    let visitor = request.extensions().get::<Visitor>().copied();
    visitor.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |visitor| visitor.address)
}

async fn read(body: Body) -> Result<Value, PortalRefusal> {
    let body = to_bytes(body, BODY_BYTES_MAX).await;
    let body = body.map_err(|_| PortalRefusal::new(413, "too_large", format!("The body is larger than {BODY_BYTES_MAX} bytes")))?;
    if body.is_empty() {
        return Ok(json!({}));
    }
    let value = serde_json::from_slice(&body).map_err(|error| PortalRefusal::invalid(format!("the body is not JSON: {error}")))?;
    if matches!(value, Value::Object(_)) { Ok(value) } else { Err(PortalRefusal::invalid("the body must be an object")) }
}

impl PortalCall {
    /// A part of the path; empty if the path has no such part.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// The body.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, PortalRefusal> {
        serde_json::from_value(self.body.clone()).map_err(|error| PortalRefusal::invalid(error.to_string()))
    }

    /// Who is signed in.
    pub(crate) fn developer(&self) -> Result<&Developer, PortalRefusal> {
        self.developer.as_ref().ok_or_else(|| PortalRefusal::new(401, "signed_out", "Not signed in"))
    }
}

impl PortalAnswer {
    pub(crate) fn of(value: Value) -> Self {
        PortalAnswer { value, ..PortalAnswer::default() }
    }

    /// Something was made.
    pub(crate) fn made(value: Value) -> Self {
        PortalAnswer { status: Some(StatusCode::CREATED), value, ..PortalAnswer::default() }
    }

    /// A file of comma-separated values.
    pub(crate) fn csv(text: String) -> Self {
        PortalAnswer { text: Some(("text/csv; charset=utf-8", text.into())), ..PortalAnswer::default() }
    }

    /// JSON that is written already.
    pub(crate) fn json_text(text: Arc<str>) -> Self {
        PortalAnswer { text: Some((JSON, text)), ..PortalAnswer::default() }
    }

    /// It was done.
    pub(crate) fn done() -> Self {
        PortalAnswer::of(json!({"status": "ok"}))
    }

    /// With this session in the browser's cookie; none if the token is empty.
    pub(crate) fn with_session(mut self, token: String) -> Self {
        self.session = Some(token);
        self
    }

    fn into_response(self, portal: &Portal) -> Response {
        let status = self.status.unwrap_or(StatusCode::OK);
        let mut response = match self.text {
            Some((kind, text)) => (status, [(CONTENT_TYPE, kind)], text.as_bytes().to_vec()).into_response(),
            None => (status, [(CONTENT_TYPE, JSON)], format!("{}\n", self.value)).into_response(),
        };
        if let Some(line) = self.session.and_then(|token| own_pages::cookie(&token, portal).parse().ok()) {
            response.headers_mut().insert(SET_COOKIE, line);
        }
        response
    }
}

fn refused(refusal: &PortalRefusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, [(CONTENT_TYPE, "application/json")], format!("{}\n", refusal.body())).into_response();
    if let Some(line) = refusal.wait_s.and_then(|wait_s| wait_s.to_string().parse().ok()) {
        response.headers_mut().insert(RETRY_AFTER, line);
    }
    response
}

#[cfg(test)]
mod tests;
