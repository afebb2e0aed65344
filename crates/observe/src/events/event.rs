//! One event: what happened, as data for templates and as a line of the log. The names are those of Tyk's events, because templates use them.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use tollgate_gotemplate::Value;
use tollgate_model::calendar::go_text;
use tollgate_model::events::EventKind;

/// An event.
#[derive(Clone, Debug)]
pub struct GatewayEvent {
    pub kind: EventKind,
    /// What happened, in Tyk's words.
    pub message: Cow<'static, str>,
    pub unix_ns: u64,
    /// The request behind it in Base64, without its secrets; empty if no handler uses it.
    pub request: String,
    pub facts: EventFacts,
}

/// What an event is about.
#[derive(Clone, Debug, Hash)]
pub enum EventFacts {
    /// A request that is refused: its path, the client's address, and the key or what takes its place.
    Key { path: String, origin: String, key: String },
    /// A request whose version or path is refused.
    Version { path: String, origin: String, reason: String },
    /// A circuit breaker.
    Breaker { path: String, api: String, is_open: bool },
    /// A target.
    Host { check: String, host: String, api: String, status: u16, is_tcp_error: bool },
    /// A quota that is used to a share: limit and use in percent.
    Trigger { org: String, key: String, limit: i64, usage: i64 },
    /// A key that was created, changed or removed.
    Token { org: String, key: String },
    /// A certificate that ends.
    Certificate { id: String, name: String, ends_unix_s: i64, days: i64, api: String, role: &'static str, has_ended: bool },
    /// An upstream that the gateway has no token for.
    UpstreamToken { api: String },
    /// Something that an operator did, as the log of changes has it.
    Operator { user: String, address: String, action: String, kind: String, target: String, status: u16, place: ChainPlace },
    /// Something that happened at the developer portal, with ids of what it is about; empty where it is about none.
    Portal { what: &'static str, application: String, grant: String, product: String, plan: String, developer: String },
}

/// Where in the audit file a line is; number 0 and no hash if there is no file.
#[derive(Clone, Debug, Default, Hash)]
pub struct ChainPlace {
    pub number: u64,
    /// Hash of the line before it.
    pub previous: String,
    pub hash: String,
}

/// Numbers that Tyk's templates print for a breaker that opens and closes.
const BREAKER_TRIPPED: i64 = 0;
const BREAKER_RESET: i64 = 1;

const NS_PER_S: u64 = 1_000_000_000;

impl GatewayEvent {
    /// What tells the event from others. Its time and the bytes of its request do not: they differ for every refusal.
    pub(super) fn identity(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.kind, &self.message).hash(&mut hasher);
        match &self.facts {
            // The days that are left change while the event is the same.
            EventFacts::Certificate { id, name, ends_unix_s, api, .. } => (id, name, ends_unix_s, api).hash(&mut hasher),
            // So does the use of a quota.
            EventFacts::Trigger { org, key, limit, .. } => (org, key, limit).hash(&mut hasher),
            facts => facts.hash(&mut hasher),
        }
        hasher.finish()
    }

    /// The event as templates see it.
    pub(super) fn value(&self) -> Value {
        Value::structure(
            "config.EventMessage",
            [("Type", Value::from(self.kind.name())), ("Meta", self.meta()), ("TimeStamp", Value::from(self.time()))],
        )
    }

    pub(super) fn time(&self) -> String {
        let (seconds, ns) = (self.unix_ns / NS_PER_S, self.unix_ns % NS_PER_S);
        go_text(i64::try_from(seconds).unwrap_or(i64::MAX), u32::try_from(ns).unwrap_or_default())
    }

    fn meta(&self) -> Value {
        let text = |text: &str| Value::from(text);
        let (type_name, own): (_, Vec<(&'static str, Value)>) = match &self.facts {
            EventFacts::Key { path, origin, key } => {
                ("gateway.EventKeyFailureMeta", vec![("Path", text(path)), ("Origin", text(origin)), ("Key", text(key))])
            }
            EventFacts::Version { path, origin, reason } => (
                "gateway.EventVersionFailureMeta",
                vec![("Path", text(path)), ("Origin", text(origin)), ("Key", text("")), ("Reason", text(reason))],
            ),
            EventFacts::Breaker { path, api, is_open } => {
                let event = if *is_open { BREAKER_TRIPPED } else { BREAKER_RESET };
                let own = vec![("Path", text(path)), ("APIID", text(api)), ("CircuitEvent", Value::from(event))];
                ("gateway.EventCurcuitBreakerMeta", own)
            }
            EventFacts::Host { check, host, api, status, is_tcp_error } => {
                ("gateway.EventHostStatusMeta", vec![("HostInfo", host_info(check, host, api, *status, *is_tcp_error))])
            }
            EventFacts::Trigger { org, key, limit, usage } => (
                "gateway.EventTriggerExceededMeta",
                vec![
                    ("OrgID", text(org)),
                    ("Key", text(key)),
                    ("TriggerLimit", Value::from(*limit)),
                    ("UsagePercentage", Value::from(*usage)),
                ],
            ),
            EventFacts::Token { org, key } => ("gateway.EventTokenMeta", vec![("Org", text(org)), ("Key", text(key))]),
            EventFacts::Certificate { id, name, ends_unix_s, days, api, role, has_ended } => {
                let (type_name, end, left) = match has_ended {
                    true => ("certcheck.EventCertificateExpiredMeta", "ExpiredAt", "DaysSinceExpiry"),
                    false => ("certcheck.EventCertificateExpiringSoonMeta", "ExpiresAt", "DaysRemaining"),
                };
                let ends = go_text(*ends_unix_s, 0);
                let own = vec![
                    ("CertID", text(id)),
                    ("CertName", text(name)),
                    (end, Value::from(ends)),
                    (left, Value::from(*days)),
                    ("APIID", text(api)),
                    ("CertRole", text(role)),
                ];
                (type_name, own)
            }
            EventFacts::UpstreamToken { api } => ("upstreamoauth.EventUpstreamOAuthMeta", vec![("APIID", text(api))]),
            EventFacts::Operator { user, address, action, kind, target, status, place } => (
                "tollgate.EventOperatorMeta",
                vec![
                    ("User", text(user)),
                    ("Address", text(address)),
                    ("Action", text(action)),
                    ("Kind", text(kind)),
                    ("Target", text(target)),
                    ("Status", Value::from(i64::from(*status))),
                    ("Seq", Value::from(i64::try_from(place.number).unwrap_or(i64::MAX))),
                    ("Prev", text(&place.previous)),
                    ("Hash", text(&place.hash)),
                ],
            ),
            EventFacts::Portal { what, application, grant, product, plan, developer } => (
                "tollgate.EventPortalMeta",
                vec![
                    ("What", text(what)),
                    ("Application", text(application)),
                    ("Grant", text(grant)),
                    ("Product", text(product)),
                    ("Plan", text(plan)),
                    ("Developer", text(developer)),
                ],
            ),
        };
        let common = [("Message", text(&self.message)), ("OriginatingRequest", text(&self.request))];
        let embedded = ("EventMetaDefault", Value::structure("model.EventMetaDefault", common.clone()));
        Value::structure(type_name, common.into_iter().chain(own).chain([embedded]))
    }

    /// The line that the log handler writes: as Tyk's, except that of a key only the end is shown.
    pub(super) fn line(&self, prefix: &str) -> String {
        let start = format!("{prefix}:{}", self.kind.name());
        match &self.facts {
            EventFacts::Key { path, origin, key } => format!("{start}:{}:{origin}:{path}", shortened_key(key)),
            EventFacts::Breaker { path, api, is_open } => {
                format!("{start}:{api}:{path}: [STATUS] {}", if *is_open { BREAKER_TRIPPED } else { BREAKER_RESET })
            }
            // Tyk writes only the name of these.
            EventFacts::Version { path, origin, reason } => format!("{start}:{origin}:{path}: {reason}"),
            EventFacts::Host { check, api, .. } => format!("{start}:{api}:{check}"),
            EventFacts::Trigger { org, key, limit, usage } => {
                format!("{start}:{org}:{}: {usage}% of the quota, limit {limit}%", shortened_key(key))
            }
            EventFacts::Token { org, key } => format!("{start}:{org}:{}", shortened_key(key)),
            EventFacts::Certificate { name, .. } => format!("{start}:{name}: {}", self.message),
            EventFacts::UpstreamToken { api } => format!("{start}:{api}: {}", self.message),
            EventFacts::Operator { user, address, action, kind, target, status, .. } => {
                format!("{start}:{user}:{address}:{action}:{kind}:{target}:{status}")
            }
            EventFacts::Portal { what, application, product, plan, developer, .. } => {
                format!("{start}:{what}:{application}:{product}:{plan}:{developer}")
            }
        }
    }

    /// An event of each kind, to try templates with.
    pub(super) fn sample(kind: EventKind) -> GatewayEvent {
        let text = || "sample".to_owned();
        let facts = match kind {
            EventKind::QuotaExceeded
            | EventKind::RateLimitExceeded
            | EventKind::OrgQuotaExceeded
            | EventKind::OrgRateLimitExceeded
            | EventKind::AuthFailure
            | EventKind::KeyExpired
            | EventKind::WafDenied
            | EventKind::RateLimitSmoothingUp
            | EventKind::RateLimitSmoothingDown => EventFacts::Key { path: text(), origin: text(), key: text() },
            EventKind::VersionFailure => EventFacts::Version { path: text(), origin: text(), reason: text() },
            EventKind::BreakerTriggered | EventKind::BreakerTripped | EventKind::BreakerReset => {
                EventFacts::Breaker { path: text(), api: text(), is_open: kind != EventKind::BreakerReset }
            }
            EventKind::HostDown | EventKind::HostUp => {
                EventFacts::Host { check: text(), host: text(), api: text(), status: 200, is_tcp_error: false }
            }
            EventKind::TriggerExceeded => EventFacts::Trigger { org: text(), key: text(), limit: 80, usage: 81 },
            EventKind::TokenCreated | EventKind::TokenUpdated | EventKind::TokenDeleted => {
                EventFacts::Token { org: text(), key: text() }
            }
            EventKind::CertificateExpiringSoon | EventKind::CertificateExpired => EventFacts::Certificate {
                id: text(),
                name: text(),
                ends_unix_s: 0,
                days: 1,
                api: text(),
                role: "client",
                has_ended: kind == EventKind::CertificateExpired,
            },
            EventKind::UpstreamOAuthError => EventFacts::UpstreamToken { api: text() },
            EventKind::OperatorChange => {
                let place = ChainPlace { number: 1, previous: text(), hash: text() };
                let (user, address, action, target) = (text(), text(), text(), text());
                EventFacts::Operator { user, address, action, kind: text(), target, status: 200, place }
            }
            EventKind::PortalChange => EventFacts::Portal {
                what: "sample",
                application: text(),
                grant: text(),
                product: text(),
                plan: text(),
                developer: text(),
            },
        };
        GatewayEvent { kind, message: "sample".into(), unix_ns: 0, request: text(), facts }
    }
}

/// Tyk's report of a check. What it has beside these are the settings of the check.
fn host_info(check: &str, host: &str, api: &str, status: u16, is_tcp_error: bool) -> Value {
    let data = [("api_id", api), ("host_name", host), ("target_url", check)];
    let data = Value::map(data.map(|(name, value)| (name, Value::from(value))));
    Value::structure(
        "gateway.HostHealthReport",
        [
            ("CheckURL", Value::from(check)),
            ("MetaData", data),
            ("ResponseCode", Value::from(i64::from(status))),
            ("IsTCPError", Value::from(is_tcp_error)),
        ],
    )
}

/// A key as Tyk shows it in its log.
fn shortened_key(key: &str) -> String {
    let shown = key.len().checked_sub(4).filter(|start| *start > 0).and_then(|start| key.get(start..));
    if key.is_empty() { String::new() } else { format!("****{}", shown.unwrap_or_default()) }
}

#[cfg(test)]
mod tests;
