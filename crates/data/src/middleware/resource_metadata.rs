//! Where clients learn which server issues tokens for an API (RFC 9728). Reads `tollgate.protected_resource`. The document is served without
//! authentication, and refused credentials get a challenge that leads to it.

use super::{ChainLink, ChainPhase, Middleware, MiddlewareSource};
use crate::discovery::DiscoveryPaths;
use crate::exchange::{Exchange, Step};
use crate::header_change::HeaderChange;
use crate::header_names::HeaderNames;
use crate::refusal::{self, Refusal, RefusalText, RefusalTopic};
use crate::template::ValueTemplate;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use tollgate_model::api::{ApiDefinition, ProtectedResource};
use tollgate_observe::LimitFact;

/// The path of an API's document.
#[derive(Clone)]
pub(super) struct MetadataPlace(String);

pub(super) struct ResourceMetadata {
    place: MetadataPlace,
    /// Other paths of the same document.
    at_root: Vec<String>,
    resource: ValueTemplate,
    rules: ProtectedResource,
}

impl MetadataPlace {
    pub(super) fn of(definition: &ApiDefinition) -> Option<Self> {
        let rules = definition.own_metadata().map(Cow::Borrowed).or_else(|| definition.mirrored_metadata())?;
        let listen_path = definition.proxy.listen_path.trim_end_matches('/');
        Some(MetadataPlace(format!("{listen_path}/{}", rules.well_known_path().trim_matches('/'))))
    }

    /// Its URL, as the client reaches the gateway.
    pub(super) fn url(&self, exchange: &Exchange<'_>) -> String {
        format!("{}://{}{}", client_scheme(exchange), String::from_utf8_lossy(exchange.request.authority), self.0)
    }
}

/// The scheme of the URL by which a client reaches the gateway.
pub fn client_scheme(exchange: &Exchange<'_>) -> &'static str {
    let told = exchange.received().get("x-forwarded-proto").filter(|value| [&b"http"[..], b"https"].contains(value));
    match (told, exchange.arrival.tls) {
        (Some(b"https"), _) | (None, Some(_)) => "https",
        _ => "http",
    }
}

impl ResourceMetadata {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let rules = source.definition.own_metadata()?.clone();
        let place = MetadataPlace::of(source.definition)?;
        let resource = ValueTemplate::new(&rules.resource, source.variable_scope());
        let listen_path = &source.definition.proxy.listen_path;
        let at_root = DiscoveryPaths::of(source.definition, listen_path).map(|paths| paths.resource).unwrap_or_default();
        Some(Box::new(ResourceMetadata { place, at_root, resource, rules }))
    }

    fn document(&self, exchange: &Exchange<'_>) -> String {
        let mut document = Map::new();
        document.insert("resource".to_owned(), json!(self.resource.render(exchange)));
        let lists =
            [("authorization_servers", &self.rules.authorization_servers), ("scopes_supported", &self.rules.scopes_supported)];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            document.insert(name.to_owned(), json!(list));
        }
        if self.rules.tells_bearer_methods {
            document.insert("bearer_methods_supported".to_owned(), json!(["header"]));
        }
        format!("{}\n", Value::Object(document))
    }
}

impl Middleware for ResourceMetadata {
    fn header_names(&self, names: &mut HeaderNames) {
        self.resource.header_names(names);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let path = exchange.arrival.full_path;
        if exchange.method != "GET" || (path != self.place.0 && !self.at_root.iter().any(|own| own == path)) {
            return Step::Next;
        }
        let document = self.document(exchange);
        let outgoing = exchange.begin_reply(200);
        outgoing.body.extend_from_slice(document.as_bytes());
        outgoing.edits.add("Content-Type", b"application/json");
        Step::Reply
    }
}

/// A step whose refusals lead to the metadata.
struct Challenged {
    step: Box<dyn Middleware>,
    place: MetadataPlace,
    /// The status of all its challenges, where clients sign their users in only after that one. Tyk has others, too.
    status: Option<u16>,
}

/// The middleware itself, or one that adds the challenge to what it refuses.
pub fn challenged(link: ChainLink, definition: &ApiDefinition) -> ChainLink {
    match MetadataPlace::of(definition) {
        Some(place) if link.phase == ChainPhase::Auth => {
            let status = definition.tollgate.authorization_proxy.is_some().then_some(401);
            ChainLink { middleware: Box::new(Challenged { step: link.middleware, place, status }), ..link }
        }
        _ => link,
    }
}

impl Middleware for Challenged {
    fn forget_key_sets(&self) {
        self.step.forget_key_sets();
    }

    fn header_names(&self, names: &mut HeaderNames) {
        self.step.header_names(names);
    }

    fn limit_of(&self, exchange: &Exchange<'_>, refusal: &Refusal) -> Option<LimitFact> {
        self.step.limit_of(exchange, refusal)
    }

    fn cache_key(&self, exchange: &mut Exchange<'_>) -> Option<String> {
        self.step.cache_key(exchange)
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let step = self.step.on_request(exchange);
        self.challenge(step, exchange)
    }
}

impl Challenged {
    /// Adds the challenge to a refusal.
    fn challenge(&self, step: Step, exchange: &mut Exchange<'_>) -> Step {
        if let Step::Hold(hold) = step {
            return hold.within(self, |this, then, exchange| {
                let step = then.go_on(&*this.step, exchange);
                this.challenge(step, exchange)
            });
        }
        // A valid token without a policy would not be better for another one of the same server.
        let Step::Refuse(refusal) = step else { return step };
        if !matches!(refusal.status, 400 | 401 | 403)
            || refusal.facts.topic == RefusalTopic::NoRights
            || exchange.response.changes.iter().any(|change| change.name().eq_ignore_ascii_case("www-authenticate"))
        {
            return Step::Refuse(refusal);
        }
        let value = format!("Bearer realm=\"tyk\", resource_metadata={}", quoted(&self.place.url(exchange)));
        exchange.response.changes.push(HeaderChange::Set("WWW-Authenticate".into(), value.into_bytes()));
        // After a request without a token, clients sign their users in where the status is 401.
        let status = self.status.or((refusal.cause == refusal::JWT_MISSING.cause).then_some(401));
        Step::Refuse(match status {
            Some(status) => RefusalText { status, ..RefusalText::clone(&refusal) }.into(),
            None => refusal,
        })
    }
}

/// A quoted string of a challenge.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars().filter(|c| !c.is_control()) {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
