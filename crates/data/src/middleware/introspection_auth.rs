//! Tokens of an external OAuth 2.0 server, checked by introspection (RFC 7662). Reads `external_oauth.providers[0].introspection` and
//! `auth_configs.externalOAuth`. The client sees 400 `authorization field missing` and 401 `access token is not valid`, also when the
//! server can't be asked: an outage admits nobody. The request is held during the call, for five seconds at most. With the cache enabled, a
//! valid token is cached until it expires, for the configured time at most.

use super::{Middleware, MiddlewareSource};
use crate::credentials::CredentialPlaces;
use crate::exchange::{Exchange, Step};
use crate::refusal::{EXTERNAL_MISSING, EXTERNAL_REFUSED};
use crate::two_generation_cache::{TwoGenerationCache, digest_of};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Uri};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::identity::{self, Identity};
use tollgate_access::jwt::GrantedScopes;
use tollgate_clock::Pending;
use tollgate_http::form::encode_form;
use tollgate_model::api::{AuthMethod, Introspection, ScopeCheck};
use tollgate_model::session::AccessRight;
use tollgate_outbound::{Call, CallClient};
use tollgate_text::byte_order_mark;
use tollgate_tls::ServiceKind;
use tollgate_tls::TlsRules;

/// Deadline of a call; no request is held longer.
const ASK_TIME_MAX: Duration = Duration::from_secs(5);
/// Longest answer, in bytes; a usual one has some hundred.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Capacity of the cache of valid tokens, in each of its two generations.
const VERIFIED_MAX: usize = 32_768;
/// Default time to live in the cache, in seconds.
const REMEMBERED_S: u64 = 60;

pub(super) struct IntrospectionAuth {
    places: CredentialPlaces,
    org_id: String,
    right: Arc<AccessRight>,
    rules: Introspection,
    uri: Uri,
    auth_client: Arc<CallClient>,
    tls: TlsRules,
    gives_session: bool,
    /// The scopes that later steps check.
    granted: Option<ScopeCheck>,
    verified: TwoGenerationCache<IntrospectedToken>,
}

struct IntrospectedToken {
    identity: Identity,
    /// Its scopes, if later steps check them.
    scopes: Option<Arc<GrantedScopes>>,
    until_unix_s: u64,
}

impl IntrospectionAuth {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let rules = definition.introspection().filter(|_| definition.uses(AuthMethod::ExternalOAuth))?.clone();
        let place = "$.external_oauth.providers[0].introspection.url";
        let uri: Uri = match rules.url.parse() {
            Ok(uri) => uri,
            Err(error) => {
                source.context.error(place, format!("is not a URL: {error}"));
                return None;
            }
        };
        let Some(auth_client) = source.context.registry.auth_client.get() else {
            source.context.error(place, "the system has no thread to ask it with");
            return None;
        };
        let tls = TlsRules {
            insecure: source.context.settings.callers.insecure_jwks_tls,
            service: ServiceKind::OAuth,
            ..TlsRules::default()
        };
        Some(Box::new(IntrospectionAuth {
            places: CredentialPlaces::new(definition.places(AuthMethod::ExternalOAuth)),
            org_id: definition.org_id.clone(),
            right: identity::right_to(definition),
            rules,
            uri,
            auth_client,
            tls,
            gives_session: definition.takes_session_of(AuthMethod::ExternalOAuth),
            granted: definition.tollgate.scope_check.clone(),
            verified: TwoGenerationCache::new(VERIFIED_MAX),
        }))
    }

    /// Builds the introspection request with the client's credentials in the form, as Tyk sends them.
    fn call(&self, token: &str) -> Call {
        let mut body = format!("token={}&token_type_hint=access_token", encode_form(token));
        for (name, value) in [("client_id", &self.rules.client_id), ("client_secret", &self.rules.client_secret)] {
            body.push_str(&format!("&{name}={}", encode_form(value)));
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        Call {
            method: Method::POST,
            uri: self.uri.clone(),
            headers,
            body: body.into(),
            tls: self.tls.clone(),
            time_max: ASK_TIME_MAX,
            body_bytes_max: ANSWER_BYTES_MAX,
            redirects_max: 0,
        }
    }

    /// Asks the server about a token; the answer is `None` when it is unusable.
    fn ask(&self, token: &str) -> Pending<Option<Arc<Value>>> {
        let (completer, answer) = Pending::pair();
        let (auth_client, call) = (self.auth_client.clone(), self.call(token));
        self.auth_client.spawn(async move {
            let said = match auth_client.call(call).await {
                Ok(reply) if reply.status.is_success() => {
                    serde_json::from_slice(byte_order_mark::without(&reply.body)).ok().map(Arc::new)
                }
                Ok(reply) => {
                    tracing::warn!(status = reply.status.as_u16(), "a token can't be introspected");
                    None
                }
                Err(fault) => {
                    tracing::warn!(%fault, "a token can't be introspected");
                    None
                }
            };
            completer.complete(said);
        });
        answer
    }

    /// The identity that a positive answer vouches for, and its expiry.
    fn admission(&self, said: &Value, exchange: &Exchange<'_>) -> Option<IntrospectedToken> {
        if said.get("active").and_then(Value::as_bool) != Some(true) {
            return None;
        }
        let ends = match said.get("exp") {
            None | Some(Value::Null) => u64::MAX,
            Some(time) => time.as_f64().filter(|time| *time >= 0.0)? as u64,
        };
        let starts = said.get("nbf").and_then(Value::as_f64).unwrap_or_default();
        if exchange.arrival.unix_s >= ends || starts > exchange.arrival.unix_s as f64 {
            return None;
        }
        let text = |name: &str| said.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let field = Some(self.rules.identity_base_field.as_str()).filter(|field| !field.is_empty());
        let subject = field.and_then(text).or_else(|| text("sub"))?;
        let remembered = if self.rules.cache.timeout > 0 { self.rules.cache.timeout as u64 } else { REMEMBERED_S };
        let until_unix_s = ends.min(exchange.arrival.unix_s.saturating_add(remembered));
        let scopes = GrantedScopes::of(self.granted.as_ref(), |name| said.get(name));
        let identity = Identity::with_right(exchange.arrival.keys, &self.org_id, subject, &self.right);
        Some(IntrospectedToken { identity, scopes, until_unix_s })
    }

    fn let_in(&self, exchange: &mut Exchange<'_>, admission: &IntrospectedToken) -> Step {
        let Some(key) = admission.identity.key(exchange.arrival.keys, &self.org_id) else { return Step::Refuse(EXTERNAL_REFUSED) };
        exchange.caller.grant(admission.scopes.as_ref(), self.gives_session);
        if self.gives_session {
            exchange.caller.key = Some(key);
        }
        Step::Next
    }
}

impl Middleware for IntrospectionAuth {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if exchange.decisions.ignored {
            return Step::Next;
        }
        let Some(token) = self.places.find(exchange) else { return Step::Refuse(EXTERNAL_MISSING) };
        let digest = digest_of(token.as_bytes());
        if let Some(known) = self.verified.get(&digest) {
            if exchange.arrival.unix_s < known.until_unix_s {
                return self.let_in(exchange, &known);
            }
            self.verified.remove(&digest);
        }
        Step::ask(self, self.ask(&token), ASK_TIME_MAX, move |this, exchange, said| {
            let Some(admission) = said.flatten().and_then(|said| this.admission(&said, exchange)) else {
                return Step::Refuse(EXTERNAL_REFUSED);
            };
            let step = this.let_in(exchange, &admission);
            if this.rules.cache.enabled {
                this.verified.put(digest, Arc::new(admission));
            }
            step
        })
    }
}
