//! The gateway's own credentials for the upstream: a user and password, or an access token of an OAuth 2.0 server (client credentials, or a
//! user's password, RFC 6749 §4.4 and §4.3).
//! Reads `upstream_auth`. The credentials replace what the client sent in the header. A token is kept until shortly before it expires; the
//! request that needs a new one is held for it, for five seconds at most. Without a token the client sees 502.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::refusal::UPSTREAM_CREDENTIALS;
use arc_swap::ArcSwapOption;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Uri};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tollgate_clock::Pending;
use tollgate_http::form::encode_form;
use tollgate_http::is_value;
use tollgate_model::api::{UpstreamAuth, UpstreamGrant};
use tollgate_outbound::{Call, CallClient};
use tollgate_text::byte_order_mark;
use tollgate_tls::ServiceKind;
use tollgate_tls::TlsRules;

/// Deadline of a call; no request is held longer.
const ASK_TIME_MAX: Duration = Duration::from_secs(5);
/// Longest answer, in bytes; a usual one has some KiB.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// A token is not used in its last seconds: it must still be valid when the upstream checks it.
const LAST_S: u64 = 10;
/// Life of a token whose server does not tell it.
const LIFE_S: u64 = 300;

/// Sets the header with the credentials.
pub(super) struct UpstreamCredentials {
    header: String,
    source: CredentialSource,
}

enum CredentialSource {
    Fixed(Vec<u8>),
    Token(Box<TokenSource>),
}

struct TokenSource {
    call: TokenCall,
    client: Arc<CallClient>,
    current: Arc<ArcSwapOption<UpstreamToken>>,
}

/// The question for a token.
#[derive(Clone)]
struct TokenCall {
    uri: Uri,
    headers: HeaderMap,
    body: String,
    tls: TlsRules,
}

struct UpstreamToken {
    value: Vec<u8>,
    life_s: u64,
    /// When it is asked for anew; set by the first request that uses it.
    ends_unix_s: u64,
}

impl UpstreamCredentials {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let auth = &source.definition.upstream_auth;
        if !auth.enabled {
            return None;
        }
        match credentials(auth, source) {
            Ok(credentials) => credentials.map(|credentials| Box::new(credentials) as Box<dyn Middleware>),
            Err((field, message)) => {
                source.context.error(format!("$.upstream_auth.{field}"), message);
                None
            }
        }
    }
}

type CredentialProblem = (&'static str, String);

fn credentials(auth: &UpstreamAuth, source: &MiddlewareSource<'_, '_>) -> Result<Option<UpstreamCredentials>, CredentialProblem> {
    let name = |own: &str| if own.is_empty() { "Authorization".to_owned() } else { own.to_owned() };
    if auth.basic_auth.enabled {
        let basic = &auth.basic_auth;
        let value = format!("Basic {}", STANDARD.encode(format!("{}:{}", basic.username, basic.password)));
        return Ok(Some(UpstreamCredentials {
            header: name(&basic.header.name),
            source: CredentialSource::Fixed(value.into_bytes()),
        }));
    }
    if !auth.oauth.enabled {
        return Ok(None);
    }
    let rules = auth.oauth.grant();
    let place = if rules.user.is_some() { "oauth.password.token_url" } else { "oauth.client_credentials.token_url" };
    let uri: Uri = rules.token_url.parse().map_err(|error| (place, format!("is not a URL: {error}")))?;
    let client = source.context.registry.auth_client.get().ok_or((place, "the system has no thread to ask it with".to_owned()))?;
    let own = source.tls_settings().for_host(uri.host().unwrap_or_default());
    let tls = TlsRules { service: ServiceKind::OAuth, ..own };
    let call = TokenCall {
        headers: headers(&rules).ok_or((place, "the client's credentials are unusable".to_owned()))?,
        body: body(&rules),
        uri,
        tls,
    };
    let token = TokenSource { call, client, current: Arc::default() };
    Ok(Some(UpstreamCredentials { header: name(&rules.header.name), source: CredentialSource::Token(Box::new(token)) }))
}

fn headers(rules: &UpstreamGrant<'_>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let client = format!("{}:{}", encode_form(rules.client_id), encode_form(rules.client_secret));
    headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(client))).ok()?);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    Some(headers)
}

fn body(rules: &UpstreamGrant<'_>) -> String {
    let mut body = match rules.user {
        None => "grant_type=client_credentials".to_owned(),
        Some((name, password)) => {
            format!("grant_type=password&username={}&password={}", encode_form(name), encode_form(password))
        }
    };
    if !rules.scopes.is_empty() {
        body.push_str(&format!("&scope={}", encode_form(&rules.scopes.join(" "))));
    }
    body
}

impl TokenSource {
    fn ask(&self) -> Pending<Option<Arc<UpstreamToken>>> {
        let (completer, answer) = Pending::pair();
        let (client, call) = (self.client.clone(), self.call.clone());
        self.client.spawn(async move {
            completer.complete(match token(&client, call).await {
                Ok(token) => Some(Arc::new(token)),
                Err(error) => {
                    tracing::warn!(error, "no access token for an upstream");
                    None
                }
            });
        });
        answer
    }
}

async fn token(client: &CallClient, call: TokenCall) -> Result<UpstreamToken, String> {
    let TokenCall { uri, headers, body, tls } = call;
    let call = Call {
        method: Method::POST,
        uri,
        headers,
        body: body.into(),
        tls,
        time_max: ASK_TIME_MAX,
        body_bytes_max: ANSWER_BYTES_MAX,
        redirects_max: 0,
    };
    let reply = client.call(call).await.map_err(|fault| fault.to_string())?;
    if !reply.status.is_success() {
        return Err(format!("the server answered with status {}", reply.status.as_u16()));
    }
    let said: Value =
        serde_json::from_slice(byte_order_mark::without(&reply.body)).map_err(|_| "the answer is not JSON".to_owned())?;
    let text = said.get("access_token").and_then(Value::as_str).filter(|text| !text.is_empty() && is_value(text.as_bytes()));
    let text = text.ok_or_else(|| "the answer has no access_token".to_owned())?;
    let life_s = said.get("expires_in").and_then(Value::as_u64).unwrap_or(LIFE_S);
    Ok(UpstreamToken { value: format!("Bearer {text}").into_bytes(), life_s, ends_unix_s: 0 })
}

impl Middleware for UpstreamCredentials {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(&self.header);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let source = match &self.source {
            CredentialSource::Fixed(value) => {
                exchange.outgoing.edits.set(&exchange.request.headers, &self.header, value);
                return Step::Next;
            }
            CredentialSource::Token(source) => source,
        };
        match source.current.load_full().filter(|token| exchange.arrival.unix_s < token.ends_unix_s) {
            Some(token) => self.add(&token, exchange),
            None => Step::ask(self, source.ask(), ASK_TIME_MAX, |this, exchange, told| match (&this.source, told.flatten()) {
                (CredentialSource::Token(source), Some(fresh)) => {
                    let ends_unix_s = exchange.arrival.unix_s.saturating_add(fresh.life_s.saturating_sub(LAST_S).max(1));
                    let token = Arc::new(UpstreamToken { value: fresh.value.clone(), life_s: fresh.life_s, ends_unix_s });
                    source.current.store(Some(token.clone()));
                    this.add(&token, exchange)
                }
                _ => Step::Refuse(UPSTREAM_CREDENTIALS),
            }),
        }
    }
}

impl UpstreamCredentials {
    fn add(&self, token: &UpstreamToken, exchange: &mut Exchange<'_>) -> Step {
        exchange.outgoing.edits.set(&exchange.request.headers, &self.header, &token.value);
        Step::Next
    }
}
