//! Forward authentication: another HTTP service decides. Reads `tollgate.forward_auth`. The service gets the request's method, host, URL
//! and client in `X-Forwarded-*`, and the request headers that the definition names. 2xx admits the request, and the response headers that
//! the definition names replace the client's own in the request to the upstream. Any other answer below 500 is sent to the client. When the
//! service fails or times out, the client sees 503: an outage admits nobody. The request is held meanwhile. With a cache time, an admission
//! counts for all requests that would have asked the same.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::refusal::FORWARD_AUTH_FAILED;
use crate::request_text::{self, RequestText};
use crate::two_generation_cache::TwoGenerationCache;
use http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use hyper::body::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::identity::{self, Identity};
use tollgate_clock::Pending;
use tollgate_model::api::{AuthMethod, ForwardAuth as Rules};
use tollgate_model::session::AccessRight;
use tollgate_outbound::{Call, CallClient, CallReply};
use tollgate_tls::TlsRules;

/// Longest answer, in bytes: a short message and some headers.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Capacity of the admission cache, in each of its two generations.
const REMEMBERED_MAX: usize = 16_384;
/// Among the names of request headers: all, and those that ingress-nginx tells such a service.
const ALL_HEADERS: &str = "*";
/// Headers of a refusal that are sent to the client.
const REFUSAL_HEADERS: [HeaderName; 4] = [WWW_AUTHENTICATE, LOCATION, SET_COOKIE, CONTENT_TYPE];

pub(super) struct ForwardAuthCheck {
    rules: Rules,
    uri: Uri,
    auth_client: Arc<CallClient>,
    tls: TlsRules,
    org_id: String,
    right: Arc<AccessRight>,
    gives_session: bool,
    /// Where clients log in.
    signin: Option<RequestText>,
    admitted: TwoGenerationCache<Admitted>,
}

/// The service's answer; `None` when the call failed.
type ServerSaid = Option<Arc<CallReply>>;

/// An admission in the cache.
struct Admitted {
    reply: Arc<CallReply>,
    since: Duration,
}

impl ForwardAuthCheck {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let rules = definition.tollgate.forward_auth.as_ref().filter(|_| definition.uses(AuthMethod::Forward))?.clone();
        let uri: Uri = match rules.url.parse() {
            Ok(uri) => uri,
            Err(error) => {
                source.context.error("$.tollgate.forward_auth.url", format!("is not a URL: {error}"));
                return None;
            }
        };
        let Some(auth_client) = source.context.registry.auth_client.get() else {
            source.context.error("$.tollgate.forward_auth", "the system has no thread to ask with");
            return None;
        };
        Some(Box::new(ForwardAuthCheck {
            uri,
            auth_client,
            tls: TlsRules { insecure: rules.insecure_skip_verify, ..TlsRules::default() },
            org_id: definition.org_id.clone(),
            right: identity::right_to(definition),
            gives_session: definition.takes_session_of(AuthMethod::Forward),
            signin: Some(rules.signin_url.as_str()).filter(|url| !url.is_empty()).map(RequestText::new),
            rules,
            admitted: TwoGenerationCache::new(REMEMBERED_MAX),
        }))
    }

    /// Headers of the request to the service.
    fn headers(&self, exchange: &Exchange<'_>) -> HeaderMap {
        let request = exchange.request;
        let mut headers = HeaderMap::new();
        let mut add = |name: HeaderName, value: &[u8]| {
            if let Ok(value) = HeaderValue::from_bytes(value) {
                headers.append(name, value);
            }
        };
        if self.rules.request_headers.iter().any(|name| name == ALL_HEADERS) {
            for (name, value) in exchange.received().iter().filter(|(name, _)| !is_for_the_gateway(name)) {
                if let Ok(header) = HeaderName::from_bytes(name.as_bytes()) {
                    add(header, value);
                }
            }
            add(HeaderName::from_static("x-original-method"), request.method.as_bytes());
            add(HeaderName::from_static("x-original-url"), request_text::url(exchange).as_bytes());
            add(HeaderName::from_static("x-auth-request-redirect"), exchange.uri().as_bytes());
            add(HeaderName::from_static("x-forwarded-proto"), request_text::scheme(exchange).as_bytes());
            add(HeaderName::from_static("x-real-ip"), exchange.arrival.client_ip.to_string().as_bytes());
        }
        for name in self.rules.request_headers.iter().filter(|name| *name != ALL_HEADERS) {
            if let Ok(header) = HeaderName::from_bytes(name.as_bytes()) {
                exchange.received().all(name).for_each(|value| add(header.clone(), value));
            }
        }
        add(HeaderName::from_static("x-forwarded-method"), request.method.as_bytes());
        add(HeaderName::from_static("x-forwarded-host"), request.authority);
        add(HeaderName::from_static("x-forwarded-uri"), request.target.as_bytes());
        add(HeaderName::from_static("x-forwarded-for"), exchange.arrival.client_ip.to_string().as_bytes());
        headers
    }

    fn ask(&self, headers: HeaderMap) -> Pending<ServerSaid> {
        let (completer, answer) = Pending::pair();
        let call = Call {
            method: if self.rules.post { Method::POST } else { Method::GET },
            uri: self.uri.clone(),
            headers,
            body: Bytes::new(),
            tls: self.tls.clone(),
            time_max: self.time_max(),
            body_bytes_max: ANSWER_BYTES_MAX,
            // A redirect is an answer for the client.
            redirects_max: 0,
        };
        let auth_client = self.auth_client.clone();
        self.auth_client.spawn(async move {
            let said = auth_client.call(call).await;
            completer.complete(said.map(Arc::new).inspect_err(|fault| tracing::warn!(%fault, "forward-auth failed")).ok());
        });
        answer
    }

    fn time_max(&self) -> Duration {
        Duration::from_millis(self.rules.timeout_ms())
    }

    /// Adds the service's headers to the request, and the identity's session to the exchange.
    fn let_in(&self, exchange: &mut Exchange<'_>, reply: &CallReply) -> Step {
        let edits = &mut exchange.outgoing.edits;
        for name in &self.rules.response_headers {
            // The client must not be able to forge the service's headers.
            edits.remove(&exchange.request.headers, name);
            for value in reply.headers.get_all(name) {
                edits.add(name, value.as_bytes());
            }
        }
        if !self.gives_session {
            return Step::Next;
        }
        let field = &self.rules.identity_header;
        let named = reply.headers.get(field).and_then(|value| value.to_str().ok()).filter(|name| !name.is_empty());
        let subject = match named {
            Some(name) => name,
            None if field.is_empty() => "forward-auth",
            // An unnamed caller has no limits of its own.
            None => return Step::Refuse(FORWARD_AUTH_FAILED),
        };
        let (keys, org_id, policies) = (exchange.arrival.keys, &self.org_id, &self.rules.policies);
        let identity = if policies.is_empty() {
            Identity::with_right(keys, org_id, subject, &self.right)
        } else if identity::is_usable(policies, org_id, keys) {
            Identity::with_policies(keys, org_id, subject, subject.to_owned(), policies.clone(), None, exchange.arrival.unix_s)
        } else {
            return Step::Refuse(crate::refusal::JWT_NO_POLICY);
        };
        match identity.key(keys, org_id) {
            Some(key) => {
                exchange.caller.key = Some(key);
                Step::Next
            }
            None => Step::Refuse(FORWARD_AUTH_FAILED),
        }
    }
}

/// Whether a header is about the connection or the body, which the service does not get, or one that the gateway writes itself.
fn is_for_the_gateway(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
        "content-length",
        "content-type",
        "expect",
        "proxy-connection",
        "x-auth-request-redirect",
        "x-real-ip",
        "accept-encoding",
    ];
    let begins = |start: &str| name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known)) || begins("x-forwarded-") || begins("x-original-")
}

/// Sends the service's answer to the client.
fn refuse(exchange: &mut Exchange<'_>, reply: &CallReply) -> Step {
    let outgoing = exchange.begin_reply(reply.status.as_u16());
    for name in REFUSAL_HEADERS {
        for value in reply.headers.get_all(&name) {
            outgoing.edits.add(name.as_str(), value.as_bytes());
        }
    }
    outgoing.body.extend_from_slice(&reply.body);
    Step::Reply
}

/// A digest of everything that is sent to the service.
fn digest_of(headers: &HeaderMap) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for (name, value) in headers {
        hasher.update(&(name.as_str().len() as u64).to_le_bytes()).update(name.as_str().as_bytes());
        hasher.update(&(value.len() as u64).to_le_bytes()).update(value.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

impl Middleware for ForwardAuthCheck {
    fn header_names(&self, names: &mut HeaderNames) {
        self.rules.request_headers.iter().chain(&self.rules.response_headers).for_each(|name| names.add(name));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        let headers = self.headers(exchange);
        let remembered = Duration::from_secs(self.rules.cache_ttl_s);
        let digest = digest_of(&headers);
        if !remembered.is_zero()
            && let Some(known) = self.admitted.get(&digest)
            && exchange.arrival.now.saturating_sub(known.since) < remembered
        {
            return self.let_in(exchange, &known.reply);
        }
        Step::ask(self, self.ask(headers), self.time_max(), move |this, exchange, said| {
            this.judge(exchange, digest, said.flatten())
        })
    }
}

impl ForwardAuthCheck {
    /// Does what the service says; `None` if it says nothing.
    fn judge(&self, exchange: &mut Exchange<'_>, digest: [u8; 32], said: Option<Arc<CallReply>>) -> Step {
        match said {
            Some(reply) if reply.status.is_success() => {
                if self.rules.cache_ttl_s > 0 {
                    self.admitted.put(digest, Arc::new(Admitted { reply: reply.clone(), since: exchange.arrival.now }));
                }
                self.let_in(exchange, &reply)
            }
            Some(reply) if reply.status.as_u16() == 401 && self.signin.is_some() => {
                let location = self.signin.as_ref().map(|signin| signin.of(exchange)).unwrap_or_default();
                let outgoing = exchange.begin_reply(302);
                outgoing.edits.add("Location", location.as_bytes());
                for value in reply.headers.get_all(SET_COOKIE) {
                    outgoing.edits.add("Set-Cookie", value.as_bytes());
                }
                Step::Reply
            }
            Some(reply) if reply.status.as_u16() >= 300 && reply.status.as_u16() < 500 => refuse(exchange, &reply),
            Some(_) | None => Step::Refuse(FORWARD_AUTH_FAILED),
        }
    }
}
