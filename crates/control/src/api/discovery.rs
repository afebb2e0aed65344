//! Where clients of a proxy for the Model Context Protocol learn who gives them tokens (RFC 9728, RFC 8414), if the upstream says it: its document
//! with the gateway's own URLs in it, and the front of the authorization server that it names, which knows the resource only by the upstream's
//! URL (RFC 8707). The data plane forwards these requests; they cannot be reached any other way.

mod authorization_front;
mod client;
mod consent;

use self::authorization_front::AuthorizationFront;
use super::Control;
use crate::mirrored_documents::{MirrorFault, MirroredDocument};
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tollgate_data::discovery::{AUTHORIZATION_SERVER, MirroredDiscovery, PROTECTED_RESOURCE};
use tollgate_data::snapshot::CompiledApi;
use tollgate_http::form::{encode_form, pairs};
use tollgate_outbound::{Call, CallClient, CallReply, Holder, Shares};

/// Time for an answer of the authorization server to a request for a token.
const TOKEN_TIME_MAX: Duration = Duration::from_secs(30);
/// Longest answer of it; tokens have some KiB.
const TOKEN_BYTES_MAX: usize = 256 << 10;

/// The content type of requests for tokens.
const FORM: &str = "application/x-www-form-urlencoded";

/// Headers of the authorization server's answers that are for the gateway's own connection to it.
const OF_CONNECTIONS: [HeaderName; 6] =
    [header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH, header::UPGRADE, header::TRAILER, header::TE];

/// What a request is about.
#[derive(Deserialize)]
pub(super) struct DiscoveryPath {
    /// Of the client's request.
    scheme: String,
    api: String,
    endpoint: String,
}

/// One request.
struct DiscoveryRequest<'r> {
    /// The gateway's own scheme and host, as the client knows them.
    origin: String,
    api: &'r CompiledApi,
    rules: &'r MirroredDiscovery,
    client: Arc<CallClient>,
    control: &'r Control,
}

/// Answers a request to one of an API's endpoints.
pub(super) async fn answer(
    State(control): State<Arc<Control>>,
    Path(path): Path<DiscoveryPath>,
    method: Method,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let snapshot = control.shared.current.load_full();
    let found = snapshot.api(&path.api).and_then(|api| Some((api, &api.mirrored.as_ref()?.rules)));
    let Some((api, rules)) = found else { return text(StatusCode::NOT_FOUND, "Not Found") };
    let is_for_scripts = rules.proxy.is_some() && ["resource", "server", "register", "token"].contains(&path.endpoint.as_str());
    if is_for_scripts && method == Method::OPTIONS {
        return for_scripts(StatusCode::NO_CONTENT.into_response());
    }
    let is_allowed = match path.endpoint.as_str() {
        "token" | "register" => method == Method::POST,
        "authorize" if rules.proxy.is_some() => [Method::GET, Method::POST].contains(&method),
        _ => method == Method::GET,
    };
    if !is_allowed {
        return text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
    }
    let Some(client) = control.shared.registry.auth_client.get() else {
        return text(StatusCode::SERVICE_UNAVAILABLE, "no thread for calls");
    };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let origin = format!("{}://{host}", path.scheme);
    let request = DiscoveryRequest { origin, api, rules, client, control: &control };
    // What a slow server keeps waiting is bounded, so that everything else is answered.
    let asks_nobody = match path.endpoint.as_str() {
        "resource" | "register" => rules.proxy.is_some(),
        "authorize" => rules.proxy.is_some() && method == Method::GET,
        _ => false,
    };
    let share = CALLS.take(Holder { owner: path.api.clone(), network: None }, usize::from(!asks_nobody));
    if share.is_none() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "too many requests wait for the authorization server");
    }
    if let Some(proxy) = &request.rules.proxy {
        let front = AuthorizationFront { request: &request, proxy };
        let answer = front.answer(&path.endpoint, query.as_deref(), &headers, &body, &method).await;
        return if is_for_scripts { for_scripts(answer) } else { answer };
    }
    let answer = match path.endpoint.as_str() {
        "resource" => request.resource().await,
        "server" => request.server().await,
        "authorize" => request.authorize(&query.unwrap_or_default()).await,
        "token" => request.token(&headers, &body).await,
        _ => Err(text(StatusCode::NOT_FOUND, "Not Found")),
    };
    answer.unwrap_or_else(|refused| refused)
}

/// Requests to authorization servers that run at a time, and those for one API.
static CALLS: LazyLock<Arc<Shares>> = LazyLock::new(|| Shares::new(CALLS_MAX, CALLS_OF_API_MAX));
const CALLS_MAX: usize = 48;
const CALLS_OF_API_MAX: usize = 16;
/// Requests that wait for documents of clients at a time, of all APIs and of one. They have places of their own, because anyone may name a slow server.
static DOCUMENT_WAITS: LazyLock<Arc<Shares>> = LazyLock::new(|| Shares::new(DOCUMENT_WAITS_MAX, DOCUMENT_WAITS_OF_API_MAX));
const DOCUMENT_WAITS_MAX: usize = 192;
const DOCUMENT_WAITS_OF_API_MAX: usize = 64;

/// Clients in browsers may read it: nothing in it is for one user alone.
fn for_scripts(mut response: Response) -> Response {
    let lines = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type, mcp-protocol-version"),
        (header::ACCESS_CONTROL_MAX_AGE, "3600"),
    ];
    for (name, value) in lines {
        response.headers_mut().insert(name, header::HeaderValue::from_static(value));
    }
    response
}

impl DiscoveryRequest<'_> {
    /// The upstream's document with the gateway's URLs.
    async fn resource(&self) -> Result<Response, Response> {
        let mut document = self.upstream_document().await?;
        let listen_path = self.api.listen_path.trim_end_matches('/');
        document.insert("resource".to_owned(), json!(format!("{}{listen_path}/", self.origin)));
        document.insert("authorization_servers".to_owned(), json!([self.own_server()]));
        Ok(shown(&document))
    }

    /// The metadata of the authorization server, whose requests for codes and tokens come to the gateway.
    async fn server(&self) -> Result<Response, Response> {
        let mut metadata = self.server_metadata().await?;
        for (member, endpoint) in [("authorization_endpoint", "authorize"), ("token_endpoint", "token")] {
            metadata.insert(member.to_owned(), json!(format!("{}/{endpoint}", self.own_server())));
        }
        Ok(shown(&metadata))
    }

    /// Sends the user on to the authorization server.
    async fn authorize(&self, query: &str) -> Result<Response, Response> {
        let endpoint = self.endpoint("authorization_endpoint").await?;
        let (url, preset) = endpoint.split_once('?').unwrap_or((&endpoint, ""));
        let mut parameters = self.parameters(query);
        let asked: Vec<String> = parameters.keys().cloned().collect();
        for (name, value) in pairs(preset).filter(|(name, _)| !asked.contains(name)) {
            parameters.entry(name).or_default().push(value);
        }
        let location = format!("{url}?{}", encoded(flat(&parameters)));
        let Ok(location) = header::HeaderValue::from_str(&location) else {
            return Err(text(StatusCode::BAD_GATEWAY, "invalid upstream authorization_endpoint"));
        };
        Ok((StatusCode::FOUND, [(header::LOCATION, location)]).into_response())
    }

    /// Asks the authorization server for a token with the parameters of the body, and answers what it answers.
    async fn token(&self, headers: &HeaderMap, body: &[u8]) -> Result<Response, Response> {
        let endpoint: Uri = self
            .endpoint("token_endpoint")
            .await?
            .parse()
            .map_err(|_| text(StatusCode::BAD_GATEWAY, "upstream metadata missing token_endpoint"))?;
        let is_form = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(FORM.as_bytes()));
        let Some(form) = std::str::from_utf8(body).ok().filter(|_| is_form || body.is_empty()) else {
            return Err(text(StatusCode::BAD_REQUEST, "cannot parse token request"));
        };
        // Parameters in a URL are none of a token request (RFC 6749, section 3.2).
        let tls = self.rules.tls.for_host(endpoint.host().unwrap_or_default());
        let mut call = Call::get(endpoint, tls, TOKEN_TIME_MAX, TOKEN_BYTES_MAX);
        call.method = Method::POST;
        call.redirects_max = 0;
        call.body = encoded(flat(&self.parameters(form))).into();
        call.headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(FORM));
        for name in [header::ACCEPT, header::AUTHORIZATION] {
            if let Some(value) = headers.get(&name) {
                call.headers.insert(name, value.clone());
            }
        }
        match self.client.call_within(&self.rules.upstream, call).await {
            Ok(reply) => Ok(passed_on(reply)),
            Err(fault) => {
                tracing::warn!(api = self.api.id, %fault, "the authorization server of an upstream does not give a token");
                Err(text(StatusCode::BAD_GATEWAY, "upstream token endpoint unreachable"))
            }
        }
    }

    /// The URL of the gateway's front of the authorization server.
    fn own_server(&self) -> String {
        format!("{}/__tyk-as/{}", self.origin, encode_form(&self.api.id).replace('+', "%20"))
    }

    /// Parameters with the resource as the authorization server knows it.
    fn parameters(&self, written: &str) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in pairs(written) {
            all.entry(name).or_default().push(value);
        }
        if let Some(resource) = all.get_mut("resource") {
            *resource = vec![self.rules.upstream_url.clone()];
        }
        all
    }

    /// A URL of the authorization server's metadata.
    async fn endpoint(&self, member: &str) -> Result<String, Response> {
        let metadata = self.server_metadata().await?;
        let url = metadata.get(member).and_then(Value::as_str).filter(|url| is_web_url(url));
        url.map(str::to_owned).ok_or_else(|| text(StatusCode::BAD_GATEWAY, &format!("upstream metadata missing {member}")))
    }

    /// The upstream's document. One that the upstream says it does not have is one that the gateway does not have.
    async fn upstream_document(&self) -> Result<MirroredDocument, Response> {
        let place = well_known(&self.rules.upstream, PROTECTED_RESOURCE);
        self.fetched([Some(place), None]).await.map_err(|fault| match fault {
            MirrorFault::Status(StatusCode::NOT_FOUND) => text(StatusCode::NOT_FOUND, "Not Found"),
            fault => {
                self.warn(&fault, "the document of a protected resource can't be mirrored");
                text(StatusCode::BAD_GATEWAY, "upstream PRM unavailable")
            }
        })
    }

    async fn server_metadata(&self) -> Result<MirroredDocument, Response> {
        let document = self.upstream_document().await?;
        let servers = document.get("authorization_servers").and_then(Value::as_array).into_iter().flatten();
        let server = servers.filter_map(Value::as_str).find(|url| !url.is_empty());
        let Some(server) = server.filter(|url| is_web_url(url)).and_then(|url| url.parse::<Uri>().ok()) else {
            return Err(text(StatusCode::BAD_GATEWAY, "upstream authorization server unavailable"));
        };
        // RFC 8414 section 3.1, and what servers before it do.
        let first = well_known(&server, AUTHORIZATION_SERVER);
        let path = server.path().trim_end_matches('/');
        let second = (!path.is_empty()).then(|| at(&server, &format!("{path}{AUTHORIZATION_SERVER}")));
        self.fetched([Some(first), second]).await.map_err(|fault| {
            self.warn(&fault, "the metadata of an authorization server can't be read");
            text(StatusCode::BAD_GATEWAY, "upstream AS metadata unavailable")
        })
    }

    /// The first of several places that has a document.
    async fn fetched(&self, places: [Option<String>; 2]) -> Result<MirroredDocument, MirrorFault> {
        let mut last = MirrorFault::Url;
        for place in places.into_iter().flatten() {
            match self.control.mirrored_documents.get(&self.client, self.rules, &place).await {
                Ok(document) => return Ok(document),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }

    fn warn(&self, fault: &MirrorFault, message: &str) {
        tracing::warn!(api = self.api.id, %fault, "{message}");
    }
}

/// The place of a well-known document of a URL: before its path.
fn well_known(of: &Uri, name: &str) -> String {
    at(of, &format!("{name}{}", of.path().trim_end_matches('/')))
}

fn at(of: &Uri, path: &str) -> String {
    let (scheme, authority) = (of.scheme_str().unwrap_or("http"), of.authority().map_or("", |authority| authority.as_str()));
    format!("{scheme}://{authority}{path}")
}

fn is_web_url(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
}

/// All pairs, sorted by names.
fn flat(parameters: &BTreeMap<String, Vec<String>>) -> impl Iterator<Item = (&String, &String)> {
    parameters.iter().flat_map(|(name, values)| values.iter().map(move |value| (name, value)))
}

fn encoded<'p>(pairs: impl Iterator<Item = (&'p String, &'p String)>) -> String {
    pairs.map(|(name, value)| format!("{}={}", encode_form(name), encode_form(value))).collect::<Vec<_>>().join("&")
}

fn shown(document: &MirroredDocument) -> Response {
    let text = serde_json::to_string(document).unwrap_or_default() + "\n";
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn passed_on(CallReply { status, headers, body }: CallReply) -> Response {
    let mut response = (status, body).into_response();
    response.headers_mut().clear();
    for (name, value) in headers.iter().filter(|(name, _)| !OF_CONNECTIONS.contains(name)) {
        response.headers_mut().append(name.clone(), value.clone());
    }
    response
}

fn text(status: StatusCode, words: &str) -> Response {
    (status, format!("{words}\n")).into_response()
}
