//! A webhook: the request that tells somebody of an event. Redirects are followed as Go follows them, but not to private addresses: a receiver
//! must not reach what only the gateway can reach.

use super::event::{EventFacts, GatewayEvent};
use super::template::EventTemplate;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, USER_AGENT};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Bytes;
use md5::{Digest, Md5};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tollgate_model::calendar::go_text;
use tollgate_model::events::EventHandlerMeta;
use tollgate_outbound::ExternalServices;
use tollgate_outbound::is_same_origin;
use tollgate_outbound::{GuardedHttpClient, HttpClient, HttpClientSettings, HttpFault};
use tollgate_tls::ServiceKind;
use tollgate_tls::{Library, TlsRules, client_config};

/// Deadline of a webhook with all its redirects, as in Tyk.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Most redirects, as in Go.
const REDIRECTS_MAX: usize = 10;
/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(30);

/// A webhook of a definition.
pub(super) struct Webhook {
    method: Method,
    uri: Uri,
    /// The operator's own header lines.
    headers: HeaderMap,
    content_type: Option<HeaderValue>,
    template: Arc<EventTemplate>,
}

/// The connections of all webhooks.
pub(super) struct WebhookClients {
    /// To receivers that operators have configured, wherever they are; or why there are no such connections.
    configured: Result<HttpClient, String>,
    /// To where receivers redirect.
    redirected: GuardedHttpClient,
}

/// Why a webhook failed.
#[derive(Debug)]
pub(super) enum WebhookFault {
    Timeout,
    /// The settings of connections are unusable.
    Settings(String),
    Http(HttpFault),
    Status(StatusCode),
    /// A redirect that is not followed, or leads to no answer.
    Redirect(String),
}

impl WebhookClients {
    /// Clients that follow redirects to public addresses and to the networks of `services`. Only receivers themselves are reached through the
    /// proxies and see the certificate of `services`.
    pub(super) fn new(services: &ExternalServices, library: &Library) -> Result<Self, String> {
        let terms = services.of(ServiceKind::Webhooks);
        let configured = client_config(&terms.applied_to(&TlsRules::default()), library);
        let settings = HttpClientSettings { http2: false, idle_max: IDLE, connect_time_max: Some(TIME_MAX) };
        Ok(WebhookClients {
            configured: configured.map(|tls| HttpClient::through(tls, settings, terms.proxies.clone())),
            redirected: HttpClient::guarded(client_config(&TlsRules::default(), library)?, settings, services.redirect_guard()),
        })
    }
}

impl Webhook {
    /// A webhook with these settings; `Err` has the field and the reason. `is_json` says that its template makes JSON.
    pub(super) fn new(
        meta: &EventHandlerMeta,
        template: Arc<EventTemplate>,
        is_json: bool,
    ) -> Result<Self, (&'static str, String)> {
        let method = match meta.method.to_ascii_uppercase().as_str() {
            "PUT" => Method::PUT,
            "POST" => Method::POST,
            "DELETE" => Method::DELETE,
            "PATCH" => Method::PATCH,
            _ => Method::GET,
        };
        let written: Uri = meta.target_path.parse().map_err(|error| ("target_path", format!("not a valid URL: {error}")))?;
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static("Tyk-Hookshot"));
        let (uri, credentials) = without_credentials(written).ok_or(("target_path", "not a valid URL".to_owned()))?;
        if let Some(credentials) = credentials {
            headers.insert(AUTHORIZATION, credentials);
        }
        for (name, value) in &meta.header_map {
            let line = (HeaderName::try_from(name), HeaderValue::try_from(value));
            let (Ok(name), Ok(value)) = line else { return Err(("header_map", format!("{name}: not a valid header line"))) };
            headers.insert(name, value);
        }
        let content_type = is_json.then_some(HeaderValue::from_static("application/json"));
        Ok(Webhook { method, uri, headers, content_type, template })
    }

    /// Host and port of the receiver.
    pub(super) fn receiver(&self) -> String {
        self.uri.authority().map_or_else(String::new, Authority::to_string)
    }

    pub(super) fn wants_request(&self) -> bool {
        self.template.uses_request()
    }

    pub(super) fn body(&self, event: &GatewayEvent) -> Result<String, String> {
        self.template.render(event)
    }

    /// What Tyk tells webhooks apart by: of equal checksums, one is sent in `event_timeout`. Gateways of both kinds that share a Redis
    /// compute the same.
    pub(super) fn checksum(&self, event: &GatewayEvent, body: &str) -> String {
        let text = match &event.facts {
            EventFacts::Certificate { id, name, ends_unix_s, api, .. } => {
                format!("{}{id}{name}{}{api}", event.kind.name(), go_text(*ends_unix_s, 0))
            }
            _ => {
                let target = self.uri.path_and_query().map_or("/", |target| target.as_str());
                let has_length = !body.is_empty() || matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
                let length = if has_length { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
                let (method, host) = (&self.method, self.receiver());
                format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: Go-http-client/1.1\r\n{length}\r\n{body}")
            }
        };
        HEXLOWER.encode(&Md5::digest(text.as_bytes()))
    }

    /// Sends the webhook; the receiver must answer with a status of success. Its body is not read.
    pub(super) async fn send(&self, body: String, clients: &WebhookClients) -> Result<(), WebhookFault> {
        timeout(TIME_MAX, self.follow(Bytes::from(body), clients)).await.unwrap_or(Err(WebhookFault::Timeout))
    }

    async fn follow(&self, body: Bytes, clients: &WebhookClients) -> Result<(), WebhookFault> {
        let (mut method, mut uri, mut body) = (self.method.clone(), self.uri.clone(), body);
        for _ in 0..=REDIRECTS_MAX {
            let is_own = is_same_origin(&uri, &self.uri);
            let request = self.request(&method, &uri, &body, is_own);
            let (status, headers) = match is_own {
                true => {
                    let client = clients.configured.as_ref().map_err(|error| WebhookFault::Settings(error.clone()))?;
                    client.head(request).await.map_err(WebhookFault::Http)?
                }
                false => clients.redirected.head(request).await.map_err(|fault| redirect_fault(&uri, &fault.to_string()))?,
            };
            let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location.filter(|_| matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)) else {
                return if status.is_success() { Ok(()) } else { Err(WebhookFault::Status(status)) };
            };
            let next = resolved(&uri, location).ok_or_else(|| WebhookFault::Redirect("it leads to no URL".to_owned()))?;
            if uri.scheme_str() == Some("https") && next.scheme_str() != Some("https") {
                return Err(redirect_fault(&next, "it leads away from https"));
            }
            if !matches!(status.as_u16(), 307 | 308) && method != Method::GET {
                (method, body) = (Method::GET, Bytes::new());
            }
            uri = next;
        }
        Err(WebhookFault::Redirect(format!("there are more than {REDIRECTS_MAX} of them")))
    }

    /// The operator's header lines may be secrets: only the receiver gets them, not those to whom it redirects.
    fn request(&self, method: &Method, uri: &Uri, body: &Bytes, is_own: bool) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri.clone();
        let headers = request.headers_mut();
        if is_own {
            headers.clone_from(&self.headers);
        } else {
            headers.extend(self.headers.get(USER_AGENT).cloned().map(|agent| (USER_AGENT, agent)));
        }
        if let Some(content_type) = self.content_type.as_ref().filter(|_| !headers.contains_key(CONTENT_TYPE)) {
            headers.insert(CONTENT_TYPE, content_type.clone());
        }
        request
    }
}

fn redirect_fault(to: &Uri, why: &str) -> WebhookFault {
    let host = to.authority().map_or("", Authority::as_str);
    WebhookFault::Redirect(format!("to {host}: {why}"))
}

/// A URL without the user and password in it, which become a header line.
fn without_credentials(uri: Uri) -> Option<(Uri, Option<HeaderValue>)> {
    let authority = uri.authority()?.as_str().to_owned();
    let Some((credentials, host)) = authority.rsplit_once('@') else { return Some((uri, None)) };
    let decoded: Vec<u8> = percent_encoding::percent_decode_str(credentials).collect();
    let line = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(decoded))).ok()?;
    let mut parts = uri.into_parts();
    parts.authority = Some(host.parse().ok()?);
    Some((Uri::from_parts(parts).ok()?, Some(line)))
}

/// The URL of a `Location` header.
fn resolved(from: &Uri, location: &str) -> Option<Uri> {
    if let Some(rest) = location.strip_prefix("//") {
        return resolved(from, &format!("{}://{rest}", from.scheme_str()?));
    }
    let uri: Uri = match location.split_once("://") {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => location.parse().ok()?,
        _ => {
            let path = match location {
                absolute if absolute.starts_with('/') => absolute.to_owned(),
                query if query.starts_with('?') => format!("{}{query}", from.path()),
                relative => format!("{}/{relative}", from.path().rsplit_once('/').map_or("", |(directory, _)| directory)),
            };
            let mut parts = from.clone().into_parts();
            parts.path_and_query = Some(path.parse().ok()?);
            Uri::from_parts(parts).ok()?
        }
    };
    let (uri, _) = without_credentials(uri)?;
    matches!(uri.scheme_str(), Some("http" | "https")).then_some(uri)
}

impl fmt::Display for WebhookFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WebhookFault::Timeout => write!(f, "no answer within {} s", TIME_MAX.as_secs()),
            WebhookFault::Settings(error) => write!(f, "external_services.webhooks: {error}"),
            WebhookFault::Http(fault) => fault.fmt(f),
            WebhookFault::Status(status) => write!(f, "the receiver answered with status {}", status.as_u16()),
            WebhookFault::Redirect(why) => write!(f, "a redirect is not followed: {why}"),
        }
    }
}

#[cfg(test)]
mod tests;
