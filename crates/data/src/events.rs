//! The events of an API: its handlers, and what events tell of it. `refusal_events.rs` knows which refusals are events.

use crate::breaker::{BreakerPlace, Passage};
use crate::host_events::HostEvent;
use crate::settings::Settings;
use std::borrow::Cow;
use std::sync::Arc;
use tollgate_clock::unix_ns;
use tollgate_model::api::{ApiDefinition, AuthConfig, AuthMethod};
use tollgate_model::events::EventKind;
use tollgate_observe::events::{EventDesk, EventFacts, EventSinks, GatewayEvent};

/// The handlers of an API's events, and what events tell of the API.
#[derive(Clone)]
pub struct ApiEvents {
    sinks: Arc<EventSinks>,
    pub api: String,
    pub org: String,
    /// Where requests have keys that are named as they are sent.
    pub keys: Option<Arc<AuthConfig>>,
    /// Where requests have the names of users.
    pub users: Option<Arc<AuthConfig>>,
    /// The certificates whose end is an event, by identifier or file.
    pub certificates: Vec<(CertificateRole, String)>,
}

/// An event of something that has not happened yet, made while the request is there.
pub struct PreparedEvent {
    sinks: Arc<EventSinks>,
    event: GatewayEvent,
}

/// What an API has a certificate for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CertificateRole {
    /// Clients may call with it, or with one that it issued.
    Client,
    /// The gateway shows it to upstreams.
    Upstream,
    /// The gateway shows it to clients.
    Server,
}

impl CertificateRole {
    /// Its name in events.
    pub fn name(self) -> &'static str {
        match self {
            CertificateRole::Client => "client",
            CertificateRole::Upstream => "upstream",
            CertificateRole::Server => "server",
        }
    }
}

impl ApiEvents {
    /// The events of a definition with these handlers.
    pub fn new(sinks: Arc<EventSinks>, definition: &ApiDefinition, settings: &Settings) -> Self {
        let tells_ends = sinks.handle(EventKind::CertificateExpiringSoon) || sinks.handle(EventKind::CertificateExpired);
        ApiEvents {
            certificates: if tells_ends { certificates(definition, settings) } else { Vec::new() },
            sinks,
            api: definition.api_id.clone(),
            org: definition.org_id.clone(),
            keys: key_places(definition),
            users: definition.uses(AuthMethod::Basic).then(|| Arc::new(definition.places(AuthMethod::Basic).clone())),
        }
    }

    /// Tells that a breaker has opened. It closes after its time even if no request comes, and that is told too.
    #[cold]
    pub fn breaker_opened(&self, passage: &Passage, desk: &EventDesk) {
        let breaker = passage.breaker().clone();
        self.breaker(&breaker.place, true);
        if self.sinks.handle(EventKind::BreakerReset) || self.sinks.handle(EventKind::BreakerTriggered) {
            let (events, openings, time) = (self.clone(), breaker.openings(), passage.return_after());
            desk.spawn(async move {
                tokio::time::sleep(time).await;
                if breaker.close_after(openings) {
                    events.breaker_closed(&breaker.place);
                }
            });
        }
    }

    /// Tells that a breaker has closed.
    #[cold]
    pub fn breaker_closed(&self, place: &BreakerPlace) {
        self.breaker(place, false);
    }

    fn breaker(&self, place: &BreakerPlace, is_open: bool) {
        let (kind, message) =
            if is_open { (EventKind::BreakerTripped, "Breaker Tripped") } else { (EventKind::BreakerReset, "Breaker Reset") };
        let path = place.endpoint.split_once(' ').map_or(place.endpoint.as_str(), |(_, path)| path);
        for kind in [EventKind::BreakerTriggered, kind] {
            let facts = EventFacts::Breaker { path: path.to_owned(), api: self.api.clone(), is_open };
            self.tell(kind, message, facts, String::new);
        }
    }

    /// Tells that a target is down, or up again.
    pub fn host(&self, event: &HostEvent<'_>) {
        let (kind, message) =
            if event.is_up { (EventKind::HostUp, "Uptime test succeeded") } else { (EventKind::HostDown, "Uptime test failed") };
        let host = event.check.split_once("://").map_or(event.check, |(_, rest)| rest);
        let facts = EventFacts::Host {
            check: event.check.to_owned(),
            host: host.split('/').next().unwrap_or_default().to_owned(),
            api: self.api.clone(),
            status: event.status,
            is_tcp_error: event.status == 0 && !event.is_up,
        };
        self.tell(kind, message, facts, String::new);
    }

    /// Whether anything happens after this event.
    pub fn handle(&self, kind: EventKind) -> bool {
        self.sinks.handle(kind)
    }

    /// Hands an event to its handlers, if there are any. `request` makes the request behind it, for handlers that use it.
    pub fn tell(
        &self,
        kind: EventKind,
        message: impl Into<Cow<'static, str>>,
        facts: EventFacts,
        request: impl FnOnce() -> String,
    ) {
        if let Some(event) = self.prepare(kind, message, facts, request) {
            event.tell();
        }
    }

    /// The same for an event that may follow; `None` if nothing happens after it.
    pub fn prepare(
        &self,
        kind: EventKind,
        message: impl Into<Cow<'static, str>>,
        facts: EventFacts,
        request: impl FnOnce() -> String,
    ) -> Option<PreparedEvent> {
        self.sinks.handle(kind).then(|| {
            let request = if self.sinks.want_request() { request() } else { String::new() };
            let event = GatewayEvent { kind, message: message.into(), unix_ns: 0, request, facts };
            PreparedEvent { sinks: self.sinks.clone(), event }
        })
    }
}

impl PreparedEvent {
    /// Hands it to its handlers: it happens now.
    pub fn tell(self) {
        self.sinks.tell(GatewayEvent { unix_ns: unix_ns(), ..self.event });
    }
}

/// Where requests have keys that are named as they are sent.
pub fn key_places(definition: &ApiDefinition) -> Option<Arc<AuthConfig>> {
    let with_key = [AuthMethod::Token, AuthMethod::OAuth].into_iter().find(|method| definition.uses(*method))?;
    Some(Arc::new(definition.places(with_key).clone()))
}

/// The certificates that an API uses, and those of the configuration that apply to it.
fn certificates(definition: &ApiDefinition, settings: &Settings) -> Vec<(CertificateRole, String)> {
    let accepts = definition.use_mutual_tls_auth;
    let clients = definition.client_certificates.iter().chain(&settings.callers.client_certificates).filter(|_| accepts);
    let upstream = settings.upstreams.tls.for_api(definition);
    let of = |role: CertificateRole| move |name: &String| (role, name.clone());
    let upstreams = upstream.certificate_names().map(of(CertificateRole::Upstream));
    let servers = definition.certificates.iter().map(of(CertificateRole::Server));
    let mut all: Vec<_> = clients.map(of(CertificateRole::Client)).chain(upstreams).chain(servers).collect();
    all.retain(|(_, name)| !name.is_empty());
    all
}
